package linalg

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/tensorken/tensorken/ir"
)

var errDiverges = errors.New("the iteration does not converge")

// maxSweeps is the greatest number of iterations for an eigenvalue or a singular value: three
// are usual.
const maxSweeps = 60

// tiny is nothing beside a matrix that was scaled.
const tiny = 0x1p-960

// scaled multiplies a by a power of two, so that its greatest element is near 1, and returns
// the reciprocal of that.
func scaled(a []float64) (back float64) {
	most := 0.0
	for _, x := range a {
		most = max(most, math.Abs(x))
	}
	_, exp := math.Frexp(most)
	exp = max(exp, -1000)
	for i := range a {
		a[i] = math.Ldexp(a[i], -exp)
	}
	return math.Ldexp(1, exp)
}

// eigenvalues fills w with the eigenvalues of a symmetric matrix, given by its upper triangle,
// which it overwrites. It fills the columns of v with the eigenvectors, unless v is empty.
func eigenvalues(w []float64, a, v matrix) error {
	n := a.rows
	if err := finite(a.data, n); err != nil || n == 0 {
		return err
	}
	back := scaled(a.data)
	e, tau := make([]float64, n), make([]float64, n)
	work := make([]float64, n*64)
	solver.Dsytrd(blas.Upper, n, a.data, a.stride, w, e, tau, work, len(work))
	z := &rotations{}
	if v.rows > 0 {
		solver.Dorgtr(blas.Upper, n, a.data, a.stride, tau, work, len(work))
		z.rows = newPadded(n, n)
		transpose(z.rows, a, nil)
	}
	if err := diagonalize(w, e, z); err != nil {
		return err
	}
	order := ascending(w)
	for i := range w {
		w[i] *= back
	}
	if v.rows > 0 {
		for i := range n {
			orient(z.rows.row(i))
		}
		transpose(v, z.rows, order)
	}
	return nil
}

// ascending sorts w, and returns the place where each element was.
func ascending(w []float64) (order []int) {
	from := slices.Clone(w)
	order = make([]int, len(w))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(from[i], from[j]) })
	for i, j := range order {
		w[i] = from[j]
	}
	return order
}

// transpose fills dst with the transpose of a, whose rows it takes in an order, nil for their
// own.
func transpose(dst, a matrix, order []int) {
	const size = 8
	parallel(ir.CeilDiv(dst.rows, size), dst.rows*dst.cols, func(block int) {
		from, to := block*size, min(block*size+size, dst.rows)
		for j := range dst.cols {
			row := j
			if order != nil {
				row = order[j]
			}
			for i, x := range a.row(row)[from:to] {
				dst.data[(from+i)*dst.stride+j] = x
			}
		}
	})
}

// diagonalize replaces the diagonal d of a symmetric tridiagonal matrix by its eigenvalues, by
// the implicit QL method with Wilkinson's shift: Bowdler, Martin, Reinsch and Wilkinson, "The
// QR and QL algorithms for symmetric matrices" (1968). e is beside the diagonal, with an
// element more, and is overwritten. Row i of z is rotated into eigenvector i.
func diagonalize(d, e []float64, z *rotations) error {
	for first := range d {
		for sweep := 0; ; sweep++ {
			last := first
			for last < len(d)-1 && math.Abs(e[last]) > tiny+0x1p-53*(math.Abs(d[last])+math.Abs(d[last+1])) {
				last++
			}
			if last == first {
				break
			}
			if sweep == maxSweeps {
				return errDiverges
			}
			sweepQL(d, e, first, last, z)
		}
	}
	z.apply()
	return nil
}

// sweepQL does one step of the QL method in rows first to last, which are coupled.
func sweepQL(d, e []float64, first, last int, z *rotations) {
	// The shift is the eigenvalue of the first two rows that is nearer to d[first].
	half := (d[first+1] - d[first]) / (2 * e[first])
	g := d[last] - d[first] + e[first]/(half+math.Copysign(math.Hypot(half, 1), half))
	c, s, p := 1.0, 1.0, 0.0
	for i := last - 1; i >= first; i-- {
		f, b := s*e[i], c*e[i]
		r := math.Hypot(f, g)
		e[i+1] = r
		if r == 0 { // it has fallen apart: the next sweep finds where
			d[i+1] -= p
			e[last] = 0
			return
		}
		c, s = g/r, f/r
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
		z.add(i, i+1, c, -s)
	}
	d[first] -= p
	e[first], e[last] = g, 0
}
