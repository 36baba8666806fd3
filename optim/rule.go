package optim

import (
	"cmp"
	"math"
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A Rule computes the steps of one parameter.
type Rule interface {
	// Update returns the new value of parameter p, given its gradient g, and its new
	// slots, the values that the rule keeps from step to step. Slots are nil at the
	// first step; later their number, shapes and types stay the same. A 16-bit p
	// and its g are passed as float32. Steps count from 0. Use lr, step and numbers
	// computed from them only as operands, never to choose operations: then every
	// step runs the same compiled plan.
	Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor)
}

// A zeroStart is a rule whose first step gives the same with slots of zeros as with
// none: slots returns how many it keeps of parameter p, each of p's shape and type.
type zeroStart interface{ slots(p tensor.Tensor) int }

// orZeros returns the slots, or n of zeros at the first step.
func orZeros(p tensor.Tensor, slots []tensor.Tensor, n int) []tensor.Tensor {
	if len(slots) == n {
		return slots
	}
	return slices.Repeat([]tensor.Tensor{tensor.ZerosLike(p)}, n)
}

// average returns β·m + (1-β)·x.
func average(m, x tensor.Tensor, beta float64) tensor.Tensor {
	return m.Mul(beta).Add(x.Mul(1 - beta))
}

// SGD is stochastic gradient descent: p ← p - lr·g. With momentum μ it keeps
// v ← μ·v + g, from v = g at the first step, and uses v in place of g, or
// g + μ·v if Nesterov. WeightDecay λ adds λ·p to g first.
//
// Source: Sutskever et al., "On the importance of initialization and momentum
// in deep learning", 2013, in PyTorch's form.
type SGD struct {
	Momentum, WeightDecay float64
	Nesterov              bool
}

func (r SGD) slots(tensor.Tensor) int {
	if r.Momentum == 0 {
		return 0
	}
	return 1
}

// Update implements [Rule]; the slot is v.
func (r SGD) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = decay(p, g, r.WeightDecay)
	if r.Momentum == 0 {
		return p.Sub(g.Mul(lr)), nil
	}
	v := g
	if len(slots) == 1 {
		v = slots[0].Mul(r.Momentum).Add(g)
	}
	if r.Nesterov {
		g = g.Add(v.Mul(r.Momentum))
	} else {
		g = v
	}
	return p.Sub(g.Mul(lr)), []tensor.Tensor{v}
}

// Adam is p ← p - lr·m̂/(√v̂ + ε), with m ← β₁·m + (1-β₁)·g, v ← β₂·v + (1-β₂)·g²,
// m̂ = m/(1-β₁ᵗ) and v̂ = v/(1-β₂ᵗ) at step t, from 1. WeightDecay λ adds λ·p to g
// first. AMSGrad takes the greatest v so far in place of v.
//
// Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015; Reddi, Kale,
// Kumar, "On the Convergence of Adam and Beyond", 2018.
type Adam struct {
	Beta1, Beta2 float64 // 0 is 0.9 and 0.999
	Eps          float64 // 0 is 1e-8
	WeightDecay  float64
	AMSGrad      bool
}

func (r Adam) slots(tensor.Tensor) int {
	if r.AMSGrad {
		return 3
	}
	return 2
}

// Update implements [Rule]; the slots are m and v, and the greatest v of AMSGrad.
func (r Adam) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = bounded(decay(p, g, r.WeightDecay))
	b1, b2, t := cmp.Or(r.Beta1, 0.9), cmp.Or(r.Beta2, 0.999), float64(step+1)
	slots = orZeros(p, slots, r.slots(p))
	m, v := average(slots[0], g, b1), average(slots[1], g.Square(), b2)
	kept := []tensor.Tensor{m, v}
	if r.AMSGrad {
		v = slots[2].Maximum(v)
		kept = append(kept, v)
	}
	bias := math.Sqrt(1 - math.Pow(b2, t)) // √v̂ is √v over it
	scaled := m.Mul(bias * lr / (1 - math.Pow(b1, t)))
	return p.Sub(scaled.Div(v.Sqrt().Add(bias * epsilon(g, r.Eps, 1e-8)))), kept
}

// AdamW is Adam with decoupled weight decay: it multiplies p by 1 - lr·WeightDecay
// first, and leaves g as it is.
//
// Source: Loshchilov, Hutter, "Decoupled Weight Decay Regularization", 2019.
type AdamW struct {
	Beta1, Beta2 float64 // 0 is 0.9 and 0.999
	Eps          float64 // 0 is 1e-8
	WeightDecay  float64 // 0 is off; PyTorch's default is 0.01
	AMSGrad      bool
}

func (r AdamW) slots(p tensor.Tensor) int { return r.adam().slots(p) }

func (r AdamW) adam() Adam {
	return Adam{Beta1: r.Beta1, Beta2: r.Beta2, Eps: r.Eps, AMSGrad: r.AMSGrad}
}

// Update implements [Rule]; the slots are Adam's.
func (r AdamW) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	return r.adam().Update(shrink(p, lr, r.WeightDecay), g, slots, lr, step)
}

// shrink returns p·(1 - lr·λ), which is decoupled weight decay.
func shrink(p tensor.Tensor, lr, lambda float64) tensor.Tensor {
	if lambda == 0 {
		return p
	}
	return p.Mul(1 - lr*lambda)
}

// decay adds λ·p to g.
func decay(p, g tensor.Tensor, lambda float64) tensor.Tensor {
	if lambda == 0 {
		return g
	}
	return g.Add(p.Mul(lambda))
}
