package exec

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// graph returns the outputs as simplified nodes without data, and the leaves that they fall back
// to: see compile.Graph. Nothing else copies the graph.
func (c *capture) graph() (roots, old []*graph.Node) {
	scalars := 0
	var src []*graph.Node
	nodes := simplify.Build(len(c.nodes), func(i int, done []*graph.Node) (*graph.Node, []*graph.Node) {
		n := &c.nodes[i]
		switch {
		case n.leaf >= 0:
			return c.leaves[n.leaf].node(int(n.leaf)), nil
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
		return n.Node, src
	})
	roots = make([]*graph.Node, len(c.outputs))
	if c.fallsBack {
		old = make([]*graph.Node, len(c.outputs))
	}
	for i, o := range c.outputs {
		roots[i] = nodes[o.number]
		if c.fallsBack && o.old >= 0 {
			old[i] = nodes[o.old]
		}
	}
	return roots, old
}

// node returns the leaf as the index-th of a graph to be compiled.
func (l *leaf) node(index int) *graph.Node {
	ints := append(make([]int, 0, 1+len(l.shape)), l.align())
	for k, s := range l.view.Strides {
		if l.shape[k] == 1 {
			s = 0
		}
		ints = append(ints, s)
	}
	return graph.Leaf(l.dtype, l.shape, index, ints)
}
