package onnx

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// A sketch is a model of a test.
type sketch struct {
	inputs, outputs []*proto.ValueInfo
	nodes           []*proto.Node
	consts          []*proto.Tensor
	sparse          []*proto.Sparse
	functions       []*proto.Function
	opset           int64  // 0: 20
	domain          string // of further operators, of version 1
	name            string // "": test
}

// float is an input or result of floats; a length of -1 has the name N.
func float(name string, lengths ...int64) *proto.ValueInfo { return typed(name, op.Float, lengths...) }

func typed(name string, e op.Elem, lengths ...int64) *proto.ValueInfo {
	t := &proto.Type{Kind: proto.KindTensor, Elem: int64(e), HasShape: true}
	for _, n := range lengths {
		d := proto.Dim{Value: n}
		if n < 0 {
			d.Param = "N"
		}
		t.Dims = append(t.Dims, d)
	}
	return &proto.ValueInfo{Name: name, Type: t}
}

// call is a node with one result.
func call(name, out string, in ...string) *proto.Node {
	return &proto.Node{Op: name, Inputs: in, Outputs: []string{out}}
}

func constOf(name string, t tensor.Tensor) *proto.Tensor {
	return &proto.Tensor{Name: name, Decoded: op.Of(t)}
}

func (s sketch) bytes(t testing.TB) []byte {
	t.Helper()
	m := &proto.Model{IRVersion: 10, Opsets: []proto.Opset{{Version: s.opset}}, Functions: s.functions,
		Graph: &proto.Graph{Name: cmp.Or(s.name, "test"), Nodes: s.nodes, Initializers: s.consts, Sparse: s.sparse, Inputs: s.inputs, Outputs: s.outputs}}
	if s.opset == 0 {
		m.Opsets[0].Version = 20
	}
	if len(s.functions) > 0 {
		m.Opsets = append(m.Opsets, proto.Opset{Domain: "test", Version: 1})
	}
	if s.domain != "" {
		m.Opsets = append(m.Opsets, proto.Opset{Domain: s.domain, Version: 1})
	}
	var b bytes.Buffer
	encode := func(t *proto.Tensor) error {
		if t.Decoded == nil { // a test's own
			return nil
		}
		return op.Encode(t)
	}
	if err := proto.Encode(&b, m, encode); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s sketch) model(t testing.TB) *Model {
	t.Helper()
	m, err := Read(bytes.NewReader(s.bytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
