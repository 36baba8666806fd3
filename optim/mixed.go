package optim

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Scaling says how the losses of a float16 computation are multiplied, so that small
// gradients do not round to 0: by Initial at first, by Growth more after Interval steps
// without overflow, and by Backoff after a step with one, which is skipped.
//
// Source: Micikevicius et al., "Mixed Precision Training", 2018, with the numbers of
// PyTorch's GradScaler.
type Scaling struct {
	Initial         float64 // 0 is 65536
	Growth, Backoff float64 // 0 is 2 and 0.5
	Interval        int     // 0 is 2000
}

// ValueAndGrad is [grad.ValueAndGrad] in the Precision of o: f is called with the model's parameters
// cast to that type, while the parameters, the returned loss and the gradients keep theirs, usually
// float32. The model's state keeps its types too: statistics of a batch norm, say, change by less
// than the precision of 16 bits. f must cast captured tensors, such as a batch, itself. The loss is
// scaled before its gradient is computed, and the scale divided out of the gradient, so that both are
// f's; where the computation overflowed, gradients are infinite or NaN, and [Optimizer.Step] skips
// the step.
//
// Nothing waits for the device: whether a step is skipped is decided there. So
// State.Step also counts the steps that were skipped, and so do Schedule and Adam's
// correction of its averages.
func ValueAndGrad[M any](o *Optimizer, f func(M) tensor.Tensor) func(M) (loss tensor.Tensor, grads M) {
	checkGiven("ValueAndGrad", o, f == nil)
	return func(m M) (tensor.Tensor, M) {
		loss, _, g := ValueAndGradAux(o, func(m M) (tensor.Tensor, struct{}) { return f(m), struct{}{} })(m)
		return loss, g
	}
}

// ValueAndGradAux is [ValueAndGrad] for a function that gives something else besides the
// loss. If that is a model, as with batch norm, it comes back with the parameters that f
// was given, in their types, and its new state.
func ValueAndGradAux[M, A any](o *Optimizer, f func(M) (tensor.Tensor, A)) func(M) (loss tensor.Tensor, aux A, grads M) {
	checkGiven("ValueAndGradAux", o, f == nil)
	if o.Precision == 0 {
		return grad.ValueAndGradAux(f)
	}
	if !o.Precision.IsFloat() {
		tensor.Internal.Misuse(graph.Token{}, "optim.ValueAndGrad", fmt.Sprintf("the Precision is %v, want a floating-point type", o.Precision))
	}
	type results struct {
		Loss tensor.Tensor
		Aux  A
	}
	return func(m M) (tensor.Tensor, A, M) {
		scale := o.scale(m)
		_, r, g := grad.ValueAndGradAux(func(m M) (tensor.Tensor, results) {
			loss, aux := f(castParameters(m, o.Precision))
			loss = loss.Cast(lossType(m))
			r := results{loss, restore(m, aux)}
			if scale.IsValid() {
				loss = loss.Mul(scale.Cast(loss.DType()))
			}
			return loss, r
		})(m)
		if scale.IsValid() {
			g = tree.Map(g, func(_ string, t tensor.Tensor) tensor.Tensor {
				d := t.DType().ComputeType()
				return t.Cast(d).Div(scale.Cast(d)).Cast(t.DType())
			})
		}
		return r.Loss, r.Aux, g
	}
}

// castParameters returns a model whose floating-point parameters have type d.
func castParameters[M any](m M, d tensor.DType) M {
	leaves, err := pytree.Flatten[tensor.Tensor](m)
	if err != nil {
		return tree.Cast(m, d) // its error names the precision
	}
	out := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		if out[i] = l.Value; l.Value.IsValid() && !l.State && l.Value.DType().IsFloat() {
			out[i] = l.Value.Cast(d)
		}
	}
	cast, err := pytree.Rebuild(m, out)
	if err != nil {
		return tree.Cast(m, d)
	}
	return cast
}

