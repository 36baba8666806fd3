package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"
	"time"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/internal/bench"
)

// Measured has the times of Bench.
type Measured struct {
	Rank  int
	Suite bench.Suite
	Works []bench.Work // that were chosen
	Times []bench.Time // of all ranks
}

// Bench measures the works of several ranks whose names match, for a time each. Each rank opens its GPU, or one of
// devices, and rank 0 prints.
func Bench(ctx context.Context, works string, devices []string, budget time.Duration, stdout io.Writer) (m Measured, err error) {
	chosen, err := regexp.Compile(works)
	if err != nil {
		return m, fmt.Errorf("--works: %w", err)
	}
	g, err := dist.Init(nil)
	if err != nil {
		return m, err
	}
	defer g.Close()
	name := fmt.Sprintf("cuda:%d", g.LocalRank())
	if len(devices) > 0 {
		name = devices[g.LocalRank()%len(devices)]
	}
	d, _, err := device.Open(name)
	if err != nil {
		return m, errors.Join(g.Abort(err), err)
	}
	defer d.Close()
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	print := func(cells ...any) {
		if g.Rank() == 0 {
			for _, c := range cells {
				fmt.Fprint(w, c, "\t")
			}
			fmt.Fprintln(w)
			w.Flush()
		}
	}
	m = Measured{Rank: g.Rank(), Suite: bench.RankSuite(g)}
	print("work", "unit", fmt.Sprintf("%d ranks", g.Size()), "GB", "by")
	for _, work := range m.Suite.Works {
		if !chosen.MatchString(work.Name) {
			continue
		}
		t, err := bench.MeasureRanks(ctx, g, work, d, budget)
		if err != nil {
			return m, errors.Join(g.Abort(err), err)
		}
		m.Works, m.Times = append(m.Works, work), append(m.Times, t)
		memory := "-"
		if t.Memory > 0 {
			memory = fmt.Sprintf("%.1f", float64(t.Memory)/1e9)
		}
		print(work.Name, work.Unit, fmt.Sprintf("%.4g", work.Value(t.Seconds)), memory, g.Transport())
	}
	return m, nil
}
