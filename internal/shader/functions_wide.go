package shader

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// wide adds the functions of registers of 64 bits, and those that only devices with such
// registers need.
func (l library) wide() {
	l.conversions(single, slices.DeleteFunc(slices.Clone(ir.DTypes), func(d ir.DType) bool { return slices.Contains(DTypes, d) }))
	l.conversions(double, ir.DTypes)
	l.remainder(double)
	l.keys(double)
	l.binary("max_f64", F64, func(_ *Block, a, b *Expr) *Expr { return a.Gt(b).Or(a.Ne(a)).If(a, b) })
	l.binary("min_f64", F64, func(_ *Block, a, b *Expr) *Expr { return a.Lt(b).Or(a.Ne(a)).If(a, b) })
	l.exponentials64()
	l.powers64()
	l.trigonometry64()
}

// The functions of float64 follow internal/simd, but for arc tangents and the angles of
// great numbers. Their polynomials are minimax fits (Remez's algorithm).

var (
	inf64 = FromBits(F64, double.infinity())
	nan64 = double.nan()
)

func f64Of(x float64) *Expr { return Number(F64, x) }

// horner is the polynomial c[0] + c[1]·x + ….
func horner(x *Expr, c ...float64) *Expr {
	p := f64Of(c[len(c)-1])
	for _, c := range slices.Backward(c[:len(c)-1]) {
		p = MulAdd(p, x, f64Of(c))
	}
	return p
}

// fnma is z - x·y, rounded once.
func fnma(x, y, z *Expr) *Expr { return MulAdd(x.Neg(), y, z) }

// withSign is |y| with the sign of x.
func withSign(y, x *Expr) *Expr {
	return double.abs(y).Or(bits(x).And(FromBits(U64, double.signBit()))).Bitcast(F64)
}

// within is x cut off at limits.
func within(x *Expr, lo, hi float64) *Expr { return x.Max(lo).Min(hi) }

// roundMagic leaves a small number, rounded to an integer, in the low bits of the sum.
const roundMagic = 3 << 51

// nearest is x rounded to the nearest integer, for |x| < 2⁵¹.
func nearest(x *Expr) *Expr { return x.Add(f64Of(roundMagic)).Sub(f64Of(roundMagic)) }

// power64 is 2ⁿ for integers from -1022 to 1023.
func power64(n *Expr) *Expr { return bits(n.Add(f64Of(roundMagic + 1023))).Shl(52).Bitcast(F64) }

// scale64 is 2ⁿ·x: 2ⁿ is two factors, as it may be out of range.
func scale64(s *Block, x, n *Expr) *Expr {
	half := s.Let("half", nearest(n.Mul(0.5)))
	return x.Mul(power64(half)).Mul(power64(n.Sub(half)))
}

// ln2Rest is ln 2 without the float64 nearest to it, whose products by n ≤ 2¹¹ a fused
// multiply-add subtracts exactly from numbers near to them.
const ln2Rest = 2.3190468138462996e-17

// reduce64 returns n and exp(r) - 1, to 2⁻⁶¹, with x = n·ln 2 + r and |r| ≤ ln(2)/2. rest, if it
// is not nil, is added to r.
func reduce64(s *Block, x, rest *Expr) (n, p *Expr) {
	n = s.Let("n", nearest(x.Mul(math.Log2E)))
	t := s.Let("t", fnma(n, f64Of(math.Ln2), x))
	low := n.Mul(ln2Rest)
	if rest != nil {
		low = low.Sub(rest)
	}
	low = s.Let("low", low)
	r := s.Let("r", t.Sub(low))
	q := horner(r, 0.5, 0.16666666666666677, 0.0416666666666667, 0.008333333333321617, 0.0013888888888866694, 0.00019841269886157912,
		2.4801587360785696e-05, 2.755724418195281e-06, 2.7557242588267777e-07, 2.5109045055123555e-08, 2.09244917242932e-09)
	// r without its rounding error, which the result would have: t - low.
	return n, s.Let("power", t.Add(q.Mul(r.Mul(r)).Sub(low)))
}

// lessOne64 is exp(x) - 1 for x from -40 to 710.
func lessOne64(s *Block, x *Expr) *Expr {
	n, p := reduce64(s, x, nil)
	scale := s.Let("scale", power64(n.Sub(1))) // 2ⁿ⁻¹ does not overflow
	v := s.Let("v", MulAdd(scale, p, scale.Sub(0.5)))
	return v.Add(v)
}

