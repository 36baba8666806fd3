package optim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// A State holds an optimizer's values between steps. It is a tree, saved and loaded
// as a model is. It belongs to one model and one rule but does not record which: a
// rule accepts any State with as many slots of each parameter as it makes itself, so
// Adam can continue from AdamW's State.
type State struct {
	Step  tensor.Tensor            `tensor:",optional"` // number of steps done: one int32; absent before the first
	Slots map[string]tensor.Tensor // by the parameter's name and the slot's number: "0.weight.1"
	// With Precision Float16: the loss scale, one float32, and the number of steps since
	// the last skipped one, one int32.
	Scale, Streak tensor.Tensor `tensor:",optional"`
}

// step returns the number of steps done. It is stored on the host, so reading it does
// not wait for a device.
func (s State) step() (int, error) {
	if !s.Step.IsValid() {
		return 0, nil
	}
	if s.Step.DType() != tensor.Int32 || s.Step.Len() != 1 {
		return 0, fmt.Errorf("optim: State.Step is %s, want one int32", describe(s.Step))
	}
	n, err := tensor.Data[int32](s.Step)
	if err != nil {
		return 0, err
	}
	if n[0] < 0 {
		return 0, fmt.Errorf("optim: State.Step is %d, want a number of steps", n[0])
	}
	return int(n[0]), nil
}

// appendSlots appends the slots of the parameters to a list, and to lengths how many each has. It fails if
// s has slots without a parameter.
func (s State) appendSlots(list []tensor.Tensor, lengths []int, params []pytree.Leaf[tensor.Tensor], names *slotNames) ([]tensor.Tensor, []int, error) {
	first := len(list)
	for i, p := range params {
		n := 0
		for ; p.Value.IsValid(); n++ {
			t, ok := s.Slots[names.of(params, i, n)]
			if !ok {
				break
			}
			list = append(list, t)
		}
		lengths = append(lengths, n)
	}
	if len(list)-first == len(s.Slots) {
		return list, lengths, nil
	}
	others := maps.Clone(s.Slots)
	for i, n := range lengths {
		for k := range n {
			delete(others, names.of(params, i, k))
		}
	}
	return nil, nil, fmt.Errorf("optim: Step: State has slots %s, which have no parameter in the model: is it the State of this model? optim.State{} starts over",
		pytree.Titles(slices.Sorted(maps.Keys(others))))
}

// divided cuts a list into parts of some lengths, nil for 0, and appends these to parts.
func divided(parts [][]tensor.Tensor, list []tensor.Tensor, lengths []int) [][]tensor.Tensor {
	for _, n := range lengths {
		var part []tensor.Tensor
		if n > 0 {
			part, list = list[:n:n], list[n:]
		}
		parts = append(parts, part)
	}
	return parts
}

// slotNames are the names of slots: the parameter's name and the slot's number.
type slotNames [][]string

// of returns the name of the k-th slot of the i-th of the parameters.
func (n *slotNames) of(params []pytree.Leaf[tensor.Tensor], i, k int) string {
	if len(*n) == 0 {
		*n = make([][]string, len(params))
	}
	for len((*n)[i]) <= k {
		(*n)[i] = append((*n)[i], params[i].Name+"."+strconv.Itoa(len((*n)[i])))
	}
	return (*n)[i][k]
}
