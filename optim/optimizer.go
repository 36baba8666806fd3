package optim

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// An Optimizer steps all parameters of a model. It is for one goroutine.
type Optimizer struct {
	Rule  Rule
	LR    float64 // the learning rate
	State State
	// Schedule gives a factor on LR for each step, from 0; nil is 1.
	Schedule func(step int) float64
	// ClipNorm is the most that the norm of all gradients together may be;
	// larger ones are scaled down. 0 is no limit.
	ClipNorm float64
	// RuleFor gives a parameter's own rule, by its name; where that is nil the
	// parameter is frozen. A nil RuleFor is Rule for all.
	RuleFor func(name string) Rule
}

// A State is what an optimizer remembers between steps. It is a tree, saved
// and loaded as a model is.
type State struct {
	Step  tensor.Tensor            // how many steps were done: one int32
	Slots map[string]tensor.Tensor // by the parameter's name and the slot's number: "0.weight.1"
}

// New returns an optimizer that follows r at learning rate lr.
func New(r Rule, lr float64) *Optimizer { return &Optimizer{Rule: r, LR: lr} }

// Step sets *model to a new tree, each parameter updated from its gradient in
// grads, a tree of the model's type. It runs in one plan with the new State
// and, where the gradients come from one call of package grad, with the loss.
// A parameter whose gradient is absent stays as it is; a gradient of another
// shape or type than its parameter's is an error. If the device fails,
// Step returns the error and *model and State stay as they were.
func (o *Optimizer) Step(model, grads any) error {
	into := reflect.ValueOf(model)
	if into.Kind() != reflect.Pointer || into.IsNil() {
		return fmt.Errorf("optim: Step of a model of type %T: want a pointer to the model", model)
	}
	if g := reflect.TypeOf(grads); g != into.Type().Elem() && into.Elem().Kind() != reflect.Interface {
		return fmt.Errorf("optim: Step of a %v with gradients of type %v: want the same type", into.Type().Elem(), g)
	}
	if o.Rule == nil && o.RuleFor == nil {
		return errors.New("optim: Step of an Optimizer without a Rule")
	}
	step, err := o.State.step()
	if err != nil {
		return err
	}
	if o.ClipNorm > 0 {
		grads = ClipNorm(grads, o.ClipNorm)
	}
	lr := o.LR
	if o.Schedule != nil {
		lr *= o.Schedule(step)
	}
	next := State{Step: tensor.New([]int32{int32(step + 1)}), Slots: maps.Clone(o.State.Slots)}
	if next.Slots == nil {
		next.Slots = map[string]tensor.Tensor{}
	}
	var misfit error
	updated := tree.Zip(into.Elem().Interface(), grads, func(name string, p, g tensor.Tensor) tensor.Tensor {
		rule := o.Rule
		if o.RuleFor != nil {
			rule = o.RuleFor(name)
		}
		if rule == nil || !g.IsValid() {
			return p
		}
		if misfit == nil {
			misfit = fits(name, p, g)
		}
		if misfit != nil {
			return p
		}
		p, slots := rule.Update(p, g, o.State.of(name), lr, step)
		for i, s := range slots {
			next.Slots[slotName(name, i)] = s
		}
		return p
	})
	if misfit != nil {
		return misfit
	}
	if err := tensor.Eval(updated, next); err != nil {
		return err
	}
	into.Elem().Set(reflect.ValueOf(updated))
	o.State = next
	return nil
}

// fits returns an error unless gradient g has the shape and type of parameter
// p.
func fits(name string, p, g tensor.Tensor) error {
	if slices.Equal(p.Shape(), g.Shape()) && p.DType() == g.DType() {
		return nil
	}
	return fmt.Errorf("optim: Step of parameter %q, %v %v, with a gradient that is %v %v: want the same shape and type",
		name, p.DType(), p.Shape(), g.DType(), g.Shape())
}

// step is how many steps were done. The number stays on the host, so reading
// it waits for no device.
func (s State) step() (int, error) {
	if !s.Step.IsValid() {
		return 0, nil
	}
	n, err := tensor.Data[int32](s.Step)
	if err != nil {
		return 0, err
	}
	if len(n) != 1 || n[0] < 0 {
		return 0, fmt.Errorf("optim: State.Step is %v, want one number of steps", n)
	}
	return int(n[0]), nil
}

// of returns the slots of a parameter, nil if it has none yet.
func (s State) of(name string) []tensor.Tensor {
	var slots []tensor.Tensor
	for {
		t, ok := s.Slots[slotName(name, len(slots))]
		if !ok {
			return slots
		}
		slots = append(slots, t)
	}
}

func slotName(name string, i int) string { return name + "." + strconv.Itoa(i) }
