package plot

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// misuse panics with a *tensor.Error about a function on tensors.
func misuse(op, reason string, ts ...tensor.Tensor) {
	operands := make([]any, len(ts))
	for i, t := range ts {
		operands[i] = tensor.Internal.Node(graph.Token{}, t)
	}
	tensor.Internal.Misuse(graph.Token{}, "plot."+op, reason, operands...)
}

// checkPresent panics for an absent tensor.
func checkPresent(op string, t tensor.Tensor) {
	if !t.IsValid() {
		misuse(op, "the tensor is absent (the zero Tensor): test with IsValid")
	}
}

// check panics for a tensor that has nothing to draw.
func check(op string, t tensor.Tensor) {
	checkPresent(op, t)
	if t.Len() == 0 {
		misuse(op, "the tensor has no element to draw", t)
	}
}

// elementBytes is the memory that drawing takes for each element that is read.
const elementBytes = 64

// numbers computes t and returns its elements.
func numbers(op string, t tensor.Tensor) ([]float64, error) {
	if err := hostmem.Check(t.Len(), elementBytes); err != nil {
		return nil, &tensor.DeviceError{Device: "host", Op: "plot." + op, Err: err}
	}
	data, err := tensor.Internal.Bytes(graph.Token{}, "plot."+op, t)
	if err != nil {
		return nil, err
	}
	d := t.DType()
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = ir.Decode(d, data[i*d.Size():]).Float64(d)
	}
	return out, nil
}

// floats returns t in float64 if its numbers may need that, otherwise in float32.
func floats(t tensor.Tensor) tensor.Tensor {
	if d := t.DType(); d == tensor.Int64 || d == tensor.Float64 {
		return t.Cast(tensor.Float64)
	}
	return t.Cast(tensor.Float32)
}

// pool returns t with at most limit elements along an axis, each the mean of as many
// neighbours. Only the last may be the mean of fewer.
func pool(t tensor.Tensor, axis, limit int) tensor.Tensor {
	n := t.Dim(axis)
	if n <= limit {
		return t
	}
	size := ir.CeilDiv(n, limit)
	blocks := ir.CeilDiv(n, size)
	shape := t.Shape()
	split := append(append(append([]int{}, shape[:axis]...), blocks, size), shape[axis+1:]...)
	counts := make([]float64, blocks)
	for i := range counts {
		counts[i] = float64(min(size, n-i*size))
	}
	t = floats(t)
	across := make([]int, len(shape))
	for i := range across {
		across[i] = 1
	}
	across[axis] = blocks
	sum := t.Pad(axis, 0, blocks*size-n).Reshape(split...).Sum(axis + 1).Squeeze(axis + 1)
	return sum.Div(tensor.New(counts, across...).Cast(t.DType()))
}

// stacked returns t with all axes but the last ones merged into one, and at most limit
// elements along it, with their indices, and a note if some are left out.
func stacked(t tensor.Tensor, last, limit int) (stack tensor.Tensor, names []string, note string) {
	shape := t.Shape()
	leading, kept := shape[:len(shape)-last], shape[len(shape)-last:]
	n := graph.Len(leading)
	stack = t.Reshape(append([]int{n}, kept...)...)
	if n > limit {
		stack, note = stack.Slice(0, 0, limit), fmt.Sprintf("the first %d of %d", limit, n)
	}
	for i := range min(n, limit) {
		index := make([]int, len(leading))
		for axis := len(leading) - 1; axis >= 0; axis-- {
			index[axis] = i % leading[axis]
			i /= leading[axis]
		}
		names = append(names, fmt.Sprint(index))
	}
	return stack, names, note
}
