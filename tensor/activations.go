package tensor

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// The functions of this file are compositions whose derivatives of any order are
// right at the edges, and neither overflow nor lose digits far from 0.

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
	return Tensor{n: graph.Where(positive(x), x, mul(numberLike("LeakyReLU", x, alpha), x))}
}

// ELU returns t where it is positive, otherwise alpha·(e^t - 1). Its
// derivative at 0 is alpha. Floats only.
func (t Tensor) ELU(alpha float64) Tensor {
	x := t.floats("ELU")
	above := positive(x)
	below := graph.Unary(ir.Expm1, graph.Where(above, fill(x, 0), x)) // does not overflow
	return Tensor{n: graph.Where(above, x, mul(numberLike("ELU", x, alpha), below))}
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

// SiLU returns t·Sigmoid(t), also called swish. Floats only.
func (t Tensor) SiLU() Tensor {
	x := t.floats("SiLU")
	return Tensor{n: mul(x, sigmoid(x))}
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
	x := t.floats("Mish")
	return Tensor{n: mul(x, graph.Unary(ir.Tanh, softplus(x)))}
}

// GELU returns t·Φ(t), where Φ(t) = (1 + Erf(t/√2))/2 is the normal distribution
// function. Floats only.
func (t Tensor) GELU() Tensor {
	x := t.floats("GELU")
	phi := shifted(graph.Unary(ir.Erf, scaled(x, math.Sqrt2/2)), 1)
	return Tensor{n: mul(scaled(x, 0.5), phi)}
}

// GELUTanh returns an approximation of GELU that many models use:
// t/2·(1 + Tanh(√(2/π)·(t + 0.044715·t³))). Floats only.
func (t Tensor) GELUTanh() Tensor {
	x := t.floats("GELUTanh")
	inner := scaled(mul(x, shifted(scaled(mul(x, x), 0.044715), 1)), math.Sqrt(2/math.Pi))
	phi := shifted(graph.Unary(ir.Tanh, inner), 1)
	return Tensor{n: mul(scaled(x, 0.5), phi)}
}

// HardSwish returns t·Clamp(t+3, 0, 6)/6. Floats only.
func (t Tensor) HardSwish() Tensor {
	x := t.floats("HardSwish")
	gate, six := shifted(x, 3), fill(x, 6)
	gate = graph.Where(lt(gate, fill(x, 0)), fill(x, 0), gate)
	gate = graph.Where(lt(six, gate), six, gate)
	return Tensor{n: scaled(mul(x, gate), 1.0/6)}
}

// LogSigmoid returns log(1/(1 + e^-t)), accurate where Sigmoid rounds to 0 or 1. Floats
// only.
func (t Tensor) LogSigmoid() Tensor { return Tensor{n: neg(softplus(neg(t.floats("LogSigmoid"))))} }

// Softsign returns t/(1 + |t|), ±1 at ±Inf. Floats only.
func (t Tensor) Softsign() Tensor {
	t.floats("Softsign")
	x := t.Clamp(-greatestFinite[t.DType()], greatestFinite[t.DType()]).n
	return Tensor{n: div(x, shifted(abs(x), 1))}
}

// SELU returns 1.0507·ELU(t) with alpha 1.6733, the constants for which a deep network
// keeps mean 0 and variance 1. Floats only.
//
// Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
func (t Tensor) SELU() Tensor {
	const alpha, scale = 1.6732632423543772848, 1.0507009873554804934
	t.floats("SELU")
	return t.ELU(alpha).Mul(scale)
}

// CELU returns t where it is positive, otherwise alpha·(e^(t/alpha) - 1), whose
// derivative at 0 is 1. Floats only.
func (t Tensor) CELU(alpha float64) Tensor {
	x := t.floats("CELU")
	if !(alpha > 0) {
		fail("CELU", fmt.Sprintf("alpha is %v, want more than 0", alpha), x)
	}
	above, a := positive(x), numberLike("CELU", x, alpha)
	below := graph.Unary(ir.Expm1, div(graph.Where(above, fill(x, 0), x), a))
	return Tensor{n: graph.Where(above, x, mul(a, below))}
}

// HardSigmoid returns Clamp(t/6 + ½, 0, 1). Floats only.
func (t Tensor) HardSigmoid() Tensor {
	x := t.floats("HardSigmoid")
	return Tensor{n: shifted(scaled(x, 1.0/6), 0.5)}.Clamp(0, 1)
}
