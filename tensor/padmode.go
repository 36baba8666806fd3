package tensor

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// A PadMode says which values lie beyond the ends of an axis.
type PadMode uint8

// The modes. For [a b c], two elements before and two after are
const (
	Reflect   PadMode = iota + 1 // c b [a b c] b a
	Replicate                    // a a [a b c] c c
	Circular                     // b c [a b c] a b
)

// PadMode adds elements of t before the first of an axis and after its last. Reflect adds
// fewer than the axis has, Circular at most as many; for zeros see [Tensor.Pad].
func (t Tensor) PadMode(axis, before, after int, mode PadMode) Tensor {
	x := t.node("PadMode")
	a := axisOf("PadMode", x, axis)
	n := x.Shape[a]
	most := map[PadMode]int{Reflect: n - 1, Replicate: shape.MaxLen, Circular: n}[mode]
	switch {
	case mode < Reflect || mode > Circular:
		fail("PadMode", fmt.Sprintf("there is no mode %d: want Reflect, Replicate or Circular", mode), x)
	case before < 0 || after < 0:
		fail("PadMode", fmt.Sprintf("%d before and %d after: Slice takes elements away", before, after), x)
	case n == 0 || max(before, after) > most:
		fail("PadMode", fmt.Sprintf("%d before and %d after an axis of %d elements: want at most %d", before, after, n, max(most, 0)), x)
	}
	s := shape.With(x.Shape, a, before+n+after)
	checkLen("PadMode", s, x)
	var head, tail *graph.Node
	switch mode {
	case Reflect:
		head = graph.Flip(graph.Slice(x, a, min(1, n-before), before), []int{a})
		tail = graph.Flip(graph.Slice(x, a, max(n-1-after, 0), after), []int{a})
	case Replicate:
		head = graph.Expand(graph.Slice(x, a, 0, 1), shape.With(x.Shape, a, before))
		tail = graph.Expand(graph.Slice(x, a, n-1, 1), shape.With(x.Shape, a, after))
	case Circular:
		head, tail = graph.Slice(x, a, n-before, before), graph.Slice(x, a, 0, after)
	}
	parts := slices.DeleteFunc([]*graph.Node{head, x, tail}, func(p *graph.Node) bool { return p.Shape[a] == 0 })
	return Tensor{n: graph.Cat(a, parts)}
}
