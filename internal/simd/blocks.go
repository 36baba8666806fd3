package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Blocks has the routines of a format. Dot and Fixed may be nil.
type Blocks struct {
	// Decode decodes n blocks at b to y.
	Decode func(y, b unsafe.Pointer, n int)
	// Dot multiplies a row by columns of n blocks, ldb bytes apart: c[j] = Σ a[p]·b_j[p]. It adds the sum
	// to c unless add is 0.
	Dot func(c, a, b unsafe.Pointer, columns, n, ldb, add int)
	// Fixed is Dot of a row in fixed point, the result of Fix.
	Fixed func(c, a, b unsafe.Pointer, columns, n, ldb int)
}

// Fix converts n runs of 32 float32 to fixed point, in which a run is 32 integers times a scale. They are
// of 16 bits: the error of a number is at most 2⁻¹⁶ of the run's largest absolute value, or 2⁻¹¹⁶. A run
// with a number that is not finite has a scale that is not. The result takes FixedBytes: two bytes for each
// number, the scales, and the sums of each run and of its halves. Fix is nil where no format has Fixed.
var Fix func(y, a unsafe.Pointer, n int)

// FixedBytes is the memory for numbers in fixed point; their number is a multiple of 32.
func FixedBytes(numbers int) int { return numbers / 32 * (64 + 4 + 4 + 8) }

// blocks has the routines in assembly, by the name of the format.
var blocks = map[string]Blocks{}

// fixed has the routines of Blocks.Fixed.
var fixed = map[string]func(c, a, b unsafe.Pointer, columns, n, ldb int){}

// BlocksOf returns the routines of a format.
func BlocksOf(f *ir.Format) Blocks {
	if b, ok := blocks[f.Name]; ok {
		b.Fixed = fixed[f.Name]
		return b
	}
	return Blocks{Decode: func(y, b unsafe.Pointer, n int) {
		f.Decode(vec[float32](y, n*f.Len), vec[byte](b, n*f.Bytes))
	}}
}
