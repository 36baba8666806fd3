package main

import "math"

// The elementary functions of float64, in float64, as those of float32 are. Their polynomials
// are minimax fits (Remez's algorithm); the comments give the greatest relative error.

var functions64 = []function{
	of1("Exp", exp64),
	of1("Expm1", expm1of64),
	of1("Log", func(l lanes, x vec) vec { return logSpecial(l, x, logOf64(l, x, nil)) }),
	of1("Log1p", log1p64),
	of1("Log2", log2of64),
	of1("Tanh", tanh64),
	of1("Erf", erf64),
	of1("Erfc", erfc64),
	of1("Sin", func(l lanes, x vec) vec { return sincos64(l, x, 0) }).except(far64),
	of1("Cos", func(l lanes, x vec) vec { return sincos64(l, x, 1) }).except(far64),
	of2("Pow", pow64),
	of2("Rem", rem).except(farApart),
}

// ln2Rest is ln 2 without the float64 nearest to it, whose products by n ≤ 2¹¹ an FMA
// subtracts exactly from numbers near to them.
const ln2Rest = 2.3190468138462996e-17

// roundMagic leaves a small number, rounded to an integer, in the low bits of the sum.
const roundMagic = 3 << 51

// power64 returns 2ⁿ for integers from -1022 to 1023.
func power64(l lanes, n vec) vec { return l.shl(52, l.add(n, f64(roundMagic+1023))) }

// reduce64 returns n and exp(r) - 1, to 2⁻⁶¹, with x = n·ln 2 + r and |r| ≤ ln(2)/2. rest, if it
// is not nil, is added to r.
func reduce64(l lanes, x, rest vec) (n, p vec) {
	n = l.ties(l.mul(x, f64(math.Log2E)))
	t := l.fnma(n, f64(math.Ln2), x)
	low := l.mul(n, f64(ln2Rest))
	if rest != nil {
		low = l.sub(low, rest)
	}
	r := l.sub(t, low)
	q := l.horner(r, 0.5, 0.16666666666666677, 0.0416666666666667, 0.008333333333321617, 0.0013888888888866694, 0.00019841269886157912,
		2.4801587360785696e-05, 2.755724418195281e-06, 2.7557242588267777e-07, 2.5109045055123555e-08, 2.09244917242932e-09)
	// r without its rounding error, which the result would have: t - low.
	return n, l.add(t, l.sub(l.mul(q, l.mul(r, r)), low))
}

func exp64(l lanes, x vec) vec {
	n, p := reduce64(l, within(l, x, -746, 710), nil)
	return l.scale(l.add(p, f64(1)), n, power64)
}

// lessOne returns exp(x) - 1 for x from -40 to 710.
func lessOne(l lanes, x vec) vec {
	n, p := reduce64(l, x, nil)
	s := power64(l, l.sub(n, f64(1))) // 2ⁿ⁻¹ does not overflow
	v := l.fma(s, p, l.sub(s, f64(0.5)))
	return l.add(v, v)
}

func expm1of64(l lanes, x vec) vec {
	return l.or(lessOne(l, within(l, x, -40, 710)), l.signOf(x)) // -0 stays -0
}

// tanh64 is m/(m+2) with m = exp(2|x|) - 1.
func tanh64(l lanes, x vec) vec {
	t := l.abs(x)
	m := lessOne(l, l.min(l.broadcast(f64(44)), l.add(t, t)))
	d := l.add(m, f64(2))
	low := l.sub(m, l.sub(d, f64(2))) // d + low is m + 2
	y := l.div(l.broadcast(f64(1)), d)
	q := l.mul(m, y)
	rest := l.fnma(q, low, l.fnma(q, d, m))
	return l.or(l.fma(rest, y, q), l.signOf(x))
}

// split64 returns e and f with x = 2ᵉ·(1+f), 1+f in [√½, √2), for a positive finite x that is
// not subnormal.
func split64(l lanes, x vec) (e, f vec) {
	const sqrtHalf, mantissa = 0x3fe6a09e667f3bcd, 1<<52 - 1
	d := l.addInt(x, i64(1<<62-sqrtHalf)) // 1024 + e in the exponent
	e = l.sub(l.or(l.shr(52, d), i64(0x433<<52)), f64(1<<52+1024))
	return e, l.sub(l.addInt(l.and(d, i64(mantissa)), i64(sqrtHalf)), f64(1))
}

