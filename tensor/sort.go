package tensor

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Sort returns t sorted along an axis, in ascending order: false before true, NaN last.
// For the reverse order Flip the result.
func (t Tensor) Sort(axis int) Tensor {
	x := t.node("Sort")
	a := axisOf("Sort", x, axis)
	return Tensor{n: graph.Gather(x, argSort("Sort", x, a, x.Shape[a], false), a)}
}

// ArgSort returns the int32 positions along an axis of the elements in ascending order,
// so that t.TakeAlong(axis, t.ArgSort(axis)) is t.Sort(axis). Equal elements are in the
// order of their positions; -0 equals 0, and NaN, which is last, equals NaN.
func (t Tensor) ArgSort(axis int) Tensor {
	x := t.node("ArgSort")
	a := axisOf("ArgSort", x, axis)
	return Tensor{n: argSort("ArgSort", x, a, x.Shape[a], false)}
}

// TopK returns the k greatest elements along an axis, in descending order, and their
// int32 positions. NaN is greater than all numbers; of equal elements the first are
// taken. [Tensor.BottomK] has the least.
func (t Tensor) TopK(axis, k int) (values, indices Tensor) { return t.firstK("TopK", axis, k, true) }

// BottomK returns the k least elements along an axis, in ascending order, and their int32
// positions: PyTorch's topk with largest=False. NaN is greater than all numbers; of equal
// elements the first are taken.
func (t Tensor) BottomK(axis, k int) (values, indices Tensor) {
	return t.firstK("BottomK", axis, k, false)
}

func (t Tensor) firstK(op string, axis, k int, descending bool) (values, indices Tensor) {
	x := t.node(op)
	a := axisOf(op, x, axis)
	if k < 0 || k > x.Shape[a] {
		fail(op, fmt.Sprintf("k is %d: want 0 to %d", k, x.Shape[a]), x)
	}
	i := argSort(op, x, a, k, descending)
	return Tensor{n: graph.Gather(x, i, a)}, Tensor{n: i}
}

// argSort returns the positions of the first k elements in ascending or descending
// order.
func argSort(op string, x *graph.Node, axis, k int, descending bool) *graph.Node {
	checkPositions(op, x, x.Shape[axis])
	return order(x, axis, k, descending)
}

func order(x *graph.Node, axis, k int, descending bool) *graph.Node {
	return byType(x, func(x *graph.Node) *graph.Node {
		key := sortKey(x)
		if descending {
			key = not(key)
		}
		return graph.Sort(key, axis, k)
	}).n
}

// sortKey returns integers in the order of x. The bits of a float are its sign and a
// number of the order of its absolute value.
func sortKey(x *graph.Node) *graph.Node {
	if !x.DType.IsFloat() {
		return x
	}
	d, most, inf := ir.Int32, int64(math.MaxInt32), int64(math.Float32bits(float32(math.Inf(1))))
	if x.DType == ir.Float64 {
		d, most, inf = ir.Int64, math.MaxInt64, int64(math.Float64bits(math.Inf(1)))
	} else {
		x = graph.Cast(x, ir.Float32)
	}
	number := func(v int64) *graph.Node { return graph.Const(d, ir.Int(d, v), x.Shape) }
	bits := graph.Bitcast(x, d)
	size := graph.Binary(ir.And, bits, number(most))
	key := graph.Where(lt(bits, number(0)), neg(size), size)
	return graph.Where(lt(number(inf), size), number(most), key) // NaN
}

// Median returns the median along an axis, which keeps length 1: the lower of the two
// in the middle of an even number of elements, as in PyTorch; for their mean see
// [Tensor.Quantile] of 0.5. It is NaN if any element is. The axis must not be empty.
func (t Tensor) Median(axis int) Tensor {
	x := t.numbers("Median")
	a := nonEmpty("Median", x, axis)
	return Tensor{n: ranked(x, a, rank{(x.Shape[a] - 1) / 2, 0})}
}

// Quantile returns, along an axis, the number below which a part q of the elements lies, from
// 0 to 1: it interpolates between the two elements around place q·(n-1) of the sorted axis.
// It does not decrease where q grows. Between -Inf and Inf it is the nearer one, and 0 in the
// middle. The axis gets length 1 or, for several q, a number for each q. They are NaN if any
// element is. The axis must not be empty. Floats only.
func (t Tensor) Quantile(axis int, q ...float64) Tensor {
	return wide(t.floats("Quantile"), func(x *graph.Node) *graph.Node {
		a := nonEmpty("Quantile", x, axis)
		if len(q) == 0 {
			fail("Quantile", "there is no q: want numbers from 0 to 1", x)
		}
		ranks := make([]rank, len(q))
		for i, q := range q {
			if !(q >= 0 && q <= 1) {
				fail("Quantile", fmt.Sprintf("q is %v: want 0 to 1", q), x)
			}
			at := q * float64(x.Shape[a]-1)
			if whole := math.Round(at); math.Abs(at-whole) <= 0x1p-51*whole { // q, such as 1/3, may be rounded
				at = whole
			}
			ranks[i] = rank{int(at), at - math.Floor(at)}
		}
		return ranked(x, a, ranks...)
	})
}

// nonEmpty is axisOf for an axis that must have elements.
func nonEmpty(op string, x *graph.Node, axis int) int {
	a := axisOf(op, x, axis)
	if x.Shape[a] == 0 {
		fail(op, "the axis is empty", x)
	}
	checkPositions(op, x, x.Shape[a])
	return a
}

// A rank is a place on a sorted axis and the weight of the next element.
type rank struct {
	place  int
	weight float64
}

// ranked returns the elements at ranks of the sorted axis.
func ranked(x *graph.Node, axis int, ranks ...rank) *graph.Node {
	count := 0
	for _, r := range ranks {
		count = max(count, r.place+1)
		if r.weight > 0 {
			count = max(count, r.place+2)
		}
	}
	at := order(x, axis, count, false)
	element := func(place int) *graph.Node {
		return graph.Gather(x, graph.Slice(at, axis, place, 1), axis)
	}
	parts := make([]*graph.Node, len(ranks))
	for i, r := range ranks {
		parts[i] = element(r.place)
		if r.weight > 0 {
			parts[i] = between(parts[i], element(r.place+1), r.weight)
		}
	}
	y := parts[0]
	if len(parts) > 1 {
		y = graph.Cat(axis, parts)
	}
	if !x.DType.IsFloat() {
		return y
	}
	missing := graph.Reduce(ir.ReduceMax, not(eq(x, x)), []int{axis})
	return graph.Where(graph.BroadcastTo(missing, y.Shape), fill(y, math.NaN()), y)
}

// between returns a number from lo to hi ≥ lo, at a part w of the way. All operations of
// lo + w·(hi-lo) are monotone in w; the limit guards against rounding up.
func between(lo, hi *graph.Node, w float64) *graph.Node {
	d := sub(hi, lo)
	far := not(lt(d, fill(d, math.Inf(1)))) // it overflows, or an end is infinite
	y := add(lo, scaled(graph.Where(far, fill(d, 0), d), w))
	y = graph.Where(lt(hi, y), hi, y)
	apart := add(scaled(lo, 1-w), scaled(hi, w))
	middle := 0.0 // of -Inf and Inf
	if w != 0.5 {
		middle = math.Inf(cmp.Compare(w, 0.5))
	}
	apart = graph.Where(eq(apart, apart), apart, fill(apart, middle))
	return graph.Where(far, apart, y)
}
