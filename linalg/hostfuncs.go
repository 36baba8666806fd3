package linalg

import (
	"math"

	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/tensorken/tensorken/ir"
)

// solver is gonum's LAPACK, for factorizations that factor.go lacks.
var solver gonum.Implementation

// symmetrize fills the upper triangle of dst from (a + aᵀ)/2.
func symmetrize(dst, a matrix) {
	upperTiles(a.rows, func(i, i1, j, j1 int) {
		for r := i; r < i1; r++ {
			x, y := dst.row(r), a.row(r)
			for c := max(r, j); c < j1; c++ {
				x[c] = y[c]/2 + a.data[c*a.stride+r]/2
			}
		}
	})
}

// transposeUpper fills the lower triangle of dst with the transpose of the upper one of a.
func transposeUpper(dst, a matrix) {
	upperTiles(a.rows, func(i, i1, j, j1 int) {
		for c := j; c < j1; c++ {
			x := dst.row(c)
			for r := i; r < min(i1, c+1); r++ {
				x[r] = a.data[r*a.stride+c]
			}
		}
	})
}

// upperTiles calls f for tiles that have the upper triangle of a square matrix: rows i to i1
// and columns j to j1. The transpose of a tile is in as many lines of the cache as it has
// rows.
func upperTiles(n int, f func(i, i1, j, j1 int)) {
	const size = 8
	parallel(ir.CeilDiv(n, size), n*n, func(tile int) {
		i := tile * size
		for j := i; j < n; j += size {
			f(i, min(i+size, n), j, min(j+size, n))
		}
	})
}

// solveLU solves a·x = b, or the equation with the transpose of a, from the factors that
// luFactors makes.
func solveLU(x, f, b []float64, n, k int, transpose bool) {
	copy(x, b)
	pivots := make([]int, n)
	for i := range pivots {
		pivots[i] = int(f[i*(n+1)+n])
	}
	lu, xs := matrix{n, n, n + 1, f}, matrix{n, k, k, x}
	lower, upper := Triangle{Unit: true}, Triangle{Upper: true}
	if !transpose {
		exchange(xs, pivots)
		solveTriangle(lu, xs, lower, false)
		solveTriangle(lu, xs, upper, false)
		return
	}
	solveTriangle(lu, xs, upper, true)
	solveTriangle(lu, xs, lower, true)
	for i := n - 1; i >= 0; i-- {
		swapRows(xs, i, pivots[i])
	}
}

// permutation fills dst with the row that each row comes from, and the sign of the
// permutation.
func permutation(dst []float64, pivots []int) {
	m := len(dst) - 1
	for i := range m {
		dst[i] = float64(i)
	}
	dst[m] = 1
	for i, p := range pivots {
		if p != i {
			dst[i], dst[p] = dst[p], dst[i]
			dst[m] = -dst[m]
		}
	}
}

// determinant overwrites a. It is 0 and not -0 for a singular matrix, as in NumPy.
func determinant(a matrix) float64 {
	pivots := make([]int, a.rows)
	factorLU(a, pivots)
	det := 1.0
	for i, p := range pivots {
		if det *= a.at(i, i); p != i {
			det = -det
		}
	}
	if det == 0 {
		return 0
	}
	return det
}

// adjugateOf fills adj with the adjugate of a, from its singular value decomposition.
func adjugateOf(adj, a []float64, n int) error {
	if n == 0 {
		return nil
	}
	s, u, vt := make([]float64, n), allocate(n*n), allocate(n*n)
	if finite(a, n) != nil {
		for i := range adj {
			adj[i] = math.NaN()
		}
		return nil
	}
	if err := decompose(a, n, n, s, u, vt); err != nil {
		return err
	}
	others := make([]float64, n) // the product of the other singular values
	for i := range others {
		others[i] = 1
		for j, x := range s {
			if j != i {
				others[i] *= x
			}
		}
	}
	fromPairs(adj, u, others, vt, n, n, n)
	sign := math.Round(determinant(matrix{n, n, n, u})) * math.Round(determinant(matrix{n, n, n, vt}))
	for i := range adj {
		adj[i] *= sign
	}
	return nil
}

// fromPairs fills out with v·diag(s)·uᵀ, n by m, of k pairs of singular vectors.
func fromPairs(out, u, s, vt []float64, m, n, k int) {
	v := newMatrix(k, n)
	for i := range k {
		for j := range n {
			v.data[i*n+j] = s[i] * vt[i*n+j]
		}
	}
	addProduct(matrix{n, m, m, out}, 1, v.transposed(), matrix{m, k, k, u}.transposed(), k, false)
}

// pseudoinverse fills out, n by m. Singular values of at most tol times the greatest are 0.
func pseudoinverse(out, a []float64, m, n int, tol float64) error {
	k := min(m, n)
	s, u, vt := make([]float64, k), allocate(m*k), allocate(k*n)
	if err := decompose(a, m, n, s, u, vt); err != nil || k == 0 {
		return err
	}
	least := tol * s[0]
	for i, x := range s {
		if s[i] = 0; x > least {
			s[i] = 1 / x
		}
	}
	fromPairs(out, u, s, vt, m, n, k)
	return nil
}
