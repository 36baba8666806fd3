package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	m, err := onnx.Open("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Inputs(), m.Outputs())
	out, err := m.Run(context.Background(), map[string]tensor.Tensor{
		"x": tensor.New([]float32{1, 0, 0, 1, 1, 1}, 3, 2),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(out["y"])
	// Output:
	// [x float[N 2]] [y float[N 1]]
	// [[0.625]
	//  [0.375]
	//  [0.875]]
}

func ExampleOpen() {
	m, err := onnx.Open("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	nodes, err := m.Describe(map[string]int{"N": 8})
	if err != nil {
		panic(err)
	}
	for _, n := range nodes {
		fmt.Println(n.Name, n.Op, n.Results, n.Params, n.FLOPs)
	}
	// Output:
	// a MatMul [float[8 1]] 2 32
	// c Add [float[8 1]] 1 8
	// d Mul [float[8 1]] 1 8
	// y Relu [float[8 1]] 0 8
}

func ExampleRead() {
	b, err := os.ReadFile("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	m, err := onnx.Read(bytes.NewReader(b))
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Name, m.Opsets)
	// Output: line map[:20]
}

// A model is trained by a function of its parameters.
func ExampleModel() {
	m, err := onnx.Open("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	x := tensor.New([]float32{1, 0, 0, 1}, 2, 2)
	want := tensor.New([]float32{3, 5}, 2, 1)
	loss := func(params map[string]tensor.Tensor) tensor.Tensor {
		y := m.Apply(params, map[string]tensor.Tensor{"x": x})["y"]
		return y.Sub(want).Square().Mean()
	}
	l, g := grad.ValueAndGrad(loss)(m.Params())
	fmt.Println(l)
	fmt.Println(g["b"])
	// Output:
	// 13.5156
	// [-7]
}

func ExampleModel_Check() {
	needs, err := onnx.Check("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	for _, n := range needs {
		fmt.Println(n.Op, n.Opset, n.Nodes, n.Missing == "")
	}
	// Output:
	// Add 20 1 true
	// MatMul 20 1 true
	// Mul 20 1 true
	// Relu 20 1 true
}

func ExampleCheck() {
	needs, err := onnx.Check("testdata/line.onnx")
	fmt.Println(len(needs), err)
	// Output: 4 <nil>
}

func ExampleNeed() {
	fmt.Println(onnx.Need{Op: "com.example.Frobnicate", Opset: 1, Nodes: 2, Missing: "there is no such operator"})
	// Output: {com.example.Frobnicate 1 2 there is no such operator}
}

func ExampleError() {
	m, err := onnx.Open("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	m, err = m.With(map[string]tensor.Tensor{"w": tensor.New([]float32{1, 2}, 2, 1)})
	if err != nil {
		panic(err)
	}
	var e *onnx.Error
	_, err = m.Run(context.Background(), map[string]tensor.Tensor{"x": tensor.Ones(1, 2), "w": tensor.Ones(3, 1)})
	fmt.Println(errors.As(err, &e), e.Node, e.Op, e.Inputs)
	// Output: true a MatMul float[1 2], float[3 1]
}

func ExampleInfo() {
	m, err := onnx.Open("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	in := m.Inputs()[0]
	fmt.Println(in.Name, in.Type, in.Dims)
	// Output: x float [N 2]
}

func ExampleDim() {
	fmt.Println(onnx.Dim{Len: 3}, onnx.Dim{Len: -1, Name: "batch"}, onnx.Dim{Len: -1})
	// Output: 3 batch ?
}

func ExampleNodeInfo() {
	n := onnx.NodeInfo{Name: "y", Op: "Relu", Results: []string{"float[8 1]"}, FLOPs: 8}
	fmt.Println(n.Name, n.Op, n.Results)
	// Output: y Relu [float[8 1]]
}

// A value holds strings, sequences and tensors.
func ExampleValue() {
	m, err := onnx.Open("testdata/line.onnx")
	if err != nil {
		panic(err)
	}
	x := tensor.New([]float32{1, 0}, 1, 2)
	out, err := m.RunValues(context.Background(), map[string]onnx.Value{
		"x": {Kind: onnx.TensorKind, Elem: onnx.ElemOf(x.DType()), Tensor: x},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(out["y"], out["y"].Tensor)
	// Output: float[1 1] [[0.625]]
}

// A file of the standard's tests has a tensor.
func ExampleReadValue() {
	b := []byte{8, 2, 16, 1, 34, 8, 0, 0, 128, 63, 0, 0, 0, 64} // shape [2], type float, 1 and 2
	v, err := onnx.ReadValue(bytes.NewReader(b), int64(len(b)), onnx.Info{})
	fmt.Println(v, v.Tensor, err)
	// Output: float[2] [1 2] <nil>
}

func ExampleWriteValue() {
	var b bytes.Buffer
	x := tensor.New([]float32{1, 2}, 2)
	err := onnx.WriteValue(&b, onnx.Value{Kind: onnx.TensorKind, Elem: onnx.ElemOf(x.DType()), Tensor: x}, onnx.Info{Name: "x"})
	fmt.Println(b.Len(), err)
	// Output: 17 <nil>
}

func ExampleElemOf() {
	fmt.Println(onnx.ElemOf(tensor.Float32), onnx.ElemOf(tensor.BFloat16))
	// Output: float bfloat16
}

func ExampleElem() {
	var e onnx.Elem = 22
	fmt.Println(e, e.Bits(), e.DType())
	// Output: int4 4 int8
}

// A function or a model is written for other runtimes.
func ExampleExport() {
	layer := nn.NewLinear(tensor.NewRNG(1), 2, 3)
	x := tensor.Ones(4, 2)
	var file bytes.Buffer
	if err := onnx.Export(&file, layer.Apply, x, &onnx.ExportOptions{Params: layer, Dims: map[string][]string{"x": {"batch"}}}); err != nil {
		panic(err)
	}
	m, err := onnx.Read(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Inputs(), m.Outputs())
	for _, name := range slices.Sorted(maps.Keys(m.Params())) {
		fmt.Println(name, m.Params()[name].Shape())
	}
	// Output:
	// [x float[batch 2]] [y float[batch 3]]
	// bias [3]
	// weight [3 2]
}

func ExampleExportOptions() {
	rotate := func(in struct{ Point, Angle tensor.Tensor }) tensor.Tensor {
		sin, cos := in.Angle.Sin(), in.Angle.Cos()
		x, y := in.Point.At(0), in.Point.At(1)
		return tensor.Stack(0, x.Mul(cos).Sub(y.Mul(sin)), x.Mul(sin).Add(y.Mul(cos)))
	}
	var file bytes.Buffer
	in := struct{ Point, Angle tensor.Tensor }{tensor.New([]float32{1, 2}), tensor.Scalar(0.5)}
	if err := onnx.Export(&file, rotate, in, &onnx.ExportOptions{Name: "rotate"}); err != nil {
		panic(err)
	}
	m, err := onnx.Read(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Name, m.Inputs())
	// Output: rotate [point float[2] angle float[]]
}
