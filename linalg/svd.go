package linalg

import (
	"github.com/tensorken/tensorken/tensor"
)

// SVD returns the singular value decomposition a = u·diag(s)·vt of matrices a [... m n]: the
// columns of u [... m k] and the rows of vt [... k n] are orthonormal, and s [... k] is in
// descending order, where k is the smaller of m and n. The element of the greatest size of
// a row of vt is positive. Vectors of equal singular values are not determined; for their
// derivatives see the package comment. NaN or an infinity in a is an error when a result is read.
func SVD(a tensor.Tensor) (u, s, vt tensor.Tensor) { return svd("linalg.SVD", a) }

// SVDVals is the singular values of [SVD]. It takes less time, if it is not differentiated.
func SVDVals(a tensor.Tensor) tensor.Tensor { return singularValues("linalg.SVDVals", a) }

func singularValues(op string, a tensor.Tensor) tensor.Tensor {
	m, n := dims(op, a)
	k := min(m, n)
	return withRules(op, func(args tensors) tensors {
		return tensors{onHost(op, k, nil, func(out []float64, in [][]float64) error {
			return decompose(in[0], m, n, out, nil, nil)
		}, args[0])}
	}, func(args, _, ts tensors) tensors {
		u, _, vt := svd(op, args[0])
		return tensors{alongPairs(u, ts[0], vt).Diag(0)}
	}, nil, a)[0]
}

func svd(op string, a tensor.Tensor) (u, s, vt tensor.Tensor) {
	m, n := dims(op, a)
	k := min(m, n)
	outs := withRules(op, func(args tensors) tensors {
		return cut(onHost(op, m*k+k+k*n, nil, func(out []float64, in [][]float64) error {
			return decompose(in[0], m, n, out[m*k:][:k], out[:m*k], out[m*k+k:])
		}, args[0]), []int{m, k}, []int{k}, []int{k, n})
	}, func(_, outs, ts tensors) tensors {
		u, s, vt, da := outs[0], outs[1], outs[2], ts[0]
		x := alongPairs(u, da, vt)
		// Terms that divide by 0, or by the difference of equal singular values, are left out. Where the
		// values are equal, u and v turn together by any angle, and apart by the antisymmetric part of x.
		half := x.Mul(0.5)
		together := reciprocalGaps(s).Mul(half.Add(transposed(half)))
		apart := reciprocalSums(s).Mul(half.Sub(transposed(half)))
		du, dv := u.MatMul(together.Add(apart)), transposed(vt).MatMul(together.Sub(apart))
		zero := s.Le(s.Max(-1).Mul(epsilon(s.DType()) * float64(max(m, n))))
		inverse := tensor.Where(zero, 0, tensor.Where(zero, 1, s).Reciprocal())
		if m > n {
			outside := columns(da.MatMul(transposed(vt)), inverse)
			du = du.Add(outside).Sub(u.MatMul(transposed(u).MatMul(outside)))
		}
		if n > m {
			outside := columns(transposed(da).MatMul(u), inverse)
			dv = dv.Add(outside).Sub(transposed(vt).MatMul(vt.MatMul(outside)))
		}
		return tensors{du, x.Diag(0), transposed(dv)}
	}, nil, a)
	return outs[0], outs[1], outs[2]
}

// reciprocalSums is 1/(s[j]+s[i]), or 0 where both are no more than rounding.
func reciprocalSums(s tensor.Tensor) tensor.Tensor {
	return reciprocalUnlessRounding(s.Unsqueeze(-2).Add(s.Unsqueeze(-1)), s)
}

// alongPairs is da seen from the singular vectors: uᵀ·da·v.
func alongPairs(u, da, vt tensor.Tensor) tensor.Tensor {
	return transposed(u).MatMul(da).MatMul(transposed(vt))
}
