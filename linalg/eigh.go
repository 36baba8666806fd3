package linalg

import (
	"github.com/tensorken/tensorken/tensor"
)

// Eigh returns the eigenvalues w [... n] of symmetric matrices a [... n n] in ascending
// order, and their eigenvectors, the columns of v [... n n], which are orthonormal:
// a = v·diag(w)·vᵀ. A matrix that is not symmetric is replaced by the mean of it and its
// transpose. The element of greatest magnitude of each eigenvector is positive. Vectors of
// equal eigenvalues are not determined; for their derivatives see the package comment. NaN or
// an infinity in a is an error when a result is read.
func Eigh(a tensor.Tensor) (w, v tensor.Tensor) { return eigh("linalg.Eigh", a) }

// Eigvalsh is the eigenvalues of [Eigh]. It takes less time, if it is not differentiated.
func Eigvalsh(a tensor.Tensor) tensor.Tensor {
	const op = "linalg.Eigvalsh"
	n := square(op, a)
	return withRules(op, func(args tensors) tensors {
		return tensors{onHost(op, n, nil, func(out []float64, in [][]float64) error {
			a := newMatrix(n, n)
			symmetrize(a, matrix{n, n, n, in[0]})
			return eigenvalues(out, a, matrix{})
		}, args[0])}
	}, func(args, _, ts tensors) tensors {
		_, v := eigh(op, args[0])
		return tensors{transposed(v).MatMul(symmetric(ts[0])).MatMul(v).Diag(0)}
	}, nil, a)[0]
}

func eigh(op string, a tensor.Tensor) (w, v tensor.Tensor) {
	n := square(op, a)
	outs := withRules(op, func(args tensors) tensors {
		return cut(onHost(op, n+n*n, nil, func(out []float64, in [][]float64) error {
			a := newMatrix(n, n)
			symmetrize(a, matrix{n, n, n, in[0]})
			return eigenvalues(out[:n], a, matrix{n, n, n, out[n:]})
		}, args[0]), []int{n}, []int{n, n})
	}, func(_, outs, ts tensors) tensors {
		w, v := outs[0], outs[1]
		x := transposed(v).MatMul(symmetric(ts[0])).MatMul(v)
		return tensors{x.Diag(0), v.MatMul(reciprocalGaps(w).Mul(x))}
	}, nil, a)
	return outs[0], outs[1]
}

// reciprocalGaps is 1/(w[j]-w[i]), or 0 where the difference is no more than rounding.
func reciprocalGaps(w tensor.Tensor) tensor.Tensor {
	return reciprocalUnlessRounding(w.Unsqueeze(-2).Sub(w.Unsqueeze(-1)), w)
}

// reciprocalUnlessRounding is 1/x, or 0 where |x| is no more than the rounding of the two values w that it is of:
// a part of the greatest value in float64, in which they are computed, and of their own in w's type.
func reciprocalUnlessRounding(x, w tensor.Tensor) tensor.Tensor {
	size := w.Abs()
	computed := size.Max(-1).Unsqueeze(-1).Mul(8 * epsilon(tensor.Float64))
	stored := size.Unsqueeze(-2).Maximum(size.Unsqueeze(-1)).Mul(8 * epsilon(w.DType()))
	near := x.Abs().Le(computed.Maximum(stored))
	return tensor.Where(near, 0, tensor.Where(near, 1, x).Reciprocal())
}
