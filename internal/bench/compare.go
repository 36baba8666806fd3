package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// Ours is the name of this library beside its peers.
const Ours = "tensorken"

// A Comparison has the speeds of all programs at one work.
type Comparison struct {
	Work string `json:"work"`
	Unit Unit   `json:"unit"`
	// Values has the median over the rounds, in the work's unit, by peer and for Ours.
	Values map[string]float64 `json:"values"`
	// Ratios has how many times as fast as each peer this library is.
	Ratios map[string]float64 `json:"ratios"`
	Bar    Bar                `json:"bar"`
	// Ratio is the ratio to the fastest peer of the bar, 0 unless all of them ran. Of memory it
	// is to the peer that takes least.
	Ratio float64 `json:"ratio"`
	Met   bool    `json:"met"` // false without a bar
	// Spread is the greatest difference of a program's times, as a part of their median:
	// of this library and of the peers of the bar. It is large on a busy machine.
	Spread float64 `json:"spread"`
}

// rounds is how often each program runs. Programs alternate, so that a slow minute of the
// machine slows all of them.
const rounds = 3

// Compare measures the works with this library and with the peers, one program after the
// other, three times. It reports progress in lines. It returns a row for each work that all
// programs measured with equal results; the error lists the others.
func Compare(ctx context.Context, o PeerOptions, peers []Found, progress io.Writer) ([]Comparison, error) {
	r := results{values: map[string]map[string][]float64{}}
	for round := range rounds {
		fmt.Fprintf(progress, "round %d of %d: %s", round+1, rounds, Ours)
		ours, err := measureWorks(ctx, o)
		o.Works = r.add(o.Works, Ours, ours)
		for _, p := range peers {
			if err != nil {
				break
			}
			fmt.Fprint(progress, ", ", p.Name)
			var times []Time
			times, err = p.measure(ctx, o)
			for i, t := range times {
				times[i].Error = cmp.Or(t.Error, difference(t, ours))
			}
			o.Works = r.add(o.Works, p.Name, times)
		}
		fmt.Fprintln(progress)
		switch {
		case ctx.Err() != nil:
			return nil, errors.New("interrupted")
		case err != nil:
			return nil, err
		}
	}
	var rows []Comparison
	for _, w := range o.Works {
		if values := r.values[w.Name]; values != nil {
			rows = append(rows, newComparison(w, values))
		}
		m := w.memory()
		if values := r.values[m.Name]; values != nil && w.isStep() { // of other works ours is not measured
			rows = append(rows, newComparison(m, values))
		}
	}
	return rows, errors.Join(r.failures...)
}

// The results of all programs so far.
type results struct {
	values   map[string]map[string][]float64 // seconds or bytes, by row and program
	failures []error
}

// add adds the times of a program. It returns the works without those that failed.
func (r *results) add(works []Work, program string, times []Time) []Work {
	failed := map[string]bool{}
	note := func(row string, value float64) {
		if r.values[row] == nil {
			r.values[row] = map[string][]float64{}
		}
		r.values[row][program] = append(r.values[row][program], value)
	}
	for _, t := range times {
		if t.Error != "" {
			r.failures = append(r.failures, fmt.Errorf("%s: %s: %s", program, t.Work, t.Error))
			failed[t.Work] = true
			continue
		}
		note(t.Work, t.Seconds)
		if t.Memory > 0 {
			note(Work{Name: t.Work}.memory().Name, float64(t.Memory))
		}
	}
	return slices.DeleteFunc(slices.Clone(works), func(w Work) bool { return failed[w.Name] })
}

// measureWorks measures the works with this library.
func measureWorks(ctx context.Context, o PeerOptions) (times []Time, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Threads)) // for the garbage collector too
	defer debug.FreeOSMemory()                              // leaves it to the peers
	var d *tensor.Device
	shut := func() {
		if d != nil {
			d.Close()
		}
		d = nil
	}
	defer shut()
	var before int64 // the peak of other devices
	for _, w := range o.Works {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w.isStep() { // the peak of the device shall be this work's
			shut()
		}
		if d == nil {
			before = tensor.Info().Peak
			if d, err = o.open(); err != nil {
				return nil, err
			}
		}
		t, err := MeasureWork(ctx, w, d, o.Time)
		if w.isStep() && o.OpenGPU != nil {
			t.Memory = tensor.Info().Peak - before
		}
		if err != nil {
			t.Error = err.Error()
			shut() // it may be lost
		}
		times = append(times, t)
	}
	return times, nil
}

// open opens the device to measure.
func (o PeerOptions) open() (*tensor.Device, error) {
	if o.OpenGPU != nil {
		return o.OpenGPU()
	}
	return tensor.NewCPU(&tensor.CPUOptions{Threads: o.Threads}), nil
}

// difference says how a peer's result differs from this library's, "" if it does not.
func difference(t Time, ours []Time) string {
	o := ours[slices.IndexFunc(ours, func(o Time) bool { return o.Work == t.Work })]
	largest := 0.0
	for _, x := range o.Sample {
		largest = max(largest, math.Abs(x))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= o.tolerance*largest }
	if len(t.Sample) == 0 || !slices.EqualFunc(t.Sample, o.Sample, near) {
		return fmt.Sprintf("computes something else than %s: gives %.4g, want %.4g", Ours, t.Sample, o.Sample)
	}
	return ""
}

// newComparison makes the comparison of a work from seconds, or bytes, by program.
func newComparison(w Work, values map[string][]float64) Comparison {
	r := Comparison{Work: w.Name, Unit: w.Unit, Bar: w.Bar, Values: map[string]float64{}, Ratios: map[string]float64{}}
	median := map[string]float64{}
	for name, times := range values {
		slices.Sort(times)
		median[name] = times[len(times)/2]
		r.Values[name] = w.Value(median[name])
		if name == Ours || slices.Contains(w.Bar.Peers, name) {
			r.Spread = max(r.Spread, (times[len(times)-1]-times[0])/median[name])
		}
	}
	for name, t := range median {
		if name != Ours {
			r.Ratios[name] = t / median[Ours]
		}
	}
	for i, name := range w.Bar.Peers {
		ratio, ok := r.Ratios[name]
		if !ok {
			r.Ratio = 0
			break
		}
		if i == 0 || ratio < r.Ratio {
			r.Ratio = ratio
		}
	}
	if w.Bar.Most > 0 {
		r.Met = r.Values[Ours] <= w.Bar.Most
	} else {
		r.Met = w.Bar.Times > 0 && r.Ratio >= w.Bar.Times
	}
	return r
}
