package tensor

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// A Range, as a spec of [Tensor.Index], selects the elements of an axis from Start up
// to but not including Stop, Step apart (0 means 1), by the rules of [Tensor.Slice].
type Range struct{ Start, Stop, Step int }

// A Mark is one of the special specs of [Tensor.Index].
type Mark int

// The marks, and End.
const (
	All      Mark = iota // the whole axis
	NewAxis              // a new axis of length 1
	Ellipsis             // as many All as are missing

	// End, as the stop of a range, is past the last element, or for a negative step
	// before the first.
	End = shape.End
)

// Span returns the [Range] from start up to but not including stop: Span(2,
// End) selects all but the first two, Span(-1, End, -1) reverses the axis.
func Span(start, stop int, step ...int) Range { return ranged("Span", start, stop, step) }

// ranged returns the range of a call of op, with at most one step.
func ranged(op string, start, stop int, step []int, operands ...any) Range {
	switch {
	case len(step) == 0:
		return Range{start, stop, 1}
	case len(step) > 1:
		fail(op, fmt.Sprintf("there are %d steps, want at most one", len(step)), operands...)
	case step[0] == 0:
		fail(op, "the step is 0: want one like 2, or like -1 to go backwards", operands...)
	}
	return Range{start, stop, step[0]}
}

// Index selects a part of t by one spec for each axis. An int selects one element and
// drops the axis, a [Range] selects several elements, [All] all. [NewAxis] adds an axis
// of length 1. [Ellipsis], or the end of the specs, stands for the axes without a spec.
// One spec may be a tensor of indices, which replaces its axis as [Tensor.Take] does.
func (t Tensor) Index(specs ...any) Tensor {
	x := t.node("Index")
	spans := graph.FullSpans(x.Shape)
	axis := 0
	var flips, fresh, gone []int // axes: to reverse, of the result to add, of x to drop
	var index Tensor             // replaces axis at of the result
	at := 0
	for i, spec := range complete(x, specs) {
		switch s := spec.(type) {
		case int:
			spans[axis] = spanAt("Index", x, axis, s)
			gone = append(gone, axis)
		case Range:
			if s.setSpan("Index", x, axis, spans) {
				flips = append(flips, axis)
			}
		case Tensor:
			if index.IsValid() {
				fail("Index", "more than one tensor of indices", x)
			}
			index, at = s, i-len(gone)
		case Mark:
			if s == NewAxis {
				fresh = append(fresh, i-len(gone))
				continue
			}
		}
		axis++
	}
	y := graph.Flip(graph.Crop(x, spans), flips)
	y = graph.Reshape(y, shape.WithOnes(shape.Without(y.Shape, gone), fresh))
	if index.IsValid() {
		y = take("Index", y, at, index)
	}
	return Tensor{n: y}
}

// complete checks specs and replaces Ellipsis, or the missing end, by an All for each
// axis of x without a spec.
func complete(x *graph.Node, specs []any) []any {
	used, dots := 0, -1
	for i, spec := range specs {
		switch s := spec.(type) {
		case int, Range:
			used++
		case Tensor:
			checkIndex("Index", s.node("Index"))
			used++
		case Mark:
			switch s {
			case All:
				used++
			case NewAxis:
			case Ellipsis:
				if dots >= 0 {
					fail("Index", "more than one Ellipsis", x)
				}
				dots = i
			default:
				fail("Index", fmt.Sprintf("%d is no Mark", s), x)
			}
		default:
			fail("Index", fmt.Sprintf("a %T is not a spec: use an int, a Range, All, NewAxis, Ellipsis or a Tensor", spec), x)
		}
	}
	missing := len(x.Shape) - used
	if missing < 0 {
		fail("Index", fmt.Sprintf("%s for rank %d", shape.Count(used, "spec"), len(x.Shape)), x)
	}
	rest := slices.Repeat([]any{All}, missing)
	if dots < 0 {
		return slices.Concat(specs, rest)
	}
	return slices.Concat(specs[:dots], rest, specs[dots+1:])
}
