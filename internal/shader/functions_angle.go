package shader

import "math"

// twoOverPi64 is a word of zeros, then the bits of 2/π, the first of which counts 2.
var twoOverPi64 = []uint64{0,
	0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf,
	0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d,
	0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea,
}

// trigonometry64 adds sine, cosine and arc tangents of float64. They reduce x to an
// angle, the vector (quarter, r, low, 0) with x = quarter·π/2 + r + low and r in [-π/4, π/4],
// by Cody and Waite's method or, far from 0, by Payne and Hanek's.
func (l library) trigonometry64() {
	angle := func(turns, rest, low *Expr) *Expr { return Vec(4, turns, rest, low, f64Of(0)) }
	l.unary("two_over_pi_u64", U64, func(s *Block, x *Expr) *Expr {
		last := len(twoOverPi64) - 1
		for i, word := range twoOverPi64[:last] {
			s.returnIf(x.Eq(i), FromBits(U64, word), U64)
		}
		return FromBits(U64, twoOverPi64[last])
	})
	// The upper and lower words of a product, by products of halves.
	l.binary("mul_wide_u64", U64, func(s *Block, a, b *Expr) *Expr {
		low := func(x *Expr) *Expr { return x.And(math.MaxUint32) }
		al, ah := s.Let("al", low(a)), s.Let("ah", a.Shr(32))
		bl, bh := s.Let("bl", low(b)), s.Let("bh", b.Shr(32))
		m := s.Let("m", ah.Mul(bl).Add(al.Mul(bl).Shr(32)))
		n := s.Let("n", al.Mul(bh).Add(low(m)))
		return Vec(2, ah.Mul(bh).Add(m.Shr(32)).Add(n.Shr(32)), a.Mul(b))
	})
	// Payne and Hanek's reduction of |x| ≥ 2. Only 192 bits of 2/π matter for an exponent:
	// higher ones give whole turns, lower ones are below the precision. Their product with the
	// significand, modulo 4, is the number of quarter turns in 2 bits, and then 126 bits of
	// their fraction.
	l.unary("far_angle_f64", F64, func(s *Block, x *Expr) *Expr {
		exponent := s.Let("e", bits(x).Shr(52).And(0x7ff).Sub(1022)) // |x| < 2^exponent
		shift := s.Let("shift", exponent.And(63).Convert(U32))
		var window [4]*Var // words of 2/π from number exponent/64 on, then 3 words from bit exponent on
		for i, name := range []string{"hi", "mid", "lo", "next"} {
			window[i] = s.Var(name, Number(U64, 0))
		}
		i := &Var{Name: "i", Type: U64, Mutable: true}
		read := &Block{}
		for k := range 3 {
			read.Set(window[k], window[k+1].Ref())
		}
		read.Set(window[3], l.call("two_over_pi_u64", i.Ref()))
		first := exponent.Shr(6)
		s.Do(&For{Var: i, Init: first, Cond: i.Ref().Lt(s.Let("end", first.Add(4))), Next: i.Ref().Add(1), Body: read})
		s.If(shift.Ne(0), func(s *Block) {
			rest := s.Let("rest", Number(U32, 64).Sub(shift))
			for k := range 3 {
				s.Set(window[k], window[k].Ref().Shl(shift).Or(window[k+1].Ref().Shr(rest)))
			}
		})
		significand := s.Let("m", bits(x).Shl(11).Or(FromBits(U64, double.signBit())))
		middle := s.Let("p", l.call("mul_wide_u64", significand, window[1].Ref()))
		low := s.Let("low", middle.At(1).Add(l.call("mul_wide_u64", significand, window[2].Ref()).At(0)))
		carry := choose(U64, low.Lt(middle.At(1)), 1, 0)
		high := s.Var("high", significand.Mul(window[0].Ref()).Add(middle.At(0)).Add(carry))
		quarter := s.Var("quarter", high.Ref().Shr(62).Convert(F64))
		s.Set(high, high.Ref().And(1<<62-1))
		s.If(high.Ref().Ge(1<<61), func(s *Block) { // round to the nearest quarter
			s.Set(high, high.Ref().Sub(1<<62))
			s.Set(quarter, quarter.Ref().Add(1))
		})
		const unit = 0x1p-62 // of fraction, a signed part of a quarter turn
		fraction := s.Let("whole", high.Ref().Bitcast(I64))
		rounded := s.Let("h", fraction.Convert(F64))
		rounding := s.Let("t", MulAdd(low.Convert(F64), f64Of(0x1p-64), fraction.Sub(rounded.Convert(I64)).Convert(F64)))
		sum := s.Let("sum", rounded.Add(rounding)) // sum + tail is the fraction
		tail := s.Let("tail", rounded.Sub(sum).Add(rounding))
		r := s.Let("r", sum.Mul(math.Pi/2*unit))
		rest := s.Let("error", MulAdd(sum, f64Of(math.Pi/2*unit), r.Neg()))
		rLow := s.Let("rLow", MulAdd(sum, f64Of(piMiddle*unit), MulAdd(tail, f64Of(math.Pi/2*unit), rest)))
		return x.Lt(0).If(angle(quarter.Ref().Neg(), r.Neg(), rLow.Neg()), angle(quarter.Ref(), r, rLow))
	})
	// Cody and Waite's reduction: π/2 in three parts, and |x| at most 2³⁰.
	l.unary("angle_of_f64", F64, func(s *Block, x *Expr) *Expr {
		s.returnIf(x.Abs().Gt(1<<30), l.call("far_angle_f64", x), F64.Vec(4))
		quarter := s.Let("n", nearest(x.Mul(2/math.Pi)))
		first := s.Let("t", fnma(quarter, f64Of(math.Pi/2), x)) // exact
		middle := s.Let("p", quarter.Mul(piMiddle))
		r := s.Let("r", first.Sub(middle))
		rest := fnma(quarter, f64Of(piMiddle), middle) // the rounding of middle
		low := fnma(quarter, f64Of(piLow), first.Sub(r).Sub(middle).Add(rest))
		return angle(quarter, r, low)
	})
	// The sine of an angle, or its cosine for an odd quarter. The polynomials' errors are
	// at most 2⁻⁵⁸.
	l.unary("sine_f64", F64.Vec(4), func(s *Block, x *Expr) *Expr {
		q := s.Let("q", x.At(0).Convert(I32))
		r, low := s.Let("r", x.At(1)), s.Let("low", x.At(2))
		z := s.Let("z", r.Mul(r))
		sin := horner(z, -0.16666666666666632, 0.00833333333332242, -0.00019841269829812727, 2.7557313693598763e-06, -2.505075837767918e-08, 1.5896810930035655e-10)
		sin = s.Let("s", r.Add(MulAdd(sin.Mul(z), r, low)))
		cos := horner(z, 0.0416666666666666, -0.0013888888888874133, 2.4801587289488395e-05, -2.7557314354187497e-07, 2.087572353345975e-09, -1.135966167320952e-11)
		half := s.Let("half", z.Mul(0.5))
		one := s.Let("one", f64Of(1).Sub(half))
		cos = s.Let("c", one.Add(fnma(r, low, cos.Mul(z.Mul(z))).Add(f64Of(1).Sub(one).Sub(half))))
		y := s.Let("y", q.And(1).Ne(0).If(cos, sin))
		return q.And(2).Ne(0).If(y.Neg(), y)
	})
	finite := func(s *Block, x *Expr) { s.returnIf(x.Abs().Lt(inf64).Not(), nan64, F64) }
	l.unary("sin_f64", F64, func(s *Block, x *Expr) *Expr {
		finite(s, x)
		y := s.Let("y", l.call("sine_f64", l.call("angle_of_f64", x)))
		return x.Eq(0).If(x, y) // the rest of -0 is 0
	})
	l.unary("cos_f64", F64, func(s *Block, x *Expr) *Expr {
		finite(s, x)
		a := s.Let("a", l.call("angle_of_f64", x))
		return l.call("sine_f64", Vec(4, a.At(0).Add(1), a.At(1), a.At(2), a.At(3)))
	})
	// A polynomial for |x| ≤ tan(π/8), with an error of at most 2⁻⁵⁸. Others are π/4 +
	// atan((x-1)/(x+1)) and π/2 - atan(1/x).
	l.unary("atan_f64", F64, func(s *Block, x *Expr) *Expr {
		a := s.Let("a", x.Abs())
		steep := s.Let("steep", a.Gt(2.414213562373095))
		middle := s.Let("middle", a.Gt(0.4142135623730951).And(steep.Not()))
		r := s.Let("r", steep.If(f64Of(-1), middle.If(a.Sub(1), a)).Div(steep.If(a, middle.If(a.Add(1), f64Of(1)))))
		z := s.Let("z", r.Mul(r))
		p := s.Let("p", r.Mul(z).Mul(horner(z, -0.33333333333333326, 0.1999999999999765, -0.14285714285386017, 0.1111111108807281, -0.09090908141355669,
			0.07692282699341331, -0.06666226046020786, 0.058770162855465845, -0.05218377375613838, 0.04503470919650549, -0.03347329564703065, 0.01519459484735187)))
		high := steep.If(f64Of(math.Pi/2), middle.If(f64Of(math.Pi/4), f64Of(0)))
		low := steep.If(f64Of(piMiddle), middle.If(f64Of(piMiddle/2), f64Of(0)))
		y := s.Let("y", high.Add(r.Add(p.Add(low))))
		return x.Ne(x).If(x, withSign(y, x))
	})
	// The arc tangent of the lesser absolute value over the greater, at most π/4, which is
	// then moved to the octant of the point.
	l.binary("atan2_f64", F64, func(s *Block, y, x *Expr) *Expr {
		ay, ax := s.Let("ay", y.Abs()), s.Let("ax", x.Abs())
		steep := s.Let("steep", ay.Gt(ax))
		lesser, greater := s.Let("lesser", steep.If(ax, ay)), s.Let("greater", steep.If(ay, ax))
		p := s.Let("p", l.call("atan_f64", choose(F64, greater.Eq(0), 0, choose(F64, lesser.Eq(greater), 1, lesser.Div(greater)))))
		quarter := s.Let("quarter", steep.If(f64Of(math.Pi/2).Add(f64Of(piMiddle).Sub(p)), p))
		negative := bits(x).Ge(FromBits(U64, double.signBit()))
		turned := s.Let("turned", negative.If(f64Of(math.Pi).Add(f64Of(2*piMiddle).Sub(quarter)), quarter))
		return x.Ne(x).Or(y.Ne(y)).If(nan64, withSign(turned, y))
	})
}

// π/2 without the float64 nearest to it, in two parts.
const piMiddle, piLow = 6.123233995736766e-17, -1.4973849048591833e-33
