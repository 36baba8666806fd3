package linalg

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// MatrixPower returns the k-th power of square matrices, by repeated squaring: for k = 0 the
// identity, for negative k powers of the inverse.
func MatrixPower(a tensor.Tensor, k int) tensor.Tensor {
	const op = "linalg.MatrixPower"
	n := square(op, a)
	if k == 0 {
		return expanded(eye(a, n, n), batchOf(a))
	}
	if k < 0 {
		a = solve(op, a, tensor.Eye(n))
	}
	var power tensor.Tensor
	for bits := uint(max(k, -k)); bits > 0; bits >>= 1 {
		switch {
		case bits&1 == 0:
		case power.IsValid():
			power = power.MatMul(a)
		default:
			power = a
		}
		if bits > 1 {
			a = a.MatMul(a)
		}
	}
	return power
}

// Expm returns the exponentials of square matrices: the sum of aᵏ/k!. It is NaN for a matrix
// with NaN or an infinity.
func Expm(a tensor.Tensor) tensor.Tensor {
	const op = "linalg.Expm"
	n := square(op, a)
	return withRules(op, func(args tensors) tensors {
		return cut(onHost(op, n*n, nil, func(out []float64, in [][]float64) error {
			expm(out, in[0], n)
			return nil
		}, args[0]), []int{n, n})
	}, func(args, _, ts tensors) tensors {
		return tensors{expmAlong(args[0], ts[0])}
	}, func(args, _, ts tensors) tensors {
		return tensors{expmAlong(transposed(args[0]), ts[0])}
	}, a)[0]
}

// expmAlong is the derivative of Expm at a along v: the upper right block of the exponential
// of the block matrix with rows (a v) and (0 a).
func expmAlong(a, v tensor.Tensor) tensor.Tensor {
	n := a.Dim(-1)
	e := Expm(tensor.Cat(-2, tensor.Cat(-1, a, v), tensor.Cat(-1, tensor.ZerosLike(a), a)))
	return e.Slice(-2, 0, n).Slice(-1, n, 2*n)
}

// pade has the coefficients of the Padé approximation of exp of order 13, with which, for
// matrices of a norm of up to padeNorm, the error is rounding alone: Higham, "The scaling
// and squaring method for the matrix exponential revisited" (2005).
var pade = [14]float64{
	64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800,
	129060195264000, 10559470521600, 670442572800, 33522128640,
	1323241920, 40840800, 960960, 16380, 182, 1,
}

const padeNorm = 5.371920351148152

// expm fills out with the exponential of a, by scaling and squaring.
func expm(out, a []float64, n int) {
	norm := 0.0 // the greatest sum of a column's absolute values
	for j := range n {
		sum := 0.0
		for i := range n {
			sum += math.Abs(a[i*n+j])
		}
		norm = math.Max(norm, sum)
	}
	if norm-norm != 0 {
		for i := range out {
			out[i] = math.NaN()
		}
		return
	}
	squarings := 0
	if norm > padeNorm {
		_, squarings = math.Frexp(norm / padeNorm)
	}
	scale := math.Ldexp(1, -squarings)
	a1 := newMatrix(n, n)
	for i, x := range a {
		a1.data[i] = scale * x
	}
	a2 := multiply(a1, a1)
	a4 := multiply(a2, a2)
	a6 := multiply(a4, a2)
	// sum is a combination of the even powers, starting at coefficient c.
	sum := func(c int) matrix {
		high := combine(a6, pade[c+12], a4, pade[c+10], a2, pade[c+8])
		s := multiply(a6, high)
		low := combine(a6, pade[c+6], a4, pade[c+4], a2, pade[c+2])
		for i := range s.data {
			s.data[i] += low.data[i]
		}
		for i := range n {
			s.data[i*n+i] += pade[c]
		}
		return s
	}
	v, u := sum(0), multiply(a1, sum(1))
	// (v - u)·x = v + u
	top := newMatrix(n, n)
	for i, x := range v.data {
		top.data[i], v.data[i] = x+u.data[i], x-u.data[i]
	}
	pivots := make([]int, n)
	factorLU(v, pivots)
	exchange(top, pivots)
	solveTriangle(v, top, Triangle{Unit: true}, false)
	solveTriangle(v, top, Triangle{Upper: true}, false)
	for range squarings {
		top = multiply(top, top)
	}
	copy(out, top.data)
}

// combine is x·a + y·b + z·c.
func combine(a matrix, x float64, b matrix, y float64, c matrix, z float64) matrix {
	s := newMatrix(a.rows, a.cols)
	for i := range s.data {
		s.data[i] = x*a.data[i] + y*b.data[i] + z*c.data[i]
	}
	return s
}
