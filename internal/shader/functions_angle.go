package shader

import "math"

// twoOverPi64 has the bits of 2/π after a word of zeros, so that the first bit of the second word
// has the value 2.
var twoOverPi64 = []uint64{0,
	0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf,
	0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d,
	0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea,
}

// piMiddle + piLow is π/2 minus the float64 nearest to it.
const piMiddle, piLow = 6.123233995736766e-17, -1.4973849048591833e-33

// trigonometry64 adds sine, cosine and arc tangents of float64.
func (l library) trigonometry64() {
	l.reductions64()
	l.sines64()
	l.arcTangents64()
}

// reducedAngle is the vector (quarter, r, low, 0) that stands for x = quarter·π/2 + r + low, where
// quarter is whole and r is in [-π/4, π/4].
func reducedAngle(quarter, r, low *Expr) *Expr { return Vec(4, quarter, r, low, f64Of(0)) }

// reductions64 adds angle_of_f64, the reducedAngle of x. It follows Cody and Waite or, where
// |x| is large, Payne and Hanek.
func (l library) reductions64() {
	l.unary("two_over_pi_u64", U64, func(s *Block, x *Expr) *Expr {
		last := len(twoOverPi64) - 1
		for i, word := range twoOverPi64[:last] {
			s.returnIf(x.Eq(i), FromBits(U64, word), U64)
		}
		return FromBits(U64, twoOverPi64[last])
	})
	// The upper and lower words of a 128-bit product, from products of halves of a and b.
	l.binary("mul_wide_u64", U64, func(s *Block, a, b *Expr) *Expr {
		low := func(x *Expr) *Expr { return x.And(math.MaxUint32) }
		aLow, aHigh := s.Let("aLow", low(a)), s.Let("aHigh", a.Shr(32))
		bLow, bHigh := s.Let("bLow", low(b)), s.Let("bHigh", b.Shr(32))
		firstCross := s.Let("firstCross", aHigh.Mul(bLow).Add(aLow.Mul(bLow).Shr(32)))
		secondCross := s.Let("secondCross", aLow.Mul(bHigh).Add(low(firstCross)))
		return Vec(2, aHigh.Mul(bHigh).Add(firstCross.Shr(32)).Add(secondCross.Shr(32)), a.Mul(b))
	})
	// Payne and Hanek's reduction, for |x| ≥ 2. It multiplies the significand of x by 192 bits of
	// 2/π, a window that starts at the exponent of x: higher bits give whole turns, lower bits
	// do not affect the result. The product, modulo 4, has the number of quarter turns in its
	// upper 2 bits and a fraction of a quarter turn in the other 126.
	l.unary("far_angle_f64", F64, func(s *Block, x *Expr) *Expr {
		exponent := s.Let("exponent", bits(x).Shr(52).And(0x7ff).Sub(1022)) // |x| < 2^exponent
		shift := s.Let("shift", exponent.And(63).Convert(U32))
		// window holds 256 bits of 2/π, from the word that contains bit `exponent`. The shift below
		// moves that bit to the top of window[0]; window[3] is then used up.
		var window [4]*Var
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
		significand := s.Let("significand", bits(x).Shl(11).Or(FromBits(U64, double.signBit())))
		middle := s.Let("middle", l.call("mul_wide_u64", significand, window[1].Ref()))
		low := s.Let("low", middle.At(1).Add(l.call("mul_wide_u64", significand, window[2].Ref()).At(0)))
		carry := choose(U64, low.Lt(middle.At(1)), 1, 0)
		high := s.Var("high", significand.Mul(window[0].Ref()).Add(middle.At(0)).Add(carry))
		quarter := s.Var("quarter", high.Ref().Shr(62).Convert(F64))
		s.Set(high, high.Ref().And(1<<62-1))
		s.If(high.Ref().Ge(1<<61), func(s *Block) { // to the nearest quarter, so that the fraction is negative
			s.Set(high, high.Ref().Sub(1<<62))
			s.Set(quarter, quarter.Ref().Add(1))
		})
		// Convert the 126-bit fraction to the unevaluated sum of two float64s, sum + tail (Fast2Sum),
		// and multiply it by π/2 = (π/2 as float64) + piMiddle, keeping the error of the product by FMA.
		const unit = 0x1p-62 // of a quarter turn, the unit of fraction
		fraction := s.Let("fraction", high.Ref().Bitcast(I64))
		rounded := s.Let("rounded", fraction.Convert(F64))
		remainder := s.Let("remainder", MulAdd(low.Convert(F64), f64Of(0x1p-64), fraction.Sub(rounded.Convert(I64)).Convert(F64)))
		sum := s.Let("sum", rounded.Add(remainder))
		tail := s.Let("tail", rounded.Sub(sum).Add(remainder))
		r := s.Let("r", sum.Mul(math.Pi/2*unit))
		rError := s.Let("rError", MulAdd(sum, f64Of(math.Pi/2*unit), r.Neg()))
		rLow := s.Let("rLow", MulAdd(sum, f64Of(piMiddle*unit), MulAdd(tail, f64Of(math.Pi/2*unit), rError)))
		return x.Lt(0).If(reducedAngle(quarter.Ref().Neg(), r.Neg(), rLow.Neg()), reducedAngle(quarter.Ref(), r, rLow))
	})
	// Cody and Waite's reduction, for |x| ≤ 2³⁰: it subtracts quarter·π/2, with π/2 in three parts.
	l.unary("angle_of_f64", F64, func(s *Block, x *Expr) *Expr {
		s.returnIf(x.Abs().Gt(1<<30), l.call("far_angle_f64", x), F64.Vec(4))
		quarter := s.Let("quarter", nearest(x.Mul(2/math.Pi)))
		first := s.Let("first", fnma(quarter, f64Of(math.Pi/2), x)) // exact
		middle := s.Let("middle", quarter.Mul(piMiddle))
		middleError := fnma(quarter, f64Of(piMiddle), middle) // by rounding
		r := s.Let("r", first.Sub(middle))
		low := fnma(quarter, f64Of(piLow), first.Sub(r).Sub(middle).Add(middleError))
		return reducedAngle(quarter, r, low)
	})
}

