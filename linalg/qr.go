package linalg

import (
	"github.com/tensorken/tensorken/tensor"
)

// QR returns q and r with a = q·r for matrices a [... m n]: the columns of q [... m k] are
// orthonormal, and r [... k n] is upper triangular, where k is the smaller of m and n. The
// diagonal of r may be negative. Where it has a zero there is no derivative.
func QR(a tensor.Tensor) (q, r tensor.Tensor) {
	const op = "linalg.QR"
	m, n := dims(op, a)
	if m >= n {
		return tallQR(op, a)
	}
	q, r = tallQR(op, a.Slice(-1, 0, m))
	return q, tensor.Cat(-1, r, transposed(q).MatMul(a.Slice(-1, m, n)))
}

func tallQR(op string, a tensor.Tensor) (q, r tensor.Tensor) {
	m, n := dims(op, a)
	outs := withRules(op, func(args tensors) tensors {
		return cut(onHost(op, m*n+n*n, nil, func(out []float64, in [][]float64) error {
			copy(out, in[0])
			factorQR(matrix{m, n, n, out[:m*n]}, matrix{n, n, n, out[m*n:]})
			return nil
		}, args[0]), []int{m, n}, []int{n, n})
	}, func(_, outs, ts tensors) tensors {
		q, r := outs[0], outs[1]
		x := transposed(triangular(op, r, transposed(ts[0]), Triangle{Upper: true}, true)) // da·r⁻¹
		inside := transposed(q).MatMul(x)
		low := inside.Tril(-1)
		skew := low.Sub(transposed(low))
		return tensors{
			q.MatMul(skew.Sub(inside)).Add(x),
			inside.Sub(skew).MatMul(r),
		}
	}, nil, a)
	return outs[0], outs[1]
}
