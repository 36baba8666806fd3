package nn

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// wide returns f of tensors, computed in float32 if they have 16 bits, and returned in
// their type, so that numbers in f keep digits that 16 bits lack: 1e-8 is 0 in float16.
// Kernels compute in float32 anyway, so fused Casts cost nothing. Tensors may be absent.
func wide(f func(ts ...tensor.Tensor) tensor.Tensor, ts ...tensor.Tensor) tensor.Tensor {
	var half tensor.Tensor
	up := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		up[i] = widened(t)
		if isHalf(t) && !half.IsValid() {
			half = t
		}
	}
	return narrowed(f(up...), half)
}

func isHalf(t tensor.Tensor) bool { return t.IsValid() && t.DType().IsHalf() }

// widened returns t, in float32 if it has 16 bits.
func widened(t tensor.Tensor) tensor.Tensor {
	if isHalf(t) {
		return t.Cast(t.DType().ComputeType())
	}
	return t
}

// narrowed returns y, in the type of like if that has 16 bits.
func narrowed(y, like tensor.Tensor) tensor.Tensor {
	if isHalf(like) {
		return y.Cast(like.DType())
	}
	return y
}

// ranges are of types: a power of two by which numbers are multiplied so that their squares
// stay below the type's greatest number, and the type's least normal number.
func ranges(d tensor.DType) (scale, least float64) {
	if d == tensor.Float64 {
		return 0x1p-400, 0x1p-1022
	}
	return 0x1p-43, 0x1p-126
}

// atLeast returns a positive setting that computations with x divide by, or the least normal
// number of its type, below which it may be 0.
func atLeast(x tensor.Tensor, v float64) float64 {
	_, least := ranges(x.DType())
	return max(v, least)
}

// inverseRMS returns 1/√(mean x² + eps) over axes, also where squares leave the type's range.
// Its derivative, -x/(n·rms³), is computed in an order that stays in the range too.
func inverseRMS(x tensor.Tensor, eps float64, axes ...int) tensor.Tensor {
	y := inverseRoot(x, eps, axes...)
	n := nodeOf(x)
	if !n.Traced() || n.IsUntyped() {
		return y
	}
	c := &graph.CustomCall{
		Args: []*graph.Node{n}, Function: "RMS",
		VJP: func(args, outs, cts []*graph.Node) []*graph.Node {
			x, y, ct := tensorOf(args[0]), tensorOf(outs[0]), tensorOf(cts[0])
			count := float64(args[0].Len()) / float64(max(outs[0].Len(), 1))
			return []*graph.Node{nodeOf(x.Mul(y).Mul(ct.Mul(y).Mul(-1 / count).Mul(y)))}
		},
		JVP: func(args, outs, vs []*graph.Node) []*graph.Node {
			x, y, v := tensorOf(args[0]), tensorOf(outs[0]), tensorOf(vs[0])
			return []*graph.Node{nodeOf(x.Mul(y).Mul(v.Mul(y)).Mean(axes...).Mul(y.Neg()))}
		},
	}
	return tensorOf(c.Results([]*graph.Node{nodeOf(y)})[0])
}

// inverseRoot computes inverseRMS. Multiplication by a power of two is exact.
func inverseRoot(x tensor.Tensor, eps float64, axes ...int) tensor.Tensor {
	s, least := ranges(x.DType())
	inverse := func(scale float64) tensor.Tensor {
		return x.Mul(scale).Square().Mean(axes...).Add(max(eps*scale*scale, least)).Sqrt().Reciprocal().Mul(scale)
	}
	if eps*s*s >= least {
		return inverse(s)
	}
	y := inverse(1) // eps is too small beside the squares of great numbers
	return tensor.Where(y.Eq(0), inverse(s), y)
}

// unit returns x divided by its norm along axes, or along all without any, whatever the
// scale of x. The unit vector of zeros is zeros.
func unit(x tensor.Tensor, axes ...int) tensor.Tensor {
	norm := x.NormP(2, axes...)
	return x.Div(tensor.Where(norm.Eq(0), 1, norm))
}

// weighted returns x·weight, but 0 where x is infinite and the weight 0: the limit of a term
// that does not count.
func weighted(x, weight tensor.Tensor) tensor.Tensor {
	return tensor.Where(x.IsInf().And(weight.Eq(0)), 0, x).Mul(weight)
}

// focused returns the loss times wrong to the power gamma, where wrong is 1-p and tends to 1 faster than
// -log p grows. Beyond 1000 result and derivative are the loss's own, which may be infinite.
func focused(loss, minusLogP, wrong tensor.Tensor, gamma float64) tensor.Tensor {
	if gamma != math.Trunc(gamma) { // second derivatives of a power of 0 may be infinite
		_, least := ranges(wrong.DType())
		wrong = wrong.Maximum(least)
	}
	far := minusLogP.Gt(1000)
	return tensor.Where(far, loss, tensor.Where(far, 0, loss).Mul(wrong.Pow(gamma)))
}
