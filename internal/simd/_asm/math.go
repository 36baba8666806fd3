package main

import "math"

// The elementary functions of float32, in float32. Their polynomials are minimax fits
// (Lawson's algorithm), with coefficients rounded one after the other; the comments give
// the greatest relative error.

var functions32 = []function{
	of1("Exp", exp),
	of1("Expm1", expm1),
	of1("Log", logarithm),
	of1("Log1p", log1p),
	of1("Log2", log2),
	of1("Tanh", tanh),
	of1("Erf", erf),
	of1("Erfc", erfc),
	of1("Sin", func(l lanes, x vec) vec { return sincos(l, x, 0) }).except(far),
	of1("Cos", func(l lanes, x vec) vec { return sincos(l, x, 1) }).except(far),
	of1("Atan", atan),
}

// ln 2 in two parts; multiples of the first by integers below 2⁹ are exact.
const (
	ln2High = 0.693359375
	ln2Low  = math.Ln2 - ln2High
)

// reduce returns n and r with x = n·ln 2 + r and |r| ≤ ln(2)/2.
func reduce(l lanes, x vec) (n, r vec) {
	n = l.ties(l.mul(x, f32(math.Log2E)))
	r = l.fnma(n, f32(ln2High), x)
	return n, l.fnma(n, f32(ln2Low), r)
}

// expm1r returns exp(r) - 1 for |r| ≤ ln(2)/2, to 2⁻³¹.
func expm1r(l lanes, r vec) vec {
	return l.fma(l.horner(r, expm1Terms...), l.mul(r, r), r)
}

var expm1Terms = []float64{0.5, 0.16666667, 0.04166649, 0.008333208, 0.0013932686, 0.00019944255}

// expSquares returns (exp(r) - 1 - r)/r² for |r| ≤ ln(2)/2, for an error of exp(r) of
// 2⁻²⁷.
func expSquares(l lanes, r vec) vec { return l.horner(r, expSquaresTerms...) }

var expSquaresTerms = []float64{0.5, 0.16666543, 0.041666433, 0.008366556, 0.0013937921}

// power returns 2ⁿ for integers from -126 to 127.
func power(l lanes, n vec) vec {
	return l.shl(23, l.addInt(l.toInt(n), i32(127)))
}

func exp(l lanes, x vec) vec {
	x = within(l, x, -104, 89)
	n := l.ties(l.mul(x, f32(math.Log2E)))
	t := l.fnma(n, f32(ln2High), x)
	r := l.fnma(n, f32(ln2Low), t)
	// r without its rounding error, which the result would have: t - n·ln2Low.
	p := l.add(t, l.fnma(n, f32(ln2Low), l.mul(expSquares(l, r), l.mul(r, r))))
	return l.scale(l.add(p, f32(1)), n, power)
}

func expm1(l lanes, x vec) vec {
	n, r := reduce(l, within(l, x, -20, 89))
	p := expm1r(l, r)
	// 2ⁿ⁻¹ does not overflow.
	s := power(l, l.sub(n, f32(1)))
	v := l.fma(s, p, l.sub(s, f32(0.5)))
	v = l.add(v, v)
	// -0 stays -0.
	return l.or(v, l.signOf(x))
}

// logarithm computes log(1+f) = f - f²/2 + f³·P(f) for x = 2ᵉ·(1+f), 1+f in [√½, √2), with P
// to 2⁻²⁷ of the logarithm, and adds e·ln 2 as two numbers (Cephes, logf).
func logarithm(l lanes, x vec) vec {
	v := logOf(l, x, nil)
	return logSpecial(l, x, v)
}

func logSpecial(l lanes, x, v vec) vec {
	v = l.choose(l.compare(equal, x, l.num(math.Inf(1))), x, v)
	v = l.choose(l.compare(equal, x, l.num(0)), l.num(math.Inf(-1)), v)
	// Negative numbers and NaN.
	return l.choose(l.compare(notGreaterEqual, x, l.num(0)), l.broadcast(l.num(math.NaN())), v)
}

const sqrtHalf = 0x3f3504f3 // bits of √½

// splitFloat returns e and f with x = 2ᵉ·(1+f), 1+f in [√½, √2), for a positive finite x; e is 23 less where x is
// subnormal.
func splitFloat(l lanes, x vec) (e, f vec, subnormal mask) {
	subnormal = l.compare(less, x, f32(0x1p-126))
	x = l.choose(subnormal, l.mul(x, f32(1<<23)), x)
	d := l.subInt(x, i32(sqrtHalf))
	e = l.fromInt(l.sar(23, d))
	// The exponent of 1+f is -1 or 0.
	m := l.addInt(l.and(d, i32(0x007fffff)), i32(sqrtHalf))
	return e, l.sub(m, f32(1)), subnormal
}

