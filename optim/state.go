package optim

import (
	"fmt"
	"iter"
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
	Step tensor.Tensor `tensor:",optional"` // number of steps done: one int32; absent before the first
	// Slots by the parameter's name and the slot's number, as "0.weight.1", and with MasterWeights the parameter in float32,
	// "0.weight.master".
	Slots map[string]tensor.Tensor
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

// countSlots counts the numbered slots of the i-th parameter. mastered says that it also has one in float32.
func (s State) countSlots(params []pytree.Leaf[tensor.Tensor], i int, names *slotNames) (n int, mastered bool) {
	p := params[i].Value
	if !p.IsValid() {
		return 0, false
	}
	for ; ; n++ {
		if _, ok := s.Slots[names.of(params, i, n)]; !ok {
			break
		}
	}
	if p.DType().IsHalf() {
		_, mastered = s.Slots[names.master(params, i)]
	}
	return n, mastered
}

// slotsOf yields the slots of the i-th parameter.
func (s State) slotsOf(params []pytree.Leaf[tensor.Tensor], i int, names *slotNames) iter.Seq2[string, tensor.Tensor] {
	return func(yield func(string, tensor.Tensor) bool) {
		n, mastered := s.countSlots(params, i, names)
		for k := range n {
			if name := names.of(params, i, k); !yield(name, s.Slots[name]) {
				return
			}
		}
		if name := names.master(params, i); mastered {
			yield(name, s.Slots[name])
		}
	}
}

// appendSlots appends the slots of the parameters to a list, the parameter in float32 last, and to lengths how many
// each has. It fails if State has slots without a parameter. lacks says that a parameter has slots, and is not among them.
func (o *Optimizer) appendSlots(list []tensor.Tensor, lengths []int, params []pytree.Leaf[tensor.Tensor], names *slotNames) (_ []tensor.Tensor, _ []int, lacks bool, err error) {
	first := len(list)
	for i, p := range params {
		n, mastered := o.State.countSlots(params, i, names)
		for k := range n {
			list = append(list, o.State.Slots[names.of(params, i, k)])
		}
		switch {
		case mastered && !o.MasterWeights:
			return nil, nil, false, fmt.Errorf("optim: Step: State has %s in float32: set MasterWeights, or delete the slot %q", parameter(p.Name), names.master(params, i))
		case mastered:
			list, n = append(list, o.State.Slots[names.master(params, i)]), n+1
		case n > 0 && o.hasMaster(p.Value):
			lacks = true
		}
		lengths = append(lengths, n)
	}
	if len(list)-first == len(o.State.Slots) {
		return list, lengths, lacks, nil
	}
	others := maps.Clone(o.State.Slots)
	for i := range params {
		for name := range o.State.slotsOf(params, i, names) {
			delete(others, name)
		}
	}
	return nil, nil, false, fmt.Errorf("optim: Step: State has slots %s, which have no parameter in the model: is it the State of this model? optim.State{} starts over",
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

// slotNames are the names of slots: the parameter's name and the slot's number, or "master".
type slotNames struct {
	numbered [][]string
	masters  []string
}

// of returns the name of the k-th slot of the i-th of the parameters.
func (n *slotNames) of(params []pytree.Leaf[tensor.Tensor], i, k int) string {
	if len(n.numbered) == 0 {
		n.numbered = make([][]string, len(params))
	}
	for len(n.numbered[i]) <= k {
		n.numbered[i] = append(n.numbered[i], params[i].Name+"."+strconv.Itoa(len(n.numbered[i])))
	}
	return n.numbered[i][k]
}

// master returns the name of the i-th of the parameters in float32.
func (n *slotNames) master(params []pytree.Leaf[tensor.Tensor], i int) string {
	if len(n.masters) == 0 {
		n.masters = make([]string, len(params))
	}
	if n.masters[i] == "" {
		n.masters[i] = params[i].Name + ".master"
	}
	return n.masters[i]
}
