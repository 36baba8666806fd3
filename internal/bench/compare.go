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
	// Values has the median over the rounds, in the work's unit, by program: the peers and Ours.
	Values map[string]float64 `json:"values"`
	// Ratios says, by peer, how many times as fast this library is, or how many times as much
	// memory the peer takes.
	Ratios map[string]float64 `json:"ratios"`
	Bar    Bar                `json:"bar"`
	// Ratio is the least of the Ratios for peers of the bar, 0 unless all of them ran.
	Ratio float64 `json:"ratio"`
	Met   bool    `json:"met"` // whether the bar is met; false without a bar
	// Spread is the greatest difference between the times of one program, this library or a peer
	// of the bar, divided by their median. It is large on a busy machine.
	Spread float64 `json:"spread"`
}

// rounds is the number of times that each program runs. Programs alternate, so that a slow
// minute of the machine slows all of them.
const rounds = 3

// Compare measures the works with this library and with the peers, one program after the
// other, in rounds. It writes a line of progress for each round. It returns a row for each work
// that all programs measured with equal results; the error lists the other works. If ctx ends it returns
// rows of the works measured so far, some without all peers, and an error.
func Compare(ctx context.Context, o PeerOptions, peers []Found, progress io.Writer) ([]Comparison, error) {
	return compareRounds(ctx, o, peers, rounds, measureWorks, progress)
}

// compareRounds is Compare in some rounds, of the times that measure returns for the works that did not fail so far.
func compareRounds(ctx context.Context, o PeerOptions, peers []Found, rounds int, measure func(context.Context, PeerOptions) ([]Time, error), progress io.Writer) ([]Comparison, error) {
	r := results{values: map[string]map[string][]float64{}}
	for round := range rounds {
		fmt.Fprintf(progress, "round %d of %d: %s", round+1, rounds, Ours)
		ours, err := measure(ctx, o)
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
		if ctx.Err() != nil {
			r.failures = append(r.failures, errors.New("interrupted"))
			break
		}
		if err != nil {
			return nil, err
		}
	}
	var rows []Comparison
	for _, w := range o.Works {
		if values := r.values[w.Name]; values[Ours] != nil {
			rows = append(rows, newComparison(w, values))
		}
		if !w.isStep() {
			continue
		}
		for _, also := range []Work{w.memory(), w.first()} {
			if values := r.values[also.Name]; values[Ours] != nil {
				rows = append(rows, newComparison(also, values))
			}
		}
	}
	return rows, errors.Join(r.failures...)
}

// The results of all programs so far.
type results struct {
	values   map[string]map[string][]float64 // seconds or bytes, by row and program
	failures []error
}

// add adds the times of a program. It returns the works that did not fail.
func (r *results) add(works []Work, program string, times []Time) []Work {
	failed := map[string]bool{}
	addValue := func(row string, value float64) {
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
		addValue(t.Work, t.Seconds)
		if t.Memory > 0 {
			addValue(Work{Name: t.Work}.memory().Name, float64(t.Memory))
		}
		if first := (Work{Name: t.Work}).first().Name; t.First > 0 && r.values[first][program] == nil { // later rounds find caches
			addValue(first, t.First)
		}
	}
	return slices.DeleteFunc(slices.Clone(works), func(w Work) bool { return failed[w.Name] })
}

// measureWorks measures the works with this library.
func measureWorks(ctx context.Context, o PeerOptions) (times []Time, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Threads)) // for the garbage collector too
	defer debug.FreeOSMemory()                              // leaves the memory to the peers
	var d *tensor.Device
	closeDevice := func() {
		if d != nil {
			d.Close()
		}
		d = nil
	}
	defer closeDevice()
	var peakBefore int64 // of other devices
	for _, w := range o.Works {
		if err := ctx.Err(); err != nil {
			return times, err
		}
		if w.isStep() { // a new device, because its peak is measured
			closeDevice()
		}
		if d == nil {
			peakBefore = tensor.Info().Peak
			if d, err = o.open(); err != nil {
				return nil, err
			}
		}
		t, err := MeasureWork(ctx, w, d, o.Time)
		if ctx.Err() != nil {
			return times, err
		}
		if w.isStep() && o.OpenGPU != nil {
			t.Memory = tensor.Info().Peak - peakBefore
		}
		if err != nil {
			t.Error = err.Error()
			closeDevice() // it may be lost
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

// difference describes how a peer's result differs from this library's; it is "" if they are equal.
func difference(peer Time, all []Time) string {
	ours := all[slices.IndexFunc(all, func(t Time) bool { return t.Work == peer.Work })]
	largest := 0.0
	for _, x := range ours.Sample {
		largest = max(largest, math.Abs(x))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= ours.tolerance*largest }
	if len(peer.Sample) == 0 || !slices.EqualFunc(peer.Sample, ours.Sample, near) {
		return fmt.Sprintf("computes something else than %s: gives %.4g, want %.4g", Ours, peer.Sample, ours.Sample)
	}
	return ""
}

// newComparison makes the comparison of a work from the seconds, or bytes, of each program's runs.
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
