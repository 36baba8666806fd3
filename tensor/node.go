package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// The functions of this file are building blocks of operations. They check nothing:
// operands have one shape and type.

func add(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Add, x, y) }
func sub(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Sub, x, y) }
func mul(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Mul, x, y) }
func div(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Div, x, y) }
func eq(x, y *graph.Node) *graph.Node  { return graph.Binary(ir.Eq, x, y) }
func lt(x, y *graph.Node) *graph.Node  { return graph.Binary(ir.Lt, x, y) }
func neg(x *graph.Node) *graph.Node    { return graph.Unary(ir.Neg, x) }
func not(x *graph.Node) *graph.Node    { return graph.Unary(ir.Not, x) }
func exp(x *graph.Node) *graph.Node    { return graph.Unary(ir.Exp, x) }
func log(x *graph.Node) *graph.Node    { return graph.Unary(ir.Log, x) }
func floor(x *graph.Node) *graph.Node  { return graph.Unary(ir.Floor, x) }

// fill returns a tensor like x with all elements equal to v, a constant of the program.
func fill(x *graph.Node, v float64) *graph.Node { return graph.Fill(x.DType, v, x.Shape) }

// scaled returns x·v.
func scaled(x *graph.Node, v float64) *graph.Node { return mul(x, fill(x, v)) }

// shifted returns x + v.
func shifted(x *graph.Node, v float64) *graph.Node { return add(x, fill(x, v)) }

// positive returns 0 < x.
func positive(x *graph.Node) *graph.Node { return lt(fill(x, 0), x) }

// infinite is |x| = ∞.
func infinite(x *graph.Node) *graph.Node { return eq(abs(x), fill(x, math.Inf(1))) }

func abs(x *graph.Node) *graph.Node { return graph.Binary(ir.Max, x, neg(x)) }

// reverse maps x to its own type in reversed order, and is its own inverse: Neg for floats,
// Not for integers, whose lowest has no negative.
func reverse(x *graph.Node) *graph.Node {
	if x.DType.IsFloat() {
		return neg(x)
	}
	return not(x)
}

// drop removes axes of length 1, given in ascending order.
func drop(x *graph.Node, axes ...int) *graph.Node {
	return graph.Reshape(x, shape.Without(x.Shape, axes))
}

// insert adds axes of length 1 at positions of the result, given in ascending order.
func insert(x *graph.Node, axes ...int) *graph.Node {
	return graph.Reshape(x, shape.WithOnes(x.Shape, axes))
}

// pad adds zeros at the ends of an axis.
func pad(x *graph.Node, axis, before, after int) *graph.Node {
	p := make([]graph.Padding, len(x.Shape))
	p[axis] = graph.Padding{Before: before, After: after}
	return graph.Pad(x, 0, p)
}

// swap exchanges two axes.
func swap(x *graph.Node, a, b int) *graph.Node {
	order := shape.All(len(x.Shape))
	order[a], order[b] = order[b], order[a]
	return graph.Permute(x, order)
}

// position returns each element's index along an axis of shape s, with type d.
func position(s []int, axis int, d ir.DType) *graph.Node {
	return graph.Cast(graph.Iota(s, axis), d)
}
