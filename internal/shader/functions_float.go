package shader

// The series of sin, cos, tanh, atan and, up to 1, erf follow Moshier's Cephes library;
// expm1 uses Taylor's series, log1p the series of the inverse hyperbolic tangent; large
// angles are reduced by the method of Payne and Hanek.

func (l library) exponentials() {
	l.unary("sqrt_f32", F32, func(s *Block, x *Expr) *Expr {
		b := s.Let("b", bits(x))
		special := b.Shl(1).Eq(0).Or(b.Ge(infinity).And(b.Le(signBit)))
		s.returnIf(special, x, F32) // zeros, infinity, NaN
		return b.Gt(signBit).If(nan, x.Sqrt())
	})
	// e^(a+b), for |a| below 128 and b small beside it: 2ᵏ·eʳ with |r| ≤ ln(2)/2. The upper
	// part of ln(2) has 10 bits, so that k times it is exact; 2ᵏ is two factors, as it may be
	// out of range.
	l.binary("exp_sum", F32, func(s *Block, a, b *Expr) *Expr {
		k := s.Let("k", a.Mul(1.442695).Add(0.5).Floor())
		r := s.Let("r", a.Sub(k.Mul(lnTwoHigh)).Launder(FirstWay).Sub(k.Mul(lnTwoLow)).Add(b))
		p := s.Let("p", poly(r, 1, 1, 0.5, 1.6666667e-1, 4.1666668e-2, 8.333334e-3, 1.388889e-3, 1.984127e-4))
		n := s.Let("n", k.Add(256).Convert(I32))
		half := s.Let("half", n.Shr(1))
		power := func(n *Expr) *Expr { return n.Sub(1).Shl(23).Bitcast(F32) } // 2ⁿ⁻¹²⁸
		return p.Mul(power(half)).Launder(FirstWay).Mul(power(n.Sub(half)))
	})
	// The device's own exponential, which is off by up to |x| times its rounding: exp_sum
	// would slow a softmax.
	l.unary("exp_f32", F32, func(s *Block, x *Expr) *Expr {
		y := s.Let("y", choose(F32, x.Lt(-104), 0, x.Gt(88.73).If(inf, x.Exp())))
		return l.call("is_nan", x).If(x, y)
	})
	l.unary("expm1_f32", F32, func(s *Block, x *Expr) *Expr {
		p := s.Let("p", poly(x, 1, 0.5, 1.6666667e-1, 4.1666668e-2, 8.333334e-3, 1.388889e-3, 1.984127e-4, 2.4801587e-5))
		return x.Abs().Lt(0.5).If(x.Mul(p), l.call("exp_f32", x).Sub(1))
	})
	// For x in [-0.5, 0.5].
	l.unary("log1p_near", F32, func(s *Block, x *Expr) *Expr {
		t := s.Let("s", x.Div(Number(F32, 2).Add(x)))
		z := s.Let("z", t.Mul(t))
		return Number(F32, 2).Mul(t).Mul(poly(z, 1, 3.3333334e-1, 0.2, 1.4285715e-1, 1.1111111e-1, 9.090909e-2, 7.692308e-2, 6.666667e-2))
	})
	l.unary("log_f32", F32, func(s *Block, x *Expr) *Expr {
		b := s.Let("b", bits(x))
		s.returnIf(b.Shl(1).Eq(0), FromBits(F32, minusInf), F32)
		s.returnIf(b.Gt(signBit), nan, F32)
		s.returnIf(b.Ge(infinity), x, F32)
		return x.Sub(1).Abs().Lt(0.4).If(l.call("log1p_near", x.Sub(1)), x.Log())
	})
	l.unary("log1p_f32", F32, func(s *Block, x *Expr) *Expr {
		return x.Abs().Lt(0.4).If(l.call("log1p_near", x), l.call("log_f32", Number(F32, 1).Add(x)))
	})
	l.unary("tanh_f32", F32, func(s *Block, x *Expr) *Expr {
		z := s.Let("z", x.Mul(x))
		near := s.Let("near", x.Add(x.Mul(z).Mul(poly(z, -3.33332819e-1, 1.33314422e-1, -5.37397156e-2, 2.06390888e-2, -5.70498872e-3))))
		two := Number(F32, 2)
		far := s.Let("far", Number(F32, 1).Sub(two.Div(two.Mul(x.Abs().Min(10)).Exp().Add(1))))
		y := s.Let("y", x.Abs().Lt(0.625).If(near, x.Lt(0).If(far.Neg(), far)))
		return l.call("is_nan", x).If(x, y)
	})
}

