package plot

import (
	"image/color"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// Points over a line have its color, and the axes fit both.
func TestOverlay(t *testing.T) {
	line := Line(tensor.Linspace(0, 1, 50))
	line.Title, line.Y.Label = "title", "y"
	f := Overlay(line, Scatter(Series{X: tensor.New([]float32{10, 90}), Y: tensor.New([]float32{-3, 5})}))
	drawn(t, f)
	if all := f.content.(*lines).curves; all[0].color != Color(0) || all[1].color != Color(0) || all[0].mark == all[1].mark {
		t.Errorf("the overlay has the colors %v and %v", all[0].color, all[1].color)
	}
	two := Overlay(line, Line(tensor.Zeros(3)), Scatter(Series{Y: tensor.Zeros(3)}, Series{Y: tensor.Zeros(3)}))
	drawn(t, two)
	for i, c := range two.content.(*lines).curves {
		if c.color != Color(i%2) {
			t.Errorf("curve %d of two lines and two sets of points has the color %v, want %v", i, c.color, Color(i%2))
		}
	}
	x, y := f.content.(*lines).ranges(f)
	if f.Title != "title" || y.Label != "y" || x.Min != 0 || x.Max != 90 || y.Min != -3 || y.Max != 5 {
		t.Errorf("the overlay has the title %q and the axes %+v and %+v", f.Title, x, y)
	}
	if n := elementsOf(t, line); n["svg"] != 1 { // the parts can still be drawn
		t.Errorf("the line has the elements %v", n)
	}
}

// A band fills the area between its ends, in a pale color, and widens the axis.
func TestBand(t *testing.T) {
	y := tensor.Zeros(20)
	f := Lines(Series{Y: y, Low: y.Sub(1), High: y.Add(3), Color: color.NRGBA{0xff, 0, 0, 0xff}})
	f.Y.Min, f.Y.Max = -2, 6
	m := drawn(t, f)
	alpha := float64(bandAlpha) / 255
	rest := uint8(255 * (1 - alpha))
	got := 0
	for d := range uint8(3) { // rounded
		got += pixels(m, color.NRGBA{0xff, rest + d - 1, rest + d - 1, 0xff})
	}
	// The axes leave about 580 × 370 pixels, of which the band fills half.
	if got < 80_000 || got > 120_000 {
		t.Errorf("the band has %d pixels", got)
	}
	f = Lines(Series{Y: y, Low: y.Sub(1), High: y.Add(3)})
	drawn(t, f)
	if _, y := f.content.(*lines).ranges(f); y.Min != -1 || y.Max != 3 {
		t.Errorf("the axis goes from %v to %v, want the band's ends", y.Min, y.Max)
	}
}
