// Package simd provides the vector routines of CPU kernels. A routine works on contiguous
// runs of elements and knows no shapes. Tables by operation and element type hold the
// routines. A nil entry means that the operation is not defined for the type. Read table.go
// first.
//
// The routines in Go define the results. When the program starts, routines in assembly for the
// processor's best level replace them in the tables; the programs in _asm write that assembly.
// The build tag noasm leaves it out. docs/assembly.md lists the routines without any.
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
	// Unary gives dst[i] = op(x[i]) for i in [0, n).
	Unary func(dst, x unsafe.Pointer, n int)
	// Binary gives dst[i] = op(x[i], y[i]); routines for a single number
	// read only element 0 of that operand.
	Binary func(dst, x, y unsafe.Pointer, n int)
	// Ternary gives dst[i] = op(x[i], y[i], z[i]).
	Ternary func(dst, x, y, z unsafe.Pointer, n int)
	// Quaternary gives dst[i] = op(x[i], y[i], z[i], w[i]).
	Quaternary func(dst, x, y, z, w unsafe.Pointer, n int)
)

// Modes are the routines of a binary operation: for two runs, for a run and
// a single number, for a single number and a run. Only VV is always there.
type Modes struct{ VV, VS, SV Binary }

// Choices are the routines of Where for two runs, for a run and a single
// number, a single number and a run, and two numbers; the condition is a run.
type Choices struct{ VV, VS, SV, SS Ternary }

// A Clamp has routines of a run x and two numbers, a limit y and z: Low gives z where x < y, High gives z where y < x, and
// both give x elsewhere: Where(Lt(x, y), z, x) and Where(Lt(y, x), z, x).
type Clamp struct{ Low, High Ternary }

// Clamps has the routines by type, nil where Lt and Where are to be used.
var Clamps [Types]Clamp

// vec is n elements at p.
func vec[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

// at is the element at p.
func at[T any](p unsafe.Pointer) T { return *(*T)(p) }
