package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/internal/bench"
)

// benchRanks measures the works of several ranks, each on its GPU, and rank 0 prints them.
func (o benchOptions) benchRanks(ctx context.Context, stdout io.Writer) (err error) {
	chosen, err := regexp.Compile(o.peers.works)
	if err != nil {
		return fmt.Errorf("--works: %w", err)
	}
	g, err := dist.Init(nil)
	if err != nil {
		return err
	}
	defer g.Close()
	name := fmt.Sprintf("cuda:%d", g.LocalRank())
	if len(o.devices) > 0 {
		name = o.devices[g.LocalRank()%len(o.devices)]
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
		seconds, err := bench.MeasureRanks(ctx, g, work, d, o.budget)
		if err != nil {
			return errors.Join(g.Abort(err), err)
		}
		print(work.Name, work.Unit, fmt.Sprintf("%.4g", work.Value(seconds)), g.Transport())
	}
	return nil
}
