package golden

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/tensor"
)

// A file is a list of cases and the version of the program that computed them.
type file struct {
	Source string
	Cases  []testCase
}

// A testCase is an operation, or an expression of several, with its results,
// and its gradients for a cotangent of the first result.
type testCase struct {
	Op        string
	Args      args
	Steps     []step // in place of Op and Args, for an expression
	Values    []int  // the outputs of an expression, numbered as in step.In
	Inputs    []array
	Outputs   []array
	Cotangent *array
	Direction []*array // if present, Grads are Hessian-vector products along it
	Grads     []*array // null for inputs without a gradient
	RTol      *float64 `json:"rtol"` // in place of the device's
	ATol      *float64 `json:"atol"`
}

// A step is one operation of an expression. In lists its operands by number:
// the inputs come first, then the results of earlier steps.
type step struct {
	Op   string
	Args args
	In   []int
}

// expression computes the outputs of a case that has steps.
func (c testCase) expression(in []tensor.Tensor) []tensor.Tensor {
	values := slices.Clone(in)
	for _, s := range c.Steps {
		f, ok := findOp(s.Op)
		if !ok {
			panic(fmt.Sprintf("no operation %q", s.Op))
		}
		operands := make([]tensor.Tensor, len(s.In))
		for i, k := range s.In {
			operands[i] = values[k]
		}
		values = append(values, f(operands, s.Args))
	}
	out := make([]tensor.Tensor, len(c.Values))
	for i, k := range c.Values {
		out[i] = values[k]
	}
	return out
}

// An array is a tensor as text: numbers, or the strings inf, -inf and nan.
type array struct {
	DType string
	Shape []int
	Data  []any
	Tol   [2]float64 // the relative and absolute tolerance, in files of testdata/differential
}

// numbers returns an array's elements as float64; false is 0, true is 1.
func (a array) numbers() ([]float64, error) {
	special := map[string]float64{"inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN()}
	out := make([]float64, len(a.Data))
	for i, v := range a.Data {
		switch v := v.(type) {
		case float64:
			out[i] = v
		case bool:
			if v {
				out[i] = 1
			}
		case string:
			x, ok := special[v]
			if !ok {
				return nil, fmt.Errorf("element %q", v)
			}
			out[i] = x
		default:
			return nil, fmt.Errorf("element %v", v)
		}
	}
	return out, nil
}

// tensor returns the array on device d.
func (a array) tensor(d *tensor.Device) (t tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	x, err := a.numbers()
	if err != nil {
		return t, err
	}
	dtype, ok := dtypes[a.DType]
	if !ok {
		return t, fmt.Errorf("element type %q", a.DType)
	}
	return dtype.from(x).Reshape(a.Shape...).To(d), nil
}

// An elementType converts float64 to and from tensors of one type.
type elementType struct {
	dtype  tensor.DType
	from   func([]float64) tensor.Tensor
	values func(tensor.Tensor) ([]float64, error)
}

func elements[E tensor.Element](d tensor.DType, from func(float64) E, to func(E) float64) elementType {
	return elementType{
		dtype: d,
		from: func(x []float64) tensor.Tensor {
			y := make([]E, len(x))
			for i, v := range x {
				y[i] = from(v)
			}
			return tensor.New(y)
		},
		values: func(t tensor.Tensor) ([]float64, error) {
			x, err := tensor.Data[E](t)
			y := make([]float64, len(x))
			for i, v := range x {
				y[i] = to(v)
			}
			return y, err
		},
	}
}

func numeric[E uint8 | int8 | uint16 | int16 | int32 | uint32 | int64 | uint64 | float32 | float64](d tensor.DType) elementType {
	return elements(d, func(x float64) E { return E(x) }, func(x E) float64 { return float64(x) })
}

var dtypes = map[string]elementType{
	"bool": elements(tensor.Bool, func(x float64) bool { return x != 0 }, func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}),
	"uint8": numeric[uint8](tensor.Uint8), "int8": numeric[int8](tensor.Int8), "uint16": numeric[uint16](tensor.Uint16), "int16": numeric[int16](tensor.Int16),
	"int32": numeric[int32](tensor.Int32), "uint32": numeric[uint32](tensor.Uint32),
	"int64": numeric[int64](tensor.Int64), "uint64": numeric[uint64](tensor.Uint64), "float32": numeric[float32](tensor.Float32), "float64": numeric[float64](tensor.Float64),
	"float16": elements(tensor.Float16, func(x float64) tensor.F16 { return tensor.ToF16(float32(x)) },
		func(x tensor.F16) float64 { return float64(x.Float32()) }),
	"bfloat16": elements(tensor.BFloat16, func(x float64) tensor.BF16 { return tensor.ToBF16(float32(x)) },
		func(x tensor.BF16) float64 { return float64(x.Float32()) }),
}

// values returns the elements of t as float64.
func values(t tensor.Tensor) ([]float64, error) { return dtypes[t.DType().String()].values(t) }

// args are an operation's arguments by name.
type args map[string]json.RawMessage

// arg returns the named argument, or byDefault if it is absent or null.
func arg[T any](a args, name string, byDefault T) T {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return byDefault
	}
	if err := json.Unmarshal(raw, &byDefault); err != nil {
		panic(fmt.Sprintf("argument %s = %s: %v", name, raw, err))
	}
	return byDefault
}

// ints returns an argument that is an integer or a list of integers.
func ints(a args, name string) []int {
	var one int
	if raw, ok := a[name]; ok && json.Unmarshal(raw, &one) == nil {
		return []int{one}
	}
	return arg[[]int](a, name, nil)
}

// readCases reads a file, which may be compressed by gzip.
func readCases(t *testing.T, path string) []testCase {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var f file
	var into any = &f
	if bytes.HasPrefix(b, []byte("[")) { // cases alone
		into = &f.Cases
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(f.Cases) == 0 {
		t.Fatalf("%s has no cases", path)
	}
	return f.Cases
}

// openDevice opens the device that TENSORKEN_DEVICE names, by default the CPU, and
// returns the tolerance of its results.
func openDevice(t *testing.T) (d *tensor.Device, rtol, atol float64) {
	t.Helper()
	name := os.Getenv("TENSORKEN_DEVICE")
	if name == "" || name == "cpu" {
		return tensor.CPU(), 1e-5, 1e-6
	}
	d, _, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, 1e-4, 1e-5
}
