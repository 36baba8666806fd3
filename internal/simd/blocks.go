package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Blocks has the routines of a format. Dot may be nil.
type Blocks struct {
	// Decode decodes n blocks at b to y.
	Decode func(y, b unsafe.Pointer, n int)
	// Dot multiplies a row by columns of n blocks, ldb bytes apart: c[j] = Σ a[p]·b_j[p]. It adds the sum
	// to c unless add is 0.
	Dot func(c, a, b unsafe.Pointer, columns, n, ldb, add int)
}

// blocks has the routines in assembly, by the name of the format.
var blocks = map[string]Blocks{}

// BlocksOf returns the routines of a format.
func BlocksOf(f *ir.Format) Blocks {
	if b, ok := blocks[f.Name]; ok {
		return b
	}
	return Blocks{Decode: func(y, b unsafe.Pointer, n int) {
		f.Decode(vec[float32](y, n*f.Len), vec[byte](b, n*f.Bytes))
	}}
}
