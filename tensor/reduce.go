package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// reduce reduces ascending axes to length 1, or for nil all axes to a scalar.
func reduce(op ir.Op, x *graph.Node, axes []int) *graph.Node {
	if axes != nil {
		return graph.Reduce(op, x, axes)
	}
	return graph.Reshape(graph.Reduce(op, x, shape.All(len(x.Shape))), []int{})
}

// reduced resolves a user's axes; without any it returns nil, for all axes.
func reduced(op string, x *graph.Node, axes []int) []int {
	if len(axes) == 0 {
		return nil
	}
	return axesOf(op, x, axes)
}

// count returns the number of elements of x that a reduction over axes combines.
func count(x *graph.Node, axes []int) int {
	if axes == nil {
		return x.Len()
	}
	n := 1
	for _, a := range axes {
		n *= x.Shape[a]
	}
	return n
}

// spreadTo expands r, a reduction of x, to x's shape.
func spreadTo(r, x *graph.Node) *graph.Node { return graph.BroadcastTo(r, x.Shape) }

// Sum returns the sum over axes, which keep length 1; without axes, the scalar sum of
// all elements. Sums of bools and of integers are int64, of uint64 uint64; they wrap.
func (t Tensor) Sum(axes ...int) Tensor {
	x := t.node("Sum")
	over := reduced("Sum", x, axes)
	return Tensor{n: sum(x, over)}
}

// sum sums bools and integers as int64: in int32, which is faster, where that cannot wrap.
func sum(x *graph.Node, axes []int) *graph.Node {
	if d := x.DType; d.SumType() != d {
		lo, hi := ir.Limits(d)
		if most := max(int(hi), -int(lo)); count(x, axes) <= math.MaxInt32/most {
			return wideInt(reduce(ir.Sum, x, axes))
		}
	}
	return reduce(ir.Sum, wideInt(x), axes)
}

// wideInt returns bools and integers of fewer than 64 bits as int64.
func wideInt(x *graph.Node) *graph.Node {
	if x.DType.IsFloat() || x.DType.Size() == 8 {
		return x
	}
	return graph.Cast(x, ir.Int64)
}

// Mean returns the mean over axes, which keep length 1; without axes, the scalar mean of
// all elements. The mean of no elements is NaN. Floats only.
func (t Tensor) Mean(axes ...int) Tensor {
	x := t.floats("Mean")
	return Tensor{n: mean(x, reduced("Mean", x, axes))}
}

// mean computes the mean of 16-bit floats in float32, because n may be inexact in 16 bits. It
// divides, because the sum times the rounded 1/n is not 1 for ones.
func mean(x *graph.Node, axes []int) *graph.Node {
	if d := x.DType; d.IsHalf() {
		return graph.Cast(mean(graph.Cast(x, ir.Float32), axes), d)
	}
	sum := reduce(ir.Sum, x, axes)
	return div(sum, fill(sum, float64(count(x, axes))))
}

// Var returns the variance over axes, which keep length 1: the mean squared
// distance from the mean, divided by n, not n-1. Without axes it returns the scalar
// variance of all elements. Where squares leave the type's range it is Inf or 0. Floats only.
func (t Tensor) Var(axes ...int) Tensor {
	x := t.floats("Var")
	return Tensor{n: variance(x, reduced("Var", x, axes))}
}

// variance is the variance of x minus a number near the mean. The variance does not depend
// on the number, so that needs no derivative; without it, the rounding error of the mean of
// large numbers could exceed their differences.
//
// Source: Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", 1983.
func variance(x *graph.Node, axes []int) *graph.Node {
	return wide(x, func(x *graph.Node) *graph.Node {
		d := sub(x, spreadTo(graph.StopGradient(mean(x, axes)), x))
		off := mean(d, axes)
		return lessSquare(mean(mul(d, d), axes), off)
	}).n
}

