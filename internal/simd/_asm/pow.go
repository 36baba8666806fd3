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

	floor, half := l.floor(y), l.mul(y, f64(0.5))
	odd := l.keep(l.compare(notEqual, l.floor(half), half), l.signOf(x))
	v = l.xor(v, l.keep(l.compare(equal, floor, y), odd))
	// Negative numbers have no powers between the integers. NaN has none.
	nan := l.broadcast(f64(math.NaN()))
	none := l.keep(l.compare(less, x, f64(0)), l.keep(l.compare(less, a, inf), l.keep(l.compare(notEqual, floor, y), nan)))
	v = l.choose(l.compare(unordered, none, none), nan, l.choose(l.compare(unordered, x, y), nan, v))
	one := l.broadcast(f64(1))
	return l.choose(l.compare(equal, x, f64(1)), one, l.choose(l.compare(equal, y, f64(0)), one, v))
}
