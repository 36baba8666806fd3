package golden

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/tensor"
)

// A file is a list of cases, with what computed them.
type file struct {
	Source string
	Cases  []testCase
}

// A testCase is an operation with its results, and its gradients for a
// cotangent of the first result.
type testCase struct {
	Op        string
	Args      args
	Inputs    []array
	Outputs   []array
	Cotangent *array
	Grads     []*array // null for inputs without a gradient
	RTol      *float64 `json:"rtol"` // in place of the device's
	ATol      *float64 `json:"atol"`
}

// An array is a tensor as text: numbers, or the strings inf, -inf and nan.
type array struct {
	DType string
	Shape []int
	Data  []any
}

// numbers are an array's elements as float64; false is 0, true is 1.
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

// tensor is the array on device d.
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
	t = tensor.New(x).Reshape(a.Shape...).Cast(dtype)
	if err := tensor.Eval(t); err != nil { // on the CPU: d may lack float64
		return t, err
	}
	return t.To(d), nil
}

var dtypes = map[string]tensor.DType{
	"bool": tensor.Bool, "uint8": tensor.Uint8, "int32": tensor.Int32, "uint32": tensor.Uint32, "int64": tensor.Int64,
	"float16": tensor.Float16, "bfloat16": tensor.BFloat16, "float32": tensor.Float32, "float64": tensor.Float64,
}

// values are the elements of t as float64.
func values(t tensor.Tensor) ([]float64, error) {
	return tensor.Data[float64](t.To(tensor.CPU()).Cast(tensor.Float64))
}

// args are an operation's arguments by name.
type args map[string]json.RawMessage

// arg is the argument of that name, or byDefault where it is absent or null.
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

// ints is an argument that is one integer or a list of them.
func ints(a args, name string) []int {
	var one int
	if raw, ok := a[name]; ok && json.Unmarshal(raw, &one) == nil {
		return []int{one}
	}
	return arg[[]int](a, name, nil)
}

// readCases reads the file that TENSORKEN_GOLDEN names, or the project's own.
func readCases(t *testing.T) []testCase {
	t.Helper()
	path := os.Getenv("TENSORKEN_GOLDEN")
	if path == "" {
		path = "testdata/ops_public.json"
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(f.Cases) == 0 {
		t.Fatalf("%s has no cases", path)
	}
	return f.Cases
}

// openDevice opens the device that TENSORKEN_DEVICE names, the CPU if none,
// and says how close results must be.
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
