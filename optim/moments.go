package optim

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// Adamax is p ← p - lr·m̂/u, with m and m̂ of [Adam] and u ← max(β₂·u, |g| + ε).
// WeightDecay λ adds λ·p to g first.
//
// Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.
type Adamax struct {
	Beta1, Beta2 float64 // 0 is 0.9 and 0.999
	Eps          float64 // 0 is 1e-8
	WeightDecay  float64
}

func (r Adamax) slots(tensor.Tensor) int { return 2 }

// Update implements [Rule]; the slots are m and u.
func (r Adamax) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = decay(p, g, r.WeightDecay)
	b1 := cmp.Or(r.Beta1, 0.9)
	slots = orZeros(p, slots, 2)
	m := average(slots[0], g, b1)
	u := slots[1].Mul(cmp.Or(r.Beta2, 0.999)).Maximum(g.Abs().Add(max(cmp.Or(r.Eps, 1e-8), least(g))))
	return p.Sub(m.Mul(lr / (1 - math.Pow(b1, float64(step+1)))).Div(u)), []tensor.Tensor{m, u}
}

// NAdam is [Adam] with Nesterov's momentum: in place of m̂ it takes μ'·m/(1 - Πμ·μ') +
// (1-μ)·g/(1 - Πμ), where μ = β₁·(1 - 0.96^(t·MomentumDecay)/2) at step t, from 1, μ' is μ
// of the next step, and Πμ the product of all so far. WeightDecay λ adds λ·p to g first, or
// is decoupled as in [AdamW].
//
// Source: Dozat, "Incorporating Nesterov Momentum into Adam", 2016.
type NAdam struct {
	Beta1, Beta2  float64 // 0 is 0.9 and 0.999
	Eps           float64 // 0 is 1e-8
	MomentumDecay float64 // 0 is 0.004
	WeightDecay   float64
	Decoupled     bool
}

func (r NAdam) slots(tensor.Tensor) int { return 2 }

// Update implements [Rule]; the slots are m and v.
func (r NAdam) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	p, g = decayOrShrink(p, g, lr, r.WeightDecay, r.Decoupled)
	g = bounded(g)
	b1, b2 := cmp.Or(r.Beta1, 0.9), cmp.Or(r.Beta2, 0.999)
	mu := func(t int) float64 {
		return b1 * (1 - math.Pow(0.96, float64(t)*cmp.Or(r.MomentumDecay, 0.004))/2)
	}
	product := 1.0
	for t := 1; t <= step+1 && product > 1e-17; t++ { // 1 minus less is 1
		product *= mu(t)
	}
	now, next := mu(step+1), mu(step+2)
	slots = orZeros(p, slots, 2)
	m, v := average(slots[0], g, b1), average(slots[1], g.Square(), b2)
	ahead := m.Mul(lr * next / (1 - product*next)).Add(g.Mul(lr * (1 - now) / (1 - product)))
	unbiased := v.Mul(1 / (1 - math.Pow(b2, float64(step+1))))
	return p.Sub(ahead.Div(unbiased.Sqrt().Add(epsilon(g, r.Eps, 1e-8)))), []tensor.Tensor{m, v}
}

// RAdam is [Adam] whose steps are multiplied by a factor r that rises to 1 with the
// number of gradients that v has averaged. While they are too few for v to have a known
// variance, in the first five steps by default, it steps by lr·m̂.
// WeightDecay λ adds λ·p to g first, or is decoupled as in [AdamW].
//
// Source: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020.
type RAdam struct {
	Beta1, Beta2 float64 // 0 is 0.9 and 0.999
	Eps          float64 // 0 is 1e-8
	WeightDecay  float64
	Decoupled    bool
}

func (r RAdam) slots(tensor.Tensor) int { return 2 }

// Update implements [Rule]; the slots are m and v.
func (r RAdam) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	p, g = decayOrShrink(p, g, lr, r.WeightDecay, r.Decoupled)
	g = bounded(g)
	b1, b2, t := cmp.Or(r.Beta1, 0.9), cmp.Or(r.Beta2, 0.999), float64(step+1)
	slots = orZeros(p, slots, 2)
	m, v := average(slots[0], g, b1), average(slots[1], g.Square(), b2)

	// The step is m·(plain + adaptive/(√v + ε)), where one of the two numbers is 0.
	plain, adaptive := lr/(1-math.Pow(b1, t)), 0.0
	bias := 1 - math.Pow(b2, t)
	longest := 2/(1-b2) - 1
	if length := longest - 2*t*(1-bias)/bias; length > 5 {
		rect := (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
		plain, adaptive = 0, plain*math.Sqrt(rect*bias)
	}
	factor := v.Sqrt().Add(epsilon(g, r.Eps, 1e-8)).Reciprocal().Mul(adaptive).Add(plain)
	return p.Sub(m.Mul(factor)), []tensor.Tensor{m, v}
}

// LAMB multiplies the step u = m̂/(√v̂ + ε) + λ·p of [Adam] with WeightDecay λ by
// ‖p‖/‖u‖, so that each parameter changes by the same share: p ← p - lr·u·‖p‖/‖u‖. The
// factor is 1 where a norm is 0.
//
// Source: You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76
// minutes", 2020.
type LAMB struct {
	Beta1, Beta2 float64 // 0 is 0.9 and 0.999
	Eps          float64 // 0 is 1e-6
	WeightDecay  float64
}

func (r LAMB) slots(tensor.Tensor) int { return 2 }

// Update implements [Rule]; the slots are m and v.
func (r LAMB) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = bounded(g)
	b1, b2, t := cmp.Or(r.Beta1, 0.9), cmp.Or(r.Beta2, 0.999), float64(step+1)
	slots = orZeros(p, slots, 2)
	m, v := average(slots[0], g, b1), average(slots[1], g.Square(), b2)
	unbiased := v.Mul(1 / (1 - math.Pow(b2, t))).Sqrt().Add(epsilon(g, r.Eps, 1e-6))
	u := decay(p, m.Mul(1/(1-math.Pow(b1, t))).Div(unbiased), r.WeightDecay)
	size, length := p.NormP(2), u.NormP(2)
	trust := tensor.Where(size.Gt(0).And(length.Gt(0)), size.Div(length), 1)
	return p.Sub(u.Mul(trust.Mul(lr))), []tensor.Tensor{m, v}
}

// decayOrShrink applies weight decay to the gradient or, decoupled, to the parameter.
func decayOrShrink(p, g tensor.Tensor, lr, lambda float64, decoupled bool) (tensor.Tensor, tensor.Tensor) {
	if decoupled {
		return shrink(p, lr, lambda), g
	}
	return p, decay(p, g, lambda)
}
