package optim

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// ClipNorm scales all gradients by one factor so that their [TotalNorm] is at most max, also where
// that overflows. An infinite gradient becomes NaN, and all others 0. It panics if max is negative
// or NaN.
//
// Source: Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent
// neural networks", 2013, in PyTorch's form: by max/(norm + 1e-6), but max/10,000 in place of
// 1e-6 for a max below 0.01.
func ClipNorm[T any](grads T, max float64) T {
	checkLimit("ClipNorm", "norm", max)
	norm, unit := scaledNorm(grads)
	return clip(grads, max, norm, unit)
}

// clip is ClipNorm of gradients of a scaledNorm.
func clip[T any](grads T, max float64, norm, unit tensor.Tensor) T {
	if norm.DType() == tensor.Float32 {
		max = min(max, math.MaxFloat32)
	}
	small := math.Max(math.Min(1e-6, max/10_000), 0x1p-120)
	scale := norm.Add(unit.Reciprocal().Mul(small)).Reciprocal().Mul(max) // of gradients divided by unit
	clips := scale.Lt(unit)
	per := tensor.Where(clips, unit.Reciprocal(), 1)
	scale = tensor.Where(clips, scale, 1)
	return mapFloats(grads, func(g tensor.Tensor) tensor.Tensor {
		return g.Mul(per.Cast(g.DType())).Mul(scale.Cast(g.DType()))
	})
}

// TotalNorm returns the norm of all gradients together, of shape [], which [ClipNorm]
// limits: the root of the sum of the squares of all floating-point elements, in float64 if
// a gradient is float64, else in float32. It overflows only where the result does.
func TotalNorm(grads any) tensor.Tensor {
	norm, unit := scaledNorm(grads)
	return norm.Mul(unit)
}

// scaledNorm returns the total norm as a multiple, which does not overflow, of a power of two.
func scaledNorm(grads any) (norm, unit tensor.Tensor) {
	d := tensor.Float32
	var norms, units []tensor.Tensor
	for _, g := range tree.All(grads) {
		if !g.DType().IsFloat() {
			continue
		}
		if g.DType() == tensor.Float64 {
			d = tensor.Float64
		}
		n, u := tensor.Internal.ScaledNorm(graph.Token{}, g.Cast(g.DType().ComputeType()))
		norms, units = append(norms, n), append(units, u)
	}
	if norms == nil {
		return tensor.Scalar(0).Cast(d), tensor.Scalar(1).Cast(d)
	}
	for i, n := range norms {
		norms[i], units[i] = n.Cast(d), units[i].Cast(d)
	}
	return joinNorms(tensor.Stack(0, norms...), tensor.Stack(0, units...))
}

// joinNorms returns the norm of all that have some norms, as multiples of units.
func joinNorms(norms, units tensor.Tensor) (norm, unit tensor.Tensor) {
	unit = units.Max()
	return norms.Mul(units.Div(unit)).NormP(2), unit
}

// ClipValue clamps every element of the gradients to ±max. It panics if max is
// negative or NaN.
func ClipValue[T any](grads T, max float64) T {
	checkLimit("ClipValue", "elements", max)
	return mapFloats(grads, func(g tensor.Tensor) tensor.Tensor {
		if g.DType() == tensor.Float32 && max > math.MaxFloat32 {
			return g
		}
		return g.Clamp(-max, max)
	})
}

// mapFloats applies f to the floating-point tensors of a tree. For tensors of 16 bits it
// computes in float32, so that the numbers in f are not rounded.
func mapFloats[T any](v T, f func(tensor.Tensor) tensor.Tensor) T {
	return tree.Map(v, func(_ string, t tensor.Tensor) tensor.Tensor {
		if !t.DType().IsFloat() {
			return t
		}
		return inFloat32(t, f)
	})
}

// inFloat32 returns f of t, computed in float32 if t has 16 bits, in the type of t.
func inFloat32(t tensor.Tensor, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	d := t.DType()
	if !d.IsHalf() {
		return f(t)
	}
	return f(t.Cast(d.ComputeType())).Cast(d)
}

// checkLimit panics on behalf of op unless max is 0 or more.
func checkLimit(op, what string, max float64) {
	if !(max >= 0) {
		tensor.Internal.Misuse(graph.Token{}, "optim."+op, fmt.Sprintf("the limit of the %s is %v, want 0 or more", what, max))
	}
}

// Average returns the running average decay·avg + (1-decay)·model of every
// floating-point tensor, and the model's other tensors. Start with avg = model. Decay is from
// 0 to 1.
func Average[T any](avg, model T, decay float64) T {
	must("Average", "the decay", decay, limits.AtMostOne)
	return tree.Zip(avg, model, func(_ string, a, m tensor.Tensor) tensor.Tensor {
		if !m.IsValid() || !m.DType().IsFloat() {
			return m
		}
		return inFloat32(a, func(a tensor.Tensor) tensor.Tensor {
			return average(a, m.Cast(m.DType().ComputeType()), decay)
		})
	})
}