// logOf64 returns log(x + c) for a positive finite x and a c that is smaller than its last
// bit, nil for 0. With x = 2ᵉ·(1+f), 1+f in [√½, √2), and s = f/(2+f), log(1+f) is
// f - (f²/2 - s·(f²/2 + s²·P(s²))), with P to 2⁻⁵⁹ of the logarithm (FDLIBM, e_log.c).
func logOf64(l lanes, x, c vec) vec {
	subnormal := l.compare(less, x, f64(0x1p-1022))
	x = l.choose(subnormal, l.mul(x, f64(1<<54)), x)
	e, f := split64(l, x)
	low := l.broadcast(f64(0))
	if c != nil {
		c = l.mul(c, power64(l, l.sub(l.broadcast(f64(0)), l.min(e, f64(1000))))) // c is 0 from 2⁵⁴ on
		low = l.fnma(f, c, c)                                                     // c/(1+f), as c is small
	}
	e = l.sub(e, l.keep(subnormal, l.broadcast(f64(54))))
	low = l.fma(e, f64(ln2Rest), low)
	return l.fma(e, f64(math.Ln2), l.sub(f, log1pLow64(l, f, low)))
}

// log1pLow64 is f - log(1+f) - low.
func log1pLow64(l lanes, f, low vec) vec {
	s := l.div(f, l.add(f, f64(2)))
	z := l.mul(s, s)
	p := l.horner(z, 0.6666666666666734, 0.3999999999941437, 0.2857142874247162, 0.22222198563205484, 0.18183564906434072, 0.15314034306221838, 0.14796124804493935)
	half := l.mul(l.mul(f, f), f64(0.5))
	return l.sub(half, l.fma(s, l.fma(p, z, half), low))
}

// log2of64 adds e and log₂(1+f), which is 0 for a power of two.
func log2of64(l lanes, y vec) vec {
	const rest = 2.0355273740931033e-17 // log₂ e without the float64 nearest to it
	subnormal := l.compare(less, y, f64(0x1p-1022))
	e, f := split64(l, l.choose(subnormal, l.mul(y, f64(1<<54)), y))
	e = l.sub(e, l.keep(subnormal, l.broadcast(f64(54))))
	low := l.fnma(log1pLow64(l, f, l.broadcast(f64(0))), f64(math.Log2E), l.mul(f, f64(rest)))
	high := l.mul(f, f64(math.Log2E))
	low = l.sub(low, l.fnma(f, f64(math.Log2E), high))
	return logSpecial(l, y, l.add(e, l.add(high, low)))
}

func log1p64(l lanes, x vec) vec {
	u, c := plusOne(l, x)
	v := logSpecial(l, u, logOf64(l, u, c))
	return l.choose(l.compare(less, l.abs(x), f64(0x1p-54)), x, v)
}

// erf64 is a polynomial for |x| < 1, to 2⁻⁵⁷, and else 1 - exp(-t·Q(t)) with t = |x|, to 2⁻⁵⁸.
func erf64(l lanes, x vec) vec {
	t := l.abs(x)
	p := l.horner(l.mul(t, t), 0.12837916709551256, -0.3761263890318355, 0.11283791670945253, -0.02686617064327622, 0.005223977607423468,
		-0.0008548325989696758, 0.00012055295320494294, -1.4924744663335489e-05, 1.6447517677871873e-06, -1.6209175911748696e-07, 1.3722976265924504e-08, -7.801188874097751e-10)
	small := l.fma(p, t, t)

	u := l.min(l.broadcast(f64(6)), t)
	q := l.horner(u, 1.1283791081876333, 0.6366202773101769, 0.10277072166191403, -0.019124686687625653, -0.00021254222580544558, 0.0016932816707574347,
		-0.0005753389351611868, -4.4324985053550385e-07, 9.516105608682954e-05, -5.5881491460496196e-05, 2.0291667979447857e-05, -5.367463055844883e-06,
		1.0740289366727474e-06, -1.6230752961330054e-07, 1.8039083653488913e-08, -1.3943313384003e-09, 6.700768742479766e-11, -1.5077562603564928e-12)
	a := l.mul(u, q)
	rest := l.fnma(u, q, a) // a - u·q
	n, w := reduce64(l, l.xor(a, i64(1<<63)), rest)
	s := power64(l, n)
	big := l.sub(l.broadcast(f64(1)), l.fma(w, s, s))
	return l.or(l.choose(l.compare(less, t, f64(1)), small, big), l.signOf(x))
}

