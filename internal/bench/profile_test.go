package bench

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/tensor"
)

// BenchmarkProfile compares training steps of the transformer that are profiled with
// others, in turns: the medians of their times, and their ratio.
func BenchmarkProfile(b *testing.B) {
	i := slices.IndexFunc(Works, func(w Work) bool { return w.Name == "transformer" })
	step := Works[i].Start(tensor.CPU())
	run := func() {
		loss, err := step()
		if err == nil {
			err = tensor.Eval(loss)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	timed := func(f func()) float64 {
		start := clock.Now()
		f()
		return clock.Since(start).Seconds()
	}
	tensor.Profile(run) // compiles, and measures the peak
	var with, without []float64
	for b.Loop() {
		with = append(with, tensor.Profile(run).Wall.Seconds())
		without = append(without, timed(run))
	}
	slices.Sort(with)
	slices.Sort(without)
	on, off := with[len(with)/2], without[len(without)/2]
	b.ReportMetric(1e3*off, "ms-off")
	b.ReportMetric(1e3*on, "ms-on")
	b.ReportMetric(100*(on/off-1), "%-overhead")
}
