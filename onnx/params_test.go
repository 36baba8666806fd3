package onnx

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// line is y = relu(x·w + b), with a scalar that is a setting.
var line = sketch{
	name:   "line",
	inputs: []*proto.ValueInfo{float("x", -1, 2)}, outputs: []*proto.ValueInfo{float("y", -1, 1)},
	nodes: []*proto.Node{call("MatMul", "a", "x", "w"), call("Add", "c", "a", "b"), call("Mul", "d", "c", "scale"), call("Relu", "y", "d")},
	consts: []*proto.Tensor{
		constOf("w", tensor.New([]float32{0.5, 0.25}, 2, 1)), constOf("b", tensor.New([]float32{0.125})), constOf("scale", tensor.FromBytes(tensor.Float32, nil, []byte{0, 0, 128, 63})),
	},
}

// A model learns by the gradient of its parameters, and its file has the result.
func TestTrain(t *testing.T) {
	m := line.model(t)
	params := m.Params()
	if len(params) != 2 {
		t.Fatalf("parameters %v, want w and b", params)
	}
	x := tensor.New([]float32{1, 0, 0, 1, 1, 1}, 3, 2)
	want := tensor.New([]float32{3, 5, 7}, 3, 1) // 2 and 4, and 1
	loss := func(p map[string]tensor.Tensor) tensor.Tensor {
		return m.Apply(p, map[string]tensor.Tensor{"x": x})["y"].Sub(want).Square().Mean()
	}
	step := grad.Jit(func(p map[string]tensor.Tensor) map[string]tensor.Tensor {
		_, g := grad.ValueAndGrad(loss)(p)
		next := map[string]tensor.Tensor{}
		for name, v := range p {
			next[name] = v.Sub(g[name].Mul(0.3))
		}
		return next
	})
	for range 200 {
		params = step(params)
	}
	trained, err := m.With(params)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trained.onnx")
	if err := trained.Save(path); err != nil {
		t.Fatal(err)
	}
	saved, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{trained, saved} {
		out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := tensor.AllClose(out["y"], want, 1e-3, 1e-3); !ok || err != nil {
			t.Errorf("%v, want %v", out["y"], want)
		}
	}
	if before, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": x}); err != nil || fmt.Sprint(before["y"]) != "[[0.625]\n [0.375]\n [0.875]]" {
		t.Errorf("the model that was trained has changed: %v, %v", before, err)
	}
}

// Parameters that do not fit are an error.
func TestParamErrors(t *testing.T) {
	m := line.model(t)
	for _, p := range []map[string]tensor.Tensor{
		{"v": tensor.New([]float32{1})},
		{"b": tensor.New([]float32{1, 2})},
		{"b": tensor.New([]float64{1})},
		{"b": {}},
	} {
		if _, err := m.With(p); err == nil {
			t.Errorf("%v: no error", p)
		}
		if err := tensor.Try(func() { m.Apply(p, map[string]tensor.Tensor{"x": tensor.New([]float32{1, 2}, 1, 2)}) }); err == nil {
			t.Errorf("Apply of %v: no error", p)
		}
	}
}

// The file of the examples is line.
func TestLine(t *testing.T) {
	want := line.bytes(t)
	const path = "testdata/line.onnx"
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		if os.WriteFile(path, want, 0o644) == nil {
			t.Errorf("%s was not the model of this test, and has been written anew", path)
		}
	}
}
