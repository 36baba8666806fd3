package main

// quotients is the greatest quotient whose remainder is computed here.
const quotients = 1 << 53

// rem returns the remainder of x/y with the sign of x, exactly. The rounded quotient, rounded
// down, is the exact one or one more, whose remainder has another sign. In both cases it is a
// multiple of the last bit of y and no greater than y, so that an FMA computes it exactly.
func rem(l lanes, x, y vec) vec {
	a, b := l.abs(x), l.abs(y)
	q := l.floor(l.div(a, b))
	r := l.fnma(q, b, a)
	r = l.add(r, l.keep(l.compare(less, r, f64(0)), b))
	r = l.or(r, l.signOf(x))
	return l.choose(l.compare(less, a, b), x, r) // also for infinite b
}

// farApart returns where the quotient is greater than quotients.
func farApart(l lanes, x []vec) mask {
	return l.compare(greater, l.abs(x[0]), l.mul(l.abs(x[1]), f64(quotients)))
}
