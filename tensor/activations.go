package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/ir"
)

// The functions of this file are compositions whose derivatives of any order are
// right at the edges, infinities included, and neither overflow nor lose digits far from 0.

// ReLU returns t where it is positive, otherwise 0; NaN stays NaN. Its
// derivative at 0 is 0. Floats and signed integers.
func (t Tensor) ReLU() Tensor {
	x := t.numbers("ReLU")
	if !x.DType.IsFloat() {
		return Tensor{n: graph.Binary(ir.Max, x, fill(x, 0))}
	}
	// The comparison with the smallest positive number is true at 0 and false for
	// NaN.
	return byType(x, func(x *graph.Node) *graph.Node {
		return graph.Where(lt(x, fill(x, minPositive(x.DType))), fill(x, 0), x)
	})
}

// minPositive returns the smallest positive number of a floating-point type that a
// device without subnormal float32 distinguishes from 0.
func minPositive(d DType) float64 {
	switch d {
	case ir.Float16:
		return 0x1p-24
	case ir.Float64:
		return 0x1p-1022
	}
	return 0x1p-126
}

// LeakyReLU returns t where it is positive, otherwise alpha·t. Its derivative
// at 0 is alpha. Floats only.
func (t Tensor) LeakyReLU(alpha float64) Tensor {
	x := t.floats("LeakyReLU")
	checkNumber("LeakyReLU", "alpha", alpha, limits.Finite, x)
	if alpha == 0 {
		return t.ReLU() // 0·-Inf would be NaN
	}
	return Tensor{n: graph.Where(positive(x), x, mul(exactLike("LeakyReLU", x, alpha), x))}
}

// ELU returns t where it is positive, otherwise alpha·(e^t - 1). Its
// derivative at 0 is alpha. Floats only.
func (t Tensor) ELU(alpha float64) Tensor {
	x := t.floats("ELU")
	checkNumber("ELU", "alpha", alpha, limits.Finite, x)
	return Tensor{n: elu(x, exactLike("ELU", x, alpha))}
}

func elu(x, alpha *graph.Node) *graph.Node {
	above := positive(x)
	below := graph.Unary(ir.Expm1, graph.Where(above, fill(x, 0), x)) // does not overflow
	return graph.Where(above, x, mul(alpha, below))
}

// decay returns e^-|x|, and whether x > 0.
func decay(x *graph.Node) (e, above *graph.Node) {
	above = positive(x)
	return exp(graph.Where(above, neg(x), x)), above
}

// Sigmoid returns 1/(1 + e^-t). Floats only.
func (t Tensor) Sigmoid() Tensor { return Tensor{n: sigmoid(t.floats("Sigmoid"))} }

// sigmoid returns 1/(1+e^-x) for x > 0, e^x/(1+e^x) for others.
func sigmoid(x *graph.Node) *graph.Node {
	e, above := decay(x)
	return div(graph.Where(above, fill(x, 1), e), shifted(e, 1))
}

// A gate is g of x·g(x), a function from 0 at -∞ to 1 at ∞, and its derivative at near, a limited x. It may be made of s.
// In a derivative g may also be at near, if slope is made of it. Otherwise g is at x, as in x·g(x), so that one kernel
// computes it once.
type gate func(x, near *graph.Node, s logistic) (g *graph.Node, slope func() *graph.Node)

// A logistic is sigmoid or, where no derivative of it is needed, quickSigmoid.
type logistic func(x *graph.Node) *graph.Node

// quickSigmoid is sigmoid in fewer operations, whose derivatives are NaN where e^-x overflows.
func quickSigmoid(x *graph.Node) *graph.Node { return reciprocal(shifted(exp(neg(x)), 1)) }

// gateLimit is a number beyond whose negative a gate is 0 in every type, and beyond which
// it is 1 and its derivative 0.
const gateLimit = 1000

// gated returns x·g(x), which is 0 at -Inf. So that no infinity meets a 0 in derivatives
// either, it has one of its own, g(x) + x·g'(x) of a limited x. Untyped constants keep their
// digits without it.
func gated(op string, x *graph.Node, g gate) Tensor {
	above := func(x *graph.Node) *graph.Node { return graph.Binary(ir.Max, x, fill(x, -gateLimit)) }
	limited := func(x *graph.Node) *graph.Node { return graph.Binary(ir.Min, above(x), fill(x, gateLimit)) }
	y := wide(x, func(x *graph.Node) *graph.Node {
		if x.Traced() && x.IsUntyped() {
			v, _ := g(limited(x), limited(x), sigmoid)
			return graph.Where(lt(fill(x, gateLimit), x), x, mul(limited(x), v))
		}
		v, _ := g(x, x, quickSigmoid)
		return mul(above(x), v)
	})
	if x.IsUntyped() {
		return y
	}
	return Tensor{n: derived(op, x, y.n, func(x *graph.Node) *graph.Node {
		return wide(x, func(x *graph.Node) *graph.Node {
			v, slope := g(x, limited(x), sigmoid)
			v = derived(op, x, v, func(x *graph.Node) *graph.Node {
				_, slope := g(x, limited(x), sigmoid)
				return slope()
			})
			return add(v, mul(limited(x), slope()))
		}).n
	})}
}

// SiLU returns t·Sigmoid(t), also called swish. Floats only.
func (t Tensor) SiLU() Tensor {
	return gated("SiLU", t.floats("SiLU"), func(_, near *graph.Node, s logistic) (*graph.Node, func() *graph.Node) {
		g := s(near)
		return g, func() *graph.Node { return mul(g, shifted(neg(g), 1)) }
	})
}