// log1pLow is f²·(f·P - ½), which is log(1+f) - f.
func log1pLow(l lanes, f vec) vec {
	p := l.horner(f, logTerms...)
	return l.mul(l.mul(f, f), l.fma(p, f, l.broadcast(f32(-0.5))))
}

// logOf returns log(x + c) for a positive finite x and a c that is smaller than its last
// bit, nil for 0.
func logOf(l lanes, x, c vec) vec {
	e, f, subnormal := splitFloat(l, x)
	if c != nil {
		bias := l.shl(23, l.toInt(l.min(e, f32(126)))) // c is less than half a bit from 2²⁴ on
		one := l.subInt(l.broadcast(f32(1)), bias)
		f = l.fma(c, one, f)
	}
	e = l.sub(e, l.keep(subnormal, l.broadcast(f32(23))))
	low := l.fma(e, f32(ln2Low), log1pLow(l, f))
	// high + rest = e·ln2High + f exactly, because |e·ln2High| > |f| or e is 0.
	eh := l.mul(e, f32(ln2High))
	high := l.add(eh, f)
	rest := l.sub(f, l.sub(high, eh))
	return l.add(high, l.add(low, rest))
}

// log2 adds e and log₂(1+f), which is 0 for a power of two.
func log2(l lanes, x vec) vec {
	const most = 1.44269502162933349609375 // log₂ e in float32
	e, f, subnormal := splitFloat(l, x)
	e = l.sub(e, l.keep(subnormal, l.broadcast(f32(23))))
	low := l.fma(log1pLow(l, f), f32(most), l.mul(f, f32(math.Log2E-most)))
	high := l.mul(f, f32(most))
	low = l.sub(low, l.fnma(f, f32(most), high))
	return logSpecial(l, x, l.add(e, l.add(high, low)))
}

// plusOne returns u and c with u + c = 1 + x exactly (Knuth, TwoSum).
func plusOne(l lanes, x vec) (u, c vec) {
	u = l.add(x, l.num(1))
	t := l.sub(u, x)
	return u, l.add(l.sub(x, l.sub(u, t)), l.sub(l.broadcast(l.num(1)), t))
}

var logTerms = []float64{0.3333333, -0.2500082, 0.20001242, -0.16623409, 0.14201581, -0.13159613, 0.127622, -0.076363996}

func log1p(l lanes, x vec) vec {
	u, c := plusOne(l, x)
	v := logSpecial(l, u, logOf(l, u, c))
	// Near 0 log1p(x) is x, and -0 is -0.
	return l.choose(l.compare(less, l.abs(x), f32(0x1p-24)), x, v)
}

// tanh is a polynomial for |x| < 1, to 2⁻²⁷, and else 1 - 2/(exp(2|x|) + 1).
func tanh(l lanes, x vec) vec {
	t := l.abs(x)
	z := l.mul(t, t)
	p := l.horner(z, tanhTerms...)
	small := l.fma(l.mul(p, z), t, t)

	n, r := reduce(l, l.min(l.broadcast(f32(20)), l.add(t, t)))
	e := l.fma(expm1r(l, r), power(l, n), power(l, n))
	big := l.sub(l.broadcast(f32(1)), l.div(l.broadcast(f32(2)), l.add(e, f32(1))))
	return l.or(l.choose(l.compare(less, t, f32(1)), small, big), l.signOf(x))
}

var tanhTerms = []float64{-0.33333296, 0.13332348, -0.053879987, 0.021487176, -0.007946845, 0.0023018846, -0.00035859586}

// erf is a polynomial for |x| < 1, to 2⁻²⁹, and else 1 - exp(-t·Q(t)) with t = |x|.
func erf(l lanes, x vec) vec {
	t := l.abs(x)
	z := l.mul(t, t)
	p := l.horner(z, 0.12837917, -0.37612626, 0.11283579, -0.026853347, 0.005187162, -0.0007997853, 7.806903e-05)
	small := l.fma(p, t, t)

	t4 := l.min(l.broadcast(f32(4)), t)
	q := l.horner(t4, 1.12852, 0.63569915, 0.10528716, -0.022906234, 0.0032200406, -0.00021460293)
	a := l.mul(t4, q)
	rest := l.fms(t4, q, a)
	n, r := reduce(l, l.xor(a, i32(1<<31)))
	r = l.sub(r, rest)
	w := l.fma(expSquares(l, r), l.mul(r, r), r)
	s := power(l, n)
	big := l.sub(l.broadcast(f32(1)), l.fma(w, s, s))
	return l.or(l.choose(l.compare(less, t, f32(1)), small, big), l.signOf(x))
}

