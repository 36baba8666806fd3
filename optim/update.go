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

// The updates of a step are the new parameters, slots and loss scale.
type updates struct {
	params        []tensor.Tensor
	slots         [][]tensor.Tensor // of the parameters; nil for one that stays as it is
	old           [][]tensor.Tensor // those that they replace, absent if they are new
	scale, streak tensor.Tensor
}

// updates returns the updates of a step. gs has the gradients of params; a parameter without one
// stays as it is. slots has their slots, nil before a parameter's first step. After each Update
// of a rule, updates calls note, unless that is nil.
func (o *Optimizer) updates(params []pytree.Leaf[tensor.Tensor], gs []tensor.Tensor, slots [][]tensor.Tensor, lr float64, step int, note func(Rule, update)) (u updates, err error) {
	gs, finite := o.clipped(gs)
	r := o.sharding()
	u = updates{params: make([]tensor.Tensor, len(params)), slots: make([][]tensor.Tensor, len(params)), old: make([][]tensor.Tensor, len(params))}
	u.scale, u.streak = o.adapt(finite)
	sites := graph.NewAttribution()
	defer sites.End()
	for i, l := range params {
		u.params[i] = l.Value
		rule, ours := o.ruleOf(l.Name)
		if rule == nil || !gs[i].IsValid() {
			continue
		}
		x := o.newUpdate(l.Value, gs[i], slots[i])
		p := x.p
		if ours != nil && sites != nil { // all operations have the line of Step
			x.p, x.g, x.slots = named(sites, x.p), named(sites, x.g), slices.Clone(x.slots)
			for k, s := range x.slots {
				x.slots[k] = named(sites, s)
			}
		}
		if err := x.apply(rule, lr, step); err != nil {
			return updates{}, fmt.Errorf("optim: Step of %s, %s: %w", parameter(l.Name), describe(l.Value), err)
		}
		if note != nil {
			note(rule, x)
		}
		u.params[i] = unlessSkipped(finite, x.next, p)
		u.old[i] = make([]tensor.Tensor, len(x.kept))
		copy(u.old[i], slots[i][:len(x.slots)])
		for k, s := range x.kept {
			u.slots[i] = append(u.slots[i], unlessSkipped(finite, s, u.old[i][k]))
		}
		if x.master.IsValid() {
			old := tensor.Tensor{}
			if len(slots[i]) > 0 {
				old = x.master
			}
			u.slots[i], u.old[i] = append(u.slots[i], unlessSkipped(finite, x.exact, x.master)), append(u.old[i], old)
		}
	}
	if r != nil && !o.dividesModel() {
		u.gather(params, r)
	}
	return u, nil
}

// newUpdate returns the update of a parameter, with ZeRO of this rank's part. The parameter in float32 is the last slot.
func (o *Optimizer) newUpdate(p, g tensor.Tensor, slots []tensor.Tensor) update {
	x := update{p: o.ownPart(p), g: g, slots: slots}
	if o.ZeRO < 2 {
		x.g = o.ownPart(g)
	}
	if !o.hasMaster(p) {
		return x
	}
	switch n := len(slots); n {
	case 0:
		x.master = x.p.Cast(p.DType().ComputeType())
	case 1:
		x.master, x.slots = slots[0], nil
	default:
		x.master, x.slots = slots[n-1], slots[:n-1]
	}
	return x
}

// gather makes the new parameters that are parts whole.
func (u *updates) gather(params []pytree.Leaf[tensor.Tensor], r Ranks) {
	var parts, like []tensor.Tensor
	var at []int
	for i, l := range params {
		if node(u.params[i]) != node(l.Value) {
			parts, like, at = append(parts, u.params[i]), append(like, l.Value), append(at, i)
		}
	}
	for k, t := range wholes(parts, like, r) {
		u.params[at[k]] = t
	}
}

// clipped returns gradients, limited by ClipNorm, and whether all are finite, absent if steps are never skipped.
func (o *Optimizer) clipped(gs []tensor.Tensor) (clipped []tensor.Tensor, finite tensor.Tensor) {
	finite = o.finite(gs)
	r := o.sharding()
	parts := r != nil && o.ZeRO > 1
	if o.ClipNorm == 0 && (!parts || !finite.IsValid()) {
		return gs, finite
	}
	norm, unit := scaledNorm(gs)
	if parts {
		norm, unit, finite = overRanks(norm, unit, finite, r)
	}
	if o.ClipNorm > 0 {
		gs = clip(gs, o.ClipNorm, norm, unit)
	}
	return gs, finite
}

// transaction returns the tensors that a step computes, and for each the tensor that it replaces,
// absent if it is new.
func (u updates) transaction(params []pytree.Leaf[tensor.Tensor], s State) (next, previous []tensor.Tensor) {
	for i, kept := range u.slots {
		next, previous = append(next, kept...), append(previous, u.old[i]...)
	}
	for i, l := range params {
		next, previous = append(next, u.params[i]), append(previous, l.Value)
	}
	return append(next, u.scale, u.streak), append(previous, s.Scale, s.Streak)
}

