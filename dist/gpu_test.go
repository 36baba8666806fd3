package dist_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/internal/cuda"
	"github.com/tensorken/tensorken/tensor"
)

var profiled = flag.Bool("profiled", false, "BenchmarkAlone prints profiles and measures nothing")

// BenchmarkAlone is the works of tensorken bench --ranks on a rank that sums with itself.
func BenchmarkAlone(b *testing.B) {
	list, err := cuda.List()
	if err != nil || len(list) == 0 {
		b.Skip("no GPU of NVIDIA: ", err)
	}
	drv, err := cuda.Open(list[0], cuda.Options{Graphs: true})
	if err != nil {
		b.Fatal(err)
	}
	d := tensor.NewDevice(drv)
	defer d.Close()
	g, err := dist.Alone(drv.(driver.Collective))
	if err != nil {
		b.Skip(err)
	}
	defer g.Close()
	for _, w := range bench.RankWorks(g) {
		b.Run(w.Name, func(b *testing.B) {
			if *profiled { // instead of a measurement, whose memory a large model cannot have twice
				run := w.Start(d)
				for range 3 {
					run()
				}
				d.Sync()
				fmt.Println(tensor.Profile(func() { run(); run(); d.Sync() }))
				start := time.Now()
				for range 10 {
					run()
				}
				submitted := time.Since(start)
				d.Sync()
				fmt.Println("10 runs are submitted after", submitted, "and done after", time.Since(start))
				return
			}
			for b.Loop() {
				t, err := bench.MeasureRanks(context.Background(), g, w, d, time.Second)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(w.Value(t.Seconds), string(w.Unit))
			}
		})
	}
}
