package optim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// An Optimizer steps all parameters of a model. It is for one goroutine.
type Optimizer struct {
	Rule  Rule
	LR    float64 // the learning rate
	State State
	// Schedule returns a factor on LR for each step, from 0; nil is 1.
	Schedule func(step int) float64
	// ClipNorm limits the norm of all gradients together, as the function
	// [ClipNorm] does. 0 is no limit, a negative value an error.
	ClipNorm float64
	// Groups give parameters rules and learning rates of their own, by name.
	Groups Groups
	// RuleFor, in place of Groups, returns the rule of the named parameter; a nil rule
	// freezes the parameter. If RuleFor is nil, all parameters follow Rule.
	RuleFor func(name string) Rule
	// Precision is the type that [ValueAndGrad] and train.Loop compute in: BFloat16 or
	// Float16; 0 is the parameters' own. With Float16 a step whose gradients are not all finite is
	// skipped, and Scaling says how losses are scaled.
	Precision tensor.DType
	Scaling   Scaling

	journal exec.Journal  // of the steps that computed State
	counter tensor.Tensor // State.Step after the last of them
}

// New returns an optimizer with rule r and learning rate lr.
func New(r Rule, lr float64) *Optimizer { return &Optimizer{Rule: r, LR: lr} }

// Step sets *model to a new tree, each parameter updated from its gradient in
// grads, a tree of the model's type. It runs in one plan with the new State
// and, where the gradients come from one call of package grad, with the loss.
// A parameter whose gradient is absent stays as it is.
//
// Step fails if names, shapes or types of model, gradients and State do not match
// (a gradient or a slot without a parameter, for example), if the device fails, or if
// an index such as a label is out of range. *model and State then stay as they were.
//
// A GPU runs asynchronously and finds a bad index after Step has returned. The model
// then holds the elements from before the failed step, and later steps continue from
// them. The error is returned by the read of the loss or, if nobody reads it, by
// [tensor.Device.Sync] or a later Step, which then does nothing else. State.Step
// counts the failed step until a later Step learns of the failure.
func (o *Optimizer) Step(model, grads any) error {
	params, gs, err := align(model, grads)
	if err != nil {
		return err
	}
	if err := o.checkRules(params); err != nil {
		return err
	}
	if !(o.ClipNorm >= 0) {
		return fmt.Errorf("optim: Step of an Optimizer whose ClipNorm is %v: want the greatest norm allowed, or 0 for no limit", o.ClipNorm)
	}
	if err := o.catchUp(); err != nil {
		return err
	}
	step, err := o.State.step()
	if err != nil {
		return err
	}
	slots, err := o.State.of(params)
	if err != nil {
		return err
	}
	finite := o.finite(gs)
	if o.ClipNorm > 0 {
		gs = ClipNorm(gs, o.ClipNorm)
	}
	lr := o.LR
	if o.Schedule != nil {
		lr *= o.Schedule(step)
	}
	next := State{Step: tensor.New([]int32{int32(step + 1)}), Slots: maps.Clone(o.State.Slots)}
	if next.Slots == nil {
		next.Slots = map[string]tensor.Tensor{}
	}
	next.Scale, next.Streak = o.adapt(finite)
	zeros, err := o.start(params, gs)
	if err != nil {
		return err
	}
	sites := graph.NewAttribution()
	defer sites.End()
	updated := make([]tensor.Tensor, len(params))
	var fresh, before []tensor.Tensor // values that the step computes, and those they replace
	for i, l := range params {
		updated[i] = l.Value
		rule, ours := o.ruleOf(l.Name)
		if rule == nil || !gs[i].IsValid() {
			continue
		}
		old := slots[i]
		if old == nil {
			old = zeros[l.Name]
		}
		var kept []tensor.Tensor
		p, g, from := l.Value, gs[i], old
		if ours != nil && sites != nil { // all operations have the line of Step
			p, g, from = named(sites, p), named(sites, g), slices.Clone(old)
			for k, s := range from {
				from[k] = named(sites, s)
			}
		}
		updated[i], kept, err = update(rule, p, g, from, lr, step)
		if err != nil {
			return fmt.Errorf("optim: Step of %s, %s: %w", parameter(l.Name), describe(l.Value), err)
		}
		if old == nil {
			old = make([]tensor.Tensor, len(kept))
		}
		updated[i] = unlessSkipped(finite, updated[i], l.Value)
		for k, s := range kept {
			kept[k] = unlessSkipped(finite, s, old[k])
			next.Slots[slotName(l.Name, k)] = kept[k]
		}
		fresh, before = append(fresh, kept...), append(before, old...)
	}
	for i, l := range params {
		fresh, before = append(fresh, updated[i]), append(before, l.Value)
	}
	fresh, before = append(fresh, next.Scale, next.Streak), append(before, o.State.Scale, o.State.Streak)
	if err := tensor.Internal.Step(graph.Token{}, "optim.Step", &o.journal, fresh, before); err != nil {
		return err
	}
	if err := pytree.Update(model, updated); err != nil {
		return err
	}
	o.State, o.counter = next, next.Step
	return nil
}

