package plot

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A drawnCurve draws a curve between axes.
type drawnCurve struct {
	curve
	x, y Axis
}

// strokes are the lengths in points of a line's dashes and gaps, for each round of the palette without
// and with Dashed.
var strokes = [][2][]vg.Length{
	{nil, {4, 3}},
	{{9, 2, 1.5, 2}, {9, 3}},
	{{1.5, 2}, {4, 2, 1.5, 2, 1.5, 2}},
}

func (d drawnCurve) lineStyle() draw.LineStyle {
	stroke := strokes[d.round%len(strokes)]
	style := draw.LineStyle{Color: d.color, Width: vg.Points(1.2), Dashes: stroke[0]}
	if d.dashed {
		style.Dashes = stroke[1]
	}
	return style
}

func (d drawnCurve) glyphStyle() draw.GlyphStyle {
	return draw.GlyphStyle{Color: d.color, Radius: vg.Points(2.1), Shape: d.mark}
}

// Plot implements [plot.Plotter].
func (d drawnCurve) Plot(c draw.Canvas, _ *plot.Plot) {
	// A dot for each pixel is enough.
	dotted := map[[2]int]bool{}
	dot := func(l level) {
		at := [2]int{int(l.x * float64(c.Size().X/pixel)), int(l.y * float64(c.Size().Y/pixel))}
		if min(l.x, l.y) >= 0 && max(l.x, l.y) <= 1 && !dotted[at] {
			dotted[at] = true
			c.DrawGlyphNoClip(d.glyphStyle(), vg.Point{X: c.X(l.x), Y: c.Y(l.y)})
		}
	}
	columns := float64(c.Size().X / pixel)
	for _, run := range d.runs() {
		if d.line {
			var points []vg.Point
			for _, l := range thinned(run, columns) {
				points = append(points, vg.Point{X: c.X(l.x), Y: c.Y(l.y)})
			}
			// The time of a stroke grows with the square of the number of lines that cross a
			// row of pixels, so a long line is drawn as several strokes.
			for begin := 0; begin < len(points)-1; begin += strokeLen {
				part := points[begin:min(begin+strokeLen+1, len(points))]
				c.StrokeLines(d.lineStyle(), c.ClipLinesXY(part)...)
			}
		}
		if d.points || len(run) == 1 {
			for _, l := range run {
				dot(l)
			}
		}
	}
	d.drawLabels(c)
}

// drawLabels writes the labels of points to their right, near the right end to their left.
func (d drawnCurve) drawLabels(c draw.Canvas) {
	label := textStyle(9)
	label.Color, label.YAlign = d.color, draw.YCenter
	for i, text := range d.labels {
		l := level{d.x.at(d.xs[i]), d.y.at(d.ys[i])}
		if !(min(l.x, l.y) >= 0 && max(l.x, l.y) <= 1) {
			continue
		}
		beside := 4 * pixel
		if label.XAlign = draw.XLeft; l.x > 0.9 {
			label.XAlign, beside = draw.XRight, -beside
		}
		c.FillText(label, vg.Point{X: c.X(l.x) + beside, Y: c.Y(l.y)}, text)
	}
}

// drawThumbnail draws a piece of the curve over a small canvas.
func (d drawnCurve) drawThumbnail(c draw.Canvas) {
	if d.line {
		c.StrokeLine2(d.lineStyle(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	}
	if d.points {
		c.DrawGlyphNoClip(d.glyphStyle(), c.Center())
	}
}

// strokeLen is the number of lines in a stroke.
const strokeLen = 128

// A level is a position between axes: each coordinate is from 0 to 1, or outside.
type level struct{ x, y float64 }

// runs returns the points of the curve, split where one cannot be drawn.
func (d drawnCurve) runs() (runs [][]level) {
	begun := false
	for i, y := range d.ys {
		l := level{d.x.at(d.xs[i]), d.y.at(y)}
		switch {
		case math.IsNaN(l.x) || math.IsNaN(l.y):
			begun = false
		case !begun:
			runs, begun = append(runs, []level{l}), true
		default:
			runs[len(runs)-1] = append(runs[len(runs)-1], l)
		}
	}
	return runs
}

// thinned returns the points that a line must keep to look the same: of each sequence of
// points in one column of pixels the first, the last, the highest and the lowest (M4 of
// Jugel, Jerzak, Hackenbroich and Markl, 2014).
func thinned(points []level, columns float64) (kept []level) {
	for begin := 0; begin < len(points); {
		column := math.Floor(points[begin].x * columns)
		end, low, high := begin, begin, begin
		for ; end < len(points) && math.Floor(points[end].x*columns) == column; end++ {
			if points[end].y < points[low].y {
				low = end
			}
			if points[end].y > points[high].y {
				high = end
			}
		}
		at := []int{begin, low, high, end - 1}
		slices.Sort(at)
		for _, i := range slices.Compact(at) {
			kept = append(kept, points[i])
		}
		begin = end
	}
	return kept
}

// metricCurves returns the curves of metrics by epoch. A metric that an epoch lacks is NaN.
func metricCurves[M ~map[string]float64](history []M, names map[string]bool) (all []curve) {
	order := slices.Sorted(maps.Keys(names))
	if i := slices.Index(order, "loss"); i > 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, "loss")
	}
	for _, name := range order {
		c := curve{name: name, color: Color(len(all)), round: len(all) / len(lineColors), mark: markOf(len(all)), line: true, points: len(history) < 50}
		for i, m := range history {
			y, ok := m[name]
			if !ok {
				y = math.NaN()
			}
			c.xs, c.ys = append(c.xs, float64(i+1)), append(c.ys, y)
		}
		all = append(all, c)
	}
	return all
}
