package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A form is how the page asks for an input.
type form struct {
	Name, Type, Text string
	Shape            string // to begin with: lengths with spaces between them
	Layout           string // of images, nchw or nhwc; empty if it takes none
	Whole            bool   // its elements are integers
}

// lengths are those that axes of any length have to begin with: of images, and of others after the first.
const (
	side   = 224
	length = 8
)

// formOf returns the form of an input. Defaults has the lengths of axes by name, which are the same in all inputs.
func formOf(in onnx.Info, defaults map[string]int) form {
	f := form{Name: in.Name, Type: in.Type, Text: in.String()}
	f.Whole = strings.HasPrefix(in.Type, "int") || strings.HasPrefix(in.Type, "uint")
	channels := func(axis int) bool { n := in.Dims[axis].Len; return n == 1 || n == 3 }
	if len(in.Dims) == 4 && (strings.HasPrefix(in.Type, "float") || in.Type == "uint8") {
		switch {
		case channels(1):
			f.Layout = "nchw"
		case channels(3):
			f.Layout = "nhwc"
		}
	}
	var shape []string
	for i, d := range in.Dims {
		n := d.Len
		if n < 0 {
			switch n = length; {
			case i == 0:
				n = 1
			case f.Layout != "":
				n = side
			}
			if have, ok := defaults[d.Name]; ok && d.Name != "" {
				n = have
			}
			defaults[d.Name] = n
		}
		shape = append(shape, strconv.Itoa(n))
	}
	f.Shape = strings.Join(shape, " ")
	return f
}

// An input is how the page gives one.
type input struct {
	Name, Kind string // random, numbers, image or file
	Shape      string
	Text       string // of numbers; the name of a file of .npy, or of pixels
	Mean, Std  []float64
}

// values returns the inputs of a model.
func values(m *onnx.Model, inputs []input) (map[string]onnx.Value, error) {
	given := map[string]input{}
	for _, in := range inputs {
		given[in.Name] = in
	}
	like, err := m.Zeros(nil) // for the types
	if err != nil {
		return nil, err
	}
	all := map[string]onnx.Value{}
	for _, info := range m.Inputs() {
		if all[info.Name], err = given[info.Name].value(like[info.Name]); err != nil {
			return nil, fmt.Errorf("input %s: %w", info.Name, err)
		}
	}
	return all, nil
}

// value returns the input as a value of the type of like.
func (in input) value(like onnx.Value) (v onnx.Value, err error) {
	if in.Kind == "file" {
		f, err := npy.Open(in.Text)
		if err != nil {
			return v, err
		}
		defer f.Close()
		t, err := f.Tensor("")
		return onnx.Value{Kind: onnx.TensorKind, Elem: onnx.ElemOf(t.DType()), Tensor: t}, err
	}
	if like.Kind != onnx.TensorKind && like.Kind != onnx.StringKind {
		return like, nil // of zeros, such as a sequence without elements
	}
	shape, n, err := in.shape()
	if err != nil {
		return v, err
	}
	if like.Kind == onnx.StringKind {
		fields := strings.Split(in.Text, "\n")
		if len(fields) != n {
			return v, fmt.Errorf("%d lines, and the shape %s has %d strings", len(fields), in.Shape, n)
		}
		like.Strings, like.Shape = fields, shape
		return like, nil
	}
	d := like.Tensor.DType()
	var t tensor.Tensor
	switch in.Kind {
	case "image":
		t, err = in.image(shape, d)
	case "numbers":
		t, err = in.numbers(shape, n, d)
	default:
		t = random(shape, d)
	}
	like.Tensor = t
	return like, err
}

// mostElements is the greatest length of an input.
const mostElements = 1 << 28

// shape reads the lengths of the axes.
func (in input) shape() (shape []int, n int, err error) {
	n = 1
	for _, s := range strings.Fields(in.Shape) {
		x, err := strconv.Atoi(s)
		if err != nil || x < 0 {
			return nil, 0, fmt.Errorf("the shape is %q: want lengths with spaces between them", in.Shape)
		}
		if x > 0 && n > mostElements/x {
			return nil, 0, fmt.Errorf("the shape %q has more than %d elements", in.Shape, mostElements)
		}
		n *= x
		shape = append(shape, x)
	}
	return shape, n, nil
}

// random returns the same draws each time: floats of the normal distribution, or integers below 2.
func random(shape []int, d tensor.DType) tensor.Tensor {
	rng := tensor.NewRNG(1)
	if d.IsFloat() {
		return rng.Normal(shape...).Cast(d)
	}
	return rng.Ints(2, shape...).Cast(d)
}

// numbers reads numbers: as many as there are elements, or one for all.
func (in input) numbers(shape []int, n int, d tensor.DType) (t tensor.Tensor, err error) {
	var data []float64
	between := func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n[]", r) }
	for _, s := range strings.FieldsFunc(in.Text, between) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return t, fmt.Errorf("%q is no number", s)
		}
		if !d.IsFloat() && (x != math.Trunc(x) || math.Abs(x) > 1<<53) {
			return t, fmt.Errorf("%s is no integer of up to 53 bits, and the input is of %v", s, d)
		}
		data = append(data, x)
	}
	switch {
	case len(data) == n:
		return tensor.New(data, shape...).Cast(d), nil
	case len(data) == 1:
		return tensor.New(data).Reshape().Expand(shape...).Cast(d), nil
	}
	return t, fmt.Errorf("%d numbers: want 1, or the %d of the shape %s", len(data), n, in.Shape)
}

// image reads the red, green and blue of pixels, which the page has fitted to the shape.
func (in input) image(shape []int, d tensor.DType) (t tensor.Tensor, err error) {
	channels := -1 // their axis
	for _, axis := range []int{3, 1} {
		if len(shape) == 4 && (shape[axis] == 1 || shape[axis] == 3) {
			channels = axis
		}
	}
	if channels < 0 || shape[0] != 1 {
		return t, fmt.Errorf("the shape is %s: an image wants 1 3 height width, or 1 height width 3", in.Shape)
	}
	h, w := shape[2], shape[3]
	if channels == 3 {
		h, w = shape[1], shape[2]
	}
	b, err := os.ReadFile(in.Text)
	if err != nil {
		return t, err
	}
	if len(b) != 3*h*w {
		return t, fmt.Errorf("the image has %d samples, and the shape %s wants %d by %d pixels", len(b), in.Shape, w, h)
	}
	if len(in.Mean) != 3 || len(in.Std) != 3 {
		return t, fmt.Errorf("the mean and the deviation have %d and %d numbers: want 3 each", len(in.Mean), len(in.Std))
	}
	t = tensor.New(b, 1, h, w, 3).Cast(tensor.Float32)
	if shape[channels] == 1 {
		t = t.MatMul(tensor.New([]float32{0.299, 0.587, 0.114}, 3, 1))
	}
	if d.IsFloat() {
		of := func(x []float64) tensor.Tensor {
			return tensor.New(x).Cast(tensor.Float32).Slice(0, 0, shape[channels])
		}
		t = t.Div(255).Sub(of(in.Mean)).Div(of(in.Std))
	}
	if channels == 1 {
		t = t.Permute(0, 3, 1, 2)
	}
	return t.Cast(d), nil
}
