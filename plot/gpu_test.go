package plot

import (
	"os"
	"testing"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/webgpu"
)

// Tensors of a GPU are drawn like tensors of the CPU.
func TestGPU(t *testing.T) {
	d, err := webgpu.Open(&webgpu.Options{Software: true})
	if err != nil {
		if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer d.Close()
	x := tensor.NewRNG(1).Normal(600, 700)
	for name, f := range map[string]func(x tensor.Tensor) *Figure{
		"heat map":  Heatmap,
		"bools":     func(x tensor.Tensor) *Figure { return Heatmap(x.Gt(0)) },
		"image":     func(x tensor.Tensor) *Figure { return Image(x.Clamp(0, 1)) },
		"histogram": func(x tensor.Tensor) *Figure { return Histogram(x, 20) },
		"line":      func(x tensor.Tensor) *Figure { return Line(x.At(0)) },
	} {
		want, got := f(x), f(x.To(d))
		for _, g := range []*Figure{want, got} {
			if err := g.load(); err != nil {
				t.Fatal(err)
			}
		}
		s := screen{80, false}
		if a, b := want.text(s), got.text(s); len(a) != len(b) || a[0] != b[0] || a[len(a)/2] != b[len(b)/2] {
			t.Errorf("a %s of a GPU's tensor is\n%v\nwant\n%v", name, b, a)
		}
	}
	if html, err := Table(x.To(d)); err != nil || len(cells(t, html, "td")) != 121 {
		t.Errorf("the table of a GPU's tensor is %s, %v", html, err)
	}
}
