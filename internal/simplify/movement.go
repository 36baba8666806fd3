package simplify

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// operand looks through an alias.
func operand(_ *builder, n *graph.Node) *graph.Node { return n.Operand(0) }

// movements are the rules of every movement of one operand, in order.
var movements = []rule{same, moveUniform, compose}

// same drops a movement that leaves every element where it is.
func same(_ *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	if !slices.Equal(x.Shape, n.Shape) {
		return nil
	}
	rowMajor := shape.RowMajor(x.Shape)
	m := shape.Move{Op: n.Op, Ints: n.Ints, From: x.Shape, To: n.Shape}
	if v, ok := m.View(shape.Strided{Strides: rowMajor}, nil); ok && v.Offset == 0 && slices.Equal(v.Strides, rowMajor) {
		return x
	}
	return nil
}

// moveUniform moves equal elements: only the shape changes.
func moveUniform(b *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	if !uniform(x) || shape.Movements[n.Op].Fills && (x.Op != ir.Const || x.Num != n.Num) {
		return nil
	}
	return b.reshaped(x, n.Shape)
}

// squeezeExpand moves a Reshape that adds or drops axes of length 1 before an Expand, so that a kernel which
// reads the result finds the operand in memory.
func squeezeExpand(b *builder, n *graph.Node) *graph.Node {
	expand := n.Operand(0)
	if expand.Op != ir.Expand {
		return nil
	}
	x, to := expand.Operand(0), slices.Clone(n.Shape)
	axis := 0 // of the expanded tensor
	next := func() {
		for axis < len(expand.Shape) && expand.Shape[axis] == 1 {
			axis++
		}
	}
	for i, d := range to {
		if d == 1 {
			continue
		}
		if next(); axis == len(expand.Shape) || expand.Shape[axis] != d {
			return nil
		}
		to[i] = x.Shape[axis]
		axis++
	}
	if next(); axis < len(expand.Shape) {
		return nil
	}
	return b.add(graph.Expand(b.add(graph.Reshape(x, to)), n.Shape))
}

// compose merges two movements of one operation.
func compose(b *builder, n *graph.Node) *graph.Node {
	x, row := n.Operand(0), shape.Movements[n.Op]
	if x.Op != n.Op || row.Compose == nil {
		return nil
	}
	outer := shape.Move{Op: n.Op, Ints: n.Ints, From: x.Shape, To: n.Shape}
	inner := shape.Move{Op: n.Op, Ints: x.Ints, From: x.Operand(0).Shape, To: x.Shape}
	m := graph.WithOperands(n, x.Operand(0))
	m.Ints = row.Compose(outer, inner)
	return b.add(m)
}
