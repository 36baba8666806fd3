package optim

import (
	"errors"
	"fmt"
	"math"
	"path"

	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// Groups give parameters rules and learning rates by name. A parameter belongs to the
// first group that has it; one without a group follows the Rule and LR of the [Optimizer].
type Groups []Group

// A Group is the parameters whose names match a pattern.
type Group struct {
	// Names is a pattern as of [path.Match], such as "*.bias" or "blocks.[0-3].*": a *
	// stands for any text, dots included.
	Names  string
	Rule   Rule    // nil: the Optimizer's
	LR     float64 // factor on the learning rate; 0 is 1
	Frozen bool    // the parameters stay as they are
}

// rule returns the rule of a parameter, nil if it is frozen.
func (g Groups) rule(name string, otherwise Rule) Rule {
	for _, group := range g {
		if ok, _ := path.Match(group.Names, name); !ok { // patterns are checked before
			continue
		}
		r := group.Rule
		if r == nil {
			r = otherwise
		}
		switch {
		case group.Frozen:
			return nil
		case group.LR != 0 && group.LR != 1 && r != nil:
			return scaled{r, group.LR}
		}
		return r
	}
	return otherwise
}

// check fails if a pattern is malformed or matches no parameter.
func (g Groups) check(params []pytree.Leaf[tensor.Tensor]) error {
	for _, group := range g {
		found := false
		for _, p := range params {
			ok, err := path.Match(group.Names, p.Name)
			if err != nil {
				return fmt.Errorf("optim: Step: the Names of a group are %q: %w: see path.Match", group.Names, err)
			}
			found = found || ok
		}
		if !found {
			return fmt.Errorf("optim: Step: the group of %q has no parameter in the model: the names are those of tree.All", group.Names)
		}
		if !(group.LR >= 0 && group.LR <= math.MaxFloat64) {
			return fmt.Errorf("optim: Step: the LR of the group of %q is %v: want a factor, or Frozen", group.Names, group.LR)
		}
	}
	return nil
}

// A scaled is a rule with a factor on the learning rate.
type scaled struct {
	Rule
	factor float64
}

// Update implements [Rule].
func (r scaled) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	return r.Rule.Update(p, g, slots, lr*r.factor, step)
}

// unscaled returns a rule without its factor on the learning rate.
func unscaled(r Rule) Rule {
	if s, ok := r.(scaled); ok {
		return s.Rule
	}
	return r
}

// ruleOf returns the rule of a parameter, nil if it is frozen, and that rule's zeroStart
// if it is one.
func (o *Optimizer) ruleOf(name string) (Rule, zeroStart) {
	r := o.Groups.rule(name, o.Rule)
	if o.RuleFor != nil {
		r = o.RuleFor(name)
	}
	z, _ := unscaled(r).(zeroStart)
	return r, z
}

// check fails if a parameter may have no rule, the groups are not of the model, or ClipNorm is
// negative.
func (o *Optimizer) check(params []pytree.Leaf[tensor.Tensor]) error {
	if o.RuleFor != nil && o.Groups != nil {
		return errors.New("optim: Step of an Optimizer with RuleFor and Groups: want one of them")
	}
	if o.Rule == nil && o.RuleFor == nil {
		return errors.New("optim: Step of an Optimizer without a Rule")
	}
	if err := checkSettings(o.Scaling); err != nil {
		return fmt.Errorf("optim: Step of an Optimizer whose Scaling is wrong: %w", err)
	}
	if !(o.ClipNorm >= 0) {
		return fmt.Errorf("optim: Step of an Optimizer whose ClipNorm is %v: want the greatest norm allowed, or 0 for no limit", o.ClipNorm)
	}
	if d := o.ParallelPrecision; d != 0 && !d.IsHalf() {
		return fmt.Errorf("optim: Step of an Optimizer whose ParallelPrecision is %v: want BFloat16, Float16, or 0", d)
	}
	if err := o.Groups.check(params); err != nil {
		return err
	}
	return o.checkZeRO(params)
}
