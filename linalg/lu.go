package linalg

import (
	"errors"

	"github.com/tensorken/tensorken/tensor"
)

// LU returns p, l and u with a = p·l·u for matrices a [... m n]: p [... m m] is a permutation
// of rows, l [... m k] lower triangular with ones on its diagonal and u [... k n] upper
// triangular, where k is the smaller of m and n. p has no derivative.
func LU(a tensor.Tensor) (p, l, u tensor.Tensor) {
	const op = "linalg.LU"
	m, n := dims(op, a)
	k := min(m, n)
	outs := byType(func(args tensors) tensors {
		a := args[0]
		lu, order, _ := packedLU(op, a)
		p := transposed(order.Cast(tensor.Int32).OneHot(m).Cast(a.DType()))
		l := lu.Slice(-1, 0, k).Tril(-1).Add(eye(a, m, k))
		return tensors{p, l, lu.Slice(-2, 0, k).Triu(0)}
	}, a)
	return outs[0], outs[1], outs[2]
}

// Det returns the determinants of square matrices, without their last two axes.
func Det(a tensor.Tensor) tensor.Tensor {
	const op = "linalg.Det"
	n := square(op, a)
	return withRules(op, func(args tensors) tensors {
		return cut(onHost(op, 1, nil, func(out []float64, in [][]float64) error {
			out[0] = determinant(clone(matrix{n, n, n, in[0]}))
			return nil
		}, args[0]), nil)
	}, func(args, _, ts tensors) tensors {
		return tensors{productTrace(adjugate(op, args[0]), ts[0])}
	}, nil, a)[0]
}

// adjugate is the matrix whose product with a is Det(a) times the identity.
func adjugate(op string, a tensor.Tensor) tensor.Tensor {
	n := a.Dim(-1)
	return withRules(op, func(args tensors) tensors {
		return cut(onHost(op, n*n, nil, func(out []float64, in [][]float64) error {
			return adjugateOf(out, in[0], n)
		}, args[0]), []int{n, n})
	}, func(args, outs, ts tensors) tensors {
		adj, da := outs[0], ts[0]
		det := Det(args[0]).Unsqueeze(-2, -1)
		trace := productTrace(adj, da).Unsqueeze(-2, -1)
		return tensors{trace.Mul(adj).Sub(adj.MatMul(da).MatMul(adj)).Div(det)}
	}, nil, a)[0]
}

// productTrace is the trace of x·y.
func productTrace(x, y tensor.Tensor) tensor.Tensor {
	return transposed(x).Mul(y).Sum(-2, -1).Squeeze(-2, -1)
}

// SlogDet returns the sign of the determinants of square matrices, 1, -1 or 0, and the
// logarithms of their absolute values, -Inf for a singular matrix, both without the last
// two axes. The determinant is their product, which may be too large for a float. The sign
// has no derivative.
func SlogDet(a tensor.Tensor) (sign, logAbs tensor.Tensor) {
	const op = "linalg.SlogDet"
	square(op, a)
	lu, _, parity := packedLU(op, a)
	d := lu.Diag(0)
	sign = d.Sign().Prod(-1).Squeeze(-1).Mul(parity)
	return sign, d.Abs().Log().Sum(-1).Squeeze(-1)
}

// packedLU returns the factors of a = p·l·u in one matrix, without the ones on the diagonal
// of l, the row of a that each row of it comes from, and the determinant of p.
func packedLU(op string, a tensor.Tensor) (lu, order, parity tensor.Tensor) {
	m, n := dims(op, a)
	k := min(m, n)
	outs := withRules(op, func(args tensors) tensors {
		return cut(onHost(op, m*n+m+1, nil, func(out []float64, in [][]float64) error {
			pivots := make([]int, k)
			copy(out, in[0])
			factorLU(matrix{m, n, n, out[:m*n]}, pivots)
			permutation(out[m*n:], pivots)
			return nil
		}, args[0]), []int{m, n}, []int{m}, nil)
	}, func(_, outs, ts tensors) tensors {
		lu, order := outs[0], outs[1]
		rows := order.Cast(tensor.Int32).Unsqueeze(-1).Expand(lu.Shape()...)
		// The factors as square matrices, with ones on their diagonals beyond k.
		l := lu.Slice(-1, 0, k).Tril(-1).Pad(-1, 0, m-k).Add(eye(lu, m, m))
		u := lu.Slice(-2, 0, k).Triu(0).Pad(-2, 0, n-k)
		if n > k {
			u = u.Add(tensor.Eye(n).Sub(tensor.Eye(k).Pad(0, 0, n-k).Pad(1, 0, n-k)))
		}
		x := triangular(op, l, ts[0].TakeAlong(-2, rows), Triangle{Unit: true}, false)
		x = transposed(triangular(op, u, transposed(x), Triangle{Upper: true}, true))
		return tensors{l.MatMul(x.Tril(-1)).Add(x.Triu(0).MatMul(u)), {}, {}}
	}, nil, a)
	return outs[0], outs[1], outs[2]
}

// eye is the identity, m by n, in the type of a.
func eye(a tensor.Tensor, m, n int) tensor.Tensor {
	k := max(m, n)
	return tensor.Eye(k).Slice(0, 0, m).Slice(1, 0, n).Cast(a.DType())
}

// luFactors returns the factors of square matrices, which solveFactored takes, as matrices
// with one more column, of pivots. If they must be regular a singular matrix is an error.
// The factors have no derivative.
func luFactors(op string, a tensor.Tensor, regular bool) tensor.Tensor {
	n := a.Dim(-1)
	f := onHost(op, n*(n+1), regular, func(out []float64, in [][]float64) error {
		f := matrix{n, n, n + 1, out}
		for i := range n {
			copy(f.row(i), in[0][i*n:])
		}
		pivots := make([]int, n)
		factorLU(f, pivots)
		for i, p := range pivots {
			out[i*(n+1)+n] = float64(p)
			if f.at(i, i) == 0 && regular {
				return errors.New("the matrix is singular: linalg.PInv and linalg.LstSq take it")
			}
		}
		return nil
	}, a)
	return cut(f, []int{n, n + 1})[0]
}
