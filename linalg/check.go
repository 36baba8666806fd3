package linalg

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

type tensors = []tensor.Tensor

// fail panics with a *tensor.Error about op on tensors.
func fail(op, reason string, operands ...tensor.Tensor) {
	var nodes []any
	for _, t := range operands {
		nodes = append(nodes, tensor.Internal.Node(graph.Token{}, t))
	}
	tensor.Internal.Misuse(graph.Token{}, op, reason, nodes...)
}

// dims returns the lengths of a matrix. It panics on behalf of op unless a is a matrix of
// floats.
func dims(op string, a tensor.Tensor) (m, n int) {
	switch {
	case !a.IsValid():
		tensor.Internal.Misuse(graph.Token{}, op, "the tensor is absent (the zero Tensor): test with IsValid")
	case a.DType() != tensor.Float32 && a.DType() != tensor.Float64:
		fail(op, "the elements must be float32 or float64: Cast first", a)
	case a.Rank() < 2:
		fail(op, "a matrix has two axes: Unsqueeze adds one", a)
	}
	return a.Dim(-2), a.Dim(-1)
}

// square returns the length of a square matrix's axes.
func square(op string, a tensor.Tensor) int {
	m, n := dims(op, a)
	if m != n {
		fail(op, "the matrix must be square", a)
	}
	return n
}

// batchOf returns the lengths of a's axes before the last two.
func batchOf(a tensor.Tensor) []int { return a.Shape()[:a.Rank()-2] }

// expanded returns a with other axes before the last two, to which its own broadcast.
func expanded(a tensor.Tensor, batch []int) tensor.Tensor {
	return a.Expand(append(slices.Clone(batch), a.Dim(-2), a.Dim(-1))...)
}

// system checks the equations a·x = b. It returns both in one type, b as a matrix with the
// batch of both, and whether it was a vector.
func system(op string, a, b tensor.Tensor) (left, right tensor.Tensor, batch []int, vector bool) {
	m, _ := dims(op, a)
	if !b.IsValid() {
		tensor.Internal.Misuse(graph.Token{}, op, "the right side is absent (the zero Tensor)")
	}
	a, b = tensor.Internal.Promote(graph.Token{}, op, a, b)
	given := b
	if vector = b.Rank() == 1; vector {
		b = b.Unsqueeze(-1)
	}
	if b.Rank() == 0 || b.Dim(-2) != m {
		fail(op, fmt.Sprintf("the right side must have %d rows, or be a vector of %d elements", m, m), a, given)
	}
	batch, ok := shape.Broadcast(batchOf(a), batchOf(b))
	if !ok {
		fail(op, "the axes before the last two do not broadcast", a, given)
	}
	return a, expanded(b, batch), batch, vector
}

// column makes the solution of a vector a vector again, as system made the vector a column.
func column(x tensor.Tensor, vector bool) tensor.Tensor {
	if vector {
		return x.Squeeze(-1)
	}
	return x
}

// transposed exchanges the last two axes.
func transposed(a tensor.Tensor) tensor.Tensor { return a.Transpose(-2, -1) }

// symmetric is the mean of a and its transpose.
func symmetric(a tensor.Tensor) tensor.Tensor { return a.Mul(0.5).Add(transposed(a).Mul(0.5)) }

// columns multiplies the columns of a by the elements of s.
func columns(a, s tensor.Tensor) tensor.Tensor { return a.Mul(s.Unsqueeze(-2)) }

// epsilon is the distance from 1 to the next number of a type.
func epsilon(d tensor.DType) float64 {
	if d == tensor.Float32 {
		return 0x1p-23
	}
	return 0x1p-52
}

// A rule gives tangents or cotangents from others, the arguments and the results.
type rule = func(args, outs, ts []tensor.Tensor) []tensor.Tensor

// byType calls f, which depends on the type of its arguments; see tensor.Internal.ByType.
func byType(f func(args tensors) tensors, args ...tensor.Tensor) tensors {
	return tensor.Internal.ByType(graph.Token{}, f, args...)
}

// withRules calls f and gives its results rules; see grad.Internal.Custom.
func withRules(op string, f func(args []tensor.Tensor) []tensor.Tensor, jvp, vjp rule, args ...tensor.Tensor) []tensor.Tensor {
	return byType(func(args tensors) tensors {
		return grad.Internal.Custom(graph.Token{}, op, f, jvp, vjp, args...)
	}, args...)
}