func (l library) exponentials64() {
	// unary64 adds a function that gives NaN for NaN.
	unary64 := func(name string, body func(s *Block, x *Expr) *Expr) {
		l.unary(name, F64, func(s *Block, x *Expr) *Expr {
			y := s.Let("y", body(s, x))
			return x.Ne(x).If(x, y)
		})
	}
	unary64("exp_f64", func(s *Block, x *Expr) *Expr {
		n, p := reduce64(s, s.Let("a", within(x, -746, 710)), nil)
		return scale64(s, p.Add(1), n)
	})
	unary64("expm1_f64", func(s *Block, x *Expr) *Expr {
		y := s.Let("less", lessOne64(s, s.Let("a", within(x, -40, 710))))
		return x.Abs().Lt(0x1p-54).If(x, y) // also -0
	})
	// m/(m+2) with m = exp(2|x|) - 1.
	unary64("tanh_f64", func(s *Block, x *Expr) *Expr {
		m := s.Let("m", lessOne64(s, s.Let("a", x.Abs().Add(x.Abs()).Min(44))))
		d := s.Let("d", m.Add(2))
		low := m.Sub(d.Sub(2)) // d + low is m + 2
		inverse := s.Let("inverse", f64Of(1).Div(d))
		q := s.Let("q", m.Mul(inverse))
		rest := fnma(q, low, fnma(q, d, m))
		return withSign(MulAdd(rest, inverse, q), x)
	})
	// A polynomial for |x| < 1, to 2⁻⁵⁷, and else 1 - exp(-t·Q(t)) with t = |x|, to 2⁻⁵⁸.
	unary64("erf_f64", func(s *Block, x *Expr) *Expr {
		a := s.Let("a", x.Abs())
		small := MulAdd(horner(s.Let("z", x.Mul(x)), 0.12837916709551256, -0.3761263890318355, 0.11283791670945253, -0.02686617064327622, 0.005223977607423468,
			-0.0008548325989696758, 0.00012055295320494294, -1.4924744663335489e-05, 1.6447517677871873e-06, -1.6209175911748696e-07, 1.3722976265924504e-08, -7.801188874097751e-10), a, a)
		u := s.Let("u", a.Min(6))
		q := s.Let("q", horner(u, 1.1283791081876333, 0.6366202773101769, 0.10277072166191403, -0.019124686687625653, -0.00021254222580544558, 0.0016932816707574347,
			-0.0005753389351611868, -4.4324985053550385e-07, 9.516105608682954e-05, -5.5881491460496196e-05, 2.0291667979447857e-05, -5.367463055844883e-06,
			1.0740289366727474e-06, -1.6230752961330054e-07, 1.8039083653488913e-08, -1.3943313384003e-09, 6.700768742479766e-11, -1.5077562603564928e-12))
		p := s.Let("p", u.Mul(q))
		rest := s.Let("rest", fnma(u, q, p)) // p - u·q
		n, w := reduce64(s, s.Let("minus", p.Neg()), rest)
		scale := s.Let("scale", power64(n))
		return withSign(a.Lt(1).If(small, f64Of(1).Sub(MulAdd(w, scale, scale))), x)
	})
	// 2·exp(-a²)·P((a-4)/(a+4))/(a+4) with a = |x|, with P to 2⁻⁵³.
	unary64("erfc_f64", func(s *Block, x *Expr) *Expr {
		a := s.Let("a", x.Abs().Min(27.3)) // whose result is 0
		inverse := s.Let("inverse", f64Of(2).Div(a.Add(4)))
		z := s.Let("z", MulAdd(a, inverse, f64Of(-1)))
		p := s.Let("p", inverse.Mul(horner(z, 0.5479978305002455, -0.4882743645404412, 0.3866043511326205, -0.27042691565659405, 0.16542579393889514, -0.0870054686207368, 0.0381907574571171,
			-0.013185026658327296, 0.0030560278009298214, -0.0001404795354197096, -0.00022752617847860335, 8.840695839957795e-05, -1.8181643723150797e-06,
			-9.432325799307406e-06, 2.3483798954028466e-06, 7.162436933412573e-07, -4.2427158952251633e-07, -4.3435632030291785e-08, 6.217891144019466e-08,
			4.80763355592378e-09, -6.920903893515035e-09, -1.383505471317527e-09)))
		square := s.Let("square", a.Mul(a))
		n, w := reduce64(s, s.Let("minus", square.Neg()), s.Let("rest", fnma(a, a, square)))
		v := s.Let("v", scale64(s, MulAdd(w, p, p), n))
		return x.Lt(0).If(f64Of(2).Sub(v), v)
	})
	l.unary("log_f64", F64, func(s *Block, x *Expr) *Expr { return logOf64(s, x, nil) })
	l.unary("log2_f64", F64, log2Of64)
	l.unary("log1p_f64", F64, func(s *Block, x *Expr) *Expr {
		u := s.Let("u", x.Add(1)) // u + c is 1 + x exactly (Knuth, TwoSum)
		t := s.Let("t", u.Sub(x))
		c := s.Let("c", x.Sub(u.Sub(t)).Add(f64Of(1).Sub(t)))
		y := s.Let("y", logOf64(s, u, c))
		return x.Abs().Lt(0x1p-54).If(x, y)
	})
}