// sines64 adds sine and cosine.
func (l library) sines64() {
	// The sine of a reducedAngle: for an even quarter the sine of r + low by a polynomial in
	// square = r², for an odd one the cosine. The errors of the polynomials are at most 2⁻⁵⁸.
	l.unary("sine_of_angle_f64", F64.Vec(4), func(s *Block, x *Expr) *Expr {
		quarter := s.Let("quarter", x.At(0).Convert(I32))
		r, low := s.Let("r", x.At(1)), s.Let("low", x.At(2))
		square := s.Let("square", r.Mul(r))
		sin := horner(square, -0.16666666666666632, 0.00833333333332242, -0.00019841269829812727, 2.7557313693598763e-06, -2.505075837767918e-08, 1.5896810930035655e-10)
		sin = s.Let("sinR", r.Add(MulAdd(sin.Mul(square), r, low)))
		cos := horner(square, 0.0416666666666666, -0.0013888888888874133, 2.4801587289488395e-05, -2.7557314354187497e-07, 2.087572353345975e-09, -1.135966167320952e-11)
		half := s.Let("half", square.Mul(0.5))
		leading := s.Let("leading", f64Of(1).Sub(half)) // of cos; the next line adds the error of this rounding
		cos = s.Let("cosR", leading.Add(fnma(r, low, cos.Mul(square.Mul(square))).Add(f64Of(1).Sub(leading).Sub(half))))
		y := s.Let("y", quarter.And(1).Ne(0).If(cos, sin))
		return quarter.And(2).Ne(0).If(y.Neg(), y)
	})
	nanUnlessFinite := func(s *Block, x *Expr) { s.returnIf(x.Abs().Lt(inf64).Not(), nan64, F64) }
	l.unary("sin_f64", F64, func(s *Block, x *Expr) *Expr {
		nanUnlessFinite(s, x)
		y := s.Let("y", l.call("sine_of_angle_f64", l.call("angle_of_f64", x)))
		return x.Eq(0).If(x, y) // sine_of_angle_f64 would lose the sign of -0
	})
	l.unary("cos_f64", F64, func(s *Block, x *Expr) *Expr {
		nanUnlessFinite(s, x)
		angle := s.Let("angle", l.call("angle_of_f64", x))
		return l.call("sine_of_angle_f64", Vec(4, angle.At(0).Add(1), angle.At(1), angle.At(2), angle.At(3)))
	})
}

// arcTangents64 adds the arc tangents of one and two operands.
func (l library) arcTangents64() {
	// A polynomial in ratio² for |x| ≤ tan(π/8), with an error of at most 2⁻⁵⁸. A greater |x| has
	// the arc tangent π/4 + atan((x-1)/(x+1)) or, from tan(3π/8), π/2 - atan(1/x).
	l.unary("atan_f64", F64, func(s *Block, x *Expr) *Expr {
		abs := s.Let("magnitude", x.Abs())
		steep := s.Let("steep", abs.Gt(2.414213562373095))
		middle := s.Let("middle", abs.Gt(0.4142135623730951).And(steep.Not()))
		ratio := s.Let("ratio", steep.If(f64Of(-1), middle.If(abs.Sub(1), abs)).Div(steep.If(abs, middle.If(abs.Add(1), f64Of(1)))))
		square := s.Let("square", ratio.Mul(ratio))
		curve := s.Let("curve", ratio.Mul(square).Mul(horner(square, -0.33333333333333326, 0.1999999999999765, -0.14285714285386017, 0.1111111108807281, -0.09090908141355669,
			0.07692282699341331, -0.06666226046020786, 0.058770162855465845, -0.05218377375613838, 0.04503470919650549, -0.03347329564703065, 0.01519459484735187)))
		high := steep.If(f64Of(math.Pi/2), middle.If(f64Of(math.Pi/4), f64Of(0)))
		low := steep.If(f64Of(piMiddle), middle.If(f64Of(piMiddle/2), f64Of(0)))
		y := s.Let("y", high.Add(ratio.Add(curve.Add(low))))
		return x.Ne(x).If(x, withSign(y, x))
	})
	// The arc tangent of the lesser absolute value over the greater, an angle of at most π/4, is
	// moved to the first quadrant, and then to the quadrant of the point (x, y).
	l.binary("atan2_f64", F64, func(s *Block, y, x *Expr) *Expr {
		absY, absX := s.Let("absY", y.Abs()), s.Let("absX", x.Abs())
		steep := s.Let("steep", absY.Gt(absX))
		lesser, greater := s.Let("lesser", steep.If(absX, absY)), s.Let("greater", steep.If(absY, absX))
		octant := s.Let("octant", l.call("atan_f64", choose(F64, greater.Eq(0), 0, choose(F64, lesser.Eq(greater), 1, lesser.Div(greater)))))
		firstQuadrant := s.Let("firstQuadrant", steep.If(f64Of(math.Pi/2).Add(f64Of(piMiddle).Sub(octant)), octant))
		negative := bits(x).Ge(FromBits(U64, double.signBit()))
		angle := s.Let("angle", negative.If(f64Of(math.Pi).Add(f64Of(2*piMiddle).Sub(firstQuadrant)), firstQuadrant))
		return x.Ne(x).Or(y.Ne(y)).If(nan64, withSign(angle, y))
	})
}
