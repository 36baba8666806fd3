package optim

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// ClipNorm scales all gradients by one factor so that their norm, the root of the
// sum of all squares, is at most max. The sum is computed in float64 if a gradient is
// float64, else in float32. It panics if max is negative or NaN.
//
// Source: Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent
// neural networks", 2013, in PyTorch's form: by max/(norm + 1e-6).
func ClipNorm[T any](grads T, max float64) T {
	checkLimit("ClipNorm", "norm", max)
	var floats []tensor.Tensor
	d := tensor.Float32
	for _, g := range tree.All(grads) {
		if g.DType().IsFloat() {
			floats = append(floats, g)
		}
		if g.DType() == tensor.Float64 {
			d = tensor.Float64
		}
	}
	if floats == nil {
		return grads
	}
	squares := func(g tensor.Tensor) tensor.Tensor { return g.Cast(d).Square().Sum() }
	norm := squares(floats[0])
	for _, g := range floats[1:] {
		norm = norm.Add(squares(g))
	}
	some := norm.Ne(0) // at 0 the derivative of the root is infinite
	norm = tensor.Where(some, tensor.Where(some, norm, 1).Sqrt(), 0)
	scale := norm.Add(1e-6).Reciprocal().Mul(max).Minimum(1)
	return tree.Map(grads, func(_ string, g tensor.Tensor) tensor.Tensor {
		if !g.DType().IsFloat() {
			return g
		}
		return g.Mul(scale.Cast(g.DType()))
	})
}

// ClipValue clamps every element of the gradients to ±max. It panics if max is
// negative or NaN.
func ClipValue[T any](grads T, max float64) T {
	checkLimit("ClipValue", "elements", max)
	return tree.Map(grads, func(_ string, g tensor.Tensor) tensor.Tensor {
		if !g.DType().IsFloat() {
			return g
		}
		return g.Clamp(-max, max)
	})
}

// checkLimit panics on behalf of op unless max is 0 or more.
func checkLimit(op, what string, max float64) {
	if !(max >= 0) {
		tensor.Internal.Misuse(graph.Token{}, "optim."+op, fmt.Sprintf("the limit of the %s is %v, want 0 or more", what, max))
	}
}

// Average returns the running average decay·avg + (1-decay)·model of every
// floating-point tensor, and the model's other tensors. Start with avg = model.
func Average[T any](avg, model T, decay float64) T {
	return tree.Zip(avg, model, func(_ string, a, m tensor.Tensor) tensor.Tensor {
		if !m.IsValid() || !m.DType().IsFloat() {
			return m
		}
		return a.Mul(decay).Add(m.Mul(1 - decay))
	})
}
