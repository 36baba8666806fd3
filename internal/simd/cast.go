package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Casts are functions of type Unary: dst and x have n elements. The type parameters are the types
// from which (F) and to which (T) they cast.

// convert casts as Go does: integers wrap around.
func convert[F, T number](dst, x unsafe.Pointer, n int) {
	d, a := vec[T](dst, n), vec[F](x, n)
	for i := range d {
		d[i] = T(a[i])
	}
}

// saturate returns the cast of floats to integers between least and greatest, which stand for all
// values beyond them. Other values are truncated, and NaN gives 0.
func saturate[F float, T integer](least, greatest T) Unary {
	low, high := F(least), F(greatest) // high may round up, to a number that is too large for T
	return func(dst, x unsafe.Pointer, n int) {
		d, a := vec[T](dst, n), vec[F](x, n)
		for i := range d {
			switch v := a[i]; {
			case v >= high:
				d[i] = greatest
			case v <= low:
				d[i] = least
			case v != v:
				d[i] = 0
			default:
				d[i] = T(v)
			}
		}
	}
}

// truth is the cast to bool, x ≠ 0.
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
