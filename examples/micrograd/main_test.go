package main

import (
	"bytes"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/tensor"
)

func TestOutput(t *testing.T) { exampletest.Check(t, main) }

// TestMicrograd compares values and gradients with micrograd's README and lecture.
func TestMicrograd(t *testing.T) {
	at := inputs{tensor.Scalar(-4), tensor.Scalar(2)}
	d, n := derivatives(at), lecture().gradient()
	for _, c := range []struct {
		name      string
		got       tensor.Tensor
		want, eps float64
	}{
		{"g", expression(at), 24.7041, 5e-5},
		{"dg/da", d.A, 138.8338, 2e-4},
		{"dg/db", d.B, 645.5773, 5e-4},
		{"out", lecture().apply().Out, 0.7071, 5e-5},
		{"dout/dx1", n.X1, -1.5, 1e-6},
		{"dout/dw1", n.W1, 1, 1e-6},
		{"dout/dx2", n.X2, 0.5, 1e-6},
		{"dout/dw2", n.W2, 0, 1e-6},
		{"dout/dn", n.N, 0.5, 1e-6},
	} {
		if got := c.got.Item(); !(math.Abs(got-c.want) <= c.eps) {
			t.Errorf("%s = %.6f, want %.4f", c.name, got, c.want)
		}
	}
}

// TestGraph compares the drawing of the neuron with the page's.
func TestGraph(t *testing.T) {
	svg, err := drawNeuron()
	if err != nil {
		t.Fatal(err)
	}
	if want := goldentext.Read(t, "neuron.svg", string(svg)); string(svg) != want {
		t.Error("the drawing is not that of neuron.svg: run the test with -update")
	}
}

func TestMoons(t *testing.T) {
	const n = 7
	x, y := moons(tensor.NewRNG(1), n)
	p, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * n {
		a, b, class := float64(p[2*i]), float64(p[2*i+1]), y.At(i, 0).Item()
		if class == 1 { // the center of the lower moon
			a, b = a-1, 0.5-b
		}
		if radius := math.Hypot(a, b); math.Abs(radius-1) > 0.4 || b < -0.4 {
			t.Errorf("point %d of moon %v is %.2f from its center, at %.2f, %.2f", i, class, radius, a, b)
		}
	}
}

// TestFigure compares the decision boundary with the page's picture.
func TestFigure(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, y := moons(rng, 100)
	m, err := train(io.Discard, rng, x, y, 100)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := decisions(m, x, y).Encode(&b, ".png"); err != nil {
		t.Fatal(err)
	}
	const maxBytes = 80 << 10
	file := goldentext.Read(t, "moons.png", b.String())
	if len(file) > maxBytes {
		t.Errorf("moons.png has %d bytes, want at most %d", len(file), maxBytes)
	}
	want, err := png.Decode(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	size := got.Bounds()
	if want.Bounds() != size {
		t.Fatalf("the figure has %v pixels, moons.png %v: run the test with -update", size, want.Bounds())
	}
	different := 0
	for y := range size.Dy() {
		for x := range size.Dx() {
			p, q := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA), color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA)
			if p != q {
				different++
			}
		}
	}
	// Processors add in different orders, which moves the boundaries by a little.
	if most := size.Dx() * size.Dy() / 50; different > most {
		t.Errorf("%d pixels of the figure are not those of moons.png, want at most %d: run the test with -update", different, most)
	}
}
