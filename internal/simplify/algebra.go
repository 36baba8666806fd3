package simplify

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// algebra holds identities that are exact for every value, NaN, infinities
// and signed zeros included.
var algebra = map[ir.Op][]rule{
	ir.Neg: {negNeg},
	ir.Not: {notNot},
	ir.Add: {addZero, addNeg},
	ir.Sub: {subZero, subNeg},
	ir.Mul: {mulOne, mulMinusOne},
	ir.Div: {divOne},
	ir.Where: {
		whereConst, whereSame,
	},
	ir.And: {andSame},
	ir.Or:  {andSame},
}

// foldConstants computes an operation on constants. A Cast that would round a float32 to 16 bits stays:
// kernels compute in float32, and keep its digits.
func foldConstants(b *builder, n *graph.Node) *graph.Node {
	for _, s := range n.Src().All() {
		if s.Op != ir.Const {
			return nil
		}
	}
	var scalars []*graph.Node
	for _, s := range n.Src().All() {
		scalars = append(scalars, graph.Const(s.DType, s.Num, nil))
	}
	c := graph.WithShape(n, nil, scalars...)
	values, err := interp.Eval([]*graph.Node{c}, nil)
	if err != nil {
		return nil
	}
	folded := values[0].Elems[0]
	if n.Op == ir.Cast && n.DType.IsHalf() && folded.Float64(n.DType) != scalars[0].Num.Float64(scalars[0].DType) {
		return nil
	}
	return b.add(graph.Const(n.DType, folded, n.Shape))
}

func negNeg(_ *builder, n *graph.Node) *graph.Node {
	if x := n.Operand(0); x.Op == ir.Neg {
		return x.Operand(0)
	}
	return nil
}

func notNot(_ *builder, n *graph.Node) *graph.Node {
	if x := n.Operand(0); x.Op == ir.Not {
		return x.Operand(0)
	}
	return nil
}

// addZero: x + 0 is x, but -0 + 0 is 0.
func addZero(_ *builder, n *graph.Node) *graph.Node {
	for i, x := range n.Src().All() {
		y := n.Operand(1 - i)
		if isConst(y, 0) && (n.DType.IsInt() || math.Signbit(y.Num.Float64(y.DType))) {
			return x
		}
	}
	return nil
}

func addNeg(b *builder, n *graph.Node) *graph.Node {
	for i, y := range n.Src().All() {
		if y.Op == ir.Neg {
			return b.elementwise(ir.Sub, n.Operand(1-i), y.Operand(0))
		}
	}
	return nil
}

func subZero(_ *builder, n *graph.Node) *graph.Node {
	x, y := n.Operand(0), n.Operand(1)
	if isConst(y, 0) && !math.Signbit(y.Num.Float64(y.DType)) {
		return x
	}
	return nil
}

func subNeg(b *builder, n *graph.Node) *graph.Node {
	if x, y := n.Operand(0), n.Operand(1); y.Op == ir.Neg {
		return b.elementwise(ir.Add, x, y.Operand(0))
	}
	return nil
}

func mulOne(_ *builder, n *graph.Node) *graph.Node {
	for i, x := range n.Src().All() {
		if isConst(n.Operand(1-i), 1) {
			return x
		}
	}
	return nil
}

func mulMinusOne(b *builder, n *graph.Node) *graph.Node {
	for i, x := range n.Src().All() {
		if isConst(n.Operand(1-i), -1) {
			return b.elementwise(ir.Neg, x)
		}
	}
	return nil
}

func divOne(_ *builder, n *graph.Node) *graph.Node {
	if isConst(n.Operand(1), 1) {
		return n.Operand(0)
	}
	return nil
}

func whereConst(_ *builder, n *graph.Node) *graph.Node {
	c := n.Operand(0)
	switch {
	case c.Op != ir.Const:
		return nil
	case c.Num != 0:
		return n.Operand(1)
	}
	return n.Operand(2)
}

func whereSame(_ *builder, n *graph.Node) *graph.Node {
	if n.Operand(1) == n.Operand(2) {
		return n.Operand(1)
	}
	return nil
}

func andSame(_ *builder, n *graph.Node) *graph.Node {
	if n.Operand(0) == n.Operand(1) {
		return n.Operand(0)
	}
	return nil
}