// normal64 returns m, which is not subnormal, and exponent with x = m·2^exponent, for a
// positive finite x.
func normal64(s *Block, x *Expr) (m, exponent *Expr) {
	subnormal := s.Let("subnormal", x.Lt(0x1p-1022))
	return s.Let("m", subnormal.If(x.Mul(1<<54), x)), subnormal.If(f64Of(-54), f64Of(0))
}

// split64 returns e and f with x = 2ᵉ·(1+f), 1+f in [√½, √2), for a positive finite x that is
// not subnormal.
func split64(s *Block, x *Expr) (e, f *Expr) {
	const rootHalf, significand = 0x3fe6a09e667f3bcd, 1<<52 - 1
	d := s.Let("e", bits(x).Add(1<<62-rootHalf)) // 1024 + e in the exponent
	e = d.Shr(52).Or(0x433 << 52).Bitcast(F64).Sub(1<<52 + 1024)
	return e, s.Let("f", d.And(significand).Add(rootHalf).Bitcast(F64).Sub(1))
}

// logOf64 is log(x + c) for a c that is smaller than the last bit of x, nil for 0. With
// x = 2ᵉ·(1+f), 1+f in [√½, √2), and s = f/(2+f), log(1+f) is f - (f²/2 - s·(f²/2 + s²·P(s²))),
// with P to 2⁻⁵⁹ of the logarithm (FDLIBM, e_log.c).
func logOf64(s *Block, x, c *Expr) *Expr {
	m, exponent := normal64(s, x)
	e, f := split64(s, m)
	low := f64Of(0)
	if c != nil {
		c = c.Mul(power64(e.Min(1000).Neg())) // c is 0 from 2⁵⁴ on
		low = fnma(f, c, c)                   // c/(1+f), as c is small
	}
	e = s.Let("k", e.Add(exponent))
	return logLimits(x, s.Let("v", MulAdd(e, f64Of(math.Ln2), f.Sub(log1pLow64(s, f, MulAdd(e, f64Of(ln2Rest), low))))))
}

// log1pLow64 is f - log(1+f) - low.
func log1pLow64(s *Block, f, low *Expr) *Expr {
	q := s.Let("q", f.Div(f.Add(2)))
	z := s.Let("z", q.Mul(q))
	p := horner(z, 0.6666666666666734, 0.3999999999941437, 0.2857142874247162, 0.22222198563205484, 0.18183564906434072, 0.15314034306221838, 0.14796124804493935)
	half := s.Let("h", f.Mul(f).Mul(0.5))
	return half.Sub(MulAdd(q, MulAdd(p, z, half), low))
}

// log2Of64 adds e and log₂(1+f), which is 0 for a power of two.
func log2Of64(s *Block, x *Expr) *Expr {
	const rest = 2.0355273740931033e-17 // log₂ e without the float64 nearest to it
	m, exponent := normal64(s, x)
	e, f := split64(s, m)
	low := fnma(log1pLow64(s, f, f64Of(0)), f64Of(math.Log2E), f.Mul(rest))
	high := s.Let("high", f.Mul(math.Log2E))
	low = low.Sub(fnma(f, f64Of(math.Log2E), high))
	return logLimits(x, s.Let("v", e.Add(exponent).Add(high.Add(low))))
}

// logLimits is v, or the logarithm of 0, infinities, NaN and negative numbers.
func logLimits(x, v *Expr) *Expr {
	limit := x.Eq(0).If(inf64.Neg(), x.Eq(inf64).If(x, nan64))
	return x.Gt(0).And(x.Lt(inf64)).If(v, limit)
}

