package optim

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// ClipNorm scales all gradients by one factor so that their [TotalNorm] is at most max.
// It panics if max is negative or NaN.
//
// Source: Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent
// neural networks", 2013, in PyTorch's form: by max/(norm + 1e-6).
func ClipNorm[T any](grads T, max float64) T {
	checkLimit("ClipNorm", "norm", max)
	scale := TotalNorm(grads).Add(1e-6).Reciprocal().Mul(max).Minimum(1)
	return tree.Map(grads, func(_ string, g tensor.Tensor) tensor.Tensor {
		if !g.DType().IsFloat() {
			return g
		}
		return g.Mul(scale.Cast(g.DType()))
	})
}

// TotalNorm returns the norm of all gradients together, of shape [], which [ClipNorm]
// limits: the root of the sum of the squares of all floating-point elements, in float64 if
// a gradient is float64, else in float32.
func TotalNorm(grads any) tensor.Tensor {
	d := tensor.Float32
	for _, g := range tree.All(grads) {
		if g.DType() == tensor.Float64 {
			d = tensor.Float64
		}
	}
	norm := tensor.Scalar(0).Cast(d)
	for _, g := range tree.All(grads) {
		if g.DType().IsFloat() {
			norm = norm.Add(g.Cast(d).Square().Sum())
		}
	}
	some := norm.Ne(0) // at 0 the derivative of the root is infinite
	return tensor.Where(some, tensor.Where(some, norm, 1).Sqrt(), 0)
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
