package bench

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/tensor"
)

// A Work is a computation that other libraries measure too. Its definition is in the
// programs in bench/peers as much as here.
type Work struct {
	Name string
	Unit Unit
	// Amount counts the operations of a run, its elements or its bytes. It is 0 if the unit
	// is one of time or of memory.
	Amount float64
	Bar    Bar
	start  setup
}

// A setup makes the inputs of a work, and returns a function that runs it once.
type setup = func(in *inputs) func() (tensor.Tensor, error)

// Start makes the inputs of the work on a device, and returns a function that runs it once.
func (w Work) Start(d *tensor.Device) func() (tensor.Tensor, error) {
	return w.start(newInputs(d))
}

// isStep reports whether a run of the work is a training step.
func (w Work) isStep() bool { return w.Unit == Millis }

// sampled returns the number of first runs whose results are sampled.
func (w Work) sampled() int {
	if w.isStep() {
		return 4
	}
	return 1
}

// A Unit says how the speed of a work is written.
type Unit string

// The units.
const (
	GFLOPs Unit = "GFLOP/s"
	TFLOPs Unit = "TFLOP/s"
	GElems Unit = "Gelem/s"
	GBytes Unit = "GB/s"
	Millis Unit = "ms" // of a training step
	Micros Unit = "µs" // of a run
	Memory Unit = "GB" // at the peak
	First  Unit = "s"  // of a first step
)

// factors has the factors of seconds, bytes, or amounts per second.
var factors = map[Unit]float64{GFLOPs: 1e-9, TFLOPs: 1e-12, GElems: 1e-9, GBytes: 1e-9, Millis: 1e3, Micros: 1e6, Memory: 1e-9, First: 1}

// Value returns the seconds of a run, or the bytes at its peak, in the work's unit.
func (w Work) Value(x float64) float64 {
	if w.Amount > 0 {
		x = w.Amount / x
	}
	return x * factors[w.Unit]
}

// memory returns the row for the peak memory of a work.
func (w Work) memory() Work {
	return Work{Name: w.Name + "/memory", Unit: Memory, Bar: Bar{Most: w.Bar.Memory, Peers: w.Bar.Peers}}
}

// first returns the row for the first step of a work.
func (w Work) first() Work {
	return Work{Name: w.Name + "/first", Unit: First, Bar: Bar{Most: w.Bar.First, Peers: w.Bar.Peers}}
}

// A Bar is the project's goal for a work. Without Times and Most there is no goal.
type Bar struct {
	Times  float64  `json:"times,omitempty"`  // as fast as the fastest of Peers
	Most   float64  `json:"most,omitempty"`   // of the value, in the work's unit
	Memory float64  `json:"memory,omitempty"` // at the peak, in GB
	First  float64  `json:"first,omitempty"`  // of the first step, in seconds
	Peers  []string `json:"peers"`            // to compare with
}

// atLeast returns the bar of a ratio.
func atLeast(times float64, peers []string) Bar { return Bar{Times: times, Peers: peers} }

// String returns a bar such as "≥ 0.95 numpy" or "≤ 6".
func (b Bar) String() string {
	switch {
	case b.Most > 0:
		return "≤ " + trimmed(b.Most)
	case b.Times > 0:
		return "≥ " + trimmed(b.Times) + " " + strings.Join(b.Peers, ", ")
	}
	return "-"
}

// A Time is a measurement of one work by one program.
type Time struct {
	Work    string  `json:"work"`
	Seconds float64 `json:"seconds"` // of a run: the median
	First   float64 `json:"first"`   // seconds of the first run, which compiles; 0 is not known
	// Sample has up to 16 elements of the result, evenly spaced from the first to the
	// last. For a training step, the result is the loss, and the first steps are sampled.
	Sample []float64 `json:"sample"`
	Memory int64     `json:"memory,omitempty"` // the greatest number of bytes held; 0 is not known
	Error  string    `json:"error,omitempty"`  // why the work was not measured

	tolerance float64 // of samples, as a part of the largest element
}

// MeasureWork runs a work on a device for about the given time, after runs for half as long.
func MeasureWork(ctx context.Context, w Work, d *tensor.Device, budget time.Duration) (t Time, err error) {
	defer tensor.Catch(&err)
	in := newInputs(d)
	run := w.start(in)
	t.Work, t.tolerance = w.Name, in.tolerance
	begin := clock.Now()
	for i := range w.sampled() {
		result, err := run()
		if err != nil {
			return t, err
		}
		if i == 0 {
			if err := cmp.Or(tensor.Eval(result), d.Sync()); err != nil {
				return t, err
			}
			t.First = clock.Since(begin).Seconds()
		}
		if t.Sample, err = appendSample(t.Sample, result); err != nil {
			return t, err
		}
	}
	t.Seconds, err = median(ctx, budget, 1, func() error {
		result, err := run()
		if err != nil {
			return err
		}
		return tensor.Eval(result)
	}, d.Sync)
	return t, err
}

// appendSample appends up to 16 elements of x.
func appendSample(sample []float64, x tensor.Tensor) ([]float64, error) {
	if err := tensor.Eval(x); err != nil { // all of it, as when it is measured
		return sample, err
	}
	m := min(16, x.Len())
	at := make([]int32, m)
	for k := range at {
		at[k] = int32(k * (x.Len() - 1) / max(m-1, 1))
	}
	data, err := tensor.Data[float32](x.Reshape(-1).Take(0, tensor.New(at)).Cast(tensor.Float32))
	for _, v := range data {
		sample = append(sample, float64(v))
	}
	return sample, err
}
