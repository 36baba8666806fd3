package ptx

import (
	"fmt"
	"math/bits"

	"github.com/tensorken/tensorken/internal/shader"
)

// divide writes the quotient of a U64 and a constant by a multiplication: Granlund and Montgomery,
// "Division by Invariant Integers using Multiplication". NVIDIA's compiler calls a function of 60
// instructions.
func (p *printer) divide(x value, d uint64) value {
	if d&(d-1) == 0 {
		return p.result(long, "shr.u64", x, value(fmt.Sprint(bits.TrailingZeros64(d))))
	}
	factor, shift := reciprocal(d)
	high := p.result(long, "mul.hi.u64", x, number(shader.U64, factor))
	half := p.result(long, "shr.u64", p.result(long, "sub.u64", x, high), "1")
	return p.result(long, "shr.u64", p.result(long, "add.u64", half, high), value(fmt.Sprint(shift-1)))
}

// reciprocal returns the lower 64 bits of 2ˢ⁺⁶⁴/d, rounded up, and s. The quotient of x and d, which
// is no power of two, is the upper 64 bits of the product of that and x, shifted right by s.
func reciprocal(d uint64) (factor uint64, shift int) {
	shift = bits.Len64(d)
	factor, _ = bits.Div64(1<<(shift-1)<<1-d, 0, d)
	return factor + 1, shift
}