func (l library) errorFunctions() {
	l.unary("erf_f32", F32, func(s *Block, x *Expr) *Expr {
		one := Number(F32, 1)
		a := s.Let("a", x.Abs().Min(10))
		z := s.Let("z", x.Mul(x))
		near := s.Let("near", x.Mul(poly(z, 1.128379167, -3.761262582e-1, 1.128358514e-1, -2.685381193e-2, 5.188327685e-3, -8.010193625e-4, 7.853861353e-5)))
		t := s.Let("t", one.Div(one.Add(Number(F32, 0.3275911).Mul(a)))) // Abramowitz and Stegun 7.1.26
		p := s.Let("p", t.Mul(poly(t, 2.54829592e-1, -2.84496736e-1, 1.421413741, -1.453152027, 1.061405429)))
		far := s.Let("far", one.Sub(p.Mul(a.Neg().Mul(a).Exp())))
		y := s.Let("y", a.Lt(1).If(near, x.Lt(0).If(far.Neg(), far)))
		return l.call("is_nan", x).If(x, y)
	})
	// 2·exp(-a²)·P((a-3)/(a+3))/(a+3) with a = |x|, see internal/simd. The power is 2⁻ᵏ·eʳ with
	// |r| ≤ ln(2)/2, as in exp_sum, from the exact square of the head and the rest; 0 where it is subnormal.
	l.unary("erfc_f32", F32, func(s *Block, x *Expr) *Expr {
		a := s.Let("a", x.Abs().Min(10.1)) // whose result is 0
		y := s.Let("y", Number(F32, 2).Div(a.Add(3)))
		z := s.Let("z", a.Mul(y).Sub(1))
		p := s.Let("p", y.Mul(poly(z, 0.53700346, -0.44169724, 0.29511416, -0.15523306, 0.059764426, -0.013419803, -0.0006129137, 0.0015400292, -0.00024218165, -0.00016297193)))
		h := s.Let("h", l.call("head", a))
		square := s.Let("square", h.Mul(h))
		k := s.Let("k", square.Mul(1.442695).Add(0.5).Floor())
		r := k.Mul(lnTwoHigh).Sub(square).Launder(FirstWay).Add(k.Mul(lnTwoLow)).Add(h.Sub(a).Mul(a.Add(h)))
		power := Number(I32, 127).Sub(k.Convert(I32)).Max(0).Shl(23).Bitcast(F32)
		v := s.Let("v", r.Exp().Mul(p).Mul(power))
		return l.call("is_nan", x).If(x, x.Lt(0).If(Number(F32, 2).Sub(v), v))
	})
	// 2 to the power of a polynomial of |x|, of 12 bits. The coefficients have the least error in log₂(erfc) up to 9.3, whose
	// result is subnormal.
	l.unary("erfc_bf16", F32, func(s *Block, x *Expr) *Expr {
		a := s.Let("a", l.call("min_f32", x.Abs(), Number(F32, 9.3)))
		v := s.Let("v", poly(a, -1.7983245e-4, -1.6250447, -0.92541867, -0.14382643, 2.9738925e-2, -4.22446e-3, 3.8299212e-4, -1.9773228e-5, 4.4001322e-7).Exp2())
		return x.Lt(0).If(Number(F32, 2).Sub(v), v)
	})
}

