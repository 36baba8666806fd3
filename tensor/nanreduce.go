package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// The reductions of this file skip NaN. Axes are as for [Tensor.Sum]; the derivative by
// a NaN is 0.

// nanOperand returns x, with fill in place of NaN, the axes to reduce, and the number of
// others, of int64.
func (t Tensor) nanOperand(op string, axes []int, replacement float64) (x, number *graph.Node, over []int) {
	x = t.floats(op)
	over = reduced(op, x, axes)
	valid := eq(x, x)
	return graph.Where(valid, x, fill(x, replacement)), sum(valid, over), over
}

// NanSum is [Tensor.Sum] of the elements that are not NaN. Floats only.
func (t Tensor) NanSum(axes ...int) Tensor {
	x, _, over := t.nanOperand("NanSum", axes, 0)
	return Tensor{n: reduce(ir.Sum, x, over)}
}

// NanProd is [Tensor.Prod] of the elements that are not NaN. Floats only.
func (t Tensor) NanProd(axes ...int) Tensor {
	x, _, over := t.nanOperand("NanProd", axes, 1)
	return Tensor{n: reduce(ir.Prod, x, over)}
}

// NanMean is [Tensor.Mean] of the elements that are not NaN, and NaN if all are. Floats
// only.
func (t Tensor) NanMean(axes ...int) Tensor {
	return wide(t.floats("NanMean"), func(x *graph.Node) *graph.Node {
		x, number, over := Tensor{n: x}.nanOperand("NanMean", axes, 0)
		return div(reduce(ir.Sum, x, over), graph.Cast(number, x.DType))
	})
}

// NanVar is [Tensor.Var] of the elements that are not NaN, and NaN if all are. It divides
// by their number. Floats only.
func (t Tensor) NanVar(axes ...int) Tensor {
	return wide(t.floats("NanVar"), func(x *graph.Node) *graph.Node { return nanVariance("NanVar", x, axes) })
}

// NanStd is the square root of [Tensor.NanVar]. Its derivatives of all orders where all
// elements are equal are 0. Floats only.
func (t Tensor) NanStd(axes ...int) Tensor {
	return wide(t.floats("NanStd"), func(x *graph.Node) *graph.Node { return root(nanVariance("NanStd", x, axes)) })
}

// nanVariance is computed as variance.
func nanVariance(op string, x *graph.Node, axes []int) *graph.Node {
	y, number, over := Tensor{n: x}.nanOperand(op, axes, 0)
	n := graph.Cast(number, x.DType)
	mean := func(y *graph.Node) *graph.Node { return div(reduce(ir.Sum, y, over), n) }
	d := sub(y, spreadTo(graph.StopGradient(mean(y)), x))
	d = graph.Where(eq(x, x), d, fill(x, 0))
	off := mean(d)
	return lessSquare(mean(mul(d, d)), off)
}

// NanMax is [Tensor.Max] of the elements that are not NaN, and NaN if all are. Floats only.
func (t Tensor) NanMax(axes ...int) Tensor {
	x, number, over := t.nanOperand("NanMax", axes, math.Inf(-1))
	return Tensor{n: unlessNone(number, reduce(ir.ReduceMax, x, over))}
}

// NanMin is [Tensor.Min] of the elements that are not NaN, and NaN if all are. Floats only.
func (t Tensor) NanMin(axes ...int) Tensor {
	x, number, over := t.nanOperand("NanMin", axes, math.Inf(1))
	return Tensor{n: unlessNone(number, neg(reduce(ir.ReduceMax, neg(x), over)))}
}

// unlessNone returns y, but NaN where the number of elements is 0.
func unlessNone(number, y *graph.Node) *graph.Node {
	return graph.Where(eq(number, fill(number, 0)), fill(y, math.NaN()), y)
}

// CountNonZero returns the number of elements that are true, or not 0, over axes, which
// keep length 1; without axes, the scalar number of all. NaN counts. The result is int64.
func (t Tensor) CountNonZero(axes ...int) Tensor {
	return Tensor{n: truth(t.node("CountNonZero"))}.Sum(axes...)
}
