package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Reduction has the routines of Sum, Prod or ReduceMax over elements of one
// type. They add to accumulators, whose type may be wider than the elements'.
type Reduction struct {
	Acc ir.DType // the accumulators' type; 0 if there is no such reduction
	// Along reduces each row of n elements to one: it combines acc[r] with x[r·n+i]
	// for i in [0, n).
	Along func(acc, x unsafe.Pointer, rows, n int)
	// Across reduces rows of n elements to one row: it combines acc[i] with x[r·n+i]
	// for r in [0, rows).
	Across func(acc, x unsafe.Pointer, rows, n int)
}

// sums and prods have accumulators of type A, which is acc.
func sums[T, A number](acc ir.DType) Reduction {
	return Reduction{acc, sumAlong[T, A], sumAcross[T, A]}
}

func prods[T, A number](acc ir.DType) Reduction {
	return Reduction{acc, prodAlong[T, A], prodAcross[T, A]}
}

func maxes[T number](acc ir.DType) Reduction { return Reduction{acc, maxAlong[T], maxAcross[T]} }

// sumBlock is the number of elements added in their own type before the sum is added to
// the accumulator: small, to keep the rounding error small.
const sumBlock = 256

func sumAlong[T, A number](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[A](acc, rows), vec[T](x, rows*n)
	for r := range a {
		row := v[r*n:][:n]
		for len(row) > sumBlock {
			a[r] += A(sum(row[:sumBlock]))
			row = row[sumBlock:]
		}
		a[r] += A(sum(row))
	}
}

// sum adds in eight independent chains.
func sum[T number](x []T) T {
	var a, b, c, d, e, f, g, h T
	for len(x) >= 8 {
		y := x[:8]
		a += y[0]
		b += y[1]
		c += y[2]
		d += y[3]
		e += y[4]
		f += y[5]
		g += y[6]
		h += y[7]
		x = x[8:]
	}
	for i, v := range x {
		switch i & 3 {
		case 0:
			a += v
		case 1:
			b += v
		case 2:
			c += v
		default:
			d += v
		}
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

func sumAcross[T, A number](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[A](acc, n), vec[T](x, rows*n)
	for ; rows >= 8; rows -= 8 {
		p, q, r, s := v[:n], v[n:][:n], v[2*n:][:n], v[3*n:][:n]
		t, u, w, z := v[4*n:][:n], v[5*n:][:n], v[6*n:][:n], v[7*n:][:n]
		for i := range a {
			a[i] += A(((p[i] + q[i]) + (r[i] + s[i])) + ((t[i] + u[i]) + (w[i] + z[i])))
		}
		v = v[8*n:]
	}
	for ; rows > 0; rows-- {
		p := v[:n]
		for i := range a {
			a[i] += A(p[i])
		}
		v = v[n:]
	}
}

func prodAlong[T, A number](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[A](acc, rows), vec[T](x, rows*n)
	for r := range a {
		p := a[r]
		for _, e := range v[r*n:][:n] {
			p *= A(e)
		}
		a[r] = p
	}
}

func prodAcross[T, A number](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[A](acc, n), vec[T](x, rows*n)
	for r := range rows {
		row := v[r*n:][:n]
		for i := range a {
			a[i] *= A(row[i])
		}
	}
}

func maxAlong[T number](acc, x unsafe.Pointer, rows, n int) {
	m, v := vec[T](acc, rows), vec[T](x, rows*n)
	for r := range m {
		row := v[r*n:][:n]
		a := m[r]
		b, c, d := a, a, a
		for len(row) >= 4 {
			y := row[:4]
			a = max(a, y[0])
			b = max(b, y[1])
			c = max(c, y[2])
			d = max(d, y[3])
			row = row[4:]
		}
		for _, e := range row {
			a = max(a, e)
		}
		m[r] = max(max(a, b), max(c, d))
	}
}

func maxAcross[T number](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[T](acc, n), vec[T](x, rows*n)
	for r := range rows {
		row := v[r*n:][:n]
		for i := range a {
			a[i] = max(a[i], row[i])
		}
	}
}

// An ArgMax has the routines of ArgMax over elements of one type. An accumulator is a
// value and its int32 position, -1 at the start. Positions must increase from call to
// call: the first of equal maxima stays, and the first NaN.
type ArgMax struct {
	// Along combines accumulator r with x[r·n+i] at position first+i.
	Along func(val, pos, x unsafe.Pointer, rows, n, first int)
	// Across combines accumulator i with x[r·n+i] at position first+r.
	Across func(val, pos, x unsafe.Pointer, rows, n, first int)
	// Merge combines accumulators with val2 and pos2.
	Merge func(val, pos, val2, pos2 unsafe.Pointer, n int)
}

func argMaxes[T number]() ArgMax {
	return ArgMax{argAlong[T], argAcross[T], argMerge[T]}
}

// beats reports whether a later x replaces v.
func beats[T number](x, v T) bool { return x > v || x != x && v == v }

func argAlong[T number](val, pos, x unsafe.Pointer, rows, n, first int) {
	v, p, e := vec[T](val, rows), vec[int32](pos, rows), vec[T](x, rows*n)
	for r := range v {
		row := e[r*n:][:n]
		if len(row) == 0 {
			return
		}
		best, where := v[r], int(p[r])
		if where < 0 {
			best, where = row[0], first
		}
		for i, x := range row {
			if beats(x, best) {
				best, where = x, first+i
			}
		}
		v[r], p[r] = best, int32(where)
	}
}

func argAcross[T number](val, pos, x unsafe.Pointer, rows, n, first int) {
	v, p, e := vec[T](val, n), vec[int32](pos, n), vec[T](x, rows*n)
	for r := range rows {
		row := e[r*n:][:n]
		for i, x := range row {
			if p[i] < 0 || beats(x, v[i]) {
				v[i], p[i] = x, int32(first+r)
			}
		}
	}
}

func argMerge[T number](val, pos, val2, pos2 unsafe.Pointer, n int) {
	v, p, w, q := vec[T](val, n), vec[int32](pos, n), vec[T](val2, n), vec[int32](pos2, n)
	for i := range v {
		if q[i] >= 0 && (p[i] < 0 || beats(w[i], v[i])) {
			v[i], p[i] = w[i], q[i]
		}
	}
}