// erfc is 2·exp(-t²)·P((t-3)/(t+3))/(t+3) with t = |x|, or 2 less that, with P to 2⁻²⁶.
func erfc(l lanes, x vec) vec {
	t := l.min(l.broadcast(f32(10.1)), l.abs(x)) // whose result is 0
	y := l.div(l.broadcast(f32(2)), l.add(t, f32(3)))
	s := l.fma(t, y, l.broadcast(f32(-1)))
	p := l.mul(y, l.horner(s, 0.53700346, -0.44169724, 0.29511416, -0.15523306, 0.059764426, -0.013419803, -0.0006129137, 0.0015400292, -0.00024218165, -0.00016297193))

	a := l.mul(t, t)
	rest := l.fms(t, t, a)
	n, r := reduce(l, l.xor(a, i32(1<<31)))
	r = l.sub(r, rest)
	w := l.fma(expSquares(l, r), l.mul(r, r), r)
	v := l.scale(l.fma(w, p, p), n, power)
	return l.choose(l.compare(less, x, f32(0)), l.sub(l.broadcast(f32(2)), v), v)
}

// reach is the greatest number whose sine and cosine are computed here.
const reach = 1e5

func far(l lanes, x []vec) mask { return l.compare(greater, l.abs(x[0]), f32(reach)) }

// sincos returns the sine of x + k·π/2. It subtracts multiples of π/2 in three parts
// (Cody and Waite): x - n·high is exact, because both are multiples of 2⁻²⁴ and the
// difference is less than 1. r + s is the remainder in two parts.
func sincos(l lanes, x vec, k uint32) vec {
	high := float64(float32(math.Pi / 2))
	middle := float64(float32(math.Pi/2 - high))
	low := 6.123233995736766e-17 + (math.Pi/2 - high - middle)
	n := l.ties(l.mul(x, f32(2/math.Pi)))
	t := l.fnma(n, f32(high), x)
	p := l.mul(n, f32(middle))
	r := l.sub(t, p)
	s := l.sub(l.sub(t, r), p) // exact (FastTwoSum): t is a multiple of p's last bit
	rest := l.fms(n, f32(middle), p)
	s = l.fnma(n, f32(low), l.sub(s, rest))

	z := l.mul(r, r)
	sin := l.horner(z, -0.16666655, 0.00833219, -0.00019518408)
	sin = l.add(r, l.fma(l.mul(sin, z), r, s))
	cos := l.horner(z, 0.041666646, -0.0013887301, 2.4430668e-05)
	// 1 - z/2 + z²·C - r·s
	cos = l.mul(cos, l.mul(z, z))
	cos = l.fnma(r, s, cos)
	half := l.mul(z, f32(0.5))
	one := l.sub(l.broadcast(f32(1)), half)
	cos = l.add(cos, l.sub(l.sub(l.broadcast(f32(1)), one), half))
	cos = l.add(one, cos)

	q := l.addInt(l.toInt(n), i32(k))
	odd := l.odd(q)
	v := l.choose(odd, cos, sin)
	v = l.xor(v, l.shl(30, l.and(q, i32(2))))
	if k == 1 {
		return v
	}
	// The remainder of -0 is +0.
	return l.choose(l.compare(equal, x, f32(0)), x, v)
}

// atan is a polynomial for |x| ≤ 1, to 2⁻²⁸, and else π/2 - atan(1/|x|).
func atan(l lanes, x vec) vec {
	t := l.abs(x)
	inverse := l.compare(greater, t, f32(1))
	y := l.choose(inverse, l.div(l.broadcast(f32(1)), t), t)
	z := l.mul(y, y)
	p := l.horner(z, -0.33333302, 0.19998628, -0.14265126, 0.10956933, -0.08417543, 0.058201257, -0.031422142, 0.011046255, -0.001823116)
	v := l.fma(l.mul(p, z), y, y)
	high := float64(float32(math.Pi / 2))
	w := l.add(l.sub(l.broadcast(f32(math.Pi/2-high)), v), f32(high))
	return l.or(l.choose(inverse, w, v), l.signOf(x))
}
