package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// Short names for tables of tests.
var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	span = tensor.Span
)

const (
	all  = tensor.All
	end  = tensor.End
	maxU = math.MaxUint32
)

func floats(x ...float64) tensor.Tensor {
	data := make([]float32, len(x))
	for i, v := range x {
		data[i] = float32(v)
	}
	return tensor.New(data)
}

func ints(x ...int32) tensor.Tensor { return tensor.New(x) }
func bools(x ...bool) tensor.Tensor { return tensor.New(x) }

// iota returns the float32 numbers 0, 1, 2 … in a shape.
func iota(shape ...int) tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return tensor.Arange(n).Cast(tensor.Float32).Reshape(shape...)
}

// values returns t's elements as float64.
func values(t testing.TB, x tensor.Tensor) []float64 {
	t.Helper()
	data, err := read(x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(x tensor.Tensor) ([]float64, error) {
	switch x.DType() {
	case tensor.Float64:
		return tensor.Data[float64](x)
	case tensor.Float16: // stored, so that it is rounded
		return halves(tensor.Data[tensor.F16](x))
	case tensor.BFloat16:
		return halves(tensor.Data[tensor.BF16](x))
	}
	return tensor.Data[float64](x.Cast(tensor.Float64))
}

func halves[H interface{ Float32() float32 }](data []H, err error) ([]float64, error) {
	out := make([]float64, len(data))
	for i, h := range data {
		out[i] = float64(h.Float32())
	}
	return out, err
}

// near reports whether got is want within the tolerance of the golden files.
func near(got, want float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	return got == want || !math.IsInf(want, 0) && math.Abs(got-want) <= 1e-6+1e-5*math.Abs(want)
}

// A check is a tensor and its expected value.
type check struct {
	name  string
	got   tensor.Tensor
	dtype tensor.DType
	shape []int
	want  []float64
}

func run(t *testing.T, checks []check) {
	t.Helper()
	for _, c := range checks {
		if got := c.got.DType(); got != c.dtype {
			t.Errorf("%s: type %v, want %v", c.name, got, c.dtype)
		}
		if got := c.got.Shape(); !slices.Equal(got, c.shape) {
			t.Errorf("%s: shape %v, want %v", c.name, got, c.shape)
			continue
		}
		got, err := read(c.got)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.EqualFunc(got, c.want, near) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
	}
}

// same returns a check of a float32 tensor of one axis.
func same(name string, got tensor.Tensor, want ...float64) check {
	return check{name, got, tensor.Float32, []int{len(want)}, want}
}

// of returns a check with a shape.
func of(name string, got tensor.Tensor, shape []int, want ...float64) check {
	return check{name, got, tensor.Float32, shape, want}
}

// typed returns a check of a tensor of one axis with another type.
func typed(name string, got tensor.Tensor, d tensor.DType, want ...float64) check {
	return check{name, got, d, []int{len(want)}, want}
}
