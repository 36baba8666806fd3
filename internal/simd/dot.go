package simd

import "unsafe"

// A Dot has the routines of a sum of products of elements of one type. They add to
// accumulators as a sum's routines do, see Reductions.
type Dot struct {
	// Along adds to acc[r] the products x[r·n+i]·y[r·ldy+i] for i in [0, n).
	Along func(acc, x, y unsafe.Pointer, rows, n, ldy int)
	// Across adds to acc[i] the products x[r·n+i]·y[r] for r in [0, rows).
	Across func(acc, x, y unsafe.Pointer, rows, n int)
}

func dots[T float]() Dot { return Dot{dotAlong[T], dotAcross[T]} }

func dotAlong[T float](acc, x, y unsafe.Pointer, rows, n, ldy int) {
	if rows == 0 {
		return
	}
	a, v, u := vec[float64](acc, rows), vec[T](x, rows*n), vec[T](y, (rows-1)*ldy+n)
	for r := range a {
		p, q := v[r*n:][:n], u[r*ldy:][:n]
		for len(p) > sumBlock {
			a[r] += float64(dot(p[:sumBlock], q[:sumBlock]))
			p, q = p[sumBlock:], q[sumBlock:]
		}
		a[r] += float64(dot(p, q))
	}
}

// dot adds in four independent chains.
func dot[T float](x, y []T) T {
	var a, b, c, d T
	for len(x) >= 4 && len(y) >= 4 {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += v * y[i]
	}
	return (a + b) + (c + d)
}

func dotAcross[T float](acc, x, y unsafe.Pointer, rows, n int) {
	a, v, u := vec[float64](acc, n), vec[T](x, rows*n), vec[T](y, rows)
	for ; len(u) >= 4; u = u[4:] {
		p, q, r, s := v[:n], v[n:][:n], v[2*n:][:n], v[3*n:][:n]
		for i := range a {
			a[i] += float64((p[i]*u[0] + q[i]*u[1]) + (r[i]*u[2] + s[i]*u[3]))
		}
		v = v[4*n:]
	}
	for r, w := range u {
		p := v[r*n:][:n]
		for i := range a {
			a[i] += float64(p[i] * w)
		}
	}
}