func (l library) log2() {
	// e and log₂(1+f) with x = 2ᵉ·(1+f), 1+f in [√½, √2). The bits of a subnormal x are an integer, x·2¹⁴⁹.
	l.unary("log2_f32", F32, func(s *Block, x *Expr) *Expr {
		const rootHalf = 0x3f3504f3
		b := s.Let("b", bits(x))
		s.returnIf(b.Shl(1).Eq(0), FromBits(F32, minusInf), F32)
		s.returnIf(b.Gt(signBit), nan, F32)
		s.returnIf(b.Ge(infinity), x, F32)
		tiny := b.Lt(leadingOne)
		d := s.Let("d", tiny.If(bits(b.Convert(F32)), b).Sub(rootHalf).Bitcast(I32))
		e := s.Let("e", d.Shr(23).Sub(tiny.If(Number(I32, 149), Number(I32, 0))).Convert(F32))
		f := s.Let("f", d.And(0x7fffff).Add(rootHalf).Bitcast(F32).Sub(1))
		return e.Add(l.call("log1p_near", f).Mul(1.442695))
	})
}

// The natural logarithm of 2, in two parts.
const (
	lnTwoHigh = 0.693359375
	lnTwoLow  = -2.1219444e-4
)

// twoOverPi has the bits of 2/π after the binary point, preceded by a word of zeros.
var twoOverPi = []int{0, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410}

