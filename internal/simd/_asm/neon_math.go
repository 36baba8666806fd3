package main

import (
	"math"
	"slices"
)

// A neonFunction is a routine of one float32 operand. Its body replaces the operand in V0.
type neonFunction struct {
	op   string
	body func(c *neonBody)
}

var neonFunctions = []neonFunction{
	{"Exp", neonExp},
	{"Expm1", neonExpm1},
	{"Log", neonLog},
	{"Tanh", neonTanh},
}

// A neonBody writes the body of a function. Its constants are in registers from V31 down,
// and V0 to V7 are the body's.
type neonBody struct {
	*neon
	constants []uint64
}

func (w *neon) math() {
	for _, f := range neonFunctions {
		name := "f" + f.op + "NEON"
		c := &neonBody{neon: w}
		w.begin(name, "dst x", "n")
		const dst, x, n = 0, 1, 2
		begin := w.asm.Len()
		for _, s := range strips[1:] {
			w.loop(n, s.elements(4), func() {
				w.load(s, 4, x, 0)
				f.body(c)
				w.store(s, 4, 0, dst)
			})
		}
		// The constants are known once the body is written.
		loops := slices.Clone(w.asm.Bytes()[begin:])
		w.asm.Truncate(begin)
		for i, bits := range c.constants {
			w.do("MOVD $0x%x, R4", bits)
			w.do("VDUP R4, V%d.S4", 31-i)
		}
		w.asm.Write(loops)
		w.do("RET")
		w.row("unaries", "ir.%s, ir.Float32, %s", f.op, name)
	}
}

// constant is a register whose lanes are all k.
func (c *neonBody) constant(k constant) int {
	i := slices.Index(c.constants, k.bits)
	if i < 0 {
		i = len(c.constants)
		c.constants = append(c.constants, k.bits)
		if 31-i < 8 {
			panic("no register for a constant")
		}
	}
	return 31 - i
}

func (c *neonBody) num(x float64) int { return c.constant(f32(x)) }

// do4 adds an instruction on float32 or int32: d = x[0] op x[1], or d += x[0]·x[1].
func (c *neonBody) do4(name string, d int, x ...int) { c.op(name, 4, d, x...) }

func (c *neonBody) move(from, d int) { c.do("VMOV V%d.B16, V%d.B16", from, d) }

// horner evaluates the polynomial of x with coefficients k, that of x⁰ first. It uses
// both registers, and returns the one with the result.
func (c *neonBody) horner(x, p, q int, k []float64) int {
	c.move(c.num(k[len(k)-1]), p)
	for _, a := range slices.Backward(k[:len(k)-1]) {
		c.move(c.num(a), q)
		c.do4("FMLA", q, p, x)
		p, q = q, p
	}
	return p
}

// power replaces integers n from -126 to 127 by 2ⁿ.
func (c *neonBody) power(n int) {
	c.do4("FCVTZS", n, n)
	c.do4("ADD", n, n, c.constant(i32(127)))
	c.do("VSHL $23, V%d.S4, V%d.S4", n, n)
}

// insert replaces d by x where the bits of mask are set.
func (c *neonBody) insert(d, x, mask int) { c.do("VBIT V%d.B16, V%d.B16, V%d.B16", mask, x, d) }

// sign gives d the sign of x.
func (c *neonBody) sign(d, x int) { c.insert(d, x, c.constant(i32(1<<31))) }

// neonExp computes what exp does.
func neonExp(c *neonBody) {
	const x, n, t, r, p, q, half = 0, 1, 2, 3, 4, 5, 6
	c.do4("FMAX", x, x, c.num(-104))
	c.do4("FMIN", x, x, c.num(89))
	c.do4("FMUL", n, x, c.num(math.Log2E))
	c.do4("FRINTN", n, n)
	c.move(x, t)
	c.do4("FMLS", t, n, c.num(ln2High))
	c.move(t, r)
	c.do4("FMLS", r, n, c.num(ln2Low))
	s := c.horner(r, p, q, expSquaresTerms)
	c.do4("FMUL", r, r, r)
	c.do4("FMUL", s, s, r)
	c.do4("FMLS", s, n, c.num(ln2Low))
	c.do4("FADD", t, t, s)
	c.do4("FADD", t, t, c.num(1))
	// Both halves of n have a power, down to subnormal results.
	c.do4("FMUL", half, n, c.num(0.5))
	c.do4("FRINTM", half, half)
	c.do4("FSUB", n, n, half)
	c.power(half)
	c.power(n)
	c.do4("FMUL", t, t, half)
	c.do4("FMUL", x, t, n)
}

