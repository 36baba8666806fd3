package optim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// With ZeRO each rank has a part of each slot: 1/Size of its elements, flat, filled up with zeros to one length on
// all ranks. A step reduces gradients to the same parts, updates these of the parameters, and gathers them.

// sharding returns the ranks that State is divided over, nil if each has all of it.
func (o *Optimizer) sharding() Ranks {
	if o.ZeRO == 0 || o.Parallel == nil || o.Parallel.Size() == 1 {
		return nil
	}
	return o.Parallel
}

// checkZeRO fails if the stage is unknown, or a rule cannot update a part of its parameter.
func (o *Optimizer) checkZeRO(params []pytree.Leaf[tensor.Tensor]) error {
	if o.ZeRO < 0 || o.ZeRO > 3 {
		return fmt.Errorf("optim: Step of an Optimizer whose ZeRO is %d: want 0 to 3", o.ZeRO)
	}
	if o.sharding() == nil {
		return nil
	}
	for _, l := range params {
		if !l.Value.IsValid() || !l.Value.DType().IsFloat() {
			continue
		}
		if rule, _ := o.ruleOf(l.Name); rule != nil && !isElementwise(rule, l.Value) {
			return fmt.Errorf("optim: Step of %s with ZeRO: %T does not update each element on its own, as ZeRO needs it: choose another rule, by Groups for this parameter, or ZeRO 0",
				parameter(l.Name), unscaled(rule))
		}
	}
	return nil
}

// isElementwise reports whether a rule is known to update each element of a parameter from the elements of its
// gradient and slots at the same position.
func isElementwise(rule Rule, p tensor.Tensor) bool {
	switch unscaled(rule).(type) {
	case LAMB:
		return false
	case Muon:
		return p.Rank() < 2
	}
	return isShapeFree(rule)
}

// alignment is a number of elements of which parts have a multiple, so that all parameters that are gathered into
// one buffer begin at 16 bytes, as vectors do.
const alignment = 8

// partLen is the number of elements of a part of t.
func partLen(t tensor.Tensor, r Ranks) int {
	n := alignment * r.Size()
	return (t.Len() + n - 1) / n * alignment
}

// padded returns t, flat, with zeros up to a multiple of the number of ranks.
func padded(t tensor.Tensor, r Ranks) tensor.Tensor {
	flat := t.Reshape(-1)
	if more := partLen(t, r)*r.Size() - t.Len(); more > 0 { // on all ranks, whose graphs are compared
		flat = flat.Pad(0, 0, more)
	}
	return flat
}

// partOf returns this rank's part of t.
func partOf(t tensor.Tensor, r Ranks) tensor.Tensor {
	n := partLen(t, r)
	return padded(t, r).Slice(0, n*r.Rank(), n*(r.Rank()+1))
}

// ownPart returns this rank's part of t if State is divided, else t. Parameters may be parts already.
func (o *Optimizer) ownPart(t tensor.Tensor) tensor.Tensor {
	if r := o.sharding(); r != nil && !o.dividesModel() {
		return partOf(t, r)
	}
	return t
}

// reduced returns this rank's parts of the means of gradients, which are added in a type, or their own if it is 0.
func reduced(gs []tensor.Tensor, d tensor.DType, r Ranks) []tensor.Tensor {
	all := make([]tensor.Tensor, len(gs))
	for i, g := range gs {
		all[i] = padded(g, r)
	}
	return r.ReduceScatter(d, all...)
}

// wholes returns tensors in the shapes of others, of which they are parts.
func wholes(parts, like []tensor.Tensor, r Ranks) []tensor.Tensor {
	whole := r.AllGather(parts...)
	for i, t := range like {
		whole[i] = whole[i].Slice(0, 0, t.Len()).Reshape(t.Shape()...)
	}
	return whole
}

