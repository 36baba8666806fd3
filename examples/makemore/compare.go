package main

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// compare prints the losses of all models.
func (s *session) compare() error {
	fmt.Fprintf(s.w, "\nmodel        parameters    train      dev     test\n")
	fmt.Fprintf(s.w, "%-12s %10d %8.4f %8.4f %8.4f\n", "any symbol", 0, math.Log(float64(symbols)), math.Log(float64(symbols)), math.Log(float64(symbols)))
	for _, r := range s.results {
		fmt.Fprintf(s.w, "%-12s %10d %8.4f %8.4f %8.4f\n", r.name, r.parameters, r.train, r.dev, r.test)
	}
	return s.draw("losses", func() *plot.Figure {
		var series []plot.Series
		for _, r := range s.results {
			if r.losses == nil {
				continue
			}
			k := max(len(r.losses)/50, 1)
			y := means(r.losses, k)
			x := make([]float64, len(y))
			for i := range x {
				x[i] = (float64(i) + 0.5) * float64(k)
			}
			series = append(series, plot.Series{Name: r.name, X: tensor.New(x), Y: tensor.New(y)})
		}
		f := plot.Lines(series...)
		f.Title, f.X.Label, f.Y.Label = "The models' losses while they learn", "step", "loss"
		f.Y.Min, f.Y.Max = 1.8, 3.4
		return f
	})
}
