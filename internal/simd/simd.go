// Package simd provides the vector routines of CPU kernels. A routine works on
// contiguous runs of elements and knows no shapes. Tables by operation and element type
// hold the routines, so that a faster routine for some processor replaces an entry. A nil
// entry means that the operation is not defined for the type.
//
// A routine takes addresses and a number of elements. The destination may be the same run
// as an operand, but must not overlap it otherwise.
package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Types is the length of tables indexed by ir.DType.
const Types = int(ir.Float64) + 1

type (
	// Unary sets dst[i] = op(x[i]) for i in [0, n).
	Unary func(dst, x unsafe.Pointer, n int)
	// Binary sets dst[i] = op(x[i], y[i]); of a scalar operand it reads only element
	// 0.
	Binary func(dst, x, y unsafe.Pointer, n int)
	// Ternary is Binary with three operands.
	Ternary func(dst, x, y, z unsafe.Pointer, n int)
	// Quaternary is Binary with four operands.
	Quaternary func(dst, x, y, z, w unsafe.Pointer, n int)
)

// Modes has the routines of a binary operation for vector (V) and scalar (S) operands.
// Only VV is never nil.
type Modes struct{ VV, VS, SV Binary }

// Choices has the routines of Where for vector (V) and scalar (S) operands; the
// condition is a vector.
type Choices struct{ VV, VS, SV, SS Ternary }

// vec returns the n elements at p.
func vec[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

// at returns the element at p.
func at[T any](p unsafe.Pointer) T { return *(*T)(p) }
