package modeltest

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A model with attributes of all types is read back, and computes.
func TestWrite(t *testing.T) {
	m, err := onnx.Open(Model{
		Inputs:  []Value{{"x", Float, []int{-1, 2}}},
		Outputs: []Value{{"y", Float, []int{-1, 2}}, {"label", String, []int{-1}}},
		Nodes: []Node{
			Call("LeakyRelu", "a", "x").With("alpha", float32(0.5)),
			Call("Add", "b", "a", "c"),
			Call("Transpose", "t", "b").With("perm", []int{1, 0}),
			Call("Flatten", "f", "t").With("axis", 1),
			Call("Transpose", "y", "f"),
			ML("ArrayFeatureExtractor", "first", "y", "zero"),
			Call("Cast", "n", "first").With("to", int(Int64)),
			Call("Flatten", "flat", "n").With("axis", 0),
			Call("Squeeze", "key", "flat"),
			ML("LabelEncoder", "label", "key").With("keys_int64s", []int{0, 2}).With("values_strings", []string{"none", "two"}).With("default_string", "?"),
		},
		Constants: map[string]tensor.Tensor{"c": tensor.New([]float32{1, 10}, 2), "zero": tensor.New([]int64{0}, 1)},
	}.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New([]float32{-2, -4, 1, 3}, 2, 2)
	out, err := m.RunValues(t.Context(), map[string]onnx.Value{"x": {Kind: onnx.TensorKind, Elem: Float, Tensor: x}})
	if err != nil {
		t.Fatal(err)
	}
	y, err := tensor.Data[float32](out["y"].Tensor)
	if err != nil || !slices.Equal(y, []float32{0, 8, 2, 13}) || !slices.Equal(out["label"].Strings, []string{"none", "two"}) {
		t.Errorf("y is %v, %v; labels are %q", y, err, out["label"].Strings)
	}
}

// Constants in a file of their own are read from it.
func TestApart(t *testing.T) {
	path := Model{
		Inputs:  []Value{{"x", Float, []int{2}}},
		Outputs: []Value{{"y", Float, []int{2}}},
		Nodes:   []Node{Call("Mul", "p", "x", "a"), Call("Add", "y", "p", "b")},
		Constants: map[string]tensor.Tensor{
			"a": tensor.New([]float32{2, 3}, 2), "b": tensor.New([]float32{0.5, -1}, 2),
		},
		Apart: "weights.data",
	}.Write(t)
	m, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(t.Context(), map[string]tensor.Tensor{"x": tensor.New([]float32{1, 10}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if y, err := tensor.Data[float32](out["y"]); err != nil || !slices.Equal(y, []float32{2.5, 29}) {
		t.Errorf("y is %v, %v", y, err)
	}
}
