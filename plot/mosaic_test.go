package plot

import (
	"image"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// first returns the rectangle of the first element of a heat map, whose level is 0.
func first(m image.Image) image.Rectangle {
	p := at(m, mapped(0))
	r := image.Rectangle{p, p}
	for ; rgb(m.At(r.Max.X, p.Y)) == mapped(0); r.Max.X++ {
	}
	for ; rgb(m.At(p.X, r.Max.Y)) == mapped(0); r.Max.Y++ {
	}
	return r
}

// The elements of a heat map fill the figure; with equal axes they are squares.
func TestFill(t *testing.T) {
	f := Heatmap(tensor.New([]float32{0, 1, 0.5, 0.25}, 2, 2))
	f.Width, f.Height = 900, 300
	if r := first(drawn(t, f)); r.Dx() < 350 || r.Dy() < 110 || r.Dy() > 140 {
		t.Errorf("an element of 2 × 2 in a figure of 900 × 300 has the size %v", r.Size())
	}
	f.Equal = true
	if r := first(drawn(t, f)); r.Dx() < 110 || r.Dx()-r.Dy() > 1 || r.Dy()-r.Dx() > 1 {
		t.Errorf("an element of equal axes has the size %v", r.Size())
	}
	f.X.Max, f.Y.Max = 20, 10 // an element is 10 × 5
	if r := first(drawn(t, f)); r.Dx()-2*r.Dy() > 2 || 2*r.Dy()-r.Dx() > 2 {
		t.Errorf("an element of 10 × 5 has the size %v", r.Size())
	}
}

func TestOriginBelow(t *testing.T) {
	f := Heatmap(tensor.New([]float32{0, 1, 0.5, 0.25}, 2, 2))
	above := first(drawn(t, f))
	f.OriginBelow = true
	if below := first(drawn(t, f)); above.Max.Y > below.Min.Y || above.Min.X != below.Min.X {
		t.Errorf("element 0 is at %v, with the origin below at %v", above, below)
	}
}

// Each element has its number.
func TestNumbers(t *testing.T) {
	f := Heatmap(tensor.Zeros(2, 3, 4))
	plain := elementsOf(t, f)["text"]
	f.Numbers = "%.1f"
	if n := elementsOf(t, f)["text"] - plain; n != 2*3*4 {
		t.Errorf("%d numbers are written, want 24", n)
	}
	// Text without room for the numbers has the colors, and says so.
	f = Heatmap(tensor.Zeros(2, 30))
	f.Numbers = "%.3f"
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	if lines := f.text(screen{40, false}); lines[len(lines)-2] != "numbers need 183 columns" {
		t.Errorf("the text is %q", lines)
	}
}

// Without a size, a heat map with numbers is large enough to read them.
func TestNumbersHaveRoom(t *testing.T) {
	f := Heatmap(tensor.Arange(1200).Reshape(30, 40))
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	w, h := f.size()
	f.Numbers = "%.2f"
	numbersW, numbersH := f.size()
	if numbersW < 40*35 || numbersW > 40*60 || numbersH < 30*14 || numbersW <= w {
		t.Errorf("the size is %d × %d, and %d × %d with numbers of 7 characters", w, h, numbersW, numbersH)
	}
}