// shard divides a State that is whole, such as one from a file.
func (o *Optimizer) shard(params []pytree.Leaf[tensor.Tensor], names *slotNames) error {
	r, ours := o.sharding(), o.isStateOurs()
	switch {
	case ours && o.owner == r, !ours && r == nil:
		return nil
	case ours && o.owner != nil:
		return fmt.Errorf("optim: Step: State is divided over %d other ranks: go on from the State that FullState returned", o.owner.Size())
	}
	slots := make(map[string]tensor.Tensor, len(o.State.Slots))
	for i, p := range params {
		for name, t := range o.State.slotsOf(params, i, names) {
			if !slices.Equal(shapeOf(t), shapeOf(p.Value)) {
				return fmt.Errorf("optim: Step: the slot %q of State is %s, and its parameter %s: want one shape: FullState returns a State for files", name, describe(t), describe(p.Value))
			}
			part := tensor.Internal.Copy(graph.Token{}, partOf(t, r))
			if err := tensor.Eval(part); err != nil {
				return err
			}
			tensor.Internal.Outlive(graph.Token{}, part)
			slots[name] = part
		}
	}
	if len(slots) < len(o.State.Slots) {
		return nil // of another model: the step says so
	}
	o.State.Slots, o.owner, o.counter = slots, r, o.State.Step
	return nil
}

// isStateOurs reports whether a step has made State, or divided it.
func (o *Optimizer) isStateOurs() bool {
	return o.State.Step.IsValid() && node(o.State.Step) == node(o.counter)
}

// FullState returns State for a file. With ZeRO all ranks call it, between two steps, with the model that they
// step: rank 0 gets the State with whole slots, in the host's memory, which any number of ranks can go on from,
// and the others an empty one.
func (o *Optimizer) FullState(model any) (State, error) {
	if !o.isStateOurs() || o.owner == nil {
		return o.State, nil
	}
	params, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return State{}, fmt.Errorf("optim: FullState: %w", err)
	}
	full := o.State
	full.Slots = make(map[string]tensor.Tensor, len(o.State.Slots))
	var names slotNames
	found := 0
	for i, p := range params {
		for name, part := range o.State.slotsOf(params, i, &names) {
			found++
			err := tensor.Scope(func() error {
				t := wholes([]tensor.Tensor{part}, []tensor.Tensor{p.Value}, o.owner)[0].To(tensor.CPU())
				if err := tensor.Eval(t); err != nil || o.owner.Rank() > 0 {
					return err
				}
				full.Slots[name] = t
				tensor.Internal.Outlive(graph.Token{}, t)
				return nil
			})
			if err != nil {
				return State{}, err
			}
		}
	}
	switch {
	case found < len(o.State.Slots):
		return State{}, errors.New("optim: FullState: State has slots without a parameter in the model: want the model that was stepped")
	case o.owner.Rank() > 0:
		return State{}, nil
	}
	return full, nil
}

// overRanks returns the norm of all ranks' parts of the gradients, as scaledNorm does, and whether they are finite.
func overRanks(norm, unit, finite tensor.Tensor, r Ranks) (tensor.Tensor, tensor.Tensor, tensor.Tensor) {
	d := norm.DType()
	mine := []tensor.Tensor{norm, unit, tensor.Scalar(1).Cast(d)}
	if finite.IsValid() {
		mine[2] = finite.Cast(d)
	}
	all := r.AllGather(tensor.Stack(0, mine...).Reshape(1, 3))[0]
	column := func(i int) tensor.Tensor { return all.Slice(1, i, i+1).Reshape(-1) }
	norm, unit = joinNorms(column(0), column(1))
	if finite.IsValid() {
		finite = column(2).Min().Gt(0)
	}
	return norm, unit, finite
}

// With ZeRO 3 the optimizer has this rank's part of each parameter, as of a slot. The model has tensors that are not
// computed: gathers of the parts, which a plan computes where it reads them.

// dividesModel reports whether parameters are parts.
func (o *Optimizer) dividesModel() bool { return o.ZeRO == 3 && o.sharding() != nil }

