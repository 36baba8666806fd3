package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

type tensors = []tensor.Tensor

// A fn is a function whose model must have its results.
type fn struct {
	name   string
	f      func(x tensors) tensors
	in     tensors
	params any

	example tensors // nil for in
	dims    map[string][]string
}

// model exports the function.
func (c fn) model(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	example := c.example
	if example == nil {
		example = c.in
	}
	if err := onnx.Export(&b, c.f, example, &onnx.ExportOptions{Name: "test", Params: c.params, Dims: c.dims}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Models that are read again have the results of the functions.
func TestRead(t *testing.T) {
	for _, c := range append(functions(), specials()...) {
		t.Run(c.name, func(t *testing.T) {
			b := c.model(t)
			check(t, b)
			m, err := onnx.Read(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]tensor.Tensor{}
			for i, x := range c.in {
				in[fmt.Sprint("x", i)] = x
			}
			out, err := m.Run(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.f(c.in) {
				compare(t, out[fmt.Sprint("y", i)], want)
			}
		})
	}
}

// An ioTensor is a tensor for testdata/ort.js.
type ioTensor struct {
	Type string `json:"type"`
	Dims []int  `json:"dims"`
	Data []byte `json:"data"`
}

type ioFile struct {
	Inputs  map[string]ioTensor `json:"inputs"`
	Outputs map[string]ioTensor `json:"outputs"`
	Error   string              `json:"error"`
}

// onnxruntime has the results of the functions. It needs Node, and the folders of npm's onnxruntime-node that
// TENSORKEN_ONNXRUNTIME names.
func TestOnnxruntime(t *testing.T) {
	modules := os.Getenv("TENSORKEN_ONNXRUNTIME")
	if modules == "" {
		t.Skip("TENSORKEN_ONNXRUNTIME is not set: see .ci/node")
	}
	root := t.TempDir()
	var list []fn
	for _, c := range append(functions(), specials()...) {
		io := ioFile{Inputs: map[string]ioTensor{}}
		foreign := slices.Contains(onnxruntimeDiffers, c.name) // or of bfloat16, which JavaScript lacks
		for i, x := range c.in {
			foreign = foreign || x.DType() == tensor.BFloat16
			io.Inputs[fmt.Sprint("x", i)] = ioTensor{x.DType().String(), append([]int{}, x.Shape()...), must(x.Bytes())}
		}
		for _, y := range c.f(c.in) {
			foreign = foreign || y.DType() == tensor.BFloat16
		}
		if foreign {
			continue
		}
		dir := filepath.Join(root, fmt.Sprint(len(list)))
		list = append(list, c)
		os.Mkdir(dir, 0o777)
		if err := os.WriteFile(filepath.Join(dir, "model.onnx"), c.model(t), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "io.json"), must(json.Marshal(io)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "testdata/ort.js", root)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, c := range list {
		t.Run(c.name, func(t *testing.T) {
			var io ioFile
			if err := json.Unmarshal(must(os.ReadFile(filepath.Join(root, fmt.Sprint(i), "io.json"))), &io); err != nil {
				t.Fatal(err)
			}
			if io.Error != "" {
				t.Fatal(io.Error)
			}
			for j, want := range c.f(c.in) {
				y := io.Outputs[fmt.Sprint("y", j)]
				if y.Type != want.DType().String() {
					t.Fatalf("a result of %v, want %v", y.Type, want.DType())
				}
				compare(t, tensor.FromBytes(want.DType(), y.Dims, y.Data), want)
			}
		})
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// tolerances are relative.
var tolerances = map[tensor.DType]float64{tensor.Float16: 0x1p-9, tensor.BFloat16: 0x1p-6, tensor.Float32: 1e-4, tensor.Float64: 1e-4}

// compare fails unless got is want, to the tolerance of its type.
func compare(t *testing.T, got, want tensor.Tensor) {
	t.Helper()
	if err := tensor.Eval(want); err != nil {
		t.Fatal(err)
	}
	if !got.IsValid() || got.DType() != want.DType() || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		t.Fatalf("%v, want %v %v", got, want.DType(), want.Shape())
	}
	if !want.DType().IsFloat() {
		if !bytes.Equal(must(got.Bytes()), must(want.Bytes())) {
			t.Fatalf("%v, want %v", got, want)
		}
		return
	}
	a, b := must(tensor.Data[float64](got.Cast(tensor.Float64))), must(tensor.Data[float64](want.Cast(tensor.Float64)))
	for i := range a {
		if d := math.Abs(a[i] - b[i]); a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) && !(d <= 1e-6+tolerances[want.DType()]*math.Abs(b[i])) {
			t.Errorf("element %d of %v is %v, want %v", i, want.Shape(), a[i], b[i])
		}
	}
}