// commit sets the State after a step.
func (o *Optimizer) commit(u updates, step int, params []pytree.Leaf[tensor.Tensor], names *slotNames) {
	next := State{Step: tensor.New([]int32{int32(step + 1)}), Slots: make(map[string]tensor.Tensor, len(o.State.Slots)), Scale: u.scale, Streak: u.streak}
	for i, kept := range u.slots {
		for k, s := range kept {
			name := names.of(params, i, k)
			if k == len(kept)-1 && o.hasMaster(params[i].Value) {
				name = names.master(params, i)
			}
			next.Slots[name] = s
		}
	}
	for name, s := range o.State.Slots { // of parameters that stay as they are
		if len(next.Slots) == len(o.State.Slots) {
			break
		}
		if _, ok := next.Slots[name]; !ok {
			next.Slots[name] = s
		}
	}
	o.State, o.counter, o.owner = next, next.Step, o.sharding()
}

// named returns another name of t; operations on it have the line of Step in a profile.
func named(sites *graph.Attribution, t tensor.Tensor) tensor.Tensor {
	return tensor.Internal.Tensor(graph.Token{}, sites.Name(node(t)))
}

// An update is an Update of a rule, with its results.
type update struct {
	p, g  tensor.Tensor
	slots []tensor.Tensor // nil before the first step
	// master is the parameter in float32, or absent: before its first step the parameter itself.
	master      tensor.Tensor
	next, exact tensor.Tensor   // the new parameter, and before it is rounded
	kept        []tensor.Tensor // the new slots
}

// apply calls rule.Update after checking the gradient's shape and type, and checks
// the results. It passes 16-bit parameters and gradients as float32: Adam's ε, say,
// is 0 in float16.
func (x *update) apply(rule Rule, lr float64, step int) error {
	if !x.p.DType().IsFloat() {
		return errors.New("it has a gradient: want a floating-point type")
	}
	if !sameForm(x.g, x.p) {
		return fmt.Errorf("its gradient is %s: want the same shape and type", describe(x.g))
	}
	if err := checkSettings(unscaled(rule)); err != nil {
		return fmt.Errorf("%T: %w", unscaled(rule), err)
	}
	err := tensor.Try(func() {
		d := x.p.DType().ComputeType()
		x.exact, x.kept = rule.Update(x.value(d), x.g.Cast(d), slices.Clone(x.slots), lr, step)
		x.next = x.exact.Cast(x.p.DType())
	})
	switch {
	case err != nil:
		err = fmt.Errorf("%T: %w", unscaled(rule), err)
	case !slices.Equal(shapeOf(x.next), shapeOf(x.p)):
		err = fmt.Errorf("%T made it %s: want the same shape", unscaled(rule), describe(x.next))
	case x.slots != nil && !slices.EqualFunc(x.kept, x.slots, sameForm):
		err = fmt.Errorf("%T makes slots %s", unscaled(rule), describe(x.kept...))
	}
	if err == nil || x.slots == nil {
		return err
	}
	first := update{p: x.p, g: x.g, master: x.master}
	if first.apply(rule, lr, step) == nil { // without slots it works: they are the cause
		err = fmt.Errorf("%w; State has slots %s: are they of this model and rule? optim.State{} starts over", err, describe(x.slots...))
	}
	return err
}

// value returns the parameter in type d. Where it is not its master, rounded, it has changed since.
func (x *update) value(d tensor.DType) tensor.Tensor {
	p := x.p.Cast(d)
	if !x.master.IsValid() {
		return p
	}
	half, least := 0x1p-8, 0x1p-126 // of a digit of bfloat16: the greatest error of rounding
	if x.p.DType() == tensor.Float16 {
		half, least = 0x1p-11, 0x1p-25
	}
	return tensor.Where(x.master.Sub(p).Abs().Le(p.Abs().Mul(half).Add(least)), x.master, p)
}

// sameForm reports whether two tensors are present, with the same shape and type.
func sameForm(a, b tensor.Tensor) bool {
	return a.IsValid() && b.IsValid() && graph.SameForm(node(a), node(b))
}

// shapeOf is t.Shape() without a copy.
func shapeOf(t tensor.Tensor) []int { return node(t).Shape }

// describe lists types and shapes.
func describe(ts ...tensor.Tensor) string {
	if len(ts) == 0 {
		return "none"
	}
	texts := make([]string, len(ts))
	for i, t := range ts {
		texts[i] = "absent"
		if t.IsValid() {
			texts[i] = fmt.Sprint(t.DType(), " ", t.Shape())
		}
	}
	return strings.Join(texts, ", ")
}