// isDivided reports whether a tensor of a model is a parameter that is divided.
func isDivided(l pytree.Leaf[tensor.Tensor]) bool {
	return l.Value.IsValid() && !l.State && l.Value.DType().IsFloat()
}

// partOfModel returns a parameter's part that a step has made, or else the parameter.
func (o *Optimizer) partOfModel(t tensor.Tensor) tensor.Tensor {
	if part, ok := o.parts[node(origin(t))]; ok {
		return part
	}
	return t
}

// isWhole reports whether a parameter is to be divided, and its part in the model is the parameter.
func (o *Optimizer) isWhole(l pytree.Leaf[tensor.Tensor], part tensor.Tensor) bool {
	return o.dividesModel() && isDivided(l) && node(part) == node(l.Value)
}

// divide returns parameters with this rank's parts in place of the whole ones. It makes the parts that no step has made.
func (o *Optimizer) divide(params []pytree.Leaf[tensor.Tensor]) ([]pytree.Leaf[tensor.Tensor], error) {
	if !o.dividesModel() {
		return params, nil
	}
	divided := slices.Clone(params)
	for i, l := range params {
		if !isDivided(l) {
			continue
		}
		part := o.partOfModel(l.Value)
		if o.isWhole(l, part) {
			part = tensor.Internal.Copy(graph.Token{}, partOf(origin(l.Value), o.Parallel))
			if err := tensor.Eval(part); err != nil {
				return nil, err
			}
			tensor.Internal.Replace(graph.Token{}, []tensor.Tensor{part})
			tensor.Internal.Outlive(graph.Token{}, part)
		}
		divided[i].Value = part
	}
	return divided, nil
}

// divideModel replaces the parameters of a model by gathers of parts. It makes the parts that no step has made.
func (o *Optimizer) divideModel(model any) error {
	if !o.dividesModel() {
		return nil
	}
	params, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return err
	}
	parts, err := o.divide(params)
	if err != nil {
		return err
	}
	return pytree.Update(model, o.gathered(parts, valuesOf(params), 0))
}

// gathered returns the whole tensors of parameters that are parts, in the shapes of others, and notes whose they are.
// Parameters of one element of a list, such as a block, are gathered together, rounded to a type unless that is 0.
func (o *Optimizer) gathered(parts []pytree.Leaf[tensor.Tensor], like []tensor.Tensor, d tensor.DType) []tensor.Tensor {
	whole := valuesOf(parts)
	if !o.dividesModel() {
		return whole
	}
	o.parts = make(map[*graph.Node]tensor.Tensor, len(parts))
	var order []string
	units := map[string][]int{}
	for i, l := range parts {
		if isDivided(l) {
			name := unitOf(l.Name)
			if units[name] == nil {
				order = append(order, name)
			}
			units[name] = append(units[name], i)
		}
	}
	for _, name := range order {
		var list, shapes []tensor.Tensor
		for _, i := range units[name] {
			t := whole[i]
			if d != 0 {
				t = t.Cast(d)
			}
			list, shapes = append(list, t), append(shapes, like[i])
		}
		for k, t := range wholes(list, shapes, o.Parallel) {
			i := units[name][k]
			whole[i] = t.Cast(parts[i].Value.DType())
			o.parts[node(whole[i])] = parts[i].Value
		}
	}
	return whole
}

// unitOf returns the part of a parameter's name up to the first element of a list, or else its first field.
func unitOf(name string) string {
	fields := strings.Split(name, ".")
	for i, f := range fields {
		if strings.Trim(f, "0123456789") == "" {
			return strings.Join(fields[:i+1], ".")
		}
	}
	return fields[0]
}

// valuesOf returns the values of leaves.
func valuesOf(leaves []pytree.Leaf[tensor.Tensor]) []tensor.Tensor {
	list := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		list[i] = l.Value
	}
	return list
}