// lessSquare returns a mean of squares less the square of a mean: at least 0, whatever the
// rounding, and Inf if both overflow.
func lessSquare(squares, mean *graph.Node) *graph.Node {
	square := mul(mean, mean)
	y := sub(squares, graph.Where(infinite(square), fill(square, 0), square))
	return graph.Where(lt(y, fill(y, 0)), fill(y, 0), y)
}

// Std returns the square root of [Tensor.Var]. Where all elements are equal, its
// derivatives of all orders are 0, so derivatives of its square differ from Var's there.
// Floats only.
func (t Tensor) Std(axes ...int) Tensor {
	x := t.floats("Std")
	return Tensor{n: root(variance(x, reduced("Std", x, axes)))}
}

// Norm returns the square root of the sum of squares over axes, which keep length 1;
// without axes, the scalar norm of all elements. Where all elements are 0, its derivatives
// of all orders are 0, so derivatives of its square are wrong there: use the sum of squares
// instead. Where squares leave the type's range it is Inf or 0, and [Tensor.NormP] of 2 is
// not. Floats only.
func (t Tensor) Norm(axes ...int) Tensor {
	x := t.floats("Norm")
	return Tensor{n: norm(x, reduced("Norm", x, axes))}
}

func norm(x *graph.Node, axes []int) *graph.Node { return root(reduce(ir.Sum, mul(x, x), axes)) }

// root returns the square root of x ≥ 0, with derivatives 0 at 0. Sqrt's are infinite
// there, and NaN when multiplied by x's derivative 0.
func root(x *graph.Node) *graph.Node {
	none := eq(x, fill(x, 0))
	return graph.Where(none, fill(x, 0), graph.Unary(ir.Sqrt, graph.Where(none, fill(x, 1), x)))
}

// Max returns the maximum over axes, which keep length 1; without axes, the scalar
// maximum of all elements. It is NaN if any element is. The maximum of no elements is
// -Inf, or the lowest integer. Ties share the derivative equally.
func (t Tensor) Max(axes ...int) Tensor {
	x := t.node("Max")
	return Tensor{n: reduce(ir.ReduceMax, x, reduced("Max", x, axes))}
}

// Min returns the minimum over axes, which keep length 1; without axes, the scalar
// minimum of all elements. It is NaN if any element is. The minimum of no elements is
// Inf, or the greatest integer. Ties share the derivative equally.
func (t Tensor) Min(axes ...int) Tensor {
	x := t.node("Min")
	return Tensor{n: reverse(reduce(ir.ReduceMax, reverse(x), reduced("Min", x, axes)))}
}

// Prod returns the product over axes, which keep length 1; without axes, the scalar
// product of all elements. Products of integers are int64, of uint64 uint64; they wrap.
func (t Tensor) Prod(axes ...int) Tensor {
	x := t.numbers("Prod")
	return Tensor{n: reduce(ir.Prod, wideInt(x), reduced("Prod", x, axes))}
}

// Any returns whether any element over axes, which keep length 1, is true, or for
// numbers is not 0; without axes, a scalar for all elements. For no elements it is
// false.
func (t Tensor) Any(axes ...int) Tensor {
	x := t.node("Any")
	return Tensor{n: reduce(ir.ReduceMax, truth(x), reduced("Any", x, axes))}
}

// All returns whether all elements over axes, which keep length 1, are true, or for
// numbers are not 0; without axes, a scalar for all elements. For no elements it is
// true.
func (t Tensor) All(axes ...int) Tensor {
	x := t.node("All")
	return Tensor{n: all(truth(x), reduced("All", x, axes))}
}

// all returns whether all elements of x, of type Bool, are true over axes.
func all(x *graph.Node, axes []int) *graph.Node { return not(reduce(ir.ReduceMax, not(x), axes)) }

// truth returns x ≠ 0.
func truth(x *graph.Node) *graph.Node {
	if x.DType == ir.Bool {
		return x
	}
	return not(eq(x, fill(x, 0)))
}