// Softplus returns log(1 + e^t). Floats only.
func (t Tensor) Softplus() Tensor { return Tensor{n: softplus(t.floats("Softplus"))} }

// softplus returns x + log(1+e^-x) for x > 0, log(1+e^x) for others.
func softplus(x *graph.Node) *graph.Node {
	e, above := decay(x)
	return add(graph.Where(above, x, fill(x, 0)), graph.Unary(ir.Log1p, e))
}

// Mish returns t·Tanh(Softplus(t)). Floats only.
func (t Tensor) Mish() Tensor {
	return gated("Mish", t.floats("Mish"), func(_, near *graph.Node, _ logistic) (*graph.Node, func() *graph.Node) {
		g := graph.Unary(ir.Tanh, softplus(near))
		return g, func() *graph.Node { return mul(sub(fill(g, 1), mul(g, g)), sigmoid(near)) }
	})
}

// GELU returns t·Φ(t), where Φ(t) = Erfc(-t/√2)/2 is the normal distribution function. It
// keeps its digits where it is near 0. Floats only.
func (t Tensor) GELU() Tensor {
	x := t.floats("GELU")
	return gated("GELU", x, func(wide, near *graph.Node, _ logistic) (*graph.Node, func() *graph.Node) {
		tail := graph.Unary(ir.Erfc, scaled(wide, -math.Sqrt2/2))
		if x.DType == ir.BFloat16 {
			tail.Kind = ir.Cast // although it is computed in float32
		}
		u := scaled(near, -math.Sqrt2/2)
		return scaled(tail, 0.5), func() *graph.Node { return scaled(exp(neg(mul(u, u))), 1/math.Sqrt(2*math.Pi)) }
	})
}

// GELUTanh returns an approximation of GELU that many models use:
// t/2·(1 + Tanh(√(2/π)·(t + 0.044715·t³))), as t·Sigmoid(2·√(2/π)·(t + 0.044715·t³)), which
// keeps its digits where it is near 0. Floats only.
func (t Tensor) GELUTanh() Tensor {
	return gated("GELUTanh", t.floats("GELUTanh"), func(_, x *graph.Node, s logistic) (*graph.Node, func() *graph.Node) {
		const cubic = 0.044715
		root, square := math.Sqrt(2/math.Pi), mul(x, x)
		g := s(mul(x, shifted(scaled(square, 2*root*cubic), 2*root)))
		return g, func() *graph.Node {
			return mul(mul(g, shifted(neg(g), 1)), shifted(scaled(square, 6*root*cubic), 2*root))
		}
	})
}

// HardSwish returns t·Clamp(t+3, 0, 6)/6. Floats only.
func (t Tensor) HardSwish() Tensor {
	return gated("HardSwish", t.floats("HardSwish"), func(_, x *graph.Node, _ logistic) (*graph.Node, func() *graph.Node) {
		return hardSigmoid(x), func() *graph.Node {
			return graph.Where(lt(fill(x, 3), abs(x)), fill(x, 0), fill(x, 1.0/6))
		}
	})
}

// LogSigmoid returns log(1/(1 + e^-t)), accurate where Sigmoid rounds to 0 or 1. Floats
// only.
func (t Tensor) LogSigmoid() Tensor { return Tensor{n: neg(softplus(neg(t.floats("LogSigmoid"))))} }

// Softsign returns t/(1 + |t|), ±1 at ±Inf. Floats only.
func (t Tensor) Softsign() Tensor {
	return wide(t.floats("Softsign"), func(x *graph.Node) *graph.Node {
		near := Tensor{n: x}.Clamp(-greatestFinite[x.DType], greatestFinite[x.DType]).n
		return derived("Softsign", x, div(near, shifted(abs(near), 1)), func(x *graph.Node) *graph.Node {
			r := reciprocal(shifted(abs(x), 1))
			return mul(r, r)
		})
	})
}

// SELU returns 1.0507·ELU(t) with alpha 1.6733, the constants for which a deep network
// keeps mean 0 and variance 1. Floats only.
//
// Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
func (t Tensor) SELU() Tensor {
	const alpha, scale = 1.6732632423543772848, 1.0507009873554804934
	return wide(t.floats("SELU"), func(x *graph.Node) *graph.Node { return scaled(elu(x, fill(x, alpha)), scale) })
}

// CELU returns t where it is positive, otherwise alpha·(e^(t/alpha) - 1), whose
// derivative at 0 is 1. Floats only.
func (t Tensor) CELU(alpha float64) Tensor {
	x := t.floats("CELU")
	checkNumber("CELU", "alpha", alpha, limits.Positive, x)
	above, a := positive(x), exactLike("CELU", x, max(alpha, minPositive(x.DType)))
	below := graph.Unary(ir.Expm1, div(graph.Where(above, fill(x, 0), x), a))
	return Tensor{n: graph.Where(above, x, mul(a, below))}
}

// HardSigmoid returns Clamp(t+3, 0, 6)/6. Floats only.
func (t Tensor) HardSigmoid() Tensor { return wide(t.floats("HardSigmoid"), hardSigmoid) }

func hardSigmoid(x *graph.Node) *graph.Node {
	return scaled(Tensor{n: shifted(x, 3)}.Clamp(0, 6).n, 1.0/6)
}