// checkGiven panics on behalf of op if the optimizer or the loss is nil.
func checkGiven(op string, o *Optimizer, noLoss bool) {
	switch {
	case o == nil:
		tensor.Internal.Misuse(graph.Token{}, "optim."+op, "the *Optimizer is nil: make one with optim.New")
	case noLoss:
		tensor.Internal.Misuse(graph.Token{}, "optim."+op, "the loss is a nil function")
	}
}

// lossType returns the type in which losses of m are scaled: the type of its first
// floating-point tensor, but at least float32.
func lossType(m any) tensor.DType {
	for _, t := range tree.All(m) {
		if t.DType().IsFloat() {
			return t.DType().ComputeType()
		}
	}
	return tensor.Float32
}

// restore returns aux, if it is a model like m, with the tensors of m but for its state,
// which takes m's types; any other aux as it is.
func restore[M, A any](m M, aux A) A {
	if _, ok := any(aux).(M); !ok {
		return aux
	}
	was, err1 := pytree.Flatten[tensor.Tensor](m)
	is, err2 := pytree.Flatten[tensor.Tensor](aux)
	if err1 != nil || err2 != nil || len(was) != len(is) {
		return aux
	}
	out := make([]tensor.Tensor, len(is))
	for i, l := range is {
		switch {
		case l.Name != was[i].Name:
			return aux
		case !l.State || !l.Value.IsValid() || !was[i].Value.IsValid():
			out[i] = was[i].Value
		default:
			out[i] = l.Value.Cast(was[i].Value.DType())
		}
	}
	restored, err := pytree.Rebuild(aux, out)
	if err != nil {
		return aux
	}
	return restored
}

// scale returns the loss scale, absent unless Precision is Float16.
func (o *Optimizer) scale(m any) tensor.Tensor {
	if o.Precision != tensor.Float16 {
		return tensor.Tensor{}
	}
	if !o.State.Scale.IsValid() {
		scale, streak := tensor.New([]float32{float32(cmp.Or(o.Scaling.Initial, 65536))}), tensor.New([]int32{0})
		for _, t := range tree.All(m) {
			if on := t.Device(); on != nil {
				scale, streak = scale.To(on), streak.To(on)
				break
			}
		}
		o.State.Scale, o.State.Streak = scale, streak
	}
	return o.State.Scale
}

// finite returns whether all gradients are finite, absent if steps are never skipped.
func (o *Optimizer) finite(gs []tensor.Tensor) (ok tensor.Tensor) {
	if o.Precision != tensor.Float16 || !o.State.Scale.IsValid() {
		return tensor.Tensor{}
	}
	for _, g := range gs {
		if !g.IsValid() || !g.DType().IsFloat() {
			continue
		}
		fits := g.Abs().Max().Lt(math.Inf(1)) // false for NaN
		if ok.IsValid() {
			fits = ok.And(fits)
		}
		ok = fits
	}
	return ok
}

// adapt returns the Scale and Streak after a step, absent without loss scaling.
func (o *Optimizer) adapt(finite tensor.Tensor) (scale, streak tensor.Tensor) {
	if !finite.IsValid() {
		return o.State.Scale, o.State.Streak
	}
	const maxScale = 1 << 24 // gradients of 0 never overflow
	streak = o.State.Streak.Add(1)
	grown := streak.Ge(cmp.Or(o.Scaling.Interval, 2000))
	larger := o.State.Scale.Mul(cmp.Or(o.Scaling.Growth, 2)).Clamp(1./maxScale, maxScale)
	smaller := o.State.Scale.Mul(cmp.Or(o.Scaling.Backoff, 0.5)).Clamp(1./maxScale, maxScale)
	scale = tensor.Where(finite, tensor.Where(grown, larger, o.State.Scale), smaller)
	return scale, tensor.Where(finite.And(grown.Not()), streak, 0)
}

// unlessSkipped returns next, or the old value if the step is skipped: zeros for a slot
// that is new.
func unlessSkipped(finite, next, old tensor.Tensor) tensor.Tensor {
	switch {
	case !finite.IsValid():
		return next
	case !old.IsValid():
		old = tensor.ZerosLike(next)
	}
	return tensor.Where(finite, next, old)
}
