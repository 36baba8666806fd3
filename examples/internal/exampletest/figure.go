package exampletest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/plot"
)

// maxBytes is the greatest length of a picture's file.
const maxBytes = 80 << 10

// CheckFigure compares a figure with the picture of a page, a PNG file, which -update
// writes. A share of the pixels may differ: what is drawn of a trained network depends on
// rounding.
func CheckFigure(t *testing.T, f *plot.Figure, file string, share float64) {
	t.Helper()
	var b bytes.Buffer
	if err := f.Encode(&b, ".png"); err != nil {
		t.Fatal(err)
	}
	want := goldentext.Read(t, file, b.String())
	if len(want) > maxBytes {
		t.Errorf("%s has %d bytes, want at most %d", file, len(want), maxBytes)
	}
	p, err := png.Decode(strings.NewReader(want))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	q, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if p.Bounds() != q.Bounds() {
		t.Fatalf("the figure has %v pixels, %s %v: run the test with -update", q.Bounds(), file, p.Bounds())
	}
	if n, all := differing(p, q), p.Bounds().Dx()*p.Bounds().Dy(); float64(n) > share*float64(all) {
		t.Errorf("%d of the figure's %d pixels differ from %s: look at it, then run the test with -update", n, all, file)
	}
}

// differing counts the pixels of two images of one size that differ by more than rounding.
func differing(a, b image.Image) (n int) {
	const most = 3 // of 255
	near := func(x, y uint8) bool { return max(x, y)-min(x, y) <= most }
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			p, q := color.NRGBAModel.Convert(a.At(x, y)).(color.NRGBA), color.NRGBAModel.Convert(b.At(x, y)).(color.NRGBA)
			if !near(p.R, q.R) || !near(p.G, q.G) || !near(p.B, q.B) {
				n++
			}
		}
	}
	return n
}
