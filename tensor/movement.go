package tensor

import (
	"fmt"
	"iter"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// Reshape returns t's elements, in row-major order, with another shape of as many
// elements. One length may be -1: it follows from the others.
func (t Tensor) Reshape(lengths ...int) Tensor {
	x := t.node("Reshape")
	s, err := shape.Infer(lengths, x.Len())
	if err != nil {
		fail("Reshape", err.Error(), x, lengths)
	}
	return Tensor{n: graph.Reshape(x, s)}
}

// Flatten merges the axes from axis from to the last into one.
func (t Tensor) Flatten(from int) Tensor {
	x := t.node("Flatten")
	if len(x.Shape) == 0 && (from == 0 || from == -1) {
		return Tensor{n: graph.Reshape(x, []int{1})}
	}
	a := axisOf("Flatten", x, from)
	s := append(slices.Clone(x.Shape[:a]), graph.Len(x.Shape[a:]))
	return Tensor{n: graph.Reshape(x, s)}
}

// Expand broadcasts t to a shape: axes of length 1, and missing leading axes, take any
// length. A length of -1 stays t's.
func (t Tensor) Expand(lengths ...int) Tensor {
	x := t.node("Expand")
	s, extra := slices.Clone(lengths), len(lengths)-len(x.Shape)
	for i, n := range s {
		if n == -1 && i >= extra {
			s[i] = x.Shape[i-extra]
		}
	}
	if !shape.BroadcastsTo(x.Shape, s) {
		fail("Expand", "only axes of length 1 and missing leading ones can be repeated; -1 keeps the length of an axis of the tensor", x, lengths)
	}
	checkLen("Expand", s, x)
	return Tensor{n: graph.BroadcastTo(x, s)}
}

// Tile repeats all of t along its axes, times[i] times along axis i. The shorter of
// times and shape is extended with leading ones.
func (t Tensor) Tile(times ...int) Tensor {
	x := t.node("Tile")
	rank := max(len(times), len(x.Shape))
	s, n := ones(rank), ones(rank)
	copy(s[rank-len(x.Shape):], x.Shape)
	copy(n[rank-len(times):], times)
	split, wide, joined := make([]int, 0, 2*rank), make([]int, 0, 2*rank), make([]int, rank)
	for i := range rank {
		if n[i] < 0 {
			fail("Tile", fmt.Sprintf("%d repetitions, want 0 or more", n[i]), x, times)
		}
		split = append(split, 1, s[i])
		wide = append(wide, n[i], s[i])
		joined[i] = n[i] * s[i]
	}
	checkLen("Tile", wide, x, times)
	return Tensor{n: graph.Reshape(graph.Expand(graph.Reshape(x, split), wide), joined)}
}

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// Repeat repeats each element n times along an axis.
func (t Tensor) Repeat(axis, n int) Tensor {
	x := t.node("Repeat")
	a := axisOf("Repeat", x, axis)
	if n < 0 {
		fail("Repeat", fmt.Sprintf("%d repetitions, want 0 or more", n), x)
	}
	wide := slices.Insert(slices.Clone(x.Shape), a+1, n)
	checkLen("Repeat", wide, x)
	y := graph.Expand(insert(x, a+1), wide)
	return Tensor{n: graph.Reshape(y, shape.With(x.Shape, a, x.Shape[a]*n))}
}

// Permute reorders axes: axis i of the result is axis axes[i] of t.
func (t Tensor) Permute(axes ...int) Tensor {
	x := t.node("Permute")
	order, err := shape.Order(axes, len(x.Shape))
	if err != nil {
		fail("Permute", err.Error(), x, axes)
	}
	return Tensor{n: graph.Permute(x, order)}
}

// Transpose swaps axes a and b.
func (t Tensor) Transpose(a, b int) Tensor {
	x := t.node("Transpose")
	return Tensor{n: swap(x, axisOf("Transpose", x, a), axisOf("Transpose", x, b))}
}

// T swaps the last two axes.
func (t Tensor) T() Tensor {
	x := t.node("T")
	rank := matrix("T", x)
	return Tensor{n: swap(x, rank-2, rank-1)}
}

// matrix returns the rank of x; it panics if that is less than 2.
func matrix(op string, x *graph.Node) int {
	if len(x.Shape) < 2 {
		fail(op, "it needs at least two axes: Unsqueeze adds one", x)
	}
	return len(x.Shape)
}

// Flip reverses the order of elements along axes; without axes, along all.
func (t Tensor) Flip(axes ...int) Tensor {
	x := t.node("Flip")
	over := reduced("Flip", x, axes)
	if over == nil {
		over = shape.All(len(x.Shape))
	}
	return Tensor{n: graph.Flip(x, over)}
}

// Squeeze drops axes, which must have length 1; without arguments, all axes of length
// 1.
func (t Tensor) Squeeze(axes ...int) Tensor {
	x := t.node("Squeeze")
	over := reduced("Squeeze", x, axes)
	for _, a := range over {
		if x.Shape[a] != 1 {
			fail("Squeeze", fmt.Sprintf("axis %d has length %d: only axes of length 1 can be dropped", a, x.Shape[a]), x)
		}
	}
	if over == nil {
		for i, n := range x.Shape {
			if n == 1 {
				over = append(over, i)
			}
		}
	}
	return Tensor{n: drop(x, over...)}
}

// Unsqueeze adds axes of length 1 at the given positions of the result.
func (t Tensor) Unsqueeze(axes ...int) Tensor {
	x := t.node("Unsqueeze")
	over, err := shape.Axes(axes, len(x.Shape)+len(axes))
	if err != nil {
		fail("Unsqueeze", err.Error(), x)
	}
	return Tensor{n: insert(x, over...)}
}

// Pad adds zeros (false, for bools) before the first element of an axis and after its
// last.
func (t Tensor) Pad(axis, before, after int) Tensor {
	x := t.node("Pad")
	a := axisOf("Pad", x, axis)
	if before < 0 || after < 0 {
		fail("Pad", fmt.Sprintf("%d before and %d after: Slice takes elements away", before, after), x)
	}
	checkLen("Pad", []int{before, after}, x)
	checkLen("Pad", shape.With(x.Shape, a, before+x.Shape[a]+after), x)
	return Tensor{n: pad(x, a, before, after)}
}

// Slice selects the elements of an axis from start up to but not including stop, step
// apart, by default 1. Negative positions count from the end; a negative step goes
// backwards. [End] as stop is past the last element, or for a negative step before the
// first. A position out of range is an error; start = stop gives an axis of length 0.
func (t Tensor) Slice(axis, start, stop int, step ...int) Tensor {
	x := t.node("Slice")
	return Tensor{n: slice("Slice", x, axisOf("Slice", x, axis), ranged("Slice", start, stop, step, x))}
}

// slice selects a range of one axis.
func slice(op string, x *graph.Node, axis int, r Range) *graph.Node {
	spans := graph.FullSpans(x.Shape)
	backwards := r.setSpan(op, x, axis, spans)
	x = graph.Crop(x, spans)
	if backwards {
		return graph.Flip(x, []int{axis})
	}
	return x
}

// setSpan sets the span of an axis of x to the range r in ascending order, and reports
// whether r is descending.
func (r Range) setSpan(op string, x *graph.Node, axis int, spans []graph.Span) (backwards bool) {
	if r.Step == 0 {
		r.Step = 1
	}
	first, count, err := shape.Steps(r.Start, r.Stop, r.Step, x.Shape[axis])
	switch {
	case err != nil:
		fail(op, fmt.Sprintf("axis %d: %v", axis, err), x)
	case count < 2: // the step has no effect and may be huge
		spans[axis] = graph.Span{Start: max(first, 0), Step: 1, Len: count}
	case r.Step > 0:
		spans[axis] = graph.Span{Start: first, Step: r.Step, Len: count}
	default:
		spans[axis] = graph.Span{Start: first + (count-1)*r.Step, Step: -r.Step, Len: count}
		return true
	}
	return false
}

// Split cuts t along an axis into parts of the given sizes, whose sum must be the
// axis's length.
func (t Tensor) Split(axis int, sizes ...int) []Tensor {
	x := t.node("Split")
	a := axisOf("Split", x, axis)
	parts, at := make([]Tensor, len(sizes)), 0
	for i, size := range sizes {
		if size < 0 || size > x.Shape[a]-at {
			fail("Split", fmt.Sprintf("sizes %v do not add up to %d", sizes, x.Shape[a]), x)
		}
		parts[i] = Tensor{n: graph.Slice(x, a, at, size)}
		at += size
	}
	if at != x.Shape[a] {
		fail("Split", fmt.Sprintf("sizes %v do not add up to %d", sizes, x.Shape[a]), x)
	}
	return parts
}

// Cat joins tensors along an axis; their other axes must have equal lengths.
func Cat(axis int, ts ...Tensor) Tensor {
	if len(ts) == 0 {
		fail("Cat", "there is nothing to join")
	}
	ns := nodes("Cat", ts)
	a := axisOf("Cat", ns[0], axis)
	promoteAll("Cat", ns)
	total := 0
	for _, n := range ns {
		if len(n.Shape) != len(ns[0].Shape) || !slices.Equal(shape.With(n.Shape, a, 0), shape.With(ns[0].Shape, a, 0)) {
			fail("Cat", fmt.Sprintf("axes other than %d must have equal lengths", a), ns[0], n)
		}
		total += n.Shape[a]
	}
	checkLen("Cat", shape.With(ns[0].Shape, a, total), ns[0])
	return Tensor{n: graph.Cat(a, ns)}
}

// Stack joins tensors of one shape along a new axis.
func Stack(axis int, ts ...Tensor) Tensor {
	if len(ts) == 0 {
		fail("Stack", "there is nothing to join")
	}
	ns := nodes("Stack", ts)
	a, err := shape.AxisOf(axis, len(ns[0].Shape)+1)
	if err != nil {
		fail("Stack", err.Error(), ns[0])
	}
	promoteAll("Stack", ns)
	first := ns[0]
	for i, n := range ns {
		checkSame("Stack", first, n)
		ns[i] = insert(n, a)
	}
	return Tensor{n: graph.Cat(a, ns)}
}

// checkSame panics unless two operands to be joined have one shape.
func checkSame(op string, first, n *graph.Node) {
	if !slices.Equal(n.Shape, first.Shape) {
		fail(op, "the shapes must be equal", first, n)
	}
}

// Roll moves elements n places along an axis, backwards if n is negative. Elements that
// leave one end enter at the other.
func (t Tensor) Roll(axis, n int) Tensor {
	x := t.node("Roll")
	a := axisOf("Roll", x, axis)
	length := x.Shape[a]
	if length == 0 || n%length == 0 {
		return t
	}
	n = (n%length + length) % length
	tail, head := graph.Slice(x, a, length-n, n), graph.Slice(x, a, 0, length-n)
	return Tensor{n: graph.Cat(a, []*graph.Node{tail, head})}
}

// At selects one position of each of the leading axes and drops these axes. Negative
// positions count from the end.
func (t Tensor) At(i ...int) Tensor {
	x := t.node("At")
	if len(i) > len(x.Shape) {
		fail("At", fmt.Sprintf("%s for rank %d", shape.Count(len(i), "position"), len(x.Shape)), x)
	}
	spans := graph.FullSpans(x.Shape)
	for a, p := range i {
		spans[a] = spanAt("At", x, a, p)
	}
	return Tensor{n: graph.Reshape(graph.Crop(x, spans), slices.Clone(x.Shape[len(i):]))}
}

// spanAt returns the span of one element of an axis of x.
func spanAt(op string, x *graph.Node, axis, i int) graph.Span {
	p, err := shape.IndexOf(i, x.Shape[axis])
	if err != nil {
		fail(op, fmt.Sprintf("axis %d: %v", axis, err), x)
	}
	return graph.Span{Start: p, Step: 1, Len: 1}
}

// Rows iterates over the first axis: it yields each position i and t.At(i).
func (t Tensor) Rows() iter.Seq2[int, Tensor] {
	x := t.node("Rows")
	if len(x.Shape) == 0 {
		fail("Rows", "a scalar has no rows", x)
	}
	return func(yield func(int, Tensor) bool) {
		for i := range x.Shape[0] {
			if !yield(i, t.At(i)) {
				return
			}
		}
	}
}

// spreadAxes moves axis i of x to axis axes[i] of shape s, and repeats x along the other
// axes of s.
func spreadAxes(x *graph.Node, axes, s []int) *graph.Node {
	order := shape.All(len(axes))
	slices.SortStableFunc(order, func(i, j int) int { return axes[i] - axes[j] })
	x = graph.Permute(x, order)
	thin := ones(len(s))
	for i, a := range order {
		thin[axes[a]] = x.Shape[i]
	}
	return graph.Expand(graph.Reshape(x, thin), s)
}
