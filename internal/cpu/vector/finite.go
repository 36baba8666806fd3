package vector

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// Finite reports whether n elements are finite: their sum, which may overflow, is not if one of
// them is not.
func Finite(p unsafe.Pointer, d ir.DType, n int) bool {
	switch d {
	case ir.Float32, ir.Float64:
		sum := 0.0
		simd.Reductions[ir.Sum][d].Along(unsafe.Pointer(&sum), p, 1, n)
		return sum-sum == 0
	case ir.Float16, ir.BFloat16:
		inf := uint16(ir.Float(d, math.Inf(1)).Bits(d))
		for _, b := range unsafe.Slice((*uint16)(p), n) {
			if b&inf == inf {
				return false
			}
		}
	}
	return true
}