// ArgMax returns the int32 position of the maximum along an axis, which it drops: the
// first of equals, or the first NaN. The axis must not be empty.
func (t Tensor) ArgMax(axis int) Tensor {
	return Tensor{n: argMax("ArgMax", t.node("ArgMax"), axis, false)}
}

// ArgMin returns the int32 position of the minimum along an axis, which it drops: the
// first of equals, or the first NaN. The axis must not be empty.
func (t Tensor) ArgMin(axis int) Tensor {
	return Tensor{n: argMax("ArgMin", t.node("ArgMin"), axis, true)}
}

func argMax(op string, x *graph.Node, axis int, least bool) *graph.Node {
	a := axisOf(op, x, axis)
	if x.Shape[a] == 0 {
		fail(op, "the axis is empty, so there is no position", x)
	}
	checkPositions(op, x, x.Shape[a])
	if least {
		x = reverse(x)
	}
	return drop(graph.Reduce(ir.ArgMax, x, []int{a}), a)
}

// shift returns the maximum over axes, which is subtracted before Exp so that Exp does
// not overflow. It cancels in the result, so it needs no derivative.
func shift(x *graph.Node, axes []int) *graph.Node {
	return graph.StopGradient(reduce(ir.ReduceMax, x, axes))
}

// LogSumExp returns the logarithm of the sum of e to the power of the elements over
// axes, which keep length 1; without axes, a scalar for all elements. It does not
// overflow. If there are no elements, or all are -Inf, it is -Inf, with derivatives 0. Floats only.
func (t Tensor) LogSumExp(axes ...int) Tensor {
	x := t.floats("LogSumExp")
	over := reduced("LogSumExp", x, axes)
	m := shift(x, over)
	m = graph.Where(infinite(m), fill(m, 0), m) // Inf - Inf would be NaN
	sum := reduce(ir.Sum, exp(sub(x, spreadTo(m, x))), over)
	none := eq(sum, fill(sum, 0)) // log's derivative would be infinite
	y := log(graph.Where(none, fill(sum, 1), sum))
	return Tensor{n: add(m, graph.Where(none, fill(sum, math.Inf(-1)), y))}
}

// Softmax returns e to the power t, divided by its sum along an axis. Rows of -Inf only,
// and those with Inf, are NaN. Floats only.
func (t Tensor) Softmax(axis int) Tensor {
	x := t.floats("Softmax")
	over := []int{axisOf("Softmax", x, axis)}
	e := exp(sub(x, spreadTo(shift(x, over), x)))
	return softmaxOf(x, div(e, spreadTo(graph.Reduce(ir.Sum, e, over), x)), over, mul)
}

// softmaxOf returns y, a softmax of x over an axis, with a derivative by y alone, so that
// training keeps no other matrix: a change v of x changes y by y·(v - Σ y·v). The rule is
// symmetric and serves cotangents too; times is its product. Untyped constants keep their digits without it.
func softmaxOf(x, y *graph.Node, over []int, times func(y, v *graph.Node) *graph.Node) Tensor {
	if x.Traced() && !x.IsUntyped() {
		along := func(_, outs, vs []*graph.Node) []*graph.Node {
			y, v := outs[0], vs[0]
			return []*graph.Node{times(y, sub(v, spreadTo(graph.Reduce(ir.Sum, times(y, v), over), v)))}
		}
		c := &graph.CustomCall{Args: []*graph.Node{x}, VJP: along, JVP: along, Function: "Softmax"}
		y = c.Results([]*graph.Node{y})[0]
	}
	return Tensor{n: y}
}

// LogSoftmax returns the logarithm of [Tensor.Softmax], accurate where that is
// near 0. Floats only.
func (t Tensor) LogSoftmax(axis int) Tensor {
	x := t.floats("LogSoftmax")
	over := []int{axisOf("LogSoftmax", x, axis)}
	d := sub(x, spreadTo(shift(x, over), x))
	return Tensor{n: sub(d, spreadTo(log(graph.Reduce(ir.Sum, exp(d), over)), x))}
}
