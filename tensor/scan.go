package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// CumSum returns the sums along an axis of each element and all before it. Sums of
// bools and of integers of 8 and 16 bits are int32; other integers wrap. The reversed
// sums are t.Flip(axis).CumSum(axis).Flip(axis).
func (t Tensor) CumSum(axis int) Tensor {
	x := t.node("CumSum")
	a := axisOf("CumSum", x, axis)
	return Tensor{n: graph.Scan(ir.Add, graph.Cast(x, x.DType.SumType()), a)}
}

// CumProd returns the products along an axis of each element and all before it.
// Integers wrap. Its derivatives are right at zeros, also where other factors overflow.
// Parts of the axis are multiplied first, so a float that should be 0 or infinite is NaN
// where the product of a part of what is before it overflows.
func (t Tensor) CumProd(axis int) Tensor { return t.scan("CumProd", ir.Mul, axis) }

// CumMax returns the maxima along an axis of each element and all before it; from the
// first NaN on they are NaN. The derivative goes to the last of equal maxima.
func (t Tensor) CumMax(axis int) Tensor { return t.scan("CumMax", ir.Max, axis) }

// CumMin returns the minima along an axis of each element and all before it; from the
// first NaN on they are NaN. The derivative goes to the last of equal minima.
func (t Tensor) CumMin(axis int) Tensor { return t.scan("CumMin", ir.Min, axis) }

func (t Tensor) scan(op string, kind ir.Op, axis int) Tensor {
	x := t.numbers(op)
	return Tensor{n: graph.Scan(kind, x, axisOf(op, x, axis))}
}

// LogCumSumExp returns the logarithms of the sums along an axis of e to the power of
// each element and all before it. It does not overflow. It takes as many steps as the
// axis's length has bits. Floats only.
func (t Tensor) LogCumSumExp(axis int) Tensor {
	y := t.floats("LogCumSumExp")
	a := axisOf("LogCumSumExp", y, axis)
	for n, d := y.Shape[a], 1; d < n; d *= 2 { // each element stands for the d up to it
		p := make([]graph.Padding, len(y.Shape))
		p[a].Before = d
		before := graph.Pad(graph.Slice(y, a, 0, n-d), ir.Float(y.DType, math.Inf(-1)), p)
		y = logAddExp(y, before)
	}
	return Tensor{n: y}
}
