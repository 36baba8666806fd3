package linalg

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// PInv returns the pseudoinverses [... n m] of matrices a [... m n], of any rank. Singular
// values count as 0 that are at most rtol times the greatest; by default rtol is the longer
// side times the precision of the type.
func PInv(a tensor.Tensor, rtol ...float64) tensor.Tensor { return pinv("linalg.PInv", a, rtol) }

func pinv(op string, a tensor.Tensor, rtol []float64) tensor.Tensor {
	dims(op, a)
	return byType(func(args tensors) tensors { return tensors{pinvOf(op, args[0], rtol)} }, a)[0]
}

func pinvOf(op string, a tensor.Tensor, rtol []float64) tensor.Tensor {
	m, n := dims(op, a)
	tol := tolerance(op, a, rtol)
	return withRules(op, func(args tensors) tensors {
		return cut(onHost(op, n*m, tol, func(out []float64, in [][]float64) error {
			return pseudoinverse(out, in[0], m, n, tol)
		}, args[0]), []int{n, m})
	}, func(args, outs, ts tensors) tensors {
		a, p, da := args[0], outs[0], ts[0]
		pt, dat := transposed(p), transposed(da)
		// -p·da·p + p·pᵀ·daᵀ·(1-a·p) + (1-p·a)·daᵀ·pᵀ·p, without a matrix m by m or n by n that
		// is larger than both a and its smaller side.
		x := p.MatMul(pt).MatMul(dat)
		y := dat.MatMul(pt)
		return tensors{x.Sub(x.MatMul(a).MatMul(p)).
			Add(y.Sub(p.MatMul(a.MatMul(y))).MatMul(p)).
			Sub(p.MatMul(da).MatMul(p))}
	}, nil, a)[0]
}

// tolerance is the given rtol, or the default for a.
func tolerance(op string, a tensor.Tensor, rtol []float64) float64 {
	m, n := dims(op, a)
	switch {
	case len(rtol) > 1:
		fail(op, "there may be one tolerance", a)
	case len(rtol) == 1 && (!(rtol[0] >= 0) || math.IsInf(rtol[0], 0)):
		fail(op, fmt.Sprintf("the tolerance is %v, want a finite number of at least 0", rtol[0]), a)
	case len(rtol) == 1:
		return rtol[0]
	}
	return epsilon(a.DType()) * float64(max(m, n))
}

// MatrixRank returns the number, int64, of singular values of matrices that are greater than
// rtol times the greatest, see [PInv], without the last two axes.
func MatrixRank(a tensor.Tensor, rtol ...float64) tensor.Tensor {
	const op = "linalg.MatrixRank"
	tol := tolerance(op, a, rtol)
	s := singularValues(op, a)
	if s.Dim(-1) == 0 {
		return tensor.ZerosOf(tensor.Int64, batchOf(a)...)
	}
	return s.Gt(s.Max(-1).Mul(tol)).Sum(-1).Squeeze(-1)
}

// Cond returns the condition numbers of matrices, their greatest singular value divided by
// the least, without the last two axes: +Inf for a singular matrix, NaN for zeros alone.
func Cond(a tensor.Tensor) tensor.Tensor {
	const op = "linalg.Cond"
	s := singularValues(op, a)
	if s.Dim(-1) == 0 {
		fail(op, "there is no element", a)
	}
	return s.Slice(-1, 0, 1).Div(s.Slice(-1, -1, tensor.End)).Squeeze(-1)
}
