package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// NormP returns the p-norm (Σ|t|ᵖ)^(1/p) over axes, which keep length 1; without axes,
// the scalar norm of all elements. For p = ±Inf it is the greatest or least |t|, for p = 0
// the number of elements that are not 0. It overflows only where the result does, for
// which it reads t twice; [Tensor.Norm] is faster. The derivative by an element that is 0
// is 0; for its square see [Tensor.Norm]. Floats only.
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
		return least(a, axes)
	case p == 0:
		return graph.Cast(sum(truth(x), axes), x.DType)
	case p == 1:
		return reduce(ir.Sum, a, axes)
	case p == 2:
		return euclidean(x, axes)
	default:
		zero := eq(a, fill(a, 0)) // where the derivative of a power may be infinite
		m := reduce(ir.ReduceMax, a, axes)
		if p < 0 {
			m = least(a, axes)
		}
		m = graph.StopGradient(moderate(m)) // cancels
		y := power(div(graph.Where(zero, fill(a, 1), a), spreadTo(m, a)), ir.Float(x.DType, p))
		sum := reduce(ir.Sum, graph.Where(zero, fill(a, math.Pow(0, p)), y), axes)
		edge := eq(sum, fill(sum, 0)) // where the derivative of the root is infinite, as at Inf for p < 0
		if p < 0 {
			edge = graph.Binary(ir.Or, edge, infinite(sum))
		}
		root := power(graph.Where(edge, fill(sum, 1), sum), ir.Float(x.DType, 1/p))
		limit := fill(sum, 0)
		if p < 0 {
			limit = graph.Where(infinite(sum), limit, fill(sum, math.Inf(1)))
		}
		return mul(m, graph.Where(edge, limit, root))
	}
}

// euclidean returns the norm. Its derivative is by the unit vector, so that the powers of two of scaledNorm
// do not make a cotangent infinite.
func euclidean(x *graph.Node, axes []int) *graph.Node {
	y, up := scaledNorm(x, axes)
	z := mul(up, y)
	if !x.Traced() {
		return z
	}
	unit := func(x, z *graph.Node) *graph.Node {
		down, _ := squareScale(greatest(x, axes))
		return mul(mul(x, spreadTo(down, x)), spreadTo(inverseOf(mul(z, down)), x))
	}
	c := &graph.CustomCall{Args: []*graph.Node{x}, Function: "NormP",
		VJP: func(args, outs, cts []*graph.Node) []*graph.Node {
			return []*graph.Node{mul(spreadTo(cts[0], args[0]), unit(args[0], outs[0]))}
		},
		JVP: func(args, outs, vs []*graph.Node) []*graph.Node {
			return []*graph.Node{reduce(ir.Sum, mul(unit(args[0], outs[0]), vs[0]), axes)}
		},
	}
	return c.Results([]*graph.Node{z})[0]
}

// scaledNorm returns the norm as a multiple, in the type's range, of a power of two.
func scaledNorm(x *graph.Node, axes []int) (y, unit *graph.Node) {
	down, up := squareScale(greatest(x, axes))
	x = mul(x, spreadTo(down, x))
	return root(reduce(ir.Sum, mul(x, x), axes)), up
}

// ScaledNorm returns NormP(2) of all elements, of float32 or float64, as a multiple, which is in
// the type's range, of a power of two. Without derivatives it reads t once, for three sums of which one
// is in range, as Blue's algorithm does with elements.
func (internal) ScaledNorm(_ graph.Token, t Tensor) (norm, unit Tensor) {
	x := t.node("NormP")
	axes := reduced("NormP", x, nil)
	if x.Traced() {
		y, up := scaledNorm(x, axes)
		return Tensor{n: y}, Tensor{n: up}
	}
	scale, low, high := 0x1p80, 0x1p-60, 0x1p100
	if x.DType == ir.Float64 {
		scale, low, high = 0x1p600, 0x1p-900, 0x1p900
	}
	squares := func(scale float64) *graph.Node {
		s := mul(x, fill(x, scale))
		return reduce(ir.Sum, mul(s, s), axes)
	}
	sum := squares(1)
	large, small := lt(fill(sum, high), sum), lt(sum, fill(sum, low))
	sum = graph.Where(large, squares(1/scale), graph.Where(small, squares(scale), sum))
	up := graph.Where(large, fill(sum, scale), graph.Where(small, fill(sum, 1/scale), fill(sum, 1)))
	return Tensor{n: graph.Unary(ir.Sqrt, sum)}, Tensor{n: up}
}

