package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

// vectors is gonum's BLAS of vectors.
var vectors gonum.Implementation

// reflectors are Householder reflections H1·H2·…, as the product 1 - vᵀ·t·v, where row i of v is
// the vector of a reflection: Schreiber and Van Loan, "A storage-efficient WY representation
// for products of Householder transformations" (1989).
type reflectors struct {
	from int    // the row and the column of the matrix that the first vector begins at
	v, t matrix // t is upper triangular
}

// panelCols is the number of reflections that are applied at a time.
const panelCols = 24

// factorQR replaces a, not wide, by q, and fills r.
func factorQR(a, r matrix) {
	m, n := a.rows, a.cols
	if n == 0 {
		return
	}
	back := scaled(a.data)
	var panels []reflectors
	for j := 0; j < n; j += panelCols {
		last := min(j+panelCols, n)
		p := newReflectors(a.part(j, m, j, last), j)
		for i := j; i < last; i++ { // the rows that newReflectors left in the panel
			copy(r.row(i)[i:last], a.row(i)[i:last])
		}
		p.apply(a.part(j, m, last, n), true)
		for i := j; i < last; i++ {
			copy(r.row(i)[last:], a.row(i)[last:])
		}
		panels = append(panels, p)
	}
	for i := range n {
		row := r.row(i)
		for j := i; j < n; j++ {
			row[j] *= back
		}
	}
	for i := range m {
		row := a.row(i)
		clear(row)
		if i < n {
			row[i] = 1
		}
	}
	for k := len(panels) - 1; k >= 0; k-- {
		p := &panels[k]
		p.apply(a.part(p.from, m, p.from, n), false)
	}
}

// newReflectors returns the reflections that make a upper triangular, and applies them to it.
func newReflectors(a matrix, from int) reflectors {
	m, n := a.rows, a.cols
	v := newMatrix(n, m)
	transpose(v, a, nil)
	t := newMatrix(n, n)
	for k := range n {
		x := v.row(k)[k:]
		tau, diagonal := reflector(x)
		for j := range k {
			a.row(j)[k] = v.at(k, j)
			v.row(k)[j] = 0
		}
		a.row(k)[k] = diagonal
		for j := k + 1; j < n; j++ {
			y := v.row(j)[k:]
			vectors.Daxpy(len(x), -tau*vectors.Ddot(len(x), x, 1, y, 1), x, 1, y, 1)
		}
		// Column k of t is -tau·t·(v·x).
		t.row(k)[k] = tau
		for i := range k {
			dot := vectors.Ddot(len(x), v.row(i)[k:], 1, x, 1)
			for j := range i + 1 {
				t.row(j)[k] -= tau * t.at(j, i) * dot
			}
		}
	}
	return reflectors{from, v, t}
}

// reflector replaces x by the vector, whose first element is 1, of the reflection 1 - tau·xᵀ·x
// that takes x to a multiple, diagonal, of the first axis.
func reflector(x []float64) (tau, diagonal float64) {
	first, rest := x[0], vectors.Dnrm2(len(x)-1, x[1:], 1)
	x[0] = 1
	if rest == 0 {
		return 0, first
	}
	diagonal = -math.Copysign(math.Hypot(first, rest), first)
	for i := 1; i < len(x); i++ {
		x[i] /= first - diagonal
	}
	return (diagonal - first) / diagonal, diagonal
}

// apply multiplies the rows of a by the product of the reflections, or by its transpose.
func (p *reflectors) apply(a matrix, transposed bool) {
	b, t := p.v.rows, p.t.plain()
	if transposed {
		t = p.t.transposed()
	}
	x, y := newMatrix(b, a.cols), newMatrix(b, a.cols)
	addProduct(x, 1, p.v.plain(), a.plain(), a.rows, false)
	addProduct(y, 1, t, x.plain(), b, false)
	addProduct(a, -1, p.v.transposed(), y.plain(), b, false)
}
