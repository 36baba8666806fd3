package tensor

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
)

// Misuse panics with an [*Error] of op on operands, as the operations of this
// package do.
func (internal) Misuse(_ graph.Token, op, reason string, operands ...any) {
	fail(op, reason, operands...)
}

// Gather takes, along an axis, the elements of x at the positions in index,
// whose other axes are as in x. Unlike in [Tensor.TakeAlong], a negative
// position is out of range.
func (internal) Gather(_ graph.Token, op string, x Tensor, axis int, index Tensor) Tensor {
	from, at := x.node(op), index.node(op)
	checkDevices(op, from, at)
	return Tensor{n: graph.Gather(from, at, axis)}
}

// Bytes computes t and returns its elements, row-major and little-endian: the
// caller's to keep.
func (internal) Bytes(_ graph.Token, op string, t Tensor) ([]byte, error) { return t.bytes(op) }

// FromBytes is a tensor of such elements, which it takes over. There must be
// as many bytes as the shape needs, aligned for the type.
func (internal) FromBytes(_ graph.Token, d DType, lengths []int, data []byte) Tensor {
	return stored(d, slices.Clone(lengths), data)
}