// trigonometry adds sine, cosine and arc tangents of float32. They reduce x to an angle, the vector
// (quarter, r) that stands for x = quarter·π/2 + r, where r is in [-π/4, π/4].
func (l library) trigonometry() {
	// A polynomial in ratio² for |x| ≤ tan(π/8); see atan_f64.
	l.unary("atan_f32", F32, func(s *Block, x *Expr) *Expr {
		abs := s.Let("a", x.Abs())
		steep := s.Let("steep", abs.Gt(2.4142136))
		middle := s.Let("middle", abs.Gt(0.41421357).And(steep.Not()))
		ratio := s.Let("r", steep.If(Number(F32, -1).Div(abs), middle.If(abs.Sub(1).Div(abs.Add(1)), abs)))
		square := s.Let("z", ratio.Mul(ratio))
		reduced := s.Let("p", ratio.Add(ratio.Mul(square).Mul(poly(square, -3.33329491e-1, 1.99777106e-1, -1.38776856e-1, 8.05374449e-2))))
		y := s.Let("y", steep.If(choose(F32, abs.Gt(1e9), 1.5707964, reduced.Add(1.5707964)), middle.If(reduced.Add(0.7853982), reduced)))
		return l.call("is_nan", x).If(x, x.Lt(0).If(y.Neg(), y))
	})
	// The upper and lower words of a 64-bit product, from products of halves of a and b.
	l.binary("mul_wide", U32, func(s *Block, a, b *Expr) *Expr {
		aLow := s.Let("al", a.And(0xffff))
		aHigh := s.Let("ah", a.Shr(16))
		bLow := s.Let("bl", b.And(0xffff))
		bHigh := s.Let("bh", b.Shr(16))
		firstCross := s.Let("m", aHigh.Mul(bLow).Add(aLow.Mul(bLow).Shr(16)))
		secondCross := s.Let("n", aLow.Mul(bHigh).Add(firstCross.And(0xffff)))
		return Vec(2, aHigh.Mul(bHigh).Add(firstCross.Shr(16)).Add(secondCross.Shr(16)), a.Mul(b))
	})
	l.unary("two_over_pi", U32, func(s *Block, x *Expr) *Expr {
		last := len(twoOverPi) - 1
		for i, word := range twoOverPi[:last] {
			s.returnIf(x.Eq(i), word, U32)
		}
		return Number(U32, float64(twoOverPi[last]))
	})
	// Payne and Hanek's reduction, by a window of 96 bits of 2/π; see far_angle_f64.
	l.unary("far_angle", F32, func(s *Block, x *Expr) *Expr {
		word := s.Let("b", bits(x))
		exponent := s.Let("e", word.Shr(23).And(0xff).Sub(126)) // |x| < 2^exponent
		first := s.Let("i", exponent.Shr(5).Min(4))
		shift := s.Let("s", exponent.And(31))
		hi := s.Var("hi", l.call("two_over_pi", first))
		mid := s.Var("mid", l.call("two_over_pi", first.Add(1)))
		lo := s.Var("lo", l.call("two_over_pi", first.Add(2)))
		s.If(shift.Ne(0), func(s *Block) {
			rest := Number(U32, 32).Sub(shift)
			s.Set(hi, hi.Ref().Shl(shift).Or(mid.Ref().Shr(rest)))
			s.Set(mid, mid.Ref().Shl(shift).Or(lo.Ref().Shr(rest)))
			s.Set(lo, lo.Ref().Shl(shift).Or(l.call("two_over_pi", first.Add(3).Min(6)).Shr(rest)))
		})
		significand := s.Let("m", word.Shl(8).Or(signBit))
		middle := s.Let("p", l.call("mul_wide", significand, mid.Ref()))
		low := s.Let("low", middle.At(1).Add(l.call("mul_wide", significand, lo.Ref()).At(0)))
		high := s.Var("high", significand.Mul(hi.Ref()).Add(middle.At(0)).Add(choose(U32, low.Lt(middle.At(1)), 1, 0)))
		quarter := s.Var("quarter", high.Ref().Shr(30).Convert(F32))
		s.Set(high, high.Ref().And(0x3fffffff))
		s.If(high.Ref().Ge(0x20000000), func(s *Block) { // to the nearest quarter, so that the fraction is negative
			s.Set(high, high.Ref().Sub(0x40000000))
			s.Set(quarter, quarter.Ref().Add(1))
		})
		fraction := high.Ref().Bitcast(I32).Convert(F32).Add(low.Convert(F32).Mul(2.3283064e-10))
		r := s.Let("rest", fraction.Mul(1.4629181e-9)) // π/2 / 2^30
		return x.Lt(0).If(Vec(2, quarter.Ref().Neg(), r.Neg()), Vec(2, quarter.Ref(), r))
	})
	// Cody and Waite's reduction, for |x| ≤ 4000: it subtracts quarter·π/2, with π/2 in three parts.
	l.unary("angle_of", F32, func(s *Block, x *Expr) *Expr {
		s.returnIf(x.Abs().Gt(4000), l.call("far_angle", x), F32.Vec(2))
		quarter := s.Let("q", x.Mul(0.63661977).Add(0.5).Floor())
		r := s.Let("r", x.Sub(quarter.Mul(1.5703125)).Sub(quarter.Mul(4.837513e-4)).Sub(quarter.Mul(7.549790e-8)))
		return Vec(2, quarter, r)
	})
	// The sine of an angle: for an even quarter the sine of r by a polynomial in square = r², for
	// an odd one the cosine.
	l.unary("sine", F32.Vec(2), func(s *Block, x *Expr) *Expr {
		quarter := s.Let("q", x.At(0).Convert(I32))
		r := s.Let("r", x.At(1))
		square := s.Let("z", r.Mul(r))
		sin := s.Let("s", r.Add(r.Mul(square).Mul(poly(square, -1.6666655e-1, 8.3321609e-3, -1.9515296e-4))))
		cos := s.Let("c", Number(F32, 1).Sub(Number(F32, 0.5).Mul(square)).Add(square.Mul(square).Mul(poly(square, 4.166664568e-2, -1.388731625e-3, 2.443315711e-5))))
		y := s.Let("y", quarter.And(1).Ne(0).If(cos, sin))
		return quarter.And(2).Ne(0).If(y.Neg(), y)
	})
	l.unary("sin_f32", F32, func(s *Block, x *Expr) *Expr {
		s.returnIf(absBits(x).Ge(infinity), nan, F32)
		return l.call("sine", l.call("angle_of", x))
	})
	l.unary("cos_f32", F32, func(s *Block, x *Expr) *Expr {
		s.returnIf(absBits(x).Ge(infinity), nan, F32)
		angle := s.Let("a", l.call("angle_of", x))
		return l.call("sine", Vec(2, angle.At(0).Add(1), angle.At(1)))
	})
}