// least is the minimum of floats over axes.
func least(x *graph.Node, axes []int) *graph.Node { return neg(reduce(ir.ReduceMax, neg(x), axes)) }

// greatest is the maximum of |x| over axes, without derivatives. Without their signs, floats
// have the order of their bits as integers, NaN being the greatest.
func greatest(x *graph.Node, axes []int) *graph.Node {
	d := ir.Int32
	if x.DType == ir.Float64 {
		d = ir.Int64
	}
	bits := graph.Bitcast(graph.StopGradient(x), d)
	return graph.Bitcast(reduce(ir.ReduceMax, graph.Binary(ir.And, bits, graph.Const(d, ir.Int(d, 1<<(8*d.Size()-1)-1), x.Shape)), axes), x.DType)
}

// squareScale returns a power of two, down, and its reciprocal, for m ≥ 0: squares of
// numbers up to m times down, and sums of up to 2³¹ of them, stay in the type's range, as
// do those that matter to the sum.
func squareScale(m *graph.Node) (down, up *graph.Node) {
	limit, scale := 0x1p40, 0x1p80
	if m.DType == ir.Float64 {
		limit, scale = 0x1p400, 0x1p800
	}
	large, small := lt(fill(m, limit), m), lt(m, fill(m, 1/limit))
	power := func(high, low float64) *graph.Node {
		return graph.Where(large, fill(m, high), graph.Where(small, fill(m, low), fill(m, 1)))
	}
	return power(1/scale, scale), power(scale, 1/scale)
}

// moderate limits m ≥ 0 to numbers whose reciprocals are in the type's range.
func moderate(m *graph.Node) *graph.Node {
	lo, hi := fill(m, minPositive(m.DType)), fill(m, 0.25/minPositive(m.DType))
	return graph.Where(lt(m, lo), lo, graph.Where(lt(hi, m), hi, m))
}

// Cdist returns the distances between rows, [... m k] and [... n k] giving [... m n]: the
// [Tensor.NormP] of the difference of each row of t from each row of o. Axes before the
// last two are broadcast. The derivatives of the distance 0 are 0, and so are the second ones of
// its square. For p = 2 it is [Tensor.Norm], so that distances whose squares leave the type's
// range are Inf or 0: scale the points first; its derivatives for rows of more than 4 elements
// are by matrix products, less accurate for points that are much closer than most. Floats only.
func (t Tensor) Cdist(o Tensor, p float64) Tensor {
	x, y := t.floats("Cdist"), o.node("Cdist")
	x, y = promote("Cdist", x, y)
	m, n := matrix("Cdist", x), matrix("Cdist", y)
	if x.Shape[m-1] != y.Shape[n-1] {
		fail("Cdist", fmt.Sprintf("rows have %d and %d elements", x.Shape[m-1], y.Shape[n-1]), x, y)
	}
	batch, ok := shape.Broadcast(x.Shape[:m-2], y.Shape[:n-2])
	if !ok {
		fail("Cdist", "the axes before the last two do not broadcast: lengths must be equal or 1", x, y)
	}
	s := slices.Concat(batch, []int{x.Shape[m-2], y.Shape[n-2], x.Shape[m-1]})
	checkLen("Cdist", s, x, y)
	x = graph.BroadcastTo(x, slices.Concat(batch, x.Shape[m-2:]))
	y = graph.BroadcastTo(y, slices.Concat(batch, y.Shape[n-2:]))
	return wideBoth(x, y, func(x, y *graph.Node) *graph.Node {
		if p == 2 {
			return euclideanDistances(x, y)
		}
		return drop(normP("Cdist", differences(x, y), p, []int{len(s) - 1}), len(s)-1)
	})
}