func (l library) powers64() {
	// The logarithm as a sum of two numbers, with relative error of about 2⁻⁶⁸, of a positive
	// finite x. With x = 2ᵉ·(1+f), 1+f in [√½, √2), s = f/(2+f) and z = s², log(1+f) is
	// s·(2 + z·(⅔ + z·(⅖ + z·P(z)))), with P to 2⁻⁷¹ of the logarithm. All but P is in two parts.
	l.unary("log_parts_f64", F64, func(s *Block, x *Expr) *Expr {
		const (
			// ln 2; multiples of the first part by integers below 2¹¹ are exact.
			ln2High, ln2Low                      = 0.6931471805598903, 5.497923018708371e-14
			thirds, thirdsLow, fifths, fifthsLow = 2. / 3, 3.700743415417188e-17, 2. / 5, -2.2204460492503132e-17
		)
		m, exponent := normal64(s, x)
		e, f := split64(s, m)
		e = s.Let("k", e.Add(exponent))
		d := s.Let("d", f.Add(2))
		inverse := s.Let("inverse", f64Of(1).Div(d))
		q := s.Let("q", f.Mul(inverse))
		qLow := s.Let("qLow", fnma(q, f.Sub(d.Sub(2)), fnma(q, d, f)).Mul(inverse))
		z := s.Let("z", q.Mul(q))
		zLow := s.Let("zLow", MulAdd(q.Add(q), qLow, MulAdd(q, q, z.Neg())))
		// plus is t + k in two parts, for |t| < |k| (Dekker, FastTwoSum).
		plus := func(name string, t *Expr, k float64) (high, low *Expr) {
			high = s.Let(name, t.Add(k))
			return high, f64Of(k).Sub(high).Add(t)
		}
		// times is the product of two numbers in two parts, one too.
		times := func(name string, x, xLow, y, yLow *Expr) (high, low *Expr) {
			high = s.Let(name, x.Mul(y))
			return high, s.Let(name+"Low", MulAdd(xLow, y, MulAdd(x, yLow, MulAdd(x, y, high.Neg()))))
		}
		t := s.Let("t", z.Mul(horner(z, 0.28571428571433166, 0.22222222220009477, 0.18181818605913136, 0.15384572860846454, 0.13335764768814543, 0.11685005111483306, 0.11911301922046671)))
		p, pLow := plus("fifths", t, fifths)
		t, tLow := times("a", z, zLow, p, s.Let("fifthsLow", pLow.Add(fifthsLow)))
		p, pLow = plus("thirds", t, thirds)
		t, tLow = times("b", z, zLow, p, s.Let("thirdsLow", pLow.Add(tLow.Add(thirdsLow))))
		t, tLow = times("c", q, qLow, t, tLow)
		twice := s.Let("twice", q.Add(q))
		v := s.Let("v", twice.Add(t))
		vLow := s.Let("vLow", twice.Sub(v).Add(t).Add(tLow.Add(qLow.Add(qLow))))
		n := s.Let("n", e.Mul(ln2High)) // exact, and 0 or greater than v
		high := s.Let("high", n.Add(v))
		return Vec(2, high, n.Sub(high).Add(v).Add(MulAdd(e, f64Of(ln2Low), vLow)))
	})
	// exp(b·log|a|), with the special values of C99.
	l.binary("pow_f64", F64, func(s *Block, a, b *Expr) *Expr {
		s.returnIf(b.Eq(0).Or(a.Eq(1)), 1, F64)
		s.returnIf(a.Ne(a).Or(b.Ne(b)), nan64, F64)
		whole := s.Let("whole", b.Floor().Eq(b))
		half := s.Let("halves", b.Mul(0.5))
		negative := s.Let("negative", whole.And(half.Floor().Ne(half)).And(bits(a).Ge(FromBits(U64, double.signBit()))))
		s.returnIf(whole.Not().And(a.Lt(0)).And(a.Gt(inf64.Neg())), nan64, F64)
		m := s.Let("m", a.Abs())
		parts := s.Let("parts", l.call("log_parts_f64", m))
		high := s.Let("high", m.Eq(0).If(inf64.Neg(), m.Eq(inf64).If(inf64, parts.At(0))))
		finite := s.Let("finite", within(b, -1e300, 1e300)) // with a finite exponent 1 has the power 1
		p := s.Let("p", finite.Mul(high))
		rest := MulAdd(finite, parts.At(1), MulAdd(finite, high, p.Neg()))
		n, q := reduce64(s, s.Let("x", within(p, -800, 800)), s.Let("rest", p.Abs().Lt(800).If(rest, f64Of(0)))) // others are limits
		y := s.Let("y", scale64(s, q.Add(1), n))
		return negative.If(y.Neg(), y)
	})
}