func (l library) arithmetic() {
	// The first 12 bits of a significand. The product of two heads is exact.
	l.unary("head", F32, func(s *Block, x *Expr) *Expr { return bits(x).And(0xfffff000).Bitcast(F32) })
	// The logarithm of a positive normal number 2ᵏ·m, √½ ≤ m < √2, as a head and the rest:
	// k·ln(2) + 2·artanh(q), where q = (m-1)/(m+1) is a head and a rest as well.
	l.unary("log_parts", F32, func(s *Block, x *Expr) *Expr {
		const rootHalf = 0x3f3504f3
		e := s.Let("e", bits(x).Sub(rootHalf).Bitcast(I32).Shr(23))
		k := s.Let("k", e.Convert(F32))
		f := s.Let("f", bits(x).Sub(e.Shl(23).Bitcast(U32)).Bitcast(F32).Sub(1))
		d := s.Let("d", f.Add(2))
		high := s.Let("high", l.call("head", d))
		low := s.Let("low", f.Sub(high.Sub(2).Launder(FirstWay)).Launder(FirstWay))
		q := s.Let("q", l.call("head", f.Div(d)))
		rest := s.Let("rest", f.Sub(q.Mul(high)).Launder(FirstWay).Sub(q.Mul(low)).Div(d))
		t := s.Let("t", q.Add(rest))
		z := s.Let("z", t.Mul(t))
		series := s.Let("series", t.Mul(z).Mul(poly(z, 6.6666667e-1, 0.4, 2.857143e-1, 2.2222222e-1, 1.8181819e-1)))
		turns := s.Let("turns", k.Mul(lnTwoHigh))
		sum := s.Let("sum", turns.Add(q.Mul(2)).Launder(FirstWay))
		lost := s.Let("lost", q.Mul(2).Sub(sum.Sub(turns).Launder(FirstWay)))
		tail := s.Let("tail", k.Mul(lnTwoLow).Add(rest.Mul(2)).Add(series).Add(lost))
		y := s.Let("y", l.call("head", sum.Add(tail)))
		return Vec(2, y, sum.Sub(y).Launder(FirstWay).Add(tail))
	})
	l.binary("pow_f32", F32, func(s *Block, a, b *Expr) *Expr {
		s.returnIf(b.Eq(0).Or(a.Eq(1)), 1, F32)
		s.returnIf(l.call("is_nan", a).Or(l.call("is_nan", b)), nan, F32)
		s.returnIf(b.Eq(1), a, F32)
		m := s.Let("m", a.Abs())
		s.returnIf(m.Eq(1).And(l.call("is_finite", b).Not()), 1, F32)
		whole := s.Let("whole", b.Floor().Eq(b))
		odd := s.Let("odd", whole.And(b.Abs().Lt(16777216)).And(b.Max(-16777216).Min(16777216).Convert(I32).And(1).Ne(0)))
		rough := s.Let("rough", b.Mul(l.call("log_f32", m)))
		y := s.Var("y", l.call("exp_f32", rough))
		s.If(rough.Abs().Lt(104).And(bits(m).Ge(leadingOne)), func(s *Block) {
			z := s.Let("z", l.call("log_parts", m))
			p := s.Let("p", l.call("head", b).Mul(z.At(0)))
			rest := s.Let("rest", b.Mul(z.At(1)).Add(b.Sub(l.call("head", b)).Launder(FirstWay).Mul(z.At(0))))
			s.Set(y, l.call("exp_sum", p, rest))
		})
		s.returnIf(whole.Not().And(a.Lt(0)).And(l.call("is_finite", a)), nan, F32)
		return odd.And(bits(a).Shr(31).Eq(1)).If(y.Ref().Neg(), y.Ref())
	})
	l.binary("div_f32", F32, func(s *Block, a, b *Expr) *Expr {
		sign := s.Let("sign", bits(a).Xor(bits(b)).And(signBit))
		infinite := s.Let("infinite", sign.Or(infinity).Launder(FirstWay).Bitcast(F32))
		t := s.Let("s", choose(F32, b.Abs().Gt(4e37), 0.25, 1)) // the reciprocal of b may be taken for 0
		return b.Eq(0).If(a.Eq(0).Or(l.call("is_nan", a)).If(nan, infinite), a.Mul(t).Div(b.Mul(t)))
	})
	// The arc tangent of the lesser absolute value over the greater, at most π/4, moved to
	// the octant of the point. Subnormal numbers are divided as the integers of their bits.
	l.binary("atan2_f32", F32, func(s *Block, y, x *Expr) *Expr {
		ay, ax := s.Let("ay", absBits(y)), s.Let("ax", absBits(x))
		lesser, greater := s.Let("lesser", ay.Min(ax)), s.Let("greater", ay.Max(ax))
		tiny := s.Let("tiny", greater.Lt(leadingOne))
		q := l.call("div_f32", tiny.If(lesser.Convert(F32), lesser.Bitcast(F32)), tiny.If(greater.Convert(F32), greater.Bitcast(F32)))
		zero := greater.Eq(0).Or(greater.Eq(infinity).And(lesser.Ne(infinity)))
		p := s.Let("p", l.call("atan_f32", choose(F32, zero, 0, choose(F32, lesser.Eq(greater), 1, q))))
		steep := s.Let("steep", ay.Gt(ax).If(Number(F32, 1.5707964).Sub(p), p))
		turned := s.Let("turned", bits(x).Ge(signBit).If(Number(F32, 3.1415927).Sub(steep), steep))
		return greater.Gt(infinity).If(nan, bits(turned).Or(bits(y).And(signBit)).Bitcast(F32))
	})
}

