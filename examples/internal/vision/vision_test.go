package vision

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// images returns a model that takes images of a shape, and gives them back.
func images(t *testing.T, elem onnx.Elem, dims ...int) *onnx.Model {
	t.Helper()
	m, err := onnx.Open(modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "x", Elem: elem, Dims: dims}},
		Outputs: []modeltest.Value{{Name: "y", Elem: elem, Dims: dims}},
		Nodes:   []modeltest.Node{modeltest.Call("Identity", "y", "x")},
	}.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ramp returns an image of one channel whose columns are 0, 1, 2…
func ramp(h, w int) tensor.Tensor {
	return tensor.Arange(w).Expand(h, w).Unsqueeze(2).Cast(tensor.Uint8)
}

// Images are resized as torchvision does with antialiasing, cut or padded, and normalised.
func TestPrepare(t *testing.T) {
	const p = gray
	for _, c := range []struct {
		fit       string
		h, w, top int // the image, and a row of the result
		want      []float64
	}{
		{"stretch", 8, 8, 0, []float64{.7142857, 2.5, 4.5, 6.285714}},
		{"stretch", 3, 8, 2, []float64{.7142857, 2.5, 4.5, 6.285714}},
		{"crop", 4, 8, 1, []float64{2, 3, 4, 5}},
		{"pad", 2, 4, 0, []float64{p, p, p, p}},
		{"pad", 2, 4, 1, []float64{0, 1, 2, 3}},
		{"stretch", 4, 2, 0, []float64{0, .25, .75, 1}}, // larger: no wider than two pixels
	} {
		in, err := (Options{Size: 4, Fit: c.fit, Crop: 1, Mean: Numbers{0.5}, Std: Numbers{0.25}, Layout: "nchw"}).Input(images(t, modeltest.Float, -1, 1, 4, 4))
		if err != nil {
			t.Fatal(err)
		}
		x, _ := in.Prepare(ramp(c.h, c.w))
		for i, want := range c.want {
			if got := (x.At(0, 0, c.top, i).Item()*0.25 + 0.5) * 255; math.Abs(got-want) > 1e-4 {
				t.Errorf("%s of %d by %d pixels: column %d is %v, want %v", c.fit, c.w, c.h, i, got, want)
			}
		}
	}
}

// Channels come last, and floats are of 16 bits, where the model has them so. Places in the square are places in the
// image, and batches have the length that the model takes.
func TestForms(t *testing.T) {
	o := Options{Size: 4, Fit: "pad", Mean: Numbers{0}, Std: Numbers{1}, Layout: "nhwc"}
	in, err := o.Input(images(t, onnx.ElemOf(tensor.Float16), 2, 4, 4, 3))
	if err != nil {
		t.Fatal(err)
	}
	x, v := in.Prepare(tensor.Full(255, 8, 4, 3).Cast(tensor.Uint8))
	if got := in.Stack([]tensor.Tensor{x}); got.DType() != tensor.Float16 || got.Dim(0) != 2 || got.Dim(3) != 3 || got.At(1, 0, 1, 2).Item() != 1 {
		t.Errorf("the batch is %v", got)
	}
	if x, y := v.Back(3, 4); x != 4 || y != 8 {
		t.Errorf("the end of the image is at %v, %v; want 4, 8", x, y)
	}
	if got := in.Batches(3, 16); len(got) != 2 || got[1] != [2]int{2, 3} {
		t.Errorf("batches of 2 are %v", got)
	}
}

// Settings that a model's input contradicts are errors.
func TestInputErrors(t *testing.T) {
	o := ImageNet()
	with := func(f func(*Options)) Options { c := o; f(&c); return c }
	for _, c := range []struct {
		options Options
		dims    []int
		want    string
	}{
		{o, []int{1, 3, 96, 96}, "want -size 96, not 224"},
		{o, []int{1, 224, 224, 3}, "-layout nchw"},
		{o, []int{1, 3, 224, 96}, "want squares"},
		{o, []int{1, 3}, "floats with 4 axes"},
		{o, []int{1, 1, 224, 224}, "of 1 or 1 numbers"},
		{with(func(o *Options) { o.Fit = "x" }), []int{1, 3, 224, 224}, "crop, pad or stretch"},
		{with(func(o *Options) { o.Std = Numbers{1, 0, 1} }), []int{1, 3, 224, 224}, "-std has a 0"},
	} {
		if _, err := c.options.Input(images(t, modeltest.Float, c.dims...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v for %v: %v, want %q", c.options, c.dims, err, c.want)
		}
	}
	if err := new(Numbers).Set("1,x"); err == nil {
		t.Error("1,x is taken for numbers")
	}
}

func TestLabels(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "labels.txt")
	if err := os.WriteFile(path, []byte("cat\r\ndog\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := ReadLabels(path)
	if err != nil || l.Name(1) != "dog" || l.Name(2) != "class 2" || l.Check(2) != nil || l.Check(3) == nil {
		t.Errorf("labels are %q, %v", l, err)
	}
	if _, err := Images(dir); err == nil || !strings.Contains(err.Error(), "no images") {
		t.Errorf("of a folder without images: %v", err)
	}
}
