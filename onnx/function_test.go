package onnx

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// functionOf is a function of a test, from a to c.
func functionOf(name string, nodes ...*proto.Node) *proto.Function {
	return &proto.Function{Name: name, Domain: "test", Inputs: []string{"a"}, Outputs: []string{"c"}, Nodes: nodes,
		Opsets: []proto.Opset{{Domain: "test", Version: 1}, {Version: 20}}}
}

// use is a call of it.
func use(name, out, in string, attrs ...*proto.Attr) *proto.Node {
	return &proto.Node{Op: name, Domain: "test", Inputs: []string{in}, Outputs: []string{out}, Attrs: attrs}
}

// An attribute goes through functions that name it differently.
func TestFunctionAttributes(t *testing.T) {
	ref := func(name, of string) *proto.Attr { return &proto.Attr{Name: name, Ref: of, Type: proto.AttrFloat} }
	relu := call("LeakyRelu", "c", "a")
	relu.Attrs = []*proto.Attr{ref("alpha", "slope")}
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)},
		nodes:     []*proto.Node{use("outer", "y", "x", &proto.Attr{Name: "beta", Type: proto.AttrFloat, F: 0.5})},
		functions: []*proto.Function{functionOf("outer", use("inner", "c", "a", ref("slope", "beta"))), functionOf("inner", relu)}}
	out, err := s.model(t).Run(context.Background(), map[string]tensor.Tensor{"x": tensor.New([]float32{-2, 2})})
	if got := fmt.Sprint(out["y"]); err != nil || got != "[-1 2]" {
		t.Errorf("%s, %v, want [-1 2]", got, err)
	}
}

// A default of an attribute may be a tensor or a graph.
func TestFunctionDefaults(t *testing.T) {
	constant := &proto.Node{Op: "Constant", Outputs: []string{"k"}, Attrs: []*proto.Attr{{Name: "value", Ref: "number", Type: proto.AttrTensor}}}
	twice := &proto.Graph{Name: "twice", Nodes: []*proto.Node{call("Add", "w", "v", "v")}, Outputs: []*proto.ValueInfo{{Name: "w"}}, Inputs: []*proto.ValueInfo{{Name: "v"}}}
	scan := call("Scan", "c", "b")
	scan.Attrs = []*proto.Attr{attrInt("num_scan_inputs", 1), {Name: "body", Ref: "body", Type: proto.AttrGraph}}
	f := functionOf("f", constant, call("Mul", "b", "a", "k"), scan)
	f.Defaults = []*proto.Attr{{Name: "number", Type: proto.AttrTensor, T: constOf("", tensor.New([]float32{3}))}, {Name: "body", Type: proto.AttrGraph, G: twice}}
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{use("f", "y", "x")}, functions: []*proto.Function{f}}
	path := filepath.Join(t.TempDir(), "f.onnx")
	if err := os.WriteFile(path, s.bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // interpreted, and recorded
		out, err := m.Run(t.Context(), map[string]tensor.Tensor{"x": tensor.New([]float32{1, 2})})
		if got := fmt.Sprint(out["y"]); err != nil || got != "[6 12]" {
			t.Errorf("%s, %v, want [6 12]", got, err)
		}
	}
}

// A function that calls itself in the default of an attribute is an error.
func TestFunctionDefaultsCalls(t *testing.T) {
	inner := &proto.Graph{Name: "inner", Nodes: []*proto.Node{use("f", "w", "v")}, Outputs: []*proto.ValueInfo{{Name: "w"}}, Inputs: []*proto.ValueInfo{{Name: "v"}}}
	scan := call("Scan", "c", "a")
	scan.Attrs = []*proto.Attr{attrInt("num_scan_inputs", 1), {Name: "body", Ref: "body", Type: proto.AttrGraph}}
	f := functionOf("f", scan)
	f.Defaults = []*proto.Attr{{Name: "body", Type: proto.AttrGraph, G: inner}}
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{use("f", "y", "x")}, functions: []*proto.Function{f}}
	if _, err := Read(bytes.NewReader(s.bytes(t))); err == nil || !strings.Contains(err.Error(), "calls itself") {
		t.Errorf("%v, want an error of a function that calls itself", err)
	}
}

