package linalg

import (
	"github.com/tensorken/tensorken/tensor"
)

// Solve returns x with a·x = b, for a square matrix a [... n n] and b [... n k], or a vector
// [n]; x is like b. The batches of a and b broadcast. A singular matrix is an error when
// x is read: [LstSq] takes one.
func Solve(a, b tensor.Tensor) tensor.Tensor { return solve("linalg.Solve", a, b) }

// Inv returns the inverse of square matrices. A singular matrix is an error when the result
// is read: [PInv] takes one. To multiply by an inverse, [Solve] is faster and more
// accurate.
func Inv(a tensor.Tensor) tensor.Tensor {
	const op = "linalg.Inv"
	return solve(op, a, tensor.Eye(square(op, a)))
}

func solve(op string, a, b tensor.Tensor) tensor.Tensor {
	square(op, a)
	a, b, batch, vector := system(op, a, b)
	f := luFactors(op, a, true) // of each matrix of a once, however often it is expanded
	return column(solveFactored(op, expanded(a, batch), expanded(f, batch), b, false), vector)
}

// solveFactored solves a·x = b, or the equation with the transpose of a, by the factors f
// of a: see luFactors.
func solveFactored(op string, a, f, b tensor.Tensor, transpose bool) tensor.Tensor {
	n, k := b.Dim(-2), b.Dim(-1)
	again := func(args tensors, b tensor.Tensor, transpose bool) tensor.Tensor {
		return solveFactored(op, args[0], args[1], b, transpose)
	}
	return withRules(op, func(args tensors) tensors {
		x := onHost(op, n*k, transpose, func(out []float64, in [][]float64) error {
			solveLU(out, in[0], in[1], n, k, transpose)
			return nil
		}, args[1], args[2])
		return cut(x, []int{n, k})
	}, func(args, outs, ts tensors) tensors {
		rest := ts[2]
		if da := ts[0]; da.IsValid() {
			if transpose {
				da = transposed(da)
			}
			rest = less(rest, da.MatMul(outs[0]))
		}
		if !rest.IsValid() {
			return make(tensors, 1)
		}
		return tensors{again(args, rest, transpose)}
	}, func(args, outs, ts tensors) tensors {
		db := again(args, ts[0], !transpose)
		x, y := db, outs[0]
		if transpose {
			x, y = y, x
		}
		return tensors{x.MatMul(transposed(y)).Neg(), {}, db}
	}, a, f, b)[0]
}

// less is x - y; x may be absent.
func less(x, y tensor.Tensor) tensor.Tensor {
	if !x.IsValid() {
		return y.Neg()
	}
	return x.Sub(y)
}

// A Triangle says which elements of a matrix [SolveTriangular] reads. The zero Triangle is the
// lower one, diagonal included.
type Triangle struct {
	Upper bool // the upper triangle, not the lower one
	Unit  bool // the elements on the diagonal count as 1
}

// SolveTriangular returns x with t·x = b, where t is one triangle of a square matrix
// a [... n n], for b [... n k] or a vector [n]; x is like b. The batches of a and b broadcast.
// A zero on the diagonal gives infinities or NaN.
func SolveTriangular(a, b tensor.Tensor, t Triangle) tensor.Tensor {
	const op = "linalg.SolveTriangular"
	square(op, a)
	a, b, batch, vector := system(op, a, b)
	return column(triangular(op, expanded(a, batch), b, t, false), vector)
}

// triangular solves t·x = b, or the equation with the transpose of t.
func triangular(op string, a, b tensor.Tensor, t Triangle, transpose bool) tensor.Tensor {
	n, k := b.Dim(-2), b.Dim(-1)
	return withRules(op, func(args tensors) tensors {
		x := onHost(op, n*k, [2]any{t, transpose}, func(out []float64, in [][]float64) error {
			copy(out, in[1])
			solveTriangle(matrix{n, n, n, in[0]}, matrix{n, k, k, out}, t, transpose)
			return nil
		}, args...)
		return cut(x, []int{n, k})
	}, func(args, outs, ts tensors) tensors {
		rest := ts[1]
		if da := ts[0]; da.IsValid() {
			if da = t.of(da); transpose {
				da = transposed(da)
			}
			rest = less(rest, da.MatMul(outs[0]))
		}
		if !rest.IsValid() {
			return make(tensors, 1)
		}
		return tensors{triangular(op, args[0], rest, t, transpose)}
	}, func(args, outs, ts tensors) tensors {
		db := triangular(op, args[0], ts[0], t, !transpose)
		x, y := db, outs[0]
		if transpose {
			x, y = y, x
		}
		return tensors{t.of(x.MatMul(transposed(y))).Neg(), db}
	}, a, b)[0]
}

// of is a with zeros where the triangle has constants.
func (t Triangle) of(a tensor.Tensor) tensor.Tensor {
	k := 0
	if t.Unit {
		k = 1
	}
	if t.Upper {
		return a.Triu(k)
	}
	return a.Tril(-k)
}
