package optim

import (
	"cmp"

	"github.com/tensorken/tensorken/tensor"
)

// Lion is p ← p·(1 - lr·WeightDecay) - lr·sign(β₁·m + (1-β₁)·g), and then
// m ← β₂·m + (1-β₂)·g. All elements change by lr, so its learning rate is a third to a
// tenth of AdamW's.
//
// Source: Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023.
type Lion struct {
	Beta1, Beta2 float64 // 0 is 0.9 and 0.99
	WeightDecay  float64
}

func (r Lion) slots(tensor.Tensor) int { return 1 }

// Update implements [Rule]; the slot is m.
func (r Lion) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	m := orZeros(p, slots, 1)[0]
	u := average(m, g, cmp.Or(r.Beta1, 0.9)).Sign()
	return shrink(p, lr, r.WeightDecay).Sub(u.Mul(lr)), []tensor.Tensor{average(m, g, cmp.Or(r.Beta2, 0.99))}
}

// Rprop is p ← p - sign(g)·s, where s is the step of each element: lr at first,
// multiplied by EtaPlus when two gradients in turn have one sign, and by EtaMinus when
// the sign changes, between MinStep and MaxStep. After a change of sign the element
// stays as it is for one step. It is for gradients of all the data, not of batches.
//
// Source: Riedmiller, Braun, "A Direct Adaptive Method for Faster Backpropagation
// Learning: The RPROP Algorithm", 1993, in PyTorch's form.
type Rprop struct {
	EtaMinus, EtaPlus float64 // 0 is 0.5 and 1.2
	MinStep, MaxStep  float64 // 0 is 1e-6 and 50
}

func (r Rprop) slots(tensor.Tensor) int { return 2 }

// Update implements [Rule]; the slots are the previous gradient, 0 where the sign
// changed, and s.
func (r Rprop) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	slots = orZeros(p, slots, 2)
	s := tensor.Where(slots[1].Eq(0), lr, slots[1]) // 0 only before the first step
	agree := g.Sign().Mul(slots[0].Sign())
	factor := tensor.Where(agree.Gt(0), cmp.Or(r.EtaPlus, 1.2), tensor.Where(agree.Lt(0), cmp.Or(r.EtaMinus, 0.5), tensor.OnesLike(p)))
	s = s.Mul(factor).Clamp(cmp.Or(r.MinStep, 1e-6), cmp.Or(r.MaxStep, 50))
	g = tensor.Where(agree.Lt(0), 0, g)
	return p.Sub(g.Sign().Mul(s)), []tensor.Tensor{g, s}
}
