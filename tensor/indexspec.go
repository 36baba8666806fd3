package tensor

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An indexing is a call of Index, OIndex, VIndex, Set or AddAt on x, with its specs
// resolved: ranges and ints crop x to a region, from which tensors select elements.
type indexing struct {
	op    string
	x     *graph.Node
	spans []graph.Span // of the axes of x
	flips []int        // axes of x that ranges reverse
	gone  []int        // axes of x that ints drop
	items []specItem   // the other specs
}

// A specItem is a spec other than an int, and the axes of the region that it is for.
type specItem struct {
	axis, rank int
	tensor     *graph.Node // nil for a range or a new axis
}

// isMask reports whether the spec is a tensor of bools.
func (s specItem) isMask() bool { return s.tensor != nil && s.tensor.DType == ir.Bool }

// newIndexing resolves the specs of a call of op.
func newIndexing(op string, x *graph.Node, specs []any) *indexing {
	ix := &indexing{op: op, x: x, spans: graph.FullSpans(x.Shape)}
	axis := 0 // of x
	for _, spec := range completeSpecs(op, x, specs) {
		item := specItem{axis: axis - len(ix.gone), rank: 1}
		switch s := spec.(type) {
		case int:
			ix.spans[axis] = spanAt(op, x, axis, s)
			ix.gone = append(ix.gone, axis)
			axis++
			continue
		case Range:
			if s.setSpan(op, x, axis, ix.spans) {
				ix.flips = append(ix.flips, axis)
			}
		case Tensor:
			item.tensor = s.n
			checkDevices(op, x, s.n)
			if !item.isMask() {
				item.tensor = narrow(s.n)
				break
			}
			item.rank = len(s.n.Shape)
			if part := x.Shape[axis : axis+item.rank]; !slices.Equal(part, s.n.Shape) {
				fail(op, fmt.Sprintf("a mask must have the lengths of its axes, %v", part), x, s.n)
			}
		case Mark:
			if s == NewAxis {
				item.rank = 0
			}
		}
		ix.items = append(ix.items, item)
		axis += item.rank
	}
	return ix
}

// completeSpecs checks specs and replaces Ellipsis, or the missing end, by an All for
// each axis of x without a spec.
func completeSpecs(op string, x *graph.Node, specs []any) []any {
	used, dots := 0, -1
	for i, spec := range specs {
		switch s := spec.(type) {
		case int, Range:
			used++
		case Tensor:
			used += axesOfSpec(op, s.node(op))
		case Mark:
			switch s {
			case All:
				used++
			case NewAxis:
			case Ellipsis:
				if dots >= 0 {
					fail(op, "more than one Ellipsis", x)
				}
				dots = i
			default:
				fail(op, fmt.Sprintf("%d is no Mark", s), x)
			}
		default:
			fail(op, fmt.Sprintf("a %T is not a spec: use an int, a Range, All, NewAxis, Ellipsis or a Tensor", spec), x)
		}
	}
	missing := len(x.Shape) - used
	if missing < 0 {
		fail(op, fmt.Sprintf("specs for %s, the rank is %d", shape.Count(used, "axis"), len(x.Shape)), x)
	}
	rest := slices.Repeat([]any{All}, missing)
	if dots < 0 {
		return slices.Concat(specs, rest)
	}
	return slices.Concat(specs[:dots], rest, specs[dots+1:])
}

// axesOfSpec returns the number of axes that a tensor of indices, or a mask, is for.
func axesOfSpec(op string, s *graph.Node) int {
	if s.DType == ir.Bool {
		return len(s.Shape)
	}
	if !isIndex(s.DType) {
		fail(op, "an index must be of integers, other than uint64, or a mask of bools: Cast(tensor.Int32)", s)
	}
	return 1
}

// region returns the part of x that ints and ranges select, without the axes of ints.
func (x *indexing) region() *graph.Node {
	return drop(graph.Flip(graph.Crop(x.x, x.spans), x.flips), x.gone...)
}

// regionShape is the shape of region.
func (x *indexing) regionShape() []int {
	s := make([]int, len(x.spans))
	for i, span := range x.spans {
		s[i] = span.Len
	}
	return shape.Without(s, x.gone)
}

// tensors returns the positions among items of those that are tensors.
func (x *indexing) tensors() []int {
	var at []int
	for i, item := range x.items {
		if item.tensor != nil {
			at = append(at, i)
		}
	}
	return at
}
