package linalg

import (
	"math"

	"gonum.org/v1/gonum/lapack"
)

// decompose computes the singular values s of a, m by n, and the first vectors, unless u and
// vt are nil.
func decompose(a []float64, m, n int, s, u, vt []float64) error {
	if err := finite(a, n); err != nil || len(s) == 0 {
		return err
	}
	x := clone(matrix{m, n, n, a})
	k := min(m, n)
	left, right := matrix{m, k, k, u}, matrix{k, n, n, vt}
	if m >= n {
		if err := decomposeTall(x, s, left, right); err != nil {
			return err
		}
	} else {
		y, v, ut := newMatrix(n, m), matrix{}, matrix{}
		transpose(y, x, nil)
		if u != nil {
			v, ut = newMatrix(n, k), newMatrix(k, m)
		}
		if err := decomposeTall(y, s, v, ut); err != nil {
			return err
		}
		if u != nil {
			transpose(left, ut, nil)
			transpose(right, v, nil)
		}
	}
	if u != nil {
		signs := make([]float64, k)
		for i := range signs {
			signs[i] = orient(right.row(i))
		}
		for i := range m {
			row := left.row(i)
			for j := range row {
				row[j] *= signs[j]
			}
		}
	}
	return nil
}

// orient multiplies a vector by 1 or -1, which it returns, so that the element of the greatest
// size is positive: neighboring matrices have neighboring vectors.
func orient(x []float64) (sign float64) {
	greatest := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(greatest) {
			greatest = v
		}
	}
	if greatest >= 0 {
		return 1
	}
	for i := range x {
		x[i] = -x[i]
	}
	return -1
}

// decomposeTall is decompose of a matrix that is not wide, which it overwrites. Vectors are
// computed if u has data.
func decomposeTall(a matrix, s []float64, u, vt matrix) error {
	m, n := a.rows, a.cols
	vectors := u.data != nil
	if 2*m > 3*n { // the factor r has the same singular values
		r := newMatrix(n, n)
		factorQR(a, r)
		w := matrix{}
		if vectors {
			w = newMatrix(n, n)
		}
		err := decomposeTall(r, s, w, vt)
		if vectors {
			addProduct(u, 1, a.plain(), w.plain(), n, false)
		}
		return err
	}
	back := scaled(a.data)
	e, tauQ, tauP, work := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, 64*(m+n))
	solver.Dgebrd(m, n, a.data, a.stride, s, e, tauQ, tauP, work, len(work))
	left, right := &rotations{}, &rotations{}
	if vectors {
		left.rows, right.rows = newPadded(n, m), newPadded(n, n)
		for i := range n {
			copy(right.rows.row(i), a.row(i))
		}
		solver.Dorgbr(lapack.GeneratePT, n, n, m, right.rows.data, right.rows.stride, tauP, work, len(work))
		solver.Dorgbr(lapack.GenerateQ, m, n, n, a.data, a.stride, tauQ, work, len(work))
		transpose(left.rows, a, nil)
	}
	if err := singular(s, e, left, right); err != nil {
		return err
	}
	for i := range s {
		s[i] = -math.Abs(s[i])
	}
	order := ascending(s)
	for i := range s {
		s[i] *= -back
	}
	if vectors {
		transpose(u, left.rows, order)
		for i, j := range order {
			copy(vt.row(i), right.rows.row(j))
		}
	}
	return nil
}

// singular replaces the diagonal d of an upper bidiagonal matrix by its singular values, by
// the implicit QR method: Golub and Reinsch, "Singular value decomposition and least squares
// solutions" (1970). e is above the diagonal, and is overwritten. Rows i of left and of right
// are rotated into singular vectors i.
func singular(d, e []float64, left, right *rotations) error {
	norm := 0.0
	for i := range d {
		norm = max(norm, math.Abs(d[i]), math.Abs(e[i]))
	}
	tol := 0x1p-53*norm + tiny
	for last := len(d) - 1; last >= 0; last-- {
		for sweep := 0; ; sweep++ {
			first := last
			for first > 0 && math.Abs(e[first-1]) > tol {
				if first--; math.Abs(d[first]) <= tol {
					cancel(d, e, first, last, left)
					first++
					break
				}
			}
			if first == last {
				break
			}
			if sweep == maxSweeps {
				return errDiverges
			}
			sweepQR(d, e, first, last, left, right)
		}
	}
	left.apply()
	right.apply()
	for i, x := range d {
		if d[i] = math.Abs(x); x < 0 && right.rows.rows > 0 {
			row := right.rows.row(i)
			for j := range row {
				row[j] = -row[j]
			}
		}
	}
	return nil
}

// cancel rotates e[at], beside a d[at] of 0, away through the rows up to last.
func cancel(d, e []float64, at, last int, left *rotations) {
	f := e[at]
	e[at] = 0
	for i := at + 1; i <= last && f != 0; i++ {
		r := math.Hypot(f, d[i])
		c, s := d[i]/r, f/r
		d[i] = r
		left.add(i, at, c, s)
		f = -s * e[i]
		e[i] *= c
	}
}

// sweepQR does one step of the QR method in rows first to last, which are coupled.
func sweepQR(d, e []float64, first, last int, left, right *rotations) {
	// The shift is the eigenvalue of the last two rows of bᵀ·b that is nearer to the last one.
	x, y, z, g, h := d[first], d[last-1], d[last], 0.0, e[last-1]
	if last-1 > first {
		g = e[last-2]
	}
	f := ((y-z)*(y+z) + (g-h)*(g+h)) / (2 * h * y)
	f = ((x-z)*(x+z) + h*(y/(f+math.Copysign(math.Hypot(f, 1), f))-h)) / x
	c, s := 1.0, 1.0
	for i := first; i < last; i++ {
		g, y := c*e[i], d[i+1]
		h := s * e[i]
		r := math.Hypot(f, h)
		if i > first {
			e[i-1] = r
		}
		c, s = unit(f, h, r)
		f, g = x*c+g*s, g*c-x*s
		h, y = y*s, y*c
		right.add(i, i+1, c, s)
		r = math.Hypot(f, h)
		d[i] = r
		c, s = unit(f, h, r)
		f, x = c*g+s*y, c*y-s*g
		left.add(i, i+1, c, s)
	}
	e[last-1], d[last] = f, x
}

// unit is (x, y) over its length r; (1, 0) for 0.
func unit(x, y, r float64) (c, s float64) {
	if r == 0 {
		return 1, 0
	}
	return x / r, y / r
}
