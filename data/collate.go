package data

import (
	"errors"
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// PadOptions are the settings of [Pad].
type PadOptions struct {
	Value  float64            // the padding; 0 or false if not given
	Values map[string]float64 // Value by the tensor's name (see package tree), such as {"y": -100}
	// Multiple, if above 0, rounds the padded length of axis 0 of the examples up to a
	// multiple of it, so that batches have few shapes and need few plans.
	Multiple int
}

// maxMultiple bounds PadOptions.Multiple.
const maxMultiple = 1 << 30

// Pad returns a function for [Loader.Collate] that stacks examples whose tensors differ in
// length: each axis is padded at its end to the greatest length in the batch. Tensors of one
// name must have one type and number of axes. Nil options pad with zeros.
func Pad[T any](o *PadOptions) func(examples []T) (T, error) {
	if o == nil {
		o = &PadOptions{}
	}
	if o.Multiple < 0 || o.Multiple > maxMultiple {
		misuse("Pad", fmt.Sprintf("Multiple is %d, want 0 to %d", o.Multiple, maxMultiple))
	}
	return func(examples []T) (batch T, err error) {
		if len(examples) == 0 {
			return batch, errors.New("a batch of no examples")
		}
		all := make([][]pytree.Leaf[tensor.Tensor], len(examples))
		for k, e := range examples {
			if all[k], err = pytree.Flatten[tensor.Tensor](e); err != nil {
				return batch, err
			}
			if len(all[k]) != len(all[0]) {
				return batch, fmt.Errorf("examples of one batch differ: %d tensors and %d", len(all[0]), len(all[k]))
			}
		}
		padded := make([]T, len(examples))
		leaves := make([][]tensor.Tensor, len(examples))
		for k := range all {
			leaves[k] = make([]tensor.Tensor, len(all[k]))
		}
		for i := range all[0] {
			if err := o.pad(all, leaves, i); err != nil {
				return batch, err
			}
		}
		for k, e := range examples {
			if padded[k], err = pytree.Rebuild(e, leaves[k]); err != nil {
				return batch, err
			}
		}
		return stack(padded)
	}
}

// pad sets leaf i of each example to the padded one.
func (o *PadOptions) pad(all [][]pytree.Leaf[tensor.Tensor], leaves [][]tensor.Tensor, i int) error {
	first := all[0][i]
	if !first.Value.IsValid() {
		return nil
	}
	shape := first.Value.Shape()
	for _, e := range all {
		t := e[i].Value
		if !t.IsValid() || t.Rank() != len(shape) || t.DType() != first.Value.DType() {
			return fmt.Errorf("examples of one batch differ: %s and %s", describe(first), describe(e[i]))
		}
		for axis, n := range t.Shape() {
			shape[axis] = max(shape[axis], n)
		}
	}
	if len(shape) > 0 && o.Multiple > 0 {
		shape[0] = ir.CeilDiv(shape[0], o.Multiple) * o.Multiple
	}
	value, given := o.Values[first.Name]
	if !given {
		value = o.Value
	}
	for k, e := range all {
		padded, err := padTo(e[i].Value, shape, value)
		if err != nil {
			return fmt.Errorf("%s: %w", pytree.Title(e[i].Name), err)
		}
		leaves[k][i] = padded
	}
	return nil
}

// padTo returns t with elements of a value at the ends of axes, on the host.
func padTo(t tensor.Tensor, shape []int, value float64) (tensor.Tensor, error) {
	from, err := tensor.Internal.Bytes(graph.Token{}, "Data", t)
	if err != nil {
		return t, err
	}
	constant := tensor.FullOf(tensor.Float64, value, 1).Cast(t.DType())
	if whole := t.DType().IsInt() || t.DType() == tensor.Bool; whole && constant.Cast(tensor.Float64).Item() != value {
		return t, fmt.Errorf("the Value %v cannot be an element of %v", value, t.DType())
	}
	fill, err := tensor.Internal.Bytes(graph.Token{}, "Data", constant)
	if err != nil {
		return t, err
	}
	size := t.DType().Size()
	to, err := tensor.Internal.Allocate(graph.Token{}, graph.Len(shape)*size)
	if err != nil {
		return t, err
	}
	for i := 0; i < len(to); i += size {
		copy(to[i:], fill)
	}
	copyRows(to, from, shape, t.Shape(), size)
	return tensor.FromBytes(t.DType(), shape, to), nil
}

// copyRows copies elements of one shape to the start of each axis of another.
func copyRows(to, from []byte, toShape, fromShape []int, size int) {
	if len(fromShape) <= 1 {
		copy(to, from)
		return
	}
	toRow := graph.Len(toShape[1:]) * size
	fromRow := graph.Len(fromShape[1:]) * size
	for i := range fromShape[0] {
		copyRows(to[i*toRow:], from[i*fromRow:(i+1)*fromRow], toShape[1:], fromShape[1:], size)
	}
}
