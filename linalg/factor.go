package linalg

import (
	"math"
)

// The functions of this file factor matrices in place, by recursion: nearly all of the work
// is in products of large blocks.

// baseSize is the length of blocks that are factored element by element.
const baseSize = 24

// solveTriangle solves t·x = b in place of b, or the equation with the transpose of t, where
// t is a triangle of a.
func solveTriangle(a, b matrix, t Triangle, transpose bool) {
	n := a.rows
	if n == 0 || b.cols == 0 {
		return
	}
	// A transposed upper triangle is solved like a lower one, starting at the first row.
	forward := t.Upper == transpose
	if n <= baseSize {
		solveBase(a, b, t, transpose, forward)
		return
	}
	half := n / 2
	lo, hi := b.part(0, half, 0, b.cols), b.part(half, n, 0, b.cols)
	across := a.part(half, n, 0, half)
	if t.Upper {
		across = a.part(0, half, half, n)
	}
	f := across.plain()
	if transpose {
		f = across.transposed()
	}
	first, last := a.part(0, half, 0, half), a.part(half, n, half, n)
	if forward {
		solveTriangle(first, lo, t, transpose)
		addProduct(hi, -1, f, lo.plain(), half, false)
		solveTriangle(last, hi, t, transpose)
		return
	}
	solveTriangle(last, hi, t, transpose)
	addProduct(lo, -1, f, hi.plain(), n-half, false)
	solveTriangle(first, lo, t, transpose)
}

// solveBase solves by substitution, row by row.
func solveBase(a, b matrix, t Triangle, transpose, forward bool) {
	n := a.rows
	at := func(i, j int) float64 {
		if transpose {
			i, j = j, i
		}
		return a.at(i, j)
	}
	for s := range n {
		i, from, to := s, 0, s
		if !forward {
			i, from, to = n-1-s, n-s, n
		}
		x := b.row(i)
		for j := from; j < to; j++ {
			subtract(x, at(i, j), b.row(j))
		}
		if !t.Unit {
			d := a.at(i, i)
			for j := range x {
				x[j] /= d
			}
		}
	}
}

// subtract subtracts s·y from x.
func subtract(x []float64, s float64, y []float64) {
	y = y[:len(x)]
	for i := range x {
		x[i] -= s * y[i]
	}
}

// factorCholesky replaces the upper triangle of a symmetric matrix by u with uᵀ·u = a. It returns
// the order of the first leading minor that is not positive, 0 if all are.
func factorCholesky(a matrix) (minor int) {
	n := a.rows
	if n <= baseSize {
		return choleskyBase(a)
	}
	half := n / 2
	first, across, last := a.part(0, half, 0, half), a.part(0, half, half, n), a.part(half, n, half, n)
	if minor := factorCholesky(first); minor > 0 {
		return minor
	}
	solveTriangle(first, across, Triangle{Upper: true}, true)
	addProduct(last, -1, across.transposed(), across.plain(), half, true)
	if minor := factorCholesky(last); minor > 0 {
		return half + minor
	}
	return 0
}

func choleskyBase(a matrix) (minor int) {
	for i := range a.rows {
		row := a.row(i)
		if !(row[i] > 0) || math.IsInf(row[i], 1) {
			return i + 1
		}
		d := math.Sqrt(row[i])
		for j := i; j < a.cols; j++ {
			row[j] /= d
		}
		for k := i + 1; k < a.rows; k++ {
			subtract(a.row(k)[k:], row[k], row[k:])
		}
	}
	return 0
}

// factorLU replaces a matrix by its factors, see packedLU, with the greatest element of a column
// as pivot. Row i was exchanged with row pivots[i], in this order.
func factorLU(a matrix, pivots []int) {
	n := min(a.rows, a.cols)
	if n <= baseSize/3 {
		luBase(a, pivots)
		return
	}
	half := n / 2
	factorLU(a.part(0, a.rows, 0, half), pivots[:half])
	right := a.part(0, a.rows, half, a.cols)
	exchange(right, pivots[:half])
	top, bottom := right.part(0, half, 0, right.cols), right.part(half, right.rows, 0, right.cols)
	solveTriangle(a.part(0, half, 0, half), top, Triangle{Unit: true}, false)
	addProduct(bottom, -1, a.part(half, a.rows, 0, half).plain(), top.plain(), half, false)
	factorLU(bottom, pivots[half:])
	exchange(a.part(half, a.rows, 0, half), pivots[half:])
	for i := half; i < n; i++ {
		pivots[i] += half
	}
}

func luBase(a matrix, pivots []int) {
	for k := range pivots {
		p, most := k, math.Abs(a.at(k, k))
		for i := k + 1; i < a.rows; i++ {
			if x := math.Abs(a.at(i, k)); x > most {
				p, most = i, x
			}
		}
		pivots[k] = p
		swapRows(a, k, p)
		top := a.row(k)
		if top[k] == 0 {
			continue
		}
		for i := k + 1; i < a.rows; i++ {
			row := a.row(i)
			row[k] /= top[k]
			subtract(row[k+1:], row[k], top[k+1:])
		}
	}
}

// exchange exchanges each row i with row pivots[i].
func exchange(a matrix, pivots []int) {
	for i, p := range pivots {
		swapRows(a, i, p)
	}
}

func swapRows(a matrix, i, j int) {
	if i == j {
		return
	}
	x, y := a.row(i), a.row(j)
	for k := range x {
		x[k], y[k] = y[k], x[k]
	}
}
