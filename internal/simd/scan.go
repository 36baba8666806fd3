package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Scanner combines the elements of rows with all before them: for each row r of n
// elements, dst[r·n+i] becomes the combination of acc[r] and x[r·n] to x[r·n+i], and acc[r]
// the combination of the whole row.
type Scanner func(dst, acc, x unsafe.Pointer, rows, n int)

// scanRun is the number of elements of a chain: four chains are scanned at once, and then
// each is combined with the total of the ones before. So additions need not wait for each
// other, and rounding errors stay small.
const scanRun = 256

// A scan makes the Scanner of an operation from its Binaries, which combine the total of
// earlier elements with a run.
type scan func(combine *Modes) Scanner

// scans has the scans by operation, of elements of some bytes.
func scans[T number](size int) map[ir.Op]scan {
	return map[ir.Op]scan{
		ir.Add: scanBy(size, sumChain[T], sumChains[T]),
		ir.Mul: scanBy(size, prodChain[T], prodChains[T]),
		ir.Max: scanBy(size, maxChain[T], maxChains[T]),
		ir.Min: scanBy(size, minChain[T], minChains[T]),
	}
}

// scanBy returns the scan of an operation. Inlined, its loops would be compiled for each operation.
//
//go:noinline
func scanBy[T number](size int, chain func(dst, x []T, s T) T, four func(dst, x []T) (p, q, r, s T)) scan {
	return func(combine *Modes) Scanner {
		return func(dst, acc, x unsafe.Pointer, rows, n int) {
			for r, s := range vec[T](acc, rows) {
				to, from := vec[T](unsafe.Add(dst, r*n*size), n), vec[T](unsafe.Add(x, r*n*size), n)
				for len(from) >= 4*scanRun {
					var last [4]T
					last[0], last[1], last[2], last[3] = four(to, from)
					for i := range last {
						p := unsafe.Pointer(&to[i*scanRun])
						combine.VS(p, p, unsafe.Pointer(&s), scanRun)
						combine.VV(unsafe.Pointer(&s), unsafe.Pointer(&s), unsafe.Pointer(&last[i]), 1)
					}
					to, from = to[4*scanRun:], from[4*scanRun:]
				}
				vec[T](acc, rows)[r] = chain(to, from, s)
			}
		}
	}
}

// quarters returns four runs of x.
func quarters[T number](x []T) (a, b, c, d []T) {
	return x[:scanRun], x[scanRun:][:scanRun], x[2*scanRun:][:scanRun], x[3*scanRun:][:scanRun]
}

func sumChain[T number](dst, x []T, s T) T {
	for i, v := range x {
		s += v
		dst[i] = s
	}
	return s
}

func sumChains[T number](dst, x []T) (p, q, r, s T) {
	a, b, c, d := quarters(x)
	e, f, g, h := quarters(dst)
	for i := range a {
		p += a[i]
		e[i] = p
		q += b[i]
		f[i] = q
		r += c[i]
		g[i] = r
		s += d[i]
		h[i] = s
	}
	return p, q, r, s
}

func prodChain[T number](dst, x []T, s T) T {
	for i, v := range x {
		s *= v
		dst[i] = s
	}
	return s
}

func prodChains[T number](dst, x []T) (p, q, r, s T) {
	a, b, c, d := quarters(x)
	e, f, g, h := quarters(dst)
	p, q, r, s = 1, 1, 1, 1
	for i := range a {
		p *= a[i]
		e[i] = p
		q *= b[i]
		f[i] = q
		r *= c[i]
		g[i] = r
		s *= d[i]
		h[i] = s
	}
	return p, q, r, s
}

func maxChain[T number](dst, x []T, s T) T {
	for i, v := range x {
		s = max(s, v)
		dst[i] = s
	}
	return s
}

func maxChains[T number](dst, x []T) (p, q, r, s T) {
	a, b, c, d := quarters(x)
	e, f, g, h := quarters(dst)
	p, q, r, s = a[0], b[0], c[0], d[0]
	for i := range a {
		p = max(p, a[i])
		e[i] = p
		q = max(q, b[i])
		f[i] = q
		r = max(r, c[i])
		g[i] = r
		s = max(s, d[i])
		h[i] = s
	}
	return p, q, r, s
}

func minChain[T number](dst, x []T, s T) T {
	for i, v := range x {
		s = min(s, v)
		dst[i] = s
	}
	return s
}

func minChains[T number](dst, x []T) (p, q, r, s T) {
	a, b, c, d := quarters(x)
	e, f, g, h := quarters(dst)
	p, q, r, s = a[0], b[0], c[0], d[0]
	for i := range a {
		p = min(p, a[i])
		e[i] = p
		q = min(q, b[i])
		f[i] = q
		r = min(r, c[i])
		g[i] = r
		s = min(s, d[i])
		h[i] = s
	}
	return p, q, r, s
}
