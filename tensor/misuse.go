package tensor

import (
	"slices"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
)

// Misuse panics with an [*Error] of op on operands, as the operations of this
// package do.
func (internal) Misuse(_ graph.Token, op, reason string, operands ...any) {
	fail(op, reason, operands...)
}

// Pick takes, from each row along the last axis of x, the element that its
// label names, and drops the axis. Labels have the shape of the result, and
// unlike the indices of [Tensor.Take] are out of range if they are negative.
func (internal) Pick(_ graph.Token, op string, x, labels Tensor) Tensor {
	from, at := x.node(op), labels.node(op)
	checkDevices(op, from, at)
	site := graph.NewIndexSite(op, at.Shape)
	site.Noun, site.Of = "label", "%d classes"
	last := len(at.Shape)
	return Tensor{n: drop(graph.At(site, graph.Gather(from, insert(at, last), last)), last)}
}

// Take is [Tensor.Take] on behalf of another operation.
func (internal) Take(_ graph.Token, op string, x Tensor, axis int, index Tensor) Tensor {
	return Tensor{n: take(op, x.node(op), axis, index)}
}

// Step computes new tensors in one plan, as one transaction: each is the next
// value of the one of old with its index, which is absent for a value that is
// new. If an index out of range is met on the way, Step fails. A device that runs
// ahead meets it later: there the new tensors come to hold the elements of the
// old ones, and Failed tells.
func (internal) Step(_ graph.Token, op string, j *exec.Journal, next, old []Tensor) error {
	var ns, before []*graph.Node
	for i, t := range next {
		if t.n == nil {
			continue
		}
		if err := hasValue(op, t.n); err != nil {
			return err
		}
		ns, before = append(ns, t.n), append(before, old[i].n)
	}
	d := Default().exec()
	return failure(op, d, exec.Step(d, j, ns, before))
}

// Failed returns how many steps of a journal are newly known to have failed, and
// the first of their errors that nobody has seen.
func (internal) Failed(_ graph.Token, op string, j *exec.Journal) (n int, err error) {
	n, err = j.Failed()
	return n, failure(op, Default().exec(), err)
}

// Bytes computes t and returns its elements, row-major and little-endian: the
// caller's to keep.
func (internal) Bytes(_ graph.Token, op string, t Tensor) ([]byte, error) { return t.bytes(op) }

// Allocate returns n bytes, all 0, or an error if the host has too little memory.
func (internal) Allocate(_ graph.Token, n int) ([]byte, error) { return exec.Allocate(n, 1) }

// FromBytes is a tensor of such elements, which it takes over. There must be
// as many bytes as the shape needs, aligned for the type.
func (internal) FromBytes(_ graph.Token, d DType, lengths []int, data []byte) Tensor {
	return stored(d, slices.Clone(lengths), data)
}
