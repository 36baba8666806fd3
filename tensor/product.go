package tensor

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// factors returns the nodes of two tensors to be multiplied and summed. It casts them
// to the type of their sums.
func factors(op string, t, u Tensor) (x, y *graph.Node) {
	x, y = t.numbers(op), u.node(op)
	x, y = promote(op, x, y)
	d := x.DType.SumType()
	return graph.Cast(x, d), graph.Cast(y, d)
}

// contract moves the axes of x and y to axes ax and ay of shape s, multiplies, and sums
// over the last n axes of s, which it drops.
func contract(x *graph.Node, ax []int, y *graph.Node, ay, s []int, n int) *graph.Node {
	z := mul(spreadAxes(x, ax, s), spreadAxes(y, ay, s))
	if n == 0 {
		return z
	}
	kept := len(s) - n
	z = graph.Reduce(ir.Sum, z, shape.All(len(s))[kept:])
	return graph.Reshape(z, slices.Clone(s[:kept]))
}

// MatMul returns the matrix product over the last two axes, [... m k] times [... k n]
// giving [... m n]; the axes before them are broadcast. A tensor of one axis is a row on
// the left and a column on the right, and the result drops that axis: two of them give a
// scalar. For k = 0 the result is zeros.
func (t Tensor) MatMul(o Tensor) Tensor {
	x, y := factors("MatMul", t, o)
	return matMulBy(0, x, y)
}

// matMulBy is MatMul by the product of a kind, see [graph.MulBy].
func matMulBy(kind ir.Op, x, y *graph.Node) Tensor {
	if len(x.Shape) == 0 || len(y.Shape) == 0 {
		fail("MatMul", "a scalar is not a matrix: use Mul", x, y)
	}
	row, column := len(x.Shape) == 1, len(y.Shape) == 1
	a, b := x, y
	if row {
		a = insert(a, 0)
	}
	if column {
		b = insert(b, 1)
	}
	i, j := len(a.Shape)-2, len(b.Shape)-2
	if a.Shape[i+1] != b.Shape[j] {
		fail("MatMul", fmt.Sprintf("the inner lengths %d and %d differ: transpose with T or Reshape", a.Shape[i+1], b.Shape[j]), x, y)
	}
	batch, ok := shape.Broadcast(a.Shape[:i], b.Shape[:j])
	if !ok {
		fail("MatMul", "the axes before the last two do not broadcast: lengths must be equal or 1", x, y)
	}
	r := len(batch)
	s := slices.Concat(batch, []int{a.Shape[i], b.Shape[j+1], b.Shape[j]}) // batch, m, n, k
	checkLen("MatMul", s, x, y)
	left, right := insert(a, i+1), insert(swap(b, j, j+1), j) // [... m 1 k], [... 1 n k]
	z := graph.MulBy(kind, graph.BroadcastTo(left, s), graph.BroadcastTo(right, s))
	z = graph.Reshape(graph.Reduce(ir.Sum, z, []int{r + 2}), s[:r+2:r+2])
	switch {
	case row && column:
		z = drop(z, r, r+1)
	case row:
		z = drop(z, r)
	case column:
		z = drop(z, r+1)
	}
	return Tensor{n: z}
}

// Dot returns the sum of products over the last axis of t and the last but one (or only)
// axis of o: the result has t's other axes, then o's. For two tensors of one axis it is
// the scalar product, for two matrices the matrix product; with a scalar it is Mul.
func (t Tensor) Dot(o Tensor) Tensor {
	x, y := factors("Dot", t, o)
	m, n := len(x.Shape), len(y.Shape)
	if m == 0 || n == 0 {
		x, y = broadcast("Dot", x, y)
		return Tensor{n: mul(x, y)}
	}
	k := max(n-2, 0) // the axis of y to sum over
	if x.Shape[m-1] != y.Shape[k] {
		fail("Dot", fmt.Sprintf("the lengths %d and %d of the summed axes differ", x.Shape[m-1], y.Shape[k]), x, y)
	}
	s := slices.Concat(x.Shape[:m-1], y.Shape[:k], y.Shape[k+1:], x.Shape[m-1:])
	checkLen("Dot", s, x, y)
	last := len(s) - 1
	ax := append(shape.All(m-1), last)
	ay := slices.Insert(shape.All(last)[m-1:], k, last)
	return Tensor{n: contract(x, ax, y, ay, s, 1)}
}
