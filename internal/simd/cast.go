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

func saturate[F float, T integer](d ir.DType) Unary {
	least, greatest := ir.Limits(d)
	lo, hi := T(least), T(greatest)
	low, high := F(lo), F(hi) // high may round up beyond hi
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

// castsFromInteger returns the routines from type F to each type.
func castsFromInteger[F integer](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool: truth[F], ir.Float32: convert[F, float32], ir.Float64: convert[F, float64],
		ir.Uint8: convert[F, uint8], ir.Int32: convert[F, int32], ir.Uint32: convert[F, uint32], ir.Int64: convert[F, int64],
	}
	t[self] = copyV[F]
	return t
}

func castsFromFloat[F float](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool: truth[F], ir.Float32: convert[F, float32], ir.Float64: convert[F, float64],
		ir.Uint8: saturate[F, uint8](ir.Uint8), ir.Int32: saturate[F, int32](ir.Int32),
		ir.Uint32: saturate[F, uint32](ir.Uint32), ir.Int64: saturate[F, int64](ir.Int64),
	}
	t[self] = copyV[F]
	return t
}
