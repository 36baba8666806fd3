package main

import "math"

// pow returns xʸ for float64 that are float32: exp(y·log|x|) with the logarithm to 2⁻³⁷ and
// the exponential to 2⁻³⁴, and the sign of x for odd y. The special values are those of C99.
func pow(l lanes, x, y vec) vec {
	inf := f64(math.Inf(1))
	a := l.abs(x)
	e, f := split64(l, a)
	s := l.div(f, l.add(f, f64(2)))
	z := l.mul(s, s)
	p := l.horner(z, 0.6666666564533807, 0.40000335243127594, 0.28537303841961326, 0.23582261535520777)
	log := l.fma(e, f64(math.Ln2), l.mul(s, l.fma(p, z, f64(2))))
	log = l.choose(l.compare(equal, a, inf), inf, log)
	log = l.choose(l.compare(equal, a, f64(0)), f64(math.Inf(-1)), log)

	// With a finite exponent 1 has the power 1.
	v := within(l, l.mul(within(l, y, -1e300, 1e300), log), -200, 200)
	n := l.ties(l.mul(v, f64(math.Log2E)))
	r := l.fnma(n, f64(math.Ln2), v)
	q := l.horner(r, 0.5000000067696319, 0.16666665868669883, 0.04166629492098903, 0.008333497150237828, 0.0013944660953826818, 0.00019790298343912185)
	v = l.mul(l.add(l.fma(q, l.mul(r, r), r), f64(1)), power64(l, n))

	return powSpecial(l, x, y, v)
}

// powSpecial returns v = |x|ʸ with the sign of x for odd y, and the special values of C99.
func powSpecial(l lanes, x, y, v vec) vec {
	floor, half := l.floor(y), l.mul(y, f64(0.5))
	odd := l.keep(l.compare(notEqual, l.floor(half), half), l.signOf(x))
	v = l.xor(v, l.keep(l.compare(equal, floor, y), odd))
	// Negative numbers have no powers between the integers. NaN has none.
	nan := l.broadcast(f64(math.NaN()))
	none := l.keep(l.compare(less, x, f64(0)), l.keep(l.compare(less, l.abs(x), f64(math.Inf(1))), l.keep(l.compare(notEqual, floor, y), nan)))
	v = l.choose(l.compare(unordered, none, none), nan, l.choose(l.compare(unordered, x, y), nan, v))
	one := l.broadcast(f64(1))
	return l.choose(l.compare(equal, x, f64(1)), one, l.choose(l.compare(equal, y, f64(0)), one, v))
}

// pow64 returns xʸ: exp(y·log|x|) with the logarithm in two parts.
func pow64(l lanes, x, y vec) vec {
	high, low := logParts(l, l.abs(x))
	high = l.choose(l.compare(equal, l.abs(x), f64(math.Inf(1))), f64(math.Inf(1)), high)
	high = l.choose(l.compare(equal, x, f64(0)), f64(math.Inf(-1)), high)

	finite := within(l, y, -1e300, 1e300) // with a finite exponent 1 has the power 1
	p := l.mul(finite, high)
	rest := l.fma(finite, low, l.fms(finite, high, p))
	rest = l.keep(l.compare(less, l.abs(p), f64(800)), rest) // others are limits
	n, q := reduce64(l, within(l, p, -800, 800), rest)
	return powSpecial(l, x, y, l.scale(l.add(q, f64(1)), n, power64))
}

// logParts returns log x as a sum of two numbers, with relative error of about 2⁻⁶⁸, for a
// positive finite x. With x = 2ᵉ·(1+f), 1+f in [√½, √2), s = f/(2+f) and z = s², log(1+f) is
// s·(2 + z·(⅔ + z·(⅖ + z·P(z)))), with P to 2⁻⁷¹ of the logarithm. All but P is in two parts.
func logParts(l lanes, x vec) (high, low vec) {
	const (
		// ln 2; multiples of the first part by integers below 2¹¹ are exact.
		ln2High, ln2Low                      = 0.6931471805598903, 5.497923018708371e-14
		thirds, thirdsLow, fifths, fifthsLow = 2. / 3, 3.700743415417188e-17, 2. / 5, -2.2204460492503132e-17
	)
	subnormal := l.compare(less, x, f64(0x1p-1022))
	e, f := split64(l, l.choose(subnormal, l.mul(x, f64(1<<54)), x))
	e = l.sub(e, l.keep(subnormal, l.broadcast(f64(54))))

	d := l.add(f, f64(2))
	inverse := l.div(l.broadcast(f64(1)), d)
	s := l.mul(f, inverse)
	sLow := l.fnma(s, l.sub(f, l.sub(d, f64(2))), l.fnma(s, d, f))
	sLow = l.mul(sLow, inverse)
	z := l.mul(s, s)
	zLow := l.fma(l.add(s, s), sLow, l.fms(s, s, z))

	t := l.mul(z, l.horner(z, 0.28571428571433166, 0.22222222220009477, 0.18181818605913136, 0.15384572860846454, 0.13335764768814543, 0.11685005111483306, 0.11911301922046671))
	p, pLow := plusConstant(l, t, fifths)
	pLow = l.add(pLow, f64(fifthsLow))
	t, tLow := product(l, z, zLow, p, pLow)
	p, pLow = plusConstant(l, t, thirds)
	pLow = l.add(pLow, l.add(tLow, f64(thirdsLow)))
	t, tLow = product(l, z, zLow, p, pLow)
	t, tLow = product(l, s, sLow, t, tLow)
	tLow = l.add(tLow, l.add(sLow, sLow))
	twice := l.add(s, s)
	v := l.add(twice, t)
	vLow := l.add(l.sub(twice, v), t)
	vLow = l.add(vLow, tLow)

	n := l.mul(e, f64(ln2High)) // exact, and 0 or greater than v
	high = l.add(n, v)
	low = l.add(l.sub(n, high), v)
	return high, l.add(low, l.fma(e, f64(ln2Low), vLow))
}

// plusConstant returns t + k as a sum of two numbers, for |t| < |k| (Dekker, FastTwoSum).
func plusConstant(l lanes, t vec, k float64) (high, low vec) {
	high = l.add(t, f64(k))
	return high, l.add(l.sub(l.broadcast(f64(k)), high), t)
}

// product returns the product of sums of two numbers as one.
func product(l lanes, x, xLow, y, yLow vec) (high, low vec) {
	high = l.mul(x, y)
	return high, l.fma(xLow, y, l.fma(x, yLow, l.fms(x, y, high)))
}
