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

// Bench measures the works of several ranks whose names match, for a time each. Each rank opens its GPU, or one of
// devices, and rank 0 prints.
func Bench(ctx context.Context, works string, devices []string, budget time.Duration, stdout io.Writer) error {
	chosen, err := regexp.Compile(works)
	if err != nil {
		return fmt.Errorf("--works: %w", err)
	}
	g, err := dist.Init(nil)
	if err != nil {
		return err
	}
	defer g.Close()
	name := fmt.Sprintf("cuda:%d", g.LocalRank())
	if len(devices) > 0 {
		name = devices[g.LocalRank()%len(devices)]
	}
	d, _, err := device.Open(name)
	if err != nil {
		return errors.Join(g.Abort(err), err)
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
	print("work", "unit", fmt.Sprintf("%d ranks", g.Size()), "by")
	for _, work := range bench.RankWorks(g) {
		if !chosen.MatchString(work.Name) {
			continue
		}
		seconds, err := bench.MeasureRanks(ctx, g, work, d, budget)
		if err != nil {
			return errors.Join(g.Abort(err), err)
		}
		print(work.Name, work.Unit, fmt.Sprintf("%.4g", work.Value(seconds)), g.Transport())
	}
	return nil
}