// start prepares the first step to run the same plan as later ones: it stores the
// parameters as steps do, and makes slots of zeros for rules that may start from them.
func (o *Optimizer) start(params []pytree.Leaf[tensor.Tensor], gs []tensor.Tensor) (zeros map[string][]tensor.Tensor, err error) {
	if len(o.State.Slots) > 0 || o.State.Step.IsValid() {
		return nil, nil
	}
	zeros = map[string][]tensor.Tensor{}
	values := make([]tensor.Tensor, len(params))
	for i, l := range params {
		values[i] = l.Value
		_, rule := o.ruleOf(l.Name)
		if rule == nil || !gs[i].IsValid() || !l.Value.DType().IsFloat() {
			continue
		}
		for range rule.slots(l.Value) {
			z := tensor.Full(0, l.Value.Shape()...).Cast(l.Value.DType().ComputeType())
			if on := l.Value.Device(); on != nil {
				z = z.To(on)
			}
			zeros[l.Name] = append(zeros[l.Name], z)
		}
	}
	if err := tensor.Eval(values, zeros, o.State.Scale, o.State.Streak); err != nil {
		return nil, err
	}
	return zeros, tensor.Internal.StoreApart(graph.Token{}, "optim.Step", append(values, o.State.Scale, o.State.Streak))
}

// catchUp subtracts from State.Step the steps that failed after Step returned, and
// returns their error unless it was reported. A State that the caller has replaced
// does not count them.
func (o *Optimizer) catchUp() error {
	node := func(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }
	if node(o.State.Step) != node(o.counter) {
		o.journal = exec.Journal{}
		return nil
	}
	failed, failure := tensor.Internal.Failed(graph.Token{}, "optim.Step", &o.journal)
	if failed > 0 {
		done, err := o.State.step()
		if err != nil {
			return err
		}
		o.State.Step = tensor.New([]int32{int32(done - failed)})
		o.counter = o.State.Step
	}
	if failure != nil {
		return fmt.Errorf("optim: an earlier step failed: %w", failure)
	}
	return nil
}

// named returns another name of t, whose operations have the line of Step in a profile.
func named(sites *graph.Attribution, t tensor.Tensor) tensor.Tensor {
	return tensor.Internal.Tensor(graph.Token{}, sites.Name(tensor.Internal.Node(graph.Token{}, t)))
}

// update calls rule.Update after checking the gradient's shape and type, and checks
// the results. It passes 16-bit parameters and gradients as float32: Adam's ε, say,
// is 0 in float16.
func update(rule Rule, p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (next tensor.Tensor, kept []tensor.Tensor, err error) {
	if !p.DType().IsFloat() {
		return p, nil, errors.New("it has a gradient: want a floating-point type")
	}
	if !sameForm(g, p) {
		return p, nil, fmt.Errorf("its gradient is %s: want the same shape and type", describe(g))
	}
	err = tensor.Try(func() {
		d := p.DType().ComputeType()
		next, kept = rule.Update(p.Cast(d), g.Cast(d), slots, lr, step)
		next = next.Cast(p.DType())
	})
	if r, ok := rule.(scaled); ok {
		rule = r.Rule // errors name it
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%T: %w", rule, err)
	case !slices.Equal(shapeOf(next), shapeOf(p)):
		err = fmt.Errorf("%T made it %s: want the same shape", rule, describe(next))
	case slots != nil && !slices.EqualFunc(kept, slots, sameForm):
		err = fmt.Errorf("%T makes slots %s", rule, describe(kept...))
	}
	if err != nil && slots != nil {
		err = fmt.Errorf("%w; State has slots %s: are they of this model and rule? optim.State{} starts over", err, describe(slots...))
	}
	return next, kept, err
}

// sameForm reports whether two tensors are present, with the same shape and type.
func sameForm(a, b tensor.Tensor) bool {
	node := tensor.Internal.Node
	return a.IsValid() && b.IsValid() && graph.SameForm(node(graph.Token{}, a), node(graph.Token{}, b))
}

// shapeOf is t.Shape() without a copy.
func shapeOf(t tensor.Tensor) []int { return tensor.Internal.Node(graph.Token{}, t).Shape }

// describe lists types and shapes.
func describe(ts ...tensor.Tensor) string {
	texts := make([]string, len(ts))
	for i, t := range ts {
		texts[i] = "absent"
		if t.IsValid() {
			texts[i] = fmt.Sprint(t.DType(), " ", t.Shape())
		}
	}
	return strings.Join(texts, ", ")
}
