package optim

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// RMSprop is p ← p - lr·g/(√v + ε) with v ← α·v + (1-α)·g², where α is Decay. Centered
// subtracts from v the square of the mean of g, averaged in the same way. With momentum
// μ it keeps b ← μ·b + g/(√v + ε) and steps by lr·b. WeightDecay λ adds λ·p to g first.
//
// Source: Tieleman, Hinton, "Lecture 6.5: RMSProp", 2012; centred: Graves, "Generating
// Sequences With Recurrent Neural Networks", 2013.
type RMSprop struct {
	Decay       float64 // 0 is 0.99
	Momentum    float64
	Eps         float64 // 0 is 1e-8
	WeightDecay float64
	Centered    bool
}

func (r RMSprop) slots(tensor.Tensor) int {
	n := 1
	if r.Centered {
		n++
	}
	if r.Momentum != 0 {
		n++
	}
	return n
}

// Update implements [Rule]; the slots are v, the mean of g if Centered, and b if there is
// momentum.
func (r RMSprop) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = bounded(decay(p, g, r.WeightDecay))
	alpha := cmp.Or(r.Decay, 0.99)
	slots = orZeros(p, slots, r.slots(p))
	v := average(slots[0], g.Square(), alpha)
	kept := []tensor.Tensor{v}
	if r.Centered {
		mean := average(slots[1], g, alpha)
		kept = append(kept, mean)
		v = v.Sub(mean.Square()).Maximum(0) // rounding may make it negative
	}
	scaled := g.Div(v.Sqrt().Add(epsilon(g, r.Eps, 1e-8)))
	if r.Momentum != 0 {
		scaled = slots[len(slots)-1].Mul(r.Momentum).Add(scaled)
		kept = append(kept, scaled)
	}
	return p.Sub(scaled.Mul(lr)), kept
}

// Adagrad is p ← p - lr·g/(√s + ε) with s ← s + g², where lr is divided by 1 + t·LRDecay
// at step t, from 0. WeightDecay λ adds λ·p to g first.
//
// Source: Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and
// Stochastic Optimization", 2011.
type Adagrad struct {
	LRDecay     float64
	Eps         float64 // 0 is 1e-10
	WeightDecay float64
}

func (r Adagrad) slots(tensor.Tensor) int { return 1 }

// Update implements [Rule]; the slot is s.
func (r Adagrad) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = bounded(decay(p, g, r.WeightDecay))
	s := orZeros(p, slots, 1)[0].Add(g.Square())
	lr /= 1 + float64(step)*r.LRDecay
	return p.Sub(g.Mul(lr).Div(s.Sqrt().Add(epsilon(g, r.Eps, 1e-10)))), []tensor.Tensor{s}
}

// Adadelta is p ← p - lr·d with d = g·√(u + ε)/√(v + ε), v ← ρ·v + (1-ρ)·g² and
// u ← ρ·u + (1-ρ)·d². Its learning rate is usually 1. WeightDecay λ adds λ·p to g first.
//
// Source: Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012.
type Adadelta struct {
	Rho         float64 // 0 is 0.9
	Eps         float64 // 0 is 1e-6
	WeightDecay float64
}

func (r Adadelta) slots(tensor.Tensor) int { return 2 }

// Update implements [Rule]; the slots are v and u.
func (r Adadelta) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = bounded(decay(p, g, r.WeightDecay))
	rho, eps := cmp.Or(r.Rho, 0.9), max(cmp.Or(r.Eps, 1e-6), least(g))
	slots = orZeros(p, slots, 2)
	v := average(slots[0], g.Square(), rho)
	d := slots[1].Add(eps).Sqrt().Div(v.Add(eps).Sqrt()).Mul(g)
	return p.Sub(d.Mul(lr)), []tensor.Tensor{v, average(slots[1], d.Square(), rho)}
}

// ASGD is averaged stochastic gradient descent: p ← p·(1 - λ·η) - η·g with
// η = lr/(1 + λ·lr·t)^α at step t, from 0. The slot "<parameter>.0" of State is the
// average of p over the steps after T0, and p itself before. WeightDecay adds
// WeightDecay·p to g first.
//
// Source: Polyak, Juditsky, "Acceleration of Stochastic Approximation by Averaging",
// 1992, in PyTorch's form.
type ASGD struct {
	Lambda      float64 // 0 is 1e-4
	Alpha       float64 // 0 is 0.75
	T0          int     // 0 is 1,000,000
	WeightDecay float64
}

func (r ASGD) slots(tensor.Tensor) int { return 1 }

// Update implements [Rule]; the slot is the average.
func (r ASGD) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	g = decay(p, g, r.WeightDecay)
	lambda := cmp.Or(r.Lambda, 1e-4)
	eta := lr / math.Pow(1+lambda*lr*float64(step), cmp.Or(r.Alpha, 0.75))
	p = p.Mul(1 - lambda*eta).Sub(g.Mul(eta))
	share := 1 / float64(max(1, step-cmp.Or(r.T0, 1_000_000)))
	return p, []tensor.Tensor{average(orZeros(p, slots, 1)[0], p, 1-share)}
}
