package export_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// An operation that the standard lacks is an error with its name and the line of its call.
func TestRefused(t *testing.T) {
	x := normal(1, 3, 3)
	ints := tensor.New([]int32{1, 2, 3})
	for _, c := range []struct {
		f    func(x tensor.Tensor) tensor.Tensor
		x    tensor.Tensor
		want string
	}{
		{linalg.Inv, x, ": HostCall: a function on the host"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Pow(x) }, ints, "refused_test.go:23: Pow: of integers"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Shl(x) }, ints, "refused_test.go:24: Shl: it needs"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Div(x) }, ints.Cast(tensor.Uint64), "refused_test.go:25: Div: "},
		{func(x tensor.Tensor) tensor.Tensor { return tensor.KeyRNG(x).Normal(3) }, tensor.New([]uint32{1, 2}), ": Threefry: random bits"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Mul(x.Sum().Item()) }, x, "refused_test.go:27: Item of []: inside of onnx.Export a tensor stands for those of all runs"},
		{func(x tensor.Tensor) tensor.Tensor { return x.MatMul(ints) }, x, "MatMul"},
	} {
		var b bytes.Buffer
		err := onnx.Export(&b, c.f, c.x, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "onnx: ") || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("%v and %d bytes, want an error with %q", err, b.Len(), c.want)
		}
	}
}

// Axes of any length must leave the model as it is.
func TestRefusedDims(t *testing.T) {
	x := normal(1, 4, 4)
	for _, c := range []struct {
		f    func(x tensor.Tensor) tensor.Tensor
		dims map[string][]string
		want string
	}{
		{func(x tensor.Tensor) tensor.Tensor { return x.Mean() }, map[string][]string{"x": {"n", "m"}}, "is no sum of multiples"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Mul(1 / float64(x.Dim(0))) }, map[string][]string{"x": {"n"}}, "change the number"},
		{func(x tensor.Tensor) tensor.Tensor { return x.CumProd(0) }, map[string][]string{"x": {"n"}}, "change the model"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Unfold(0, 2, 1) }, map[string][]string{"x": {"n"}}, "change constants"},
		{func(x tensor.Tensor) tensor.Tensor { return x.Add(tensor.Arange(4)) }, map[string][]string{"x": {"n", "m"}}, "traced for lengths [101 103]"},
		{tensor.Tensor.Exp, map[string][]string{"y": {"n"}}, `Dims names axes of "y", which is no input`},
		{tensor.Tensor.Exp, map[string][]string{"x": {"n", "m", "k"}}, "Dims names 3 axes"},
	} {
		err := onnx.Export(new(bytes.Buffer), c.f, x, &onnx.ExportOptions{Dims: c.dims})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}

// A model has results, and a name for each input and result.
func TestRefusedNames(t *testing.T) {
	type pair struct{ X, Y tensor.Tensor }
	x := normal(1, 3)
	for _, c := range []struct {
		err  error
		want string
	}{
		{onnx.Export(new(bytes.Buffer), func(p pair) pair { return pair{X: p.X.Exp()} }, pair{X: x}, nil), `are named "x"`},
		{onnx.Export(new(bytes.Buffer), func(p pair) tensor.Tensor { return p.X.Add(p.Y) }, pair{x, x}, nil), `are named "y"`},
		{onnx.Export(new(bytes.Buffer), func(p map[string]tensor.Tensor) tensor.Tensor { return p["0"].Add(p["x0"]) }, map[string]tensor.Tensor{"0": x, "x0": x}, nil), `are named "x0"`},
		{onnx.Export(new(bytes.Buffer), func(p pair) tensors { return nil }, pair{x, x}, nil), "returns no tensor"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", c.err, c.want)
		}
	}
}
