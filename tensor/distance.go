package tensor

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// NormP returns the p-norm (Σ|t|ᵖ)^(1/p) over axes, which keep length 1; without axes,
// the scalar norm of all elements. For p = ±Inf it is the greatest or least |t|, for p = 0
// the number of elements that are not 0. For p other than 2 it does not overflow. For p ≥ 1
// its derivatives where all elements are 0 are 0. Floats only.
func (t Tensor) NormP(p float64, axes ...int) Tensor {
	return wide(t.floats("NormP"), func(x *graph.Node) *graph.Node {
		return normP("NormP", x, p, reduced("NormP", x, axes))
	})
}

func normP(op string, x *graph.Node, p float64, axes []int) *graph.Node {
	switch a := abs(x); {
	case math.IsNaN(p):
		fail(op, "p is NaN", x)
		return nil
	case math.IsInf(p, 1):
		return reduce(ir.ReduceMax, a, axes)
	case math.IsInf(p, -1):
		return neg(reduce(ir.ReduceMax, neg(a), axes))
	case p == 0:
		return graph.Cast(reduce(ir.Sum, truth(x), axes), x.DType)
	case p == 1:
		return reduce(ir.Sum, a, axes)
	case p == 2:
		return root(reduce(ir.Sum, mul(x, x), axes))
	default:
		m := graph.StopGradient(finiteScale(reduce(ir.ReduceMax, a, axes))) // cancels
		sum := reduce(ir.Sum, power(div(a, spreadTo(m, x)), ir.Float(x.DType, p)), axes)
		none := eq(sum, fill(sum, 0))
		y := power(graph.Where(none, fill(sum, 1), sum), ir.Float(x.DType, 1/p))
		return mul(m, graph.Where(none, fill(sum, 0), y))
	}
}

// Cdist returns the distances between rows, [... m k] and [... n k] giving [... m n]: the
// [Tensor.NormP] of the difference of each row of t from each row of o. Axes before the
// last two are broadcast. The derivatives of the distance 0 are 0. Floats only.
func (t Tensor) Cdist(o Tensor, p float64) Tensor {
	x, y := t.floats("Cdist"), o.node("Cdist")
	x, y = alike("Cdist", x, y)
	m, n := matrix("Cdist", x), matrix("Cdist", y)
	if x.Shape[m-1] != y.Shape[n-1] {
		fail("Cdist", fmt.Sprintf("rows have %d and %d elements", x.Shape[m-1], y.Shape[n-1]), x, y)
	}
	a, b := insert(x, m-1), insert(y, n-2) // [... m 1 k], [... 1 n k]
	s, ok := shape.Broadcast(a.Shape, b.Shape)
	if !ok {
		fail("Cdist", "the axes before the last two do not broadcast: lengths must be equal or 1", x, y)
	}
	checkLen("Cdist", s, x, y)
	d := sub(graph.BroadcastTo(a, s), graph.BroadcastTo(b, s))
	last := len(s) - 1
	return wide(d, func(d *graph.Node) *graph.Node { return drop(normP("Cdist", d, p, []int{last}), last) })
}

// CosineSimilarity returns the cosine of the angle between the vectors of t and o along an
// axis, which keeps length 1; t and o are broadcast. Norms count as at least 1e-8, so that
// the result for a zero vector is 0. Floats only.
func (t Tensor) CosineSimilarity(o Tensor, axis int) Tensor {
	x, y := floatOperands("CosineSimilarity", t, o)
	over := []int{axisOf("CosineSimilarity", x, axis)}
	d := x.DType
	if d.IsHalf() { // in which 1e-8 is 0
		x, y = graph.Cast(x, ir.Float32), graph.Cast(y, ir.Float32)
	}
	unit := func(x *graph.Node) *graph.Node {
		norm := root(graph.Reduce(ir.Sum, mul(x, x), over))
		return div(x, spreadTo(graph.Binary(ir.Max, norm, fill(norm, 1e-8)), x))
	}
	return Tensor{n: graph.Cast(graph.Reduce(ir.Sum, mul(unit(x), unit(y)), over), d)}
}
