package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An assignment says how values are combined with the elements at their positions.
type assignment struct {
	// whole combines elements and values of one shape.
	whole func(old, v *graph.Node) *graph.Node
	// at combines values with the elements of an axis at positions, a tensor with one axis.
	at func(site *graph.IndexSite, old, positions, v *graph.Node, axis int) *graph.Node
}

var (
	replaced  = assignment{func(_, v *graph.Node) *graph.Node { return v }, combinedAt(ir.Copy)}
	increased = assignment{add, combinedAt(ir.Add)}
)

// assign returns t with v combined with the elements that specs select.
func (t Tensor) assign(op string, how assignment, v Operand, specs []any) Tensor {
	n, u := valueLike(op, t.node(op), v)
	x := newIndexing(op, n, specs)
	if i := x.loneMask(u); i >= 0 {
		return Tensor{n: x.assignMasked(how, u, i)}
	}
	l := newSelection(x, inPlaceIfAdjacent)
	checkValue(op, x.x, u, l.shape())
	u = graph.BroadcastTo(u, l.shape())
	y := x.region()
	switch {
	case y.Len() == 0:
		return Tensor{n: n}
	case len(l.terms) == 0:
		y = how.whole(y, graph.Reshape(u, y.Shape))
	case u.Len() > 0:
		at, site := l.positions()
		old := graph.Reshape(y, l.merged(l.width()))
		y = graph.Reshape(how.at(site, old, at, l.ungathered(u), l.first), y.Shape)
	}
	return Tensor{n: x.putBack(y)}
}

// valueLike returns x and v, a number or a tensor, in one type.
func valueLike(op string, x *graph.Node, v Operand) (*graph.Node, *graph.Node) {
	u, ok := v.(Tensor)
	if !ok {
		return x, numberIn(op, x, v, nil)
	}
	return promote(op, x, u.node(op))
}

// checkValue panics unless v broadcasts to s, the shape of the selected elements.
func checkValue(op string, x, v *graph.Node, s []int) {
	if !shape.BroadcastsTo(v.Shape, s) {
		fail(op, fmt.Sprintf("the source does not broadcast to %v, the shape of what is selected", s), x, v)
	}
}

// loneMask returns the position among items of a mask that is the only tensor, if v does
// not vary along its axis, or -1.
func (x *indexing) loneMask(v *graph.Node) int {
	at := x.tensors()
	if len(at) != 1 || !x.items[at[0]].isMask() {
		return -1
	}
	axis := len(v.Shape) - (len(x.items) - at[0]) // of v
	if axis >= 0 && v.Shape[axis] != 1 {
		return -1
	}
	return at[0]
}

// assignMasked combines v with the elements at which a mask, an item, is true.
func (x *indexing) assignMasked(how assignment, v *graph.Node, item int) *graph.Node {
	y := x.region()
	var axes, result, aligned []int // of the mask in y; the result's shape, and that in the order of y's axes
	for i, it := range x.items {
		part := y.Shape[it.axis : it.axis+it.rank]
		switch {
		case i == item:
			for a := range part {
				axes = append(axes, it.axis+a)
			}
			result, aligned = append(result, 1), append(aligned, ones(it.rank)...)
		case it.rank == 0:
			result = append(result, 1)
		default:
			result, aligned = append(result, part...), append(aligned, part...)
		}
	}
	checkValue(x.op, x.x, v, result)
	v = graph.Expand(graph.Reshape(graph.BroadcastTo(v, result), aligned), y.Shape)
	mask := spreadAxes(x.items[item].tensor, axes, y.Shape)
	return x.putBack(graph.Where(mask, how.whole(y, v), y))
}

// putBack returns x with its region replaced by y.
func (x *indexing) putBack(y *graph.Node) *graph.Node {
	s := x.x.Shape
	y = graph.Flip(insert(y, x.gone...), x.flips)
	inside := graph.Const(ir.Bool, 1, s)
	whole := true
	for a, n := range s {
		span, dropped := x.spans[a], slices.Contains(x.gone, a)
		if span.Len == n && !dropped {
			continue
		}
		whole = false
		var in *graph.Node                 // whether a position of the axis is in the span
		if dropped && n <= math.MaxInt32 { // an argument of the program, so that all positions share it
			y = graph.Expand(y, shape.With(y.Shape, a, n))
			in = isAt(n, span.Start)
		} else {
			p := spanPadding(span, n)
			in = graph.Pad(graph.Const(ir.Bool, 1, []int{span.Len}), 0, []graph.Padding{p})
			all := make([]graph.Padding, len(s))
			all[a] = p
			y = graph.Pad(y, 0, all)
		}
		inside = graph.Binary(ir.And, inside, spreadAxes(in, []int{a}, s))
	}
	if whole {
		return y
	}
	return graph.Where(inside, y, x.x)
}

// isAt returns whether each position of an axis of length n is i.
func isAt(n, i int) *graph.Node {
	p := graph.Iota([]int{n}, 0)
	return eq(p, graph.Scalar(ir.Int32, ir.Int(ir.Int32, int64(i)), p.Shape))
}

// spanPadding returns the padding that is the inverse of a span of an axis of length n.
func spanPadding(s graph.Span, n int) graph.Padding {
	return graph.Padding{Before: s.Start, Interior: s.Step - 1, After: n - 1 - s.Start - s.Step*(s.Len-1)}
}

// combinedAt combines v with the elements of an axis at positions, by a kind of Scatter.
func combinedAt(kind ir.Op) func(site *graph.IndexSite, old, at, v *graph.Node, axis int) *graph.Node {
	return func(site *graph.IndexSite, old, at, v *graph.Node, axis int) *graph.Node {
		return graph.At(site, graph.Scatter(kind, old, spreadAxes(at, []int{axis}, v.Shape), v, axis))
	}
}
