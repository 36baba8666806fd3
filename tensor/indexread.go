package tensor

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
)

// index returns the part of t that specs select.
func (t Tensor) index(op string, mode indexMode, specs []any) Tensor {
	x := newIndexing(op, t.node(op), specs)
	l := newSelection(x, mode)
	y := x.region()
	if len(l.terms) > 0 {
		y = l.gather(y)
	}
	return Tensor{n: graph.Reshape(y, l.shape())}
}

// gather selects from a region. The result lacks new axes.
func (l *selection) gather(region *graph.Node) *graph.Node {
	at, site := l.positions()
	rows := l.merged(at.Len())
	y := graph.Gather(graph.Reshape(region, l.merged(l.width())), spreadAxes(at, []int{l.first}, rows), l.first)
	graph.At(site, y)
	gathered, own := l.gathered(), l.own()
	return graph.Permute(graph.Reshape(y, l.lengths(gathered)), orderOf(gathered, own))
}

// orderOf returns the permutation that brings axes in one order to another.
func orderOf(from, to []int) []int {
	order := make([]int, len(to))
	for i, a := range to {
		order[i] = slices.Index(from, a)
	}
	return order
}

// ungathered returns v, of the result's shape, in the order in which gather finds it: the
// region's axes, with the selected elements along the merged one.
func (l *selection) ungathered(v *graph.Node) *graph.Node {
	gathered, own := l.gathered(), l.own()
	v = graph.Permute(graph.Reshape(v, l.lengths(own)), orderOf(own, gathered))
	return graph.Reshape(v, l.merged(graph.Len(l.lengths(l.selected()))))
}

// maskPositions returns the int32 row-major positions of the true elements of a mask. It
// computes the mask, to know their number.
func maskPositions(op string, mask *graph.Node) *graph.Node {
	if err := hasValue(op, mask); err != nil {
		panic(err)
	}
	return nonZero(op, mask)
}
