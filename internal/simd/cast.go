package simd

import (
	"math"
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

func fromInteger[F integer](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool: truth[F], ir.Uint8: convert[F, uint8], ir.Int32: convert[F, int32], ir.Uint32: convert[F, uint32],
		ir.Int64: convert[F, int64], ir.Float32: convert[F, float32], ir.Float64: convert[F, float64],
	}
	t[self] = copyV[F]
	return t
}

func fromFloat[F float](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool: truth[F], ir.Uint8: saturate[F, uint8](0, math.MaxUint8),
		ir.Int32:  saturate[F, int32](math.MinInt32, math.MaxInt32),
		ir.Uint32: saturate[F, uint32](0, math.MaxUint32),
		ir.Int64:  saturate[F, int64](math.MinInt64, math.MaxInt64), ir.Float32: convert[F, float32], ir.Float64: convert[F, float64],
	}
	t[self] = copyV[F]
	return t
}

// Casts has the routines of Cast by the types from and to. The 16-bit types
// convert only from and to float32.
var Casts = makeCasts()

func makeCasts() (t [Types][Types]Unary) {
	t[ir.Bool] = fromInteger[uint8](ir.Bool)
	t[ir.Bool][ir.Uint8] = copyV[uint8]
	t[ir.Uint8] = fromInteger[uint8](ir.Uint8)
	t[ir.Int32] = fromInteger[int32](ir.Int32)
	t[ir.Uint32] = fromInteger[uint32](ir.Uint32)
	t[ir.Int64] = fromInteger[int64](ir.Int64)
	t[ir.Float32] = fromFloat[float32](ir.Float32)
	t[ir.Float64] = fromFloat[float64](ir.Float64)
	t[ir.Float16][ir.Float32], t[ir.Float32][ir.Float16] = widenF16, narrowF16
	t[ir.BFloat16][ir.Float32], t[ir.Float32][ir.BFloat16] = widenBF16, narrowBF16
	return t
}
