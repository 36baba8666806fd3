package linalg

import (
	"fmt"

	"github.com/tensorken/tensorken/tensor"
)

// Cholesky returns the lower triangular matrix l with l·lᵀ = a and a positive diagonal, for
// symmetric positive definite matrices a. A matrix that is not symmetric is replaced by the mean
// of it and its transpose. A matrix that is not positive definite is an error when l is read, which says
// the order of the first leading minor that is not positive.
func Cholesky(a tensor.Tensor) tensor.Tensor {
	const op = "linalg.Cholesky"
	n := square(op, a)
	return withRules(op, func(args tensors) tensors {
		l := onHost(op, n*n, nil, func(out []float64, in [][]float64) error {
			stride := n + 8 // so that rows do not compete for the same lines of the cache
			data, free := scratch(n * stride)
			defer free()
			u := matrix{n, n, stride, data}
			symmetrize(u, matrix{n, n, n, in[0]})
			if minor := factorCholesky(u); minor > 0 {
				return fmt.Errorf("the matrix is not positive definite: its leading minor of order %d is not positive", minor)
			}
			transposeUpper(matrix{n, n, n, out}, u)
			return nil
		}, args[0])
		return cut(l, []int{n, n})
	}, func(_, outs, ts tensors) tensors {
		l := outs[0]
		half := tensor.Ones(n, n).Tril(0).Sub(tensor.Eye(n).Mul(0.5))
		left := triangular(op, l, symmetric(ts[0]), Triangle{}, false)
		both := triangular(op, l, transposed(left), Triangle{}, false)
		return tensors{l.MatMul(both.Mul(half))}
	}, nil, a)[0]
}

// CholeskySolve returns x with a·x = b, given the lower triangular l of [Cholesky] of a, for
// b [... n k] or a vector [n]; x is like b.
func CholeskySolve(l, b tensor.Tensor) tensor.Tensor {
	const op = "linalg.CholeskySolve"
	square(op, l)
	l, b, batch, vector := system(op, l, b)
	l = expanded(l, batch)
	y := triangular(op, l, b, Triangle{}, false)
	return column(triangular(op, l, y, Triangle{}, true), vector)
}
