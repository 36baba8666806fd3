package ptx

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// The driver's compiler calls functions for div.rn and sqrt.rn. In a kernel that calls, it waits for each product in shared
// memory before it starts the next. So there the instructions of these functions are in place.

// multipliesGroups reports whether a block has products in shared memory.
func multipliesGroups(b *shader.Block) bool {
	return b != nil && slices.ContainsFunc(b.Stmts, func(s shader.Stmt) bool {
		switch s := s.(type) {
		case *shader.MultiplyGroup:
			return true
		case *shader.If:
			return multipliesGroups(s.Then) || multipliesGroups(s.Else)
		case *shader.For:
			return multipliesGroups(s.Body)
		case *shader.Nested:
			return multipliesGroups(s.Body)
		}
		return false
	})
}

const one32, one64 value = "0f3F800000", "0d3FF0000000000000"

// quotient is the quotient of two float32, rounded to nearest.
func (p *printer) quotient(x, y value) value {
	if !p.inPlace {
		return p.result(word, "div.rn.f32", x, y)
	}
	operands := p.registers(word, []value{x, y})
	x, y = operands[0], operands[1]
	q, rare, end := p.register(word), p.label(), p.label()
	// Without underflow two corrections by remainders suffice, as NVIDIA's compiler has them.
	usual := p.result(pred, "and.pred", p.isUsual(x), p.isUsual(y))
	p.line("@!%s bra %s;", usual, rare)
	p.do("mov.b32", q, p.refine("f32", one32, x, y, p.result(word, "rcp.approx.ftz.f32", y), 1, 2))
	p.line("bra %s;", end)
	p.place(rare)
	// A float64 holds each quotient of numbers, and those halfway between two float32, with bits to spare.
	wide := []value{p.result(long, "cvt.f64.f32", x), p.result(long, "cvt.f64.f32", y)}
	exact := p.refine("f64", one64, wide[0], wide[1], p.result(long, "rcp.approx.ftz.f64", wide[1]), 3, 1)
	numbers := p.result(pred, "and.pred", p.isFinite(x), p.isFinite(y))
	numbers = p.result(pred, "and.pred", numbers, p.result(pred, "setp.neu.f32", y, "0f00000000"))
	other := p.result(word, "mul.rn.f32", x, p.result(word, "rcp.approx.f32", y))    // 0, infinite or a NaN
	sign := p.result(word, "and.b32", p.result(word, "xor.b32", x, y), "2147483648") // which a remainder of 0 loses
	p.do("selp.b32", q, p.result(word, "or.b32", p.result(word, "cvt.rn.f32.f64", exact), sign), other, numbers)
	p.place(end)
	return q
}

// refine is x/y by an approximation of 1/y: that and then the quotient are corrected by remainders a number of times.
func (p *printer) refine(t string, one, x, y, reciprocal value, reciprocals, quotients int) value {
	c := word
	if t == "f64" {
		c = long
	}
	fma := func(a, b, add value) value { return p.result(c, "fma.rn."+t, a, b, add) }
	negative := p.result(c, "neg."+t, y)
	for range reciprocals {
		reciprocal = fma(reciprocal, fma(negative, reciprocal, one), reciprocal)
	}
	q := p.result(c, "mul.rn."+t, x, reciprocal)
	for range quotients {
		q = fma(fma(negative, q, x), reciprocal, q)
	}
	return q
}

// isUsual reports whether a float32 is at least 2⁻⁶³ and below 2⁶³, or minus such a number.
func (p *printer) isUsual(x value) value {
	bits := p.result(word, "and.b32", x, "2147483647")
	const least, range32 = "536870912", "1056964608" // the bits of 2⁻⁶³, and how many numbers there are
	return p.result(pred, "setp.lt.u32", p.result(word, "sub.u32", bits, least), range32)
}

// isFinite reports whether a float32 is neither infinite nor a NaN.
func (p *printer) isFinite(x value) value {
	return p.result(pred, "setp.lt.f32", p.result(word, "abs.f32", x), "0f7F800000")
}

// root is the square root of a float32, rounded to nearest.
func (p *printer) root(x value) value {
	if !p.inPlace {
		return p.result(word, "sqrt.rn.f32", x)
	}
	mul := func(x, y value) value { return p.result(word, "mul.rn.f32", x, y) }
	const tiny, scale, back value = "0f0F800000", "0f5F800000", "0f2F800000" // 2⁻⁹⁶, 2⁶⁴, 2⁻³²
	x = p.registers(word, []value{x})[0]
	small := p.result(pred, "setp.lt.f32", x, tiny)
	scaled := p.result(word, "selp.b32", mul(x, scale), x, small)
	reciprocal := p.result(word, "rsqrt.approx.ftz.f32", scaled)
	y := mul(scaled, reciprocal)
	rest := p.result(word, "fma.rn.f32", p.result(word, "neg.f32", y), y, scaled)
	y = p.result(word, "fma.rn.f32", rest, mul(reciprocal, "0f3F000000"), y)
	y = p.result(word, "selp.b32", mul(y, back), y, small)
	positive := p.result(pred, "and.pred", p.result(pred, "setp.gt.f32", x, "0f00000000"), p.isFinite(x))
	return p.result(word, "selp.b32", y, p.result(word, "sqrt.approx.f32", x), positive)
}
