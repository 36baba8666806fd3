package export_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/ops"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// check tests the rules of onnx.checker, for a graph and the graphs of its nodes:
//
//   - the model has a version of the format, of which the opset is a part, a producer and one operator set;
//   - a graph has a name, and its inputs and outputs have names, types and shapes;
//   - a name is defined once: as an input, an initializer or an output of a node, of this graph or one around it;
//   - nodes are in topological order: a name that they read is defined before;
//   - a node's operator is one of the set, at its version, and it has inputs, but for none, and outputs;
//   - an attribute has a name, once, a type and the field of its type;
//   - an output of the graph is defined in it; a value_info is of a defined name, with a type and a shape;
//   - an initializer has a type, and as many bytes as its shape asks for.
func check(t *testing.T, b []byte) {
	t.Helper()
	m, err := proto.Parse(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if m.IRVersion != 10 || len(m.Opsets) != 1 || m.Opsets[0] != (proto.Opset{Version: 21}) || m.Producer == "" {
		t.Errorf("a model of format %d, %v, by %q", m.IRVersion, m.Opsets, m.Producer)
	}
	checkGraph(t, m.Graph, map[string]bool{})
}

func checkGraph(t *testing.T, g *proto.Graph, outer map[string]bool) {
	t.Helper()
	if g.Name == "" {
		t.Error("a graph without a name")
	}
	defined, here := map[string]bool{}, map[string]bool{}
	for name := range outer {
		defined[name] = true
	}
	define := func(name string) {
		if name == "" || defined[name] {
			t.Errorf("%q is defined twice, or empty", name)
		}
		defined[name], here[name] = true, true
	}
	for _, in := range g.Inputs {
		define(in.Name)
	}
	for _, x := range g.Initializers {
		define(x.Name)
		if _, err := op.Decode(x, nil); err != nil {
			t.Errorf("initializer %q: %v", x.Name, err)
		}
	}
	for _, n := range g.Nodes {
		known := slices.ContainsFunc(ops.All(), func(r op.Row) bool {
			return r.Domain == "" && r.Name == n.Op && r.Since <= 21 && (r.Until == 0 || r.Until >= 21)
		})
		if !known || n.Name == "" || len(n.Inputs) == 0 || len(n.Outputs) == 0 {
			t.Errorf("node %q of %s with %d inputs and %d outputs", n.Name, n.Op, len(n.Inputs), len(n.Outputs))
		}
		for _, name := range n.Inputs {
			if !defined[name] {
				t.Errorf("node %q of %s reads %q, which is not defined before", n.Name, n.Op, name)
			}
		}
		attrs := map[string]bool{}
		for _, a := range n.Attrs {
			if a.Name == "" || attrs[a.Name] || a.Type == 0 || (a.Type == proto.AttrGraph) != (a.G != nil) || (a.Type == proto.AttrInts) != (len(a.Ints) > 0) {
				t.Errorf("node %q of %s has attribute %+v", n.Name, n.Op, a)
			}
			attrs[a.Name] = true
			if a.G != nil {
				checkGraph(t, a.G, defined)
			}
		}
		for _, name := range n.Outputs {
			define(name)
		}
	}
	for _, list := range [][]*proto.ValueInfo{g.Inputs, g.Outputs, g.Infos} {
		for _, x := range list {
			if !here[x.Name] || x.Type == nil || x.Type.Kind != proto.KindTensor || !op.Elem(x.Type.Elem).Valid() || !x.Type.HasShape {
				t.Errorf("%q has type %+v, or is not defined", x.Name, x.Type)
			}
		}
	}
}
