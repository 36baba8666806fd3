package tensor

import (
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
	bins := e.Shape[0] - 1
	if bins < 0 {
		fail("Histogram", "there must be at least one edge", x, e)
	}
	last := graph.BroadcastTo(graph.Slice(e, 0, bins, 1), x.Shape)
	at := search(x, e, true) // bin + 1: 0 is below the edges, bins + 1 above
	at = graph.Where(eq(x, last), fill(at, float64(bins)), at)
	return Tensor{n: graph.Slice(occurrences(at, bins+2), 0, 1, bins)}
}

// Bincount returns the int32 number of times that each of the numbers 0 to n-1 occurs
// in t, an int32, uint32 or int64 tensor. Other elements are found when the result is
// computed: [Eval] and [Data] return the error.
func (t Tensor) Bincount(n int) Tensor {
	x := t.node("Bincount")
	if !ir.IndexTypes.Has(x.DType) {
		fail("Bincount", "it counts integers from 0 on: Cast(tensor.Int32)", x)
	}
	checkCount("Bincount", n)
	at := narrow("Bincount", x, x)
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
// axis; of several NaN, which are last, one. It computes t, whose values say how many
// there are; if that fails it panics with a [*DeviceError] or an [*Error].
func (t Tensor) Unique() Tensor {
	x := t.node("Unique")
	n := x.Len()
	if n == 0 {
		return Tensor{n: graph.Reshape(x, []int{0})}
	}
	flat := graph.Reshape(x, []int{n})
	at := argSort("Unique", flat, 0, n, false)
	key := sortKey(graph.Gather(flat, at, 0))
	first := not(eq(graph.Slice(key, 0, 1, n-1), graph.Slice(key, 0, 0, n-1)))
	first = graph.Cat(0, []*graph.Node{graph.Const(ir.Bool, 1, []int{1}), first})
	at = graph.Gather(at, nonZero("Unique", first), 0)
	return Tensor{n: graph.Gather(flat, at, 0)}
}
