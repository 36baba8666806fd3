package onnx

import (
	"context"
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Nodes may come before those that they read, by their graphs too. Names of a graph are its own.
func TestOrder(t *testing.T) {
	y := []*proto.ValueInfo{{Name: "r"}}
	branch := func(nodes ...*proto.Node) *proto.Attr {
		return &proto.Attr{Type: proto.AttrGraph, G: &proto.Graph{Name: "g", Outputs: y, Nodes: nodes}}
	}
	choose := &proto.Node{Op: "If", Inputs: []string{"go"}, Outputs: []string{"b"},
		Attrs: []*proto.Attr{branch(call("Add", "own", "a", "x"), call("Neg", "r", "own")), branch(call("Neg", "r", "x"))}}
	choose.Attrs[0].Name, choose.Attrs[1].Name = "then_branch", "else_branch"
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2), typed("go", op.Bool)}, outputs: []*proto.ValueInfo{float("y", 2)},
		nodes: []*proto.Node{call("Abs", "y", "b"), choose, call("Mul", "own", "b", "b"), call("Mul", "a", "c", "two"), call("Add", "c", "x", "two")}}
	s.consts = []*proto.Tensor{constOf("two", tensor.New([]float32{2, 2}))}
	out, err := s.model(t).Run(context.Background(), map[string]tensor.Tensor{"x": tensor.New([]float32{1, 3}), "go": tensor.New([]bool{true}).Reshape()})
	if got := fmt.Sprint(out["y"]); err != nil || got != "[7 13]" {
		t.Errorf("%s, %v, want [7 13]", got, err)
	}
}
