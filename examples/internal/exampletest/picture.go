package exampletest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
)

// maxBytes is the greatest length of a picture's file.
const maxBytes = 80 << 10

// CheckPicture compares a picture that a program has drawn, a PNG file, with the one of a
// page, which -update replaces. A share of the pixels may differ: pictures of a trained
// network depend on rounding.
func CheckPicture(t *testing.T, drawn, page string, share float64) {
	t.Helper()
	got, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	want := goldentext.Read(t, page, string(got))
	if len(want) > maxBytes {
		t.Errorf("%s has %d bytes, want at most %d", page, len(want), maxBytes)
	}
	p, err := png.Decode(strings.NewReader(want))
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	q, err := png.Decode(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if p.Bounds() != q.Bounds() {
		t.Fatalf("the picture has %v pixels, %s %v: run the test with -update", q.Bounds(), page, p.Bounds())
	}
	if n, all := differing(p, q), p.Bounds().Dx()*p.Bounds().Dy(); float64(n) > share*float64(all) {
		t.Errorf("%d of the picture's %d pixels differ from %s: look at it, then run the test with -update", n, all, page)
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
