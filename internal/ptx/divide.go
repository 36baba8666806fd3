package ptx

import (
	"fmt"
	"math/bits"

	"github.com/tensorken/tensorken/internal/shader"
)

// divide writes the quotient of a U32 or U64 and a constant, or the remainder, by a multiplication: Granlund and
// Montgomery, "Division by Invariant Integers using Multiplication". NVIDIA's compiler writes out each division, by a
// power of two too: 15 instructions of 32 bits, or a function of 60 of 64 bits.
func (p *printer) divide(t shader.Type, op shader.Op, x value, d uint64) value {
	c, size := classOf(t), 8*t.Bytes()
	do := func(name string, x ...value) value { return p.result(c, fmt.Sprint(name, size), x...) }
	if d&(d-1) == 0 {
		if op == shader.Rem {
			return do("and.b", x, number(t, d-1))
		}
		return do("shr.u", x, value(fmt.Sprint(bits.TrailingZeros64(d))))
	}
	factor, shift := reciprocal(d, size)
	high := do("mul.hi.u", x, number(t, factor))
	q := do("shr.u", do("add.u", do("shr.u", do("sub.u", x, high), "1"), high), value(fmt.Sprint(shift-1)))
	if op == shader.Rem {
		return do("sub.u", x, do("mul.lo.u", q, number(t, d)))
	}
	return q
}

// reciprocal returns the lower bits of 2ˢ⁺ⁿ/d, rounded up, and s, for n bits: 32 or 64. The quotient of x and d, which
// is no power of two, is the upper n bits of the product of that and x, shifted right by s.
func reciprocal(d uint64, n int) (factor uint64, shift int) {
	shift = bits.Len64(d)
	upper := 1<<(shift-1)<<1 - d
	factor, _ = bits.Div64(upper>>(64-n), upper<<n, d)
	return factor + 1, shift
}
