package bench

import (
	"context"
	"strings"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// A Work is a computation that other libraries measure too. Its definition is in the
// programs in bench/peers as much as here.
type Work struct {
	Name string
	Unit Unit
	// Amount counts the operations of a run, or its elements.
	Amount float64
	Bar    Bar
	// sampled is the number of first runs whose results are sampled.
	sampled int
	// start makes the inputs, and returns a function that runs the work once.
	start func(in *inputs) func() (tensor.Tensor, error)
}

// Start makes the inputs of the work on a device, and returns a function that runs it once.
func (w Work) Start(d *tensor.Device) func() (tensor.Tensor, error) {
	return w.start(&inputs{device: d})
}

// A Unit says how the speed of a work is written.
type Unit string

// The units.
const (
	GFLOPs Unit = "GFLOP/s"
	GElems Unit = "Gelem/s"
	Millis Unit = "ms" // of a run
)

// Value returns a time of a run in the work's unit.
func (w Work) Value(seconds float64) float64 {
	if w.Unit == Millis {
		return seconds * 1e3
	}
	return w.Amount / seconds / 1e9
}

// A Bar is how many times as fast as the fastest of some peers a work shall be.
type Bar struct {
	Times float64  `json:"times"`
	Peers []string `json:"peers"`
}

// String returns a bar such as "≥ 0.95 numpy".
func (b Bar) String() string { return "≥ " + trimmed(b.Times) + " " + strings.Join(b.Peers, ", ") }

// A Time is what one program measured of one work.
type Time struct {
	Work    string  `json:"work"`
	Seconds float64 `json:"seconds"` // of a run: the median
	// Sample has up to 16 elements of the result, evenly spaced from the first to the
	// last. For a training step, the result is the loss, and the first steps are sampled.
	Sample []float64 `json:"sample"`
}

// MeasureWork runs a work on a device for about the given time, after warm-up runs.
func MeasureWork(ctx context.Context, w Work, d *tensor.Device, budget time.Duration) (t Time, err error) {
	defer tensor.Catch(&err)
	run := w.Start(d)
	t.Work = w.Name
	for range w.sampled {
		result, err := run()
		if err != nil {
			return t, err
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
	data, err := tensor.Data[float32](x)
	m := min(16, len(data))
	for k := range m {
		sample = append(sample, float64(data[k*(len(data)-1)/max(m-1, 1)]))
	}
	return sample, err
}
