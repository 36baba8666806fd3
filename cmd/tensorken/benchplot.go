package main

import (
	"slices"

	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// plotBench draws a diagram for each operation: speed by size.
func plotBench(path string, rows []bench.Row) error {
	var diagrams []*plot.Figure
	for _, op := range distinct(rows, func(r bench.Row) string { return r.Op }) {
		diagrams = append(diagrams, plotOp(op, rows))
	}
	return plot.Grid(3, diagrams...).Save(path)
}

// plotOp draws the speed of an operation: a line for each device and layout. Each device
// has a color; lines of non-contiguous inputs are dashed.
func plotOp(op string, rows []bench.Row) *plot.Figure {
	speed, unit := func(r bench.Row) float64 { return r.BytesPerS }, "GB/s"
	if op == "matmul" { // not bound by memory
		speed, unit = func(r bench.Row) float64 { return r.FlopsPerS }, "GFLOP/s"
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r bench.Row) bool { return r.Op != op })
	var lines []plot.Series
	for i, device := range distinct(rows, func(r bench.Row) string { return r.Device }) {
		for _, layout := range bench.Layouts {
			var sizes, speeds []float64
			for _, r := range rows {
				if r.Device == device && r.Layout == layout {
					sizes, speeds = append(sizes, float64(r.N)), append(speeds, speed(r)/1e9)
				}
			}
			if sizes == nil {
				continue
			}
			lines = append(lines, plot.Series{
				Name: device + " " + layout, X: tensor.New(sizes), Y: tensor.New(speeds),
				Color: plot.Color(i), Dashed: layout == bench.NonContiguous, Points: true,
			})
		}
	}
	f := plot.Lines(lines...)
	f.Title, f.X.Label, f.Y.Label = op, "n", unit
	f.X.Log, f.Y.Log = true, true
	f.Width, f.Height = 340, 270
	return f
}

// distinct returns the distinct keys of rows, in order of appearance.
func distinct[K comparable](rows []bench.Row, key func(bench.Row) K) []K {
	var keys []K
	for _, r := range rows {
		if k := key(r); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}