// A graph that runs itself, as it refers to the attribute that it is, is an error.
func TestFunctionGraphsRunThemselves(t *testing.T) {
	scan := func(out, in string) *proto.Node {
		n := call("Scan", out, in)
		n.Attrs = []*proto.Attr{attrInt("num_scan_inputs", 1), {Name: "body", Ref: "body", Type: proto.AttrGraph}}
		return n
	}
	inner := &proto.Graph{Name: "inner", Inputs: []*proto.ValueInfo{{Name: "v"}}, Outputs: []*proto.ValueInfo{{Name: "w"}},
		Nodes: []*proto.Node{call("Unsqueeze", "u", "v", "zero"), scan("t", "u"), call("Squeeze", "w", "t")}, Initializers: []*proto.Tensor{constOf("zero", tensor.New([]int64{0}))}}
	body := &proto.Attr{Name: "body", Type: proto.AttrGraph, G: inner}
	given, byDefault := use("f", "y", "x", body), use("f", "y", "x")
	for _, n := range []*proto.Node{given, byDefault} {
		f := functionOf("f", scan("c", "a"))
		f.Defaults = []*proto.Attr{body}
		s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{n}, functions: []*proto.Function{f}}
		_, err := s.model(t).Run(t.Context(), map[string]tensor.Tensor{"x": tensor.New([]float32{1, 2})})
		if err == nil || !strings.Contains(err.Error(), "deep") {
			t.Errorf("%v, want an error of graphs that run each other", err)
		}
	}
}

// A small file whose functions call each other twice is read in little time, and a long chain of calls is an error.
func TestFunctionCalls(t *testing.T) {
	read := func(count int, body func(of string) []*proto.Node) error {
		s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}}
		s.functions = []*proto.Function{functionOf("f0", call("Neg", "c", "a"))}
		for k := range count {
			s.functions = append(s.functions, functionOf(fmt.Sprint("f", k+1), body(fmt.Sprint("f", k))...))
		}
		s.nodes = []*proto.Node{use(fmt.Sprint("f", count), "y", "x")}
		_, err := Read(bytes.NewReader(s.bytes(t)))
		return err
	}
	if err := read(100, func(of string) []*proto.Node { return []*proto.Node{use(of, "b", "a"), use(of, "c", "b")} }); err != nil {
		t.Error(err)
	}
	err := read(200, func(of string) []*proto.Node { return []*proto.Node{use(of, "c", "a")} })
	if err == nil || !strings.Contains(err.Error(), "functions call functions more than 128 deep") {
		t.Errorf("%v", err)
	}
}

// Sequences and results of loops may be of strings.
func TestStringsInSequences(t *testing.T) {
	words := func(name string) *proto.ValueInfo { return typed(name, op.String, -1) }
	body := &proto.Graph{Name: "body", Nodes: []*proto.Node{call("Identity", "on", "going"), call("StringConcat", "pair", "word", "word")},
		Inputs:  []*proto.ValueInfo{{Name: "i"}, {Name: "going"}},
		Outputs: []*proto.ValueInfo{{Name: "on"}, typed("pair", op.String, 1)}}
	loop := call("Loop", "pairs", "n", "")
	loop.Attrs = []*proto.Attr{{Name: "body", Type: proto.AttrGraph, G: body}}
	m := sketch{inputs: []*proto.ValueInfo{words("word"), typed("n", op.Int64)}, outputs: []*proto.ValueInfo{words("joined"), words("pairs")}, nodes: []*proto.Node{
		call("SequenceConstruct", "s", "word", "word"), {Op: "ConcatFromSequence", Inputs: []string{"s"}, Outputs: []string{"joined"}, Attrs: []*proto.Attr{attrInt("axis", 0)}}, loop,
	}}.model(t)
	for n, want := range map[int64]string{2: `["a" "a"] string[2 1] ["aa" "aa"]`, 0: `["a" "a"] string[0 1] []`} {
		out, err := m.RunValues(t.Context(), map[string]Value{"word": op.Texts([]string{"a"}, 1), "n": op.Of(tensor.New([]int64{n}).Reshape())})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(out["joined"]) + " " + out["pairs"].String() + " " + text(out["pairs"]); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
