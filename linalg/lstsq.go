package linalg

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/tensorken/tensorken/tensor"
)

// LstSq returns the x of least squares: for which the squares of the elements of a·x - b add
// up to the least, and if there are several, that with the least squares of its own. The
// matrices a [... m n] may have any rank, see [PInv] for rtol; b is [... m k] or a vector
// [m], and x [... n k] or [n]. A matrix that is far from a lower rank is solved by its QR
// factorization, which is faster and more accurate, others by the pseudoinverse.
func LstSq(a, b tensor.Tensor, rtol ...float64) tensor.Tensor {
	const op = "linalg.LstSq"
	a, b, batch, vector := system(op, a, b)
	x := byType(func(args tensors) tensors { return tensors{lstSq(op, args[0], args[1], rtol)} }, expanded(a, batch), b)
	return column(x[0], vector)
}

func lstSq(op string, a, b tensor.Tensor, rtol []float64) tensor.Tensor {
	m, n := dims(op, a)
	k, tol := b.Dim(-1), tolerance(op, a, rtol)
	return withRules(op, func(args tensors) tensors {
		return cut(onHost(op, n*k, tol, func(out []float64, in [][]float64) error {
			return leastSquares(matrix{n, k, k, out}, matrix{m, n, n, in[0]}, matrix{m, k, k, in[1]}, tol)
		}, args...), []int{n, k})
	}, func(args, outs, ts tensors) tensors {
		// With p the pseudoinverse, p·(db - da·x) + p·pᵀ·daᵀ·(b - a·x) + (1-p·a)·daᵀ·pᵀ·x.
		a, b, x := args[0], args[1], outs[0]
		p := pinv(op, a, rtol)
		change := ts[1]
		if da := ts[0]; da.IsValid() {
			change = less(change, da.MatMul(x))
			change = change.Add(transposed(p).MatMul(transposed(da).MatMul(b.Sub(a.MatMul(x)))))
			null := transposed(da).MatMul(transposed(p).MatMul(x))
			return tensors{p.MatMul(change.Sub(a.MatMul(null))).Add(null)}
		}
		return tensors{p.MatMul(change)}
	}, nil, a, b)[0]
}

// leastSquares fills x.
func leastSquares(x, a, b matrix, tol float64) error {
	m, n := a.rows, a.cols
	k := min(m, n)
	q, r := newMatrix(max(m, n), k), newMatrix(k, k)
	if m >= n {
		q = clone(a)
	} else {
		transpose(q, a, nil)
	}
	if finite(a.data, n) == nil { // else pseudoinverse returns the error
		factorQR(q, r)
		if hasFullRank(r, tol) {
			upper := Triangle{Upper: true}
			if m >= n { // a = q·r
				addProduct(x, 1, q.transposed(), b.plain(), m, false)
				solveTriangle(r, x, upper, false)
				return nil
			}
			y := clone(b) // aᵀ = q·r
			solveTriangle(r, y, upper, true)
			addProduct(x, 1, q.plain(), y.plain(), k, false)
			return nil
		}
	}
	p := newMatrix(n, m)
	if err := pseudoinverse(p.data, a.data, m, n, tol); err != nil {
		return err
	}
	addProduct(x, 1, p.plain(), b.plain(), m, false)
	return nil
}

// hasFullRank reports that the least singular value of r, upper triangular, is more than tol
// times the greatest, with some distance, because both are estimated: by iterations of rᵀ·r and of
// its inverse.
func hasFullRank(r matrix, tol float64) bool {
	n, upper := r.rows, Triangle{Upper: true}
	greatest := growth(n, func(x, y matrix) {
		clear(y.data)
		addProduct(y, 1, r.plain(), x.plain(), n, false)
		clear(x.data)
		addProduct(x, 1, r.transposed(), y.plain(), n, false)
	})
	inverse := growth(n, func(x, _ matrix) {
		solveTriangle(r, x, upper, true)
		solveTriangle(r, x, upper, false)
	})
	const distance = 4
	return n == 0 || greatest*inverse*distance*tol < 1
}

// growth estimates the square root of the factor by which step, a symmetric operator, makes
// vectors at most longer. Step overwrites the first vector with its result.
func growth(n int, step func(x, y matrix)) float64 {
	x, y := newMatrix(n, 1), newMatrix(n, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range x.data {
		x.data[i] = rng.NormFloat64()
	}
	for range 12 {
		floats.Scale(1/floats.Norm(x.data, 2), x.data)
		step(x, y)
	}
	return math.Sqrt(floats.Norm(x.data, 2))
}
