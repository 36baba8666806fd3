package tensor

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// SearchSorted returns, for each element of t, the int32 number of edges less than it:
// the first position at which it could be inserted into edges and keep them sorted.
// Edges is a tensor of t's type with one axis, in ascending order. NaN is greater than
// all numbers.
func (t Tensor) SearchSorted(edges Tensor) Tensor {
	x, e := searched("SearchSorted", t, edges)
	return Tensor{n: search(x, e, false)}
}

// SearchSortedRight is [Tensor.SearchSorted] for the last such position: the number of
// edges not greater than the element.
func (t Tensor) SearchSortedRight(edges Tensor) Tensor {
	x, e := searched("SearchSortedRight", t, edges)
	return Tensor{n: search(x, e, true)}
}

func searched(op string, t, edges Tensor) (x, e *graph.Node) {
	x, e = promote(op, t.numbers(op), edges.node(op))
	if len(e.Shape) != 1 {
		fail(op, "the edges must have one axis", x, e)
	}
	checkPositions(op, e, e.Shape[0])
	return x, e
}

// search finds the position of each element of x in sorted edges by bisection: the
// positions grow by falling powers of two while the edge before them is less, or not
// greater.
func search(x, edges *graph.Node, right bool) *graph.Node {
	return byTypes(func(src []*graph.Node) *graph.Node { return bisected(src[0], src[1], right) }, x, edges).n
}

func bisected(x, edges *graph.Node, right bool) *graph.Node {
	n := edges.Shape[0]
	flat := graph.Reshape(sortKey(x), []int{x.Len()})
	key := sortKey(edges)
	at := graph.Const(ir.Int32, 0, flat.Shape)
	step := 1
	for step <= n/2 {
		step *= 2
	}
	for ; step > 0 && n > 0; step /= 2 {
		next := shifted(at, float64(step))
		last := fill(at, float64(n))
		edge := graph.Gather(key, shifted(graph.Binary(ir.Min, next, last), -1), 0)
		passes := lt(edge, flat)
		if right {
			passes = not(lt(flat, edge))
		}
		inside := not(lt(last, next))
		at = graph.Where(graph.Binary(ir.And, passes, inside), next, at)
	}
	return graph.Reshape(at, x.Shape)
}

// Histogram returns the int32 number of t's elements between each two neighbouring
// edges, the lower one included, and for the last two also the upper one. Edges is a
// tensor of t's type with one axis of at least one element, in ascending order. Elements
// outside the edges and NaN are not counted.
func (t Tensor) Histogram(edges Tensor) Tensor {
	x, e := searched("Histogram", t, edges)
	x = graph.Reshape(x, []int{x.Len()})
	bins := e.Shape[0] - 1
	if bins < 0 {
		fail("Histogram", "there must be at least one edge", x, e)
	}
	last := graph.BroadcastTo(graph.Slice(e, 0, bins, 1), x.Shape)
	at := search(x, e, true) // bin + 1: 0 is below the edges, bins + 1 above
	at = graph.Where(eq(x, last), fill(at, float64(bins)), at)
	return Tensor{n: graph.Slice(occurrences(at, bins+2), 0, 1, bins)}
}

// HistogramBins is [Tensor.Histogram] of bins of one width, which are from lo to hi; without
// limits from the least element to the greatest, NaN excepted, or ½ around it if both are
// equal. It returns the counts and the bins+1 edges. Floats only.
func (t Tensor) HistogramBins(bins int, limits ...float64) (counts, edges Tensor) {
	x := t.floats("HistogramBins")
	if bins < 1 || bins > math.MaxInt32-1 {
		fail("HistogramBins", fmt.Sprintf("%d bins: want at least 1", bins), x)
	}
	unit := Linspace(0, 1, bins+1)
	switch {
	case len(limits) == 2 && limits[0] < limits[1] && !math.IsInf(limits[1]-limits[0], 0):
		edges = Linspace(limits[0], limits[1], bins+1)
	case len(limits) != 0:
		fail("HistogramBins", fmt.Sprintf("limits are %v: want none, or two finite ones in ascending order", limits), x)
	case x.Len() == 0:
		edges = unit
	default:
		lo, hi := t.NanMin(), t.NanMax()
		around := Where(lo.Eq(hi), FullLike(lo, 0.5), ZerosLike(lo))
		lo, hi = lo.Sub(around), hi.Add(around)
		edges = lo.Lerp(hi, unit)
	}
	if !x.IsUntyped() {
		edges = edges.Cast(x.DType)
	}
	return t.Histogram(edges), edges
}

// Bincount returns the int32 number of times that each of the numbers 0 to n-1 occurs
// in t, integers other than uint64. Other elements are found when the result is
// computed: [Eval] and [Data] return the error.
func (t Tensor) Bincount(n int) Tensor {
	x := t.node("Bincount")
	if !isIndex(x.DType) {
		fail("Bincount", "it counts integers from 0 on: Cast(tensor.Int32)", x)
	}
	checkCount("Bincount", n)
	at := narrow(x)
	site := graph.NewIndexSite("Bincount", x.Shape)
	site.Noun, site.Of = "number", "%d counts, of which the first is that of 0"
	return Tensor{n: graph.At(site, occurrences(at, n))}
}

