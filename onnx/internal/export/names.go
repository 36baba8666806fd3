package export

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// names has the names of a model's values.
type names struct {
	used map[string]bool
	next map[string]int // the number after the last one of a stem
}

// namesOf returns names, of which the inputs and results have theirs.
func namesOf(f *Function) *names {
	s := &names{map[string]bool{}, map[string]int{}}
	for _, x := range slices.Concat(f.Inputs, f.Results) {
		s.used[x.Name] = true
	}
	return s
}

// unused returns name, or one with a number that nothing has.
func (s *names) unused(name string) string {
	try := name
	for s.used[try] {
		s.next[name]++
		try = fmt.Sprintf("%s_%d", name, s.next[name])
	}
	s.used[try] = true
	return try
}

// graph returns the nodes that results need, with their names.
func (w *writer) graph(name string, inputs, results []*value, s *names) *proto.Graph {
	w.need(results)
	g := &proto.Graph{Name: name}
	for _, v := range w.stored {
		if v.needed {
			if v.name == "" {
				v.name = "constant"
			}
			v.name = s.unused(v.name)
			g.Initializers = append(g.Initializers, &proto.Tensor{Name: v.name, Decoded: v.elements})
		}
	}
	g.Inputs, g.Outputs = infos(inputs), infos(results)
	w.nodes(g, results, s)
	return g
}

// need marks the values that results depend on.
func (w *writer) need(results []*value) {
	for _, v := range results {
		v.needed = true
	}
	for _, c := range slices.Backward(w.calls) {
		if !c.needed() {
			continue
		}
		for _, v := range c.in {
			v.needed = true
		}
		if c.body != nil {
			c.body.need(c.body.results)
		}
	}
}

func (c *call) needed() bool {
	return slices.ContainsFunc(c.out, func(v *value) bool { return v != nil && v.needed })
}

// nodes adds the nodes that are needed to a graph.
func (w *writer) nodes(g *proto.Graph, results []*value, s *names) {
	for _, c := range w.calls {
		if !c.needed() {
			continue
		}
		if c.refused != nil {
			panic(*c.refused)
		}
		n := &proto.Node{Op: c.op, Attrs: c.attrs}
		if c.body != nil {
			n.Attrs = append(slices.Clone(n.Attrs), c.body.attr(s))
		}
		for _, v := range c.in {
			n.Inputs = append(n.Inputs, v.name)
		}
		for _, v := range c.out {
			switch {
			case v == nil:
				n.Outputs = append(n.Outputs, s.unused(c.op))
				continue
			case v.name == "":
				v.name = s.unused(c.op)
			}
			n.Outputs = append(n.Outputs, v.name)
			if !slices.Contains(results, v) {
				g.Infos = append(g.Infos, info(v))
			}
		}
		n.Name = n.Outputs[len(n.Outputs)-1]
		g.Nodes = append(g.Nodes, n)
	}
}

// attr returns the body as an attribute of its Scan.
func (b *body) attr(s *names) *proto.Attr {
	for _, v := range slices.Concat(b.inputs, b.results) {
		if v.name == "" || v.name == "result" {
			v.name = s.unused("step")
		}
	}
	g := &proto.Graph{Name: "body", Inputs: infos(b.inputs), Outputs: infos(b.results)}
	b.nodes(g, b.results, s)
	return &proto.Attr{Name: "body", Type: proto.AttrGraph, G: g}
}

func infos(list []*value) []*proto.ValueInfo {
	var out []*proto.ValueInfo
	for _, v := range list {
		out = append(out, info(v))
	}
	return out
}

func info(v *value) *proto.ValueInfo {
	t := &proto.Type{Kind: proto.KindTensor, Elem: int64(op.Elem(v.elem)), HasShape: true}
	for _, d := range v.shape {
		t.Dims = append(t.Dims, proto.Dim{Value: int64(d)})
	}
	return &proto.ValueInfo{Name: v.name, Type: t}
}
