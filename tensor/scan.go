package tensor

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// CumSum returns the sums along an axis of each element and all before it, of bools and
// of integers as int64, of uint64 as uint64; they wrap. The reversed sums are
// t.Flip(axis).CumSum(axis).Flip(axis).
func (t Tensor) CumSum(axis int) Tensor {
	x := t.node("CumSum")
	a := axisOf("CumSum", x, axis)
	return Tensor{n: graph.Scan(ir.Add, wideInt(x), a)}
}

// CumProd returns the products along an axis of each element and all before it, of integers as
// int64, of uint64 as uint64; they wrap. Its derivatives are right at zeros, also where other
// factors overflow. Parts of the axis are multiplied first, so a float that should be 0 or
// infinite is NaN where the product of a part before it overflows.
func (t Tensor) CumProd(axis int) Tensor {
	x := t.numbers("CumProd")
	return Tensor{n: graph.Scan(ir.Mul, wideInt(x), axisOf("CumProd", x, axis))}
}

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
// each element and all before it. It does not overflow. The derivative of an infinite
// result goes to the element at its place, if that is as large. Floats only.
func (t Tensor) LogCumSumExp(axis int) Tensor {
	a := axisOf("LogCumSumExp", t.floats("LogCumSumExp"), axis)
	return wide(t.n, func(x *graph.Node) *graph.Node {
		m := graph.StopGradient(graph.Scan(ir.Max, x, a)) // cancels
		edge := infinite(m)
		high := fill(x, greatestFinite[x.DType])
		scale := graph.Where(lt(high, m), high, graph.Where(lt(m, neg(high)), neg(high), m))
		terms := exp(graph.Where(edge, fill(x, math.Inf(-1)), sub(x, scale)))
		sum := graph.Where(edge, fill(x, 1), decayedSum(terms, scale, a))
		return graph.Where(edge, graph.Where(eq(x, m), x, m), add(scale, graph.Unary(ir.Log, sum)))
	})
}

// decayedSum returns y[i] = Σ t[j]·e^(m[j]-m[i]) over j ≤ i along an axis, where m never
// decreases. Sums within blocks are over all pairs of elements; the contribution of earlier
// blocks is a decayed sum over the sums of blocks.
func decayedSum(t, m *graph.Node, axis int) *graph.Node {
	const size = 16
	n, high := t.Shape[axis], greatestFinite[m.DType]
	blocks := ir.CeilDiv(n, size)
	if n == 0 {
		return t
	}
	split := func(x *graph.Node, end float64) *graph.Node { // axis into blocks and their elements
		p := make([]graph.Padding, len(x.Shape))
		p[axis].After = blocks*size - n
		x = graph.Pad(x, ir.Float(x.DType, end), p)
		return graph.Reshape(x, slices.Concat(x.Shape[:axis], []int{blocks, size}, x.Shape[axis+1:]))
	}
	tb, mb := split(t, 0), split(m, high)
	y := decayedBlocks(tb, mb, axis+1, false)
	if blocks > 1 {
		ends := func(x *graph.Node) *graph.Node { return drop(graph.Slice(x, axis+1, size-1, 1), axis+1) }
		before := func(x *graph.Node, first float64) *graph.Node {
			p := make([]graph.Padding, len(x.Shape))
			p[axis].Before = 1
			x = graph.Pad(graph.Slice(x, axis, 0, blocks-1), ir.Float(x.DType, first), p)
			return spreadTo(insert(x, axis+1), y)
		}
		last := ends(mb)
		sums := decayedSum(ends(y), last, axis)
		y = add(y, mul(before(sums, 0), exp(sub(before(last, -high), mb))))
	}
	return graph.Slice(graph.Reshape(y, shape.With(t.Shape, axis, blocks*size)), axis, 0, n)
}

// decayedBlocks is decayedSum along a short axis, or its transpose, the sum over j ≥ i of
// t[j]·e^(m[i]-m[j]). It is a custom call, because derivatives would store all pairs. A masked
// pair adds nothing to a sum, and its factor in a derivative is finite.
func decayedBlocks(t, m *graph.Node, axis int, transposed bool) *graph.Node {
	s := slices.Insert(slices.Clone(t.Shape), axis, t.Shape[axis]) // i, j
	to := func(x *graph.Node, one int) *graph.Node { return graph.BroadcastTo(insert(x, one), s) }
	i, j := graph.Iota(s, axis), graph.Iota(s, axis+1)
	d := sub(to(m, axis), to(m, axis+1))
	if transposed {
		i, j, d = j, i, neg(d)
	}
	seen := not(lt(i, j))
	d = graph.Where(seen, d, graph.Fill(m.DType, math.Inf(-1), s))
	y := graph.Where(seen, mul(to(t, axis), exp(d)), graph.Fill(t.DType, 0, s))
	y = drop(graph.Reduce(ir.Sum, y, []int{axis + 1}), axis+1)
	if !t.Traced() {
		return y
	}
	c := &graph.CustomCall{Args: []*graph.Node{t, m}}
	c.JVP = func(args, _, tangents []*graph.Node) []*graph.Node {
		return []*graph.Node{decayedBlocks(tangents[0], args[1], axis, transposed)}
	}
	c.VJP = func(args, _, cts []*graph.Node) []*graph.Node {
		return []*graph.Node{decayedBlocks(cts[0], args[1], axis, !transposed), nil}
	}
	return c.Results([]*graph.Node{y})[0]
}
