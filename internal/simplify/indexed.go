package simplify

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

var indexed = map[ir.Op][]rule{
	ir.Gather:  {gatherInwards},
	ir.Scatter: {scatterOne},
}

// gatherInwards moves a Gather through elementwise operations that combine
// one operand with others that do not vary along the gathered axis:
// Gather(x - lse) = Gather(x) - lse. Then x is stored and x - lse is not.
func gatherInwards(b *builder, n *graph.Node) *graph.Node {
	x, idx, axis := n.Operand(0), n.Operand(1), n.Ints[0]
	if x.Op.Class() != ir.Elementwise || ir.Table[x.Op].Cost > 1 && idx.Len() > x.Len() {
		return nil // an expensive operation runs once for each element, not for each index
	}
	varying := 0
	for _, s := range x.Src().All() {
		if constantAlong(s, axis) {
			continue
		}
		if s.Op == ir.Gather && idx.Len() >= x.Len() {
			return nil // it would be stored too, and a chain of gathers would move each through all operations
		}
		varying++
	}
	if varying != 1 { // without one, the indices would not be checked
		return nil
	}
	src := make([]*graph.Node, x.Src().Len())
	for i, s := range x.Src().All() {
		if constantAlong(s, axis) {
			src[i] = b.resized(s, axis, idx.Shape[axis])
		} else {
			g := graph.At(n.Site(), graph.Gather(s, idx, axis))
			g.Number = n.Number
			src[i] = b.add(g)
		}
	}
	return b.add(graph.WithShape(x, idx.Shape, src...))
}

// constantAlong reports whether n is seen not to vary along an axis.
func constantAlong(n *graph.Node, axis int) bool {
	return uniform(n) || n.Op == ir.Expand && n.Operand(0).Shape[axis] == 1
}

// resized is n, constant along an axis, with another length there.
func (b *builder) resized(n *graph.Node, axis, length int) *graph.Node {
	shape := slices.Clone(n.Shape)
	shape[axis] = length
	return b.repeated(n, shape)
}

// scatterOne compares positions where each row of a constant base gets one
// update at an index that is in range: the gradient of picking a label's
// logit.
func scatterOne(b *builder, n *graph.Node) *graph.Node {
	base, idx, upd, axis := n.Operand(0), n.Operand(1), n.Operand(2), n.Ints[0]
	if len(n.Ints) < 2 || base.Op != ir.Const || idx.Shape[axis] != 1 || n.Shape[axis] > math.MaxInt32 {
		return nil
	}
	position := b.add(graph.Cast(b.add(graph.Iota(n.Shape, axis)), idx.DType))
	hit := b.elementwise(ir.Eq, position, b.add(graph.Expand(idx, n.Shape)))
	value := b.add(graph.Expand(upd, n.Shape))
	if n.Kind != ir.Copy && (n.Kind != ir.Add || !isConst(base, 0)) {
		value = b.elementwise(n.Kind, base, value)
	}
	return b.elementwise(ir.Where, hit, value, base)
}