// remainder adds Rem. The result is exact: long division of significands, as many bits at a
// time as a register has above one. Integers do not take subnormal numbers for 0.
func (l library) remainder(f format) {
	one, infinity := FromBits(f.bits, f.leadingOne()), FromBits(f.bits, f.infinity())
	most := f.width() - f.significand - 1
	name := "significand_" + f.bits.String()
	// Of the bits of a number that is neither negative nor infinite.
	l.unary(name, f.bits, func(s *Block, x *Expr) *Expr {
		return x.Lt(one).If(x, x.And(FromBits(f.bits, f.leadingOne()-1)).Or(one))
	})
	l.binary("rem_"+f.float.String(), f.float, func(s *Block, a, b *Expr) *Expr {
		ua := s.Let("ua", f.abs(a))
		ub := s.Let("ub", f.abs(b))
		s.returnIf(ua.Ge(infinity).Or(ub.Gt(infinity)).Or(ub.Eq(0)), f.nan(), f.float)
		s.returnIf(ua.Lt(ub), a, f.float)
		eb := s.Let("eb", ub.Shr(f.significand).Max(1))
		y := s.Let("y", l.call(name, ub))
		r := s.Var("r", l.call(name, ua).Rem(y))
		n := s.Var("n", ua.Shr(f.significand).Max(1).Sub(eb))
		divide := &Block{}
		k := divide.Let("k", n.Ref().Min(most))
		divide.Set(r, r.Ref().Shl(k.Convert(U32)).Rem(y))
		divide.Set(n, n.Ref().Sub(k))
		s.Do(&For{Cond: n.Ref().Gt(0), Body: divide})
		s.If(r.Ref().Ne(0), func(s *Block) {
			t := s.Let("s", r.Ref().LeadingZeros().Sub(most).Min(eb.Sub(1)))
			s.Set(r, r.Ref().Shl(t.Convert(U32)).Add(eb.Sub(t).Sub(1).Shl(f.significand)))
		})
		return r.Ref().Or(bits(a).And(FromBits(f.bits, f.signBit()))).Bitcast(f.float)
	})
}
