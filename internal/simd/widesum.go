package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// WideSums has the sums of int32 and uint32 in accumulators of int64.
var WideSums = wideSums()

func wideSums() [Types]Reduction {
	return [Types]Reduction{
		ir.Int32:  {ir.Int64, wideAlong[int32], wideAcross[int32]},
		ir.Uint32: {ir.Int64, wideAlong[uint32], wideAcross[uint32]},
	}
}

// wideAlong is Reduction.Along: it adds each row to one sum.
func wideAlong[T int32 | uint32](acc, x unsafe.Pointer, rows, n int) {
	sums, values := vec[int64](acc, rows), vec[T](x, rows*n)
	for r := range sums {
		for _, v := range values[r*n:][:n] {
			sums[r] += int64(v)
		}
	}
}

// wideAcross is Reduction.Across: it adds all rows to one row of sums.
func wideAcross[T int32 | uint32](acc, x unsafe.Pointer, rows, n int) {
	sums, values := vec[int64](acc, n), vec[T](x, rows*n)
	for r := range rows {
		for i, v := range values[r*n:][:n] {
			sums[i] += int64(v)
		}
	}
}