// expm1r replaces x by exp(r) - 1, and sets n, with x = n·ln 2 + r: see reduce and the
// other expm1r. It uses the three registers r, p and q.
func (c *neonBody) expm1r(x, n, r, p, q int) {
	c.do4("FMUL", n, x, c.num(math.Log2E))
	c.do4("FRINTN", n, n)
	c.do4("FMLS", x, n, c.num(ln2High))
	c.do4("FMLS", x, n, c.num(ln2Low))
	s := c.horner(x, p, q, expm1Terms)
	c.do4("FMUL", r, x, x)
	c.do4("FMLA", x, s, r)
}

// neonExpm1 computes what expm1 does.
func neonExpm1(c *neonBody) {
	const x, n, p, s, t0, t1 = 0, 1, 2, 3, 4, 5
	c.do4("FMAX", p, x, c.num(-20))
	c.do4("FMIN", p, p, c.num(89))
	c.expm1r(p, n, s, t0, t1)
	// 2ⁿ⁻¹ does not overflow.
	c.do4("FSUB", n, n, c.num(1))
	c.power(n)
	c.do4("FSUB", s, n, c.num(0.5))
	c.do4("FMLA", s, n, p)
	c.do4("FADD", s, s, s)
	c.sign(s, x)
	c.move(s, x)
}

// neonTanh computes what tanh does.
func neonTanh(c *neonBody) {
	const x, t, z, small, big, n, t0, t1 = 0, 1, 2, 3, 4, 5, 6, 7
	c.do4("FABS", t, x)
	c.do4("FMUL", z, t, t)
	p := c.horner(z, t0, t1, tanhTerms)
	c.do4("FMUL", p, p, z)
	c.move(t, small)
	c.do4("FMLA", small, p, t)

	c.do4("FADD", big, t, t)
	c.do4("FMIN", big, big, c.num(20))
	c.expm1r(big, n, z, t0, t1)
	c.power(n)
	c.do4("FMLA", n, big, n)
	c.do4("FADD", big, n, c.num(1))
	c.do4("FDIV", big, c.num(2), big)
	c.do4("FSUB", big, c.num(1), big)
	c.do4("FCMGT", t, c.num(1), t)
	c.insert(big, small, t)
	c.sign(big, x)
	c.move(big, x)
}

// neonLog computes what logarithm does.
func neonLog(c *neonBody) {
	const x, m, e, f, subnormal, p, q, low = 0, 1, 2, 3, 4, 5, 6, 7
	c.do4("FCMGT", subnormal, c.num(0x1p-126), x)
	c.do4("FMUL", f, x, c.num(1<<23))
	c.move(x, m)
	c.insert(m, f, subnormal)
	c.do4("SUB", m, m, c.constant(i32(sqrtHalf)))
	c.word(0x4f290400|m<<5|e, "SSHR %s, %s, #23", arrangement(e, 4), arrangement(m, 4))
	c.do4("SCVTF", e, e)
	c.do("VAND V%d.B16, V%d.B16, V%d.B16", c.constant(i32(0x007fffff)), m, m)
	c.do4("ADD", m, m, c.constant(i32(sqrtHalf)))
	c.do4("FSUB", f, m, c.num(1))
	c.do("VAND V%d.B16, V%d.B16, V%d.B16", c.num(23), subnormal, subnormal)
	c.do4("FSUB", e, e, subnormal)
	// low = f²·(f·P - ½) + e·ln2Low
	s := c.horner(f, p, q, logTerms)
	c.move(c.num(-0.5), m)
	c.do4("FMLA", m, s, f)
	c.do4("FMUL", low, f, f)
	c.do4("FMUL", low, low, m)
	c.do4("FMLA", low, e, c.num(ln2Low))
	c.do4("FMUL", e, e, c.num(ln2High))
	c.do4("FADD", p, e, f)
	c.do4("FSUB", q, p, e)
	c.do4("FSUB", q, f, q)
	c.do4("FADD", low, low, q)
	c.do4("FADD", p, p, low)
	// +Inf, 0, then negative numbers and NaN.
	c.do4("FCMEQ", m, x, c.num(math.Inf(1)))
	c.insert(p, x, m)
	c.do("VEOR V%d.B16, V%d.B16, V%d.B16", q, q, q)
	c.do4("FCMEQ", m, x, q)
	c.insert(p, c.num(math.Inf(-1)), m)
	c.do4("FCMGE", m, x, q)
	c.move(c.num(math.NaN()), x)
	c.insert(x, p, m)
}
