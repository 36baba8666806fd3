package tensor

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Chunk cuts t along an axis into n parts of one length, the axis's divided by n and rounded
// up: the last may be shorter, and the parts fewer than n, as in PyTorch. For other lengths see
// [Tensor.Split].
func (t Tensor) Chunk(axis, n int) []Tensor {
	x := t.node("Chunk")
	a := axisOf("Chunk", x, axis)
	if n < 1 {
		fail("Chunk", fmt.Sprintf("%d parts: want at least 1", n), x)
	}
	length := x.Shape[a]
	size := ir.CeilDiv(length, n)
	if length > 0 {
		n = ir.CeilDiv(length, size)
	}
	parts := make([]Tensor, n)
	for i := range parts {
		parts[i] = Tensor{n: graph.Slice(x, a, i*size, min(size, length-i*size))}
	}
	return parts
}

// Unstack returns the slices of t along an axis, without that axis: the inverse of
// [Stack].
func (t Tensor) Unstack(axis int) []Tensor {
	x := t.node("Unstack")
	a := axisOf("Unstack", x, axis)
	parts := make([]Tensor, x.Shape[a])
	for i := range parts {
		parts[i] = Tensor{n: drop(graph.Slice(x, a, i, 1), a)}
	}
	return parts
}

// Interleave returns the elements of ts along an axis in turn, the first of each, then the
// second of each. The tensors have one shape.
func Interleave(axis int, ts ...Tensor) Tensor {
	if len(ts) == 0 {
		fail("Interleave", "there is nothing to interleave")
	}
	ns := nodes("Interleave", ts)
	promoteAll("Interleave", ns)
	first := ns[0]
	a := axisOf("Interleave", first, axis)
	s := shape.With(first.Shape, a, first.Shape[a]*len(ns))
	checkLen("Interleave", s, first)
	for i, n := range ns {
		checkSame("Interleave", first, n)
		ns[i] = insert(n, a+1)
	}
	return Tensor{n: graph.Reshape(graph.Cat(a+1, ns), s)}
}
