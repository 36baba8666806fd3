package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Cast from integer to integer wraps, from float to integer truncates and saturates
// (NaN gives 0), to bool computes x ≠ 0.

func convert[F, T number](dst, x unsafe.Pointer, n int) {
	d, a := vec[T](dst, n), vec[F](x, n)
	for i := range d {
		d[i] = T(a[i])
	}
}

func saturate[F float, T integer](lo, hi T) Unary {
	low, high := F(lo), F(hi) // high may round up, to a number that is too large
	return func(dst, x unsafe.Pointer, n int) {
		d, a := vec[T](dst, n), vec[F](x, n)
		for i := range d {
			switch v := a[i]; {
			case v >= high:
				d[i] = hi
			case v <= low:
				d[i] = lo
			case v != v:
				d[i] = 0
			default:
				d[i] = T(v)
			}
		}
	}
}

func truth[F number](dst, x unsafe.Pointer, n int) {
	d, a := vec[bool](dst, n), vec[F](x, n)
	for i := range d {
		d[i] = a[i] != 0
	}
}

func copyV[T any](dst, x unsafe.Pointer, n int) { copy(vec[T](dst, n), vec[T](x, n)) }

func widenF16(dst, x unsafe.Pointer, n int) {
	d, a := vec[float32](dst, n), vec[ir.F16](x, n)
	for i := range d {
		d[i] = a[i].Float32()
	}
}

func narrowF16(dst, x unsafe.Pointer, n int) {
	d, a := vec[ir.F16](dst, n), vec[float32](x, n)
	for i := range d {
		d[i] = ir.ToF16(a[i])
	}
}

func widenBF16(dst, x unsafe.Pointer, n int) {
	d, a := vec[float32](dst, n), vec[ir.BF16](x, n)
	for i := range d {
		d[i] = a[i].Float32()
	}
}

func narrowBF16(dst, x unsafe.Pointer, n int) {
	d, a := vec[ir.BF16](dst, n), vec[float32](x, n)
	for i := range d {
		d[i] = ir.ToBF16(a[i])
	}
}
