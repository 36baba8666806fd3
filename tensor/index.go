package tensor

import (
	"fmt"

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
//
// A spec may also be a tensor of indices, integers other than uint64, negative ones from the
// end, whose axes replace the axis as [Tensor.Take] does. Several are broadcast to one
// shape and select together, element by element. Its axes are where the first of the
// tensors is if they are next to each other, apart from ints, and else come first. A tensor
// without axes counts as an int.
//
// A spec may be a mask too, a tensor of bools that replaces as many axes as it has. It
// stands for the indices of its true elements, in row-major order, a tensor for each of
// the axes. Their number must be known, so Index computes the mask; if that fails it
// panics with a [*DeviceError] or an [*Error].
//
// This is PyTorch's indexing; NumPy's takes ints for indices if there are tensors. See
// [Tensor.OIndex] to select along each axis independently. An index in a tensor that is
// out of range is found when the result is computed: [Eval] and [Data] return the error.
func (t Tensor) Index(specs ...any) Tensor { return t.index("Index", inPlaceIfAdjacent, specs) }

// OIndex, outer indexing, is [Tensor.Index] but for several tensors: each selects along
// its own axis, independently of the others, and its axes replace that axis. A mask is
// replaced by one axis, of its true elements. OIndex(rows, columns) is a submatrix.
func (t Tensor) OIndex(specs ...any) Tensor { return t.index("OIndex", outer, specs) }

// VIndex, vectorized indexing, is [Tensor.Index] but for the order of axes: the tensors of
// indices are broadcast to one shape, whose axes come first. A mask is not broadcast: it is
// replaced by one axis, of its true elements. Source: NumPy's proposal NEP 21, as for
// [Tensor.OIndex].
func (t Tensor) VIndex(specs ...any) Tensor { return t.index("VIndex", inFront, specs) }

// Set returns t with the elements that Index(specs...) selects replaced by v, a number or
// a tensor of t's type that broadcasts to the shape of Index. If specs select an element
// several times, the last counts. The derivative by an element of t that is replaced, or by
// one of v that is not taken, is 0.
//
// A mask is not computed if it is the only tensor and v does not vary along its axis, as in
// x.Set(0, x.Lt(0)). Calls that differ in ints and numbers share a plan; ranges are part of
// a plan. To set a submatrix, as [Tensor.OIndex] selects it, pass rows.Unsqueeze(1) and
// columns.
func (t Tensor) Set(v Operand, specs ...any) Tensor {
	return t.assign("Set", replaced, v, specs)
}

// AddAt is [Tensor.Set] with v added to the elements. An element that is selected several
// times has all of them added.
func (t Tensor) AddAt(v Operand, specs ...any) Tensor {
	t.numbers("AddAt")
	return t.assign("AddAt", increased, v, specs)
}

// Select returns the elements at one position of an axis, which it drops. A negative
// position counts from the end.
func (t Tensor) Select(axis, i int) Tensor {
	x := t.node("Select")
	a := axisOf("Select", x, axis)
	return Tensor{n: drop(graph.Slice(x, a, spanAt("Select", x, a, i).Start, 1), a)}
}