// occurrences returns the number of times that each of the numbers 0 to n-1 occurs in x.
func occurrences(x *graph.Node, n int) *graph.Node {
	flat := graph.Reshape(x, []int{x.Len()})
	one := graph.Const(ir.Int32, ir.Int(ir.Int32, 1), flat.Shape)
	return graph.Scatter(ir.Add, graph.Const(ir.Int32, 0, []int{n}), flat, one, 0)
}

// NonZero returns the positions of the elements that are not 0, or are true, in
// row-major order: an int32 tensor [n rank]. It computes t, whose values say how many
// there are; if that fails it panics with a [*DeviceError] or an [*Error].
func (t Tensor) NonZero() Tensor {
	x := t.node("NonZero")
	flat := nonZero("NonZero", x)
	rank := len(x.Shape)
	at := make([]*graph.Node, rank)
	for a, stride := range shape.RowMajor(x.Shape) {
		i := div(flat, fill(flat, float64(stride)))
		if a > 0 {
			i = graph.Binary(ir.Rem, i, fill(i, float64(x.Shape[a])))
		}
		at[a] = insert(i, 1)
	}
	if rank == 0 {
		return Tensor{n: graph.Const(ir.Int32, 0, []int{flat.Len(), 0})}
	}
	return Tensor{n: graph.Cat(1, at)}
}

// nonZero returns the row-major numbers of the elements of x that are not 0. How many there
// are is known in the type that x has now, so an untyped x is not computed in another.
func nonZero(op string, x *graph.Node) *graph.Node {
	checkPositions(op, x, x.Len())
	mask := Tensor{n: graph.Reshape(truth(x), []int{x.Len()})}
	count := int(mask.Sum().Item())
	return graph.Typed(graph.Sort(not(mask.n), 0, count))
}

// Unique returns the different elements of t in ascending order, in a tensor with one
// axis. All NaN count as one element, which is last. It computes t, because the length of
// the result depends on the values; if that fails it panics with a [*DeviceError] or an
// [*Error].
func (t Tensor) Unique() Tensor {
	u := t.unique("Unique")
	return Tensor{n: u.values()}
}

// UniqueAll returns the elements that [Tensor.Unique] returns, and int32 tensors: for each of
// them the row-major position of the first in t and the number in t, and for each element of t
// its position among them, of t's shape. So values.Take(0, inverse) is t. NumPy's
// unique_all has these four, but counts each NaN by itself.
func (t Tensor) UniqueAll() (values, indices, inverse, counts Tensor) {
	u := t.unique("UniqueAll")
	k := u.starts.Shape[0]
	ends := graph.Cat(0, []*graph.Node{u.starts, graph.Const(ir.Int32, ir.Int(ir.Int32, int64(u.x.Len())), []int{1})})
	number := sub(graph.Slice(ends, 0, 1, k), u.starts)
	return Tensor{n: u.values()}, Tensor{n: u.positions()}, Tensor{n: graph.Reshape(u.inverse(), u.shape)}, Tensor{n: number}
}

// A uniqueness is which elements of a tensor are equal.
type uniqueness struct {
	shape  []int
	x      *graph.Node // with one axis
	order  *graph.Node // the positions of the sorted elements
	first  *graph.Node // bools: a sorted element is not equal to the one before
	starts *graph.Node // the positions at which first is true
}

func (t Tensor) unique(op string) uniqueness {
	n := t.node(op)
	u := uniqueness{shape: n.Shape, x: graph.Reshape(n, []int{n.Len()})}
	length := u.x.Len()
	u.order = argSort(op, u.x, 0, length, false)
	if length == 0 {
		u.first, u.starts = graph.Const(ir.Bool, 0, []int{0}), graph.Const(ir.Int32, 0, []int{0})
		return u
	}
	key := sortKey(graph.Gather(u.x, u.order, 0))
	differs := not(eq(graph.Slice(key, 0, 1, length-1), graph.Slice(key, 0, 0, length-1)))
	u.first = graph.Cat(0, []*graph.Node{graph.Const(ir.Bool, 1, []int{1}), differs})
	u.starts = nonZero(op, u.first)
	return u
}

// positions returns, for each value, the position of its first occurrence: the order is
// stable.
func (u uniqueness) positions() *graph.Node { return graph.Gather(u.order, u.starts, 0) }

func (u uniqueness) values() *graph.Node { return graph.Gather(u.x, u.positions(), 0) }

// inverse returns, for each element of x, its position among the values.
func (u uniqueness) inverse() *graph.Node {
	if u.x.Len() == 0 {
		return u.starts
	}
	number := shifted(graph.Scan(ir.Add, graph.Cast(u.first, ir.Int32), 0), -1)
	return graph.Scatter(ir.Add, graph.Const(ir.Int32, 0, number.Shape), u.order, number, 0)
}
