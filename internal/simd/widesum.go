package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// WideSums has the sums in int64 of int32 and uint32.
var WideSums = wideSums()

func wideSums() [Types]Reduction {
	return [Types]Reduction{
		ir.Int32:  {ir.Int64, wideAlong[int32], wideAcross[int32]},
		ir.Uint32: {ir.Int64, wideAlong[uint32], wideAcross[uint32]},
	}
}

func wideAlong[T int32 | uint32](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[int64](acc, rows), vec[T](x, rows*n)
	for r := range a {
		for _, e := range v[r*n:][:n] {
			a[r] += int64(e)
		}
	}
}

func wideAcross[T int32 | uint32](acc, x unsafe.Pointer, rows, n int) {
	a, v := vec[int64](acc, n), vec[T](x, rows*n)
	for r := range rows {
		for i, e := range v[r*n:][:n] {
			a[i] += int64(e)
		}
	}
}
