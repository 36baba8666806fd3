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

// of returns the slots of each parameter, nil for one that has none yet. It fails if s has
// slots without a parameter.
func (s State) of(params []pytree.Leaf[tensor.Tensor], names *slotNames) (slots [][]tensor.Tensor, err error) {
	slots = make([][]tensor.Tensor, len(params))
	found := make([]tensor.Tensor, 0, len(s.Slots))
	for i, p := range params {
		if !p.Value.IsValid() {
			continue
		}
		first := len(found)
		for t, ok := s.Slots[names.of(params, i, 0)]; ok; t, ok = s.Slots[names.of(params, i, len(found)-first)] {
			found = append(found, t)
		}
		if len(found) > first {
			slots[i] = found[first:len(found):len(found)]
		}
	}
	if len(found) == len(s.Slots) {
		return slots, nil
	}
	others := maps.Clone(s.Slots)
	for i := range params {
		for k := range slots[i] {
			delete(others, names.of(params, i, k))
		}
	}
	return nil, fmt.Errorf("optim: Step: State has slots %s, which have no parameter in the model: is it the State of this model? optim.State{} starts over",
		pytree.Titles(slices.Sorted(maps.Keys(others))))
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
