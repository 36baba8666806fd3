package bench

import (
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
	// Ratio is the ratio to the fastest peer of the bar, 0 unless all of them ran.
	Ratio float64 `json:"ratio"`
	Met   bool    `json:"met"`
	// Spread is the greatest difference of a program's times, as a part of their median:
	// of this library and of the peers of the bar. It is large on a busy machine.
	Spread float64 `json:"spread"`
}

// rounds is how often each program runs. Programs alternate, so that a slow minute of the
// machine slows all of them.
const rounds = 3

// Compare measures the works with this library and with the peers, one program after the
// other, three times. It reports progress in lines. It fails if a peer's results are not
// this library's.
func Compare(ctx context.Context, o PeerOptions, peers []Found, progress io.Writer) ([]Comparison, error) {
	seconds := map[string]map[string][]float64{} // by work and program
	for _, w := range o.Works {
		seconds[w.Name] = map[string][]float64{}
	}
	for round := range rounds {
		fmt.Fprintf(progress, "round %d of %d: %s", round+1, rounds, Ours)
		ours, err := measureWorks(ctx, o)
		for _, t := range ours {
			seconds[t.Work][Ours] = append(seconds[t.Work][Ours], t.Seconds)
		}
		for _, p := range peers {
			if err != nil {
				break
			}
			fmt.Fprint(progress, ", ", p.Name)
			var times []Time
			times, err = p.measure(ctx, o)
			for _, t := range times {
				seconds[t.Work][p.Name] = append(seconds[t.Work][p.Name], t.Seconds)
				err = errors.Join(err, checkSample(p.Name, t, ours))
			}
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
		rows = append(rows, newComparison(w, seconds[w.Name]))
	}
	return rows, nil
}

// measureWorks measures the works with this library.
func measureWorks(ctx context.Context, o PeerOptions) (times []Time, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Threads)) // for the garbage collector too
	d := tensor.NewCPU(&tensor.CPUOptions{Threads: o.Threads})
	defer debug.FreeOSMemory() // leaves it to the peers
	defer d.Close()
	for _, w := range o.Works {
		t, err := MeasureWork(ctx, w, d, o.Time)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		times = append(times, t)
	}
	return times, nil
}

// checkSample returns an error if a peer computed something else than this library.
func checkSample(peer string, t Time, ours []Time) error {
	i := slices.IndexFunc(ours, func(o Time) bool { return o.Work == t.Work })
	want, got := ours[i].Sample, t.Sample
	largest := 0.0
	for _, x := range want {
		largest = max(largest, math.Abs(x))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-3*largest }
	if len(got) == 0 || !slices.EqualFunc(got, want, near) {
		return fmt.Errorf("peer %s computes something else than %s: %s gives %.4g, want %.4g", peer, Ours, t.Work, got, want)
	}
	return nil
}

// newComparison makes the comparison of a work from times by program.
func newComparison(w Work, seconds map[string][]float64) Comparison {
	r := Comparison{Work: w.Name, Unit: w.Unit, Bar: w.Bar, Values: map[string]float64{}, Ratios: map[string]float64{}}
	median := map[string]float64{}
	for name, times := range seconds {
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
	r.Met = r.Ratio >= w.Bar.Times
	return r
}