// erfc64 is 2·exp(-t²)·P((t-4)/(t+4))/(t+4) with t = |x|, or 2 less that, with P to 2⁻⁵³.
func erfc64(l lanes, x vec) vec {
	t := l.min(l.broadcast(f64(27.3)), l.abs(x)) // whose result is 0
	y := l.div(l.broadcast(f64(2)), l.add(t, f64(4)))
	s := l.fma(t, y, l.broadcast(f64(-1)))
	p := l.mul(y, l.horner(s, 0.5479978305002455, -0.4882743645404412, 0.3866043511326205, -0.27042691565659405, 0.16542579393889514, -0.0870054686207368, 0.0381907574571171,
		-0.013185026658327296, 0.0030560278009298214, -0.0001404795354197096, -0.00022752617847860335, 8.840695839957795e-05, -1.8181643723150797e-06,
		-9.432325799307406e-06, 2.3483798954028466e-06, 7.162436933412573e-07, -4.2427158952251633e-07, -4.3435632030291785e-08, 6.217891144019466e-08,
		4.80763355592378e-09, -6.920903893515035e-09, -1.383505471317527e-09))

	a := l.mul(t, t)
	n, w := reduce64(l, l.xor(a, i64(1<<63)), l.fnma(t, t, a))
	v := l.scale(l.fma(w, p, p), n, power64)
	return l.choose(l.compare(less, x, f64(0)), l.sub(l.broadcast(f64(2)), v), v)
}

// reach64 is the greatest number whose sine and cosine are computed here.
const reach64 = 1 << 30

func far64(l lanes, x []vec) mask { return l.compare(greater, l.abs(x[0]), f64(reach64)) }

// sincos64 returns the sine of x + k·π/2, see sincos. The polynomials are to 2⁻⁵⁸.
func sincos64(l lanes, x vec, k int) vec {
	const middle, low = 6.123233995736766e-17, -1.4973849048591833e-33 // of π/2
	n := l.ties(l.mul(x, f64(2/math.Pi)))
	t := l.fnma(n, f64(math.Pi/2), x) // exact
	p := l.mul(n, f64(middle))
	r := l.sub(t, p)
	s := l.sub(l.sub(t, r), p)
	rest := l.fnma(n, f64(middle), p) // p - n·middle
	s = l.fnma(n, f64(low), l.add(s, rest))

	z := l.mul(r, r)
	sin := l.horner(z, -0.16666666666666632, 0.00833333333332242, -0.00019841269829812727, 2.7557313693598763e-06, -2.505075837767918e-08, 1.5896810930035655e-10)
	sin = l.add(r, l.fma(l.mul(sin, z), r, s))
	cos := l.horner(z, 0.0416666666666666, -0.0013888888888874133, 2.4801587289488395e-05, -2.7557314354187497e-07, 2.087572353345975e-09, -1.135966167320952e-11)
	cos = l.fnma(r, s, l.mul(cos, l.mul(z, z)))
	half := l.mul(z, f64(0.5))
	one := l.sub(l.broadcast(f64(1)), half)
	cos = l.add(one, l.add(cos, l.sub(l.sub(l.broadcast(f64(1)), one), half)))

	q := l.add(n, f64(roundMagic+float64(k)))
	v := l.choose(l.odd(q), cos, sin)
	v = l.xor(v, l.shl(62, l.and(q, i64(2))))
	if k == 1 {
		return v
	}
	return l.choose(l.compare(equal, x, f64(0)), x, v) // the remainder of -0 is +0
}
