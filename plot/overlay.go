package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Overlay draws figures of [Line], [Lines] and [Scatter] over each other, the first at the
// bottom: measurements and the curve that fits them. Title and axes come from the first
// figure, with ends that fit all figures. Lines and points take the colors of the palette
// apart, so that points over lines have the colors of these.
func Overlay(figures ...*Figure) *Figure {
	if len(figures) == 0 {
		misuse("Overlay", "want at least one figure")
	}
	checkFigures("Overlay", figures)
	over, all := *figures[0], &lines{op: "Overlay", whole: true}
	for i, f := range figures {
		for name, value := range f.fields() {
			if i > 0 && !value.IsZero() {
				misuse("Overlay", fmt.Sprintf("figure %d sets %s: set it in the first, or in what Overlay returns", i, name))
			}
		}
		l, ok := f.content.(*lines)
		if !ok || l.series == nil {
			misuse("Overlay", "want figures of Line, Lines or Scatter")
		}
		all.series = append(all.series, l.series...)
		all.whole = all.whole && l.whole
	}
	over.content, over.loaded = all, false
	return &over
}

// checkBand panics if a series has one end of a band, or ends of another shape than Y's.
func checkBand(op string, s Series) {
	low, high := s.Low, s.High
	if !low.IsValid() && !high.IsValid() {
		return
	}
	checkPresent(op, low)
	checkPresent(op, high)
	if want := s.Y.Shape(); !slices.Equal(low.Shape(), want) || !slices.Equal(high.Shape(), want) {
		misuse(op, "Low and High: want the shape of Y", s.Y, low, high)
	}
}

// A band draws the band of a curve.
type band struct{ drawnCurve }

// bandAlpha is the opacity of a band, of 255.
const bandAlpha = 48

// Plot implements [plot.Plotter]. Where an end is not finite or cannot be drawn, the band is
// interrupted.
func (b band) Plot(c draw.Canvas, _ *plot.Plot) {
	shade := rgb(b.color)
	shade.A = bandAlpha
	var low, high []vg.Point
	fill := func() {
		if len(low) > 1 {
			slices.Reverse(high)
			c.FillPolygon(shade, c.ClipPolygonXY(append(low, high...)))
		}
		low, high = nil, nil
	}
	for i, x := range b.xs {
		x, y0, y1 := b.x.at(x), b.y.at(b.low[i]), b.y.at(b.high[i])
		if math.IsNaN(x + y0 + y1) {
			fill()
			continue
		}
		low, high = append(low, vg.Point{X: c.X(x), Y: c.Y(y0)}), append(high, vg.Point{X: c.X(x), Y: c.Y(y1)})
	}
	fill()
}
