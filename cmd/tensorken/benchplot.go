package main

import (
	"bytes"
	"image/color"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tensorken/tensorken/cmd/tensorken/internal/bench"
)

// A canvas can be drawn on and saved.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// canvases makes canvases by file extension.
var canvases = map[string]func(w, h vg.Length) canvas{
	".png": func(w, h vg.Length) canvas { return vgimg.PngCanvas{Canvas: vgimg.New(w, h)} },
	".svg": func(w, h vg.Length) canvas { return vgsvg.New(w, h) },
}

// plotFormat returns a file's extension in lower case.
func plotFormat(path string) string { return strings.ToLower(filepath.Ext(path)) }

func plotFormats() []string { return slices.Sorted(maps.Keys(canvases)) }

// Each device has a colour; lines of non-contiguous inputs are dashed.
var (
	lineColors = []color.Color{
		color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}, color.RGBA{R: 0xd6, G: 0x45, B: 0x1c, A: 0xff},
		color.RGBA{R: 0x2c, G: 0xa0, B: 0x2c, A: 0xff}, color.RGBA{R: 0x94, G: 0x67, B: 0xbd, A: 0xff},
	}
	dashes = map[string][]vg.Length{bench.NonContiguous: {vg.Points(4), vg.Points(3)}}
)

// plotBench draws a diagram for each operation: speed by size.
func plotBench(path string, rows []bench.Row) error {
	const columns = 3
	const side = 9 * vg.Centimeter
	var diagrams []*plot.Plot
	for _, op := range distinct(rows, func(r bench.Row) string { return r.Op }) {
		p, err := plotOp(op, rows)
		if err != nil {
			return err
		}
		diagrams = append(diagrams, p)
	}
	width := min(len(diagrams), columns)
	var grid [][]*plot.Plot
	for some := range slices.Chunk(diagrams, columns) {
		line := make([]*plot.Plot, width) // the last may end in nil
		copy(line, some)
		grid = append(grid, line)
	}
	height := len(grid)
	c := canvases[plotFormat(path)](vg.Length(width)*side, vg.Length(height)*side*3/4)
	tiles := draw.Tiles{Cols: width, Rows: height, PadX: vg.Centimeter / 2, PadY: vg.Centimeter / 2,
		PadLeft: vg.Centimeter / 4, PadRight: vg.Centimeter / 4, PadTop: vg.Centimeter / 4, PadBottom: vg.Centimeter / 4}
	cells := plot.Align(grid, tiles, draw.New(c))
	for i, line := range grid {
		for j, p := range line {
			if p != nil {
				p.Draw(cells[i][j])
			}
		}
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// plotOp draws the speed of an operation: a line for each device and layout.
func plotOp(op string, rows []bench.Row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = op
	p.X.Label.Text = "n"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Add(plotter.NewGrid())
	speed, unit := func(r bench.Row) float64 { return r.BytesPerS }, "GB/s"
	if op == "matmul" { // not bound by memory
		speed, unit = func(r bench.Row) float64 { return r.FlopsPerS }, "GFLOP/s"
	}
	p.Y.Label.Text = unit
	rows = slices.DeleteFunc(slices.Clone(rows), func(r bench.Row) bool { return r.Op != op })
	var sizes plot.ConstantTicks
	for _, n := range distinct(rows, func(r bench.Row) int { return r.N }) {
		sizes = append(sizes, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
	}
	p.X.Tick.Marker = sizes
	for i, device := range distinct(rows, func(r bench.Row) string { return r.Device }) {
		for _, layout := range bench.Layouts {
			var points plotter.XYs
			for _, r := range rows {
				if r.Device == device && r.Layout == layout {
					points = append(points, plotter.XY{X: float64(r.N), Y: speed(r) / 1e9})
				}
			}
			if len(points) == 0 {
				continue
			}
			line, dots, err := plotter.NewLinePoints(points)
			if err != nil {
				return nil, err
			}
			line.Color = lineColors[i%len(lineColors)]
			line.Dashes = dashes[layout]
			dots.Shape, dots.Color = draw.CircleGlyph{}, line.Color
			p.Add(line, dots)
			p.Legend.Add(device+" "+layout, line, dots)
		}
	}
	// Whole powers of ten, and another one for the legend.
	p.Y.Min = math.Pow10(int(math.Floor(math.Log10(p.Y.Min))))
	p.Y.Max = math.Pow10(int(math.Floor(math.Log10(p.Y.Max))) + 2)
	p.X.Min, p.X.Max = p.X.Min/1.2, p.X.Max*1.2
	return p, nil
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
