package simplify

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// reduceNothing drops axes of length 1 and folds reductions of no elements.
func reduceNothing(b *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	if x.Len() == 0 {
		return b.add(graph.Const(n.DType, ir.Identity(n.Op, n.DType), n.Shape))
	}
	var axes []int
	for _, a := range n.Ints {
		if x.Shape[a] != 1 {
			axes = append(axes, a)
		}
	}
	switch {
	case len(axes) == len(n.Ints) && len(axes) > 0:
		return nil
	case len(axes) > 0:
		return b.add(graph.Reduce(n.Op, x, axes))
	case n.Op == ir.ArgMax:
		return b.add(graph.Const(n.DType, 0, n.Shape))
	}
	return b.add(graph.Cast(x, n.DType))
}

// reduceUniform replaces a reduction of elements that are all equal.
func reduceUniform(b *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	if !uniform(x) {
		return nil
	}
	switch n.Op {
	case ir.Sum:
		one := b.reshaped(x, n.Shape)
		return b.times(b.add(graph.Cast(one, n.DType)), x.Len()/n.Len())
	case ir.ReduceMax:
		return b.reshaped(x, n.Shape)
	}
	return nil
}

// times is x·k. It computes halves in float32, because k may not be a half.
func (b *builder) times(x *graph.Node, k int) *graph.Node {
	wide := x.DType.ComputeType()
	y := b.elementwise(ir.Mul, b.cast(x, wide), b.add(graph.Const(wide, ir.Int(wide, int64(k)), x.Shape)))
	return b.cast(y, x.DType)
}

func (b *builder) cast(x *graph.Node, d ir.DType) *graph.Node { return b.add(graph.Cast(x, d)) }

// reduceExpanded removes, from a reduction, axes along which all elements are equal.
func reduceExpanded(b *builder, n *graph.Node) *graph.Node {
	expand := n.Operand(0)
	if expand.Op != ir.Expand || n.Op != ir.Sum && n.Op != ir.ReduceMax {
		return nil
	}
	x := expand.Operand(0)
	shape, axes, times := slices.Clone(expand.Shape), []int(nil), 1
	for _, a := range n.Ints {
		if x.Shape[a] == 1 {
			times *= expand.Shape[a]
			shape[a] = 1
		} else {
			axes = append(axes, a)
		}
	}
	if times == 1 {
		return nil
	}
	y := b.add(graph.Expand(x, shape))
	if len(axes) > 0 {
		y = b.add(graph.Reduce(n.Op, y, axes))
	}
	if n.Op == ir.ReduceMax {
		return y
	}
	return b.times(b.add(graph.Cast(y, n.DType)), times)
}

// reduceOnce reduces a tensor that repeats along an axis that stays once, and repeats the result. The cotangent of a
// sum makes such reductions of the other factor of a product.
func reduceOnce(b *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	once := slices.Clone(x.Shape)
	for a, d := range x.Shape {
		if d > 1 && !slices.Contains(n.Ints, a) && repeats(x, a, 4) {
			once[a] = 1
		}
	}
	if slices.Equal(once, x.Shape) {
		return nil
	}
	y := b.repeated(x, once)
	once = slices.Clone(once)
	for _, a := range n.Ints {
		once[a] = 1
	}
	return b.add(graph.Expand(b.add(graph.WithShape(n, once, y)), n.Shape))
}

// repeats reports whether elementwise work, nested less than depth deep, is seen to have equal elements along an axis.
func repeats(n *graph.Node, axis, depth int) bool {
	if !varies(n, axis) {
		return true
	}
	if depth == 0 || n.Op.Class() != ir.Elementwise || n.Src().Len() == 0 {
		return false
	}
	for _, s := range n.Src().All() {
		if !repeats(s, axis, depth-1) {
			return false
		}
	}
	return true
}

// repeated is n with other lengths of axes along which it repeats.
func (b *builder) repeated(n *graph.Node, shape []int) *graph.Node {
	switch {
	case uniform(n):
		return b.reshaped(n, shape)
	case n.Op == ir.Expand:
		return b.add(graph.Expand(n.Operand(0), shape))
	case n.Op == ir.Permute:
		inner := slices.Clone(shape)
		for i, a := range n.Ints {
			inner[a] = shape[i]
		}
		return b.add(graph.Permute(b.repeated(n.Operand(0), inner), n.Ints))
	}
	var src []*graph.Node
	for _, s := range n.Src().All() {
		src = append(src, b.repeated(s, shape))
	}
	return b.add(graph.WithShape(n, shape, src...))
}

// sumProducts splits a sum of products into contractions:
// Sum(a·b + c·d) = Sum(a·b) + Sum(c·d). Forward-mode and higher-order derivatives
// of matrix products are such sums. This changes the order of additions. It leaves sums of
// halves as they are, because a sum that is stored may overflow.
func sumProducts(b *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	if n.Op != ir.Sum || n.DType != x.DType || n.DType.IsHalf() || x.Op != ir.Add && x.Op != ir.Sub || !contracts(x, n.Ints, 8) {
		return nil
	}
	var sums []*graph.Node
	for _, s := range x.Src().All() {
		sums = append(sums, b.add(graph.Reduce(ir.Sum, s, n.Ints)))
	}
	return b.elementwise(x.Op, sums...)
}

// contracts reports whether the sum of x over axes is a contraction: x is a product of
// two factors, each of which varies along an axis that is not summed and along which the
// other factor does not vary. A sum of such products, nested less than depth deep, counts too.
func contracts(x *graph.Node, axes []int, depth int) bool {
	switch {
	case depth == 0:
		return false
	case x.Op == ir.Add || x.Op == ir.Sub:
		return contracts(x.Operand(0), axes, depth-1) && contracts(x.Operand(1), axes, depth-1)
	case x.Op != ir.Mul:
		return false
	}
	var own [2]bool
	for a, d := range x.Shape {
		if d == 1 || slices.Contains(axes, a) {
			continue
		}
		l, r := varies(x.Operand(0), a), varies(x.Operand(1), a)
		own[0] = own[0] || l && !r
		own[1] = own[1] || r && !l
	}
	return own[0] && own[1]
}

// varies reports whether n may vary along an axis.
func varies(n *graph.Node, axis int) bool {
	for n.Op == ir.Permute {
		n, axis = n.Operand(0), n.Ints[axis]
	}
	return !constantAlong(n, axis) && !(n.Op == ir.Buffer && n.Ints[1+axis] == 0)
}
