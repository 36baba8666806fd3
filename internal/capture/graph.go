package capture

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// Graph returns the outputs as simplified nodes without data, and the leaves that they fall back
// to: see compile.Graph. Nothing else copies the graph.
func (c *Capture) Graph() (roots, old []*graph.Node) {
	scalars, inside := 0, 0
	var src []*graph.Node
	nodes := simplify.Build(len(c.nodes), func(i int, done []*graph.Node) (*graph.Node, []*graph.Node) {
		n := &c.nodes[i]
		switch {
		case n.leaf >= 0:
			return c.Leaves[n.leaf].node(int(n.leaf)), nil
		case n.Op == ir.Scalar:
			scalars++
			return graph.Param(n.DType, n.Shape, scalars-1), nil
		case n.Op.Class() == ir.Source:
			return graph.WithOperands(n.Node), nil
		}
		src = src[:0]
		for _, s := range c.src(n) {
			src = append(src, done[s])
		}
		if n.Op == ir.HostCall {
			inside++
			return graph.CollectiveIn(n.Node, inside-1), src
		}
		return n.Node, src
	})
	roots = make([]*graph.Node, len(c.Outputs))
	if c.fallsBack {
		old = make([]*graph.Node, len(c.Outputs))
	}
	for i, o := range c.Outputs {
		roots[i] = nodes[o.number]
		if c.fallsBack && o.Old >= 0 {
			old[i] = nodes[o.Old]
		}
	}
	return roots, old
}

// node returns the leaf as the index-th of a graph to be compiled.
func (l *Leaf) node(index int) *graph.Node {
	typ, ints := l.DType, append(make([]int, 0, 1+len(l.shape)), int(l.align()))
	if typ.Format() != nil {
		ints[0] += int(typ) << 1
		typ = typ.ComputeType()
	}
	for k, s := range l.View.Strides {
		if l.shape[k] == 1 {
			s = 0
		}
		ints = append(ints, s)
	}
	return graph.Leaf(typ, l.shape, index, ints)
}
