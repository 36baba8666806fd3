package optim

import (
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// ClipNorm scales gradients down together so that their norm, the root of the
// sum of all squares, is at most max.
//
// Source: Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent
// neural networks", 2013, in PyTorch's form: by max/(norm + 1e-6).
func ClipNorm[T any](grads T, max float64) T {
	var squares []tensor.Tensor
	for _, g := range tree.All(grads) {
		if isFloat(g) {
			squares = append(squares, g.Cast(tensor.Float32).Square().Sum())
		}
	}
	if squares == nil {
		return grads
	}
	norm := squares[0]
	for _, s := range squares[1:] {
		norm = norm.Add(s)
	}
	scale := norm.Sqrt().Add(1e-6).Reciprocal().Mul(max).Minimum(1)
	return tree.Map(grads, func(_ string, g tensor.Tensor) tensor.Tensor {
		if !isFloat(g) {
			return g
		}
		return g.Mul(scale.Cast(g.DType()))
	})
}

// ClipValue clamps every element of the gradients to ±max.
func ClipValue[T any](grads T, max float64) T {
	return tree.Map(grads, func(_ string, g tensor.Tensor) tensor.Tensor {
		if !isFloat(g) {
			return g
		}
		return g.Clamp(-max, max)
	})
}

// Average is the running average decay·avg + (1-decay)·model of every
// floating-point tensor; the others are the model's. Start from the model.
func Average[T any](avg, model T, decay float64) T {
	return tree.Zip(avg, model, func(_ string, a, m tensor.Tensor) tensor.Tensor {
		if !m.IsValid() || !isFloat(m) {
			return m
		}
		return a.Mul(decay).Add(m.Mul(1 - decay))
	})
}

func isFloat(t tensor.Tensor) bool {
	switch t.DType() {
	case tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64:
		return true
	}
	return false
}