// differences returns [... m n k] from rows [... m k] and [... n k].
func differences(x, y *graph.Node) *graph.Node {
	r := len(x.Shape)
	a, b := insert(x, r-1), insert(y, r-2) // [... m 1 k], [... 1 n k]
	s := shape.With(a.Shape, r-1, y.Shape[r-2])
	return sub(graph.BroadcastTo(a, s), graph.BroadcastTo(b, s))
}

// euclideanDistances returns the distances d between rows, [... m k] and [... n k] giving [... m n].
// Derivatives by the differences have k times as many elements as d and are the most
// accurate. For k > 4 there is a derivative of its own, by matrix products: with w the
// cotangent over d, the cotangent of x's row i is Σⱼ w[i j]·(x[i] - y[j]) = x[i]·Σⱼ w[i j] -
// (w·y)[i].
func euclideanDistances(x, y *graph.Node) *graph.Node {
	n := len(x.Shape) - 1 // the axis of d along y's rows
	d := drop(norm(differences(x, y), []int{n + 1}), n+1)
	if x.Shape[n] <= 4 || !x.Traced() && !y.Traced() { // no derivative: x and y need not be held
		return d
	}
	c := &graph.CustomCall{Args: []*graph.Node{x, y}, Function: "Cdist"}
	c.VJP = func(args, outs, cts []*graph.Node) []*graph.Node {
		x, y := centered(args[0], args[1])
		w := mul(cts[0], inverseOf(outs[0]))
		pull := func(w, x, y *graph.Node) *graph.Node {
			return sub(mul(x, spreadTo(graph.Reduce(ir.Sum, w, []int{n}), x)), matMul(w, y))
		}
		return []*graph.Node{pull(w, x, y), pull(swap(w, n-1, n), y, x)}
	}
	c.JVP = func(args, outs, tangents []*graph.Node) []*graph.Node {
		x, y := centered(args[0], args[1])
		push := func(x, y, v *graph.Node) *graph.Node { // Σ (x[i] - y[j])·v[i]
			own := graph.Reduce(ir.Sum, mul(x, v), []int{n})
			other := matMul(v, swap(y, n-1, n))
			return sub(spreadTo(own, other), other)
		}
		var sum *graph.Node
		if v := tangents[0]; v != nil {
			sum = push(x, y, v)
		}
		if v := tangents[1]; v != nil {
			t := swap(push(y, x, v), n-1, n)
			if sum != nil {
				t = add(sum, t)
			}
			sum = t
		}
		return []*graph.Node{mul(sum, inverseOf(outs[0]))}
	}
	return c.Results([]*graph.Node{d})[0]
}

// centered returns x and y minus the mean of x's rows. Their differences do not depend on it,
// and products of small numbers are more accurate. A mean that is not finite counts as 0.
func centered(x, y *graph.Node) (*graph.Node, *graph.Node) {
	m := graph.StopGradient(mean(x, []int{len(x.Shape) - 2}))
	m = graph.Where(eq(sub(m, m), fill(m, 0)), m, fill(m, 0))
	return sub(x, spreadTo(m, x)), sub(y, spreadTo(m, y))
}

// inverseOf returns 1/x, but 0 for 0.
func inverseOf(x *graph.Node) *graph.Node {
	zero := eq(x, fill(x, 0))
	return graph.Where(zero, fill(x, 0), div(fill(x, 1), graph.Where(zero, fill(x, 1), x)))
}

// matMul is [Tensor.MatMul] of nodes.
func matMul(x, y *graph.Node) *graph.Node { return Tensor{n: x}.MatMul(Tensor{n: y}).n }

// CosineSimilarity returns the cosine of the angle between the vectors of t and o along an
// axis, which keeps length 1; t and o are broadcast. It does not depend on the vectors'
// lengths, and is 0, with derivatives 0, for a zero vector. Floats only.
func (t Tensor) CosineSimilarity(o Tensor, axis int) Tensor {
	x, y := floatOperands("CosineSimilarity", t, o)
	over := []int{axisOf("CosineSimilarity", x, axis)}
	unit := func(x *graph.Node) *graph.Node {
		down, _ := squareScale(greatest(x, over))
		x = mul(x, spreadTo(down, x))
		return mul(x, spreadTo(inverseOf(norm(x, over)), x))
	}
	return wideBoth(x, y, func(x, y *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, mul(unit(x), unit(y)), over) })
}
