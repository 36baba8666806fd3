package simd

import (
	"math"
	"unsafe"
)

// The elementary functions of float32 compute short polynomials in float64: the
// conversions are cheap, few special values need a branch, and the error is little more
// than ½ ulp. The coefficients are Chebyshev fits, given with their greatest error.

// reduce returns scale = 2ᵏ and r with x = k·ln 2 + r and |r| ≤ ln(2)/2, for |x| < 2000.
func reduce(x float64) (scale, r float64) {
	const magic = 3 << 51 // adding it leaves a small number, rounded to an integer, in the low bits
	k := x*math.Log2E + magic
	n := math.Float64bits(k)
	k -= magic
	return math.Float64frombits((n + 1023) << 52), x - k*math.Ln2
}

// expm1r returns exp(r) - 1 for |r| ≤ ln(2)/2, with relative error 2.5e-10.
func expm1r(r float64) float64 {
	r2 := r * r
	p := 1 + 0.500000004716382672*r
	q := 0.166666667190486674 + 0.0416663526922217631*r
	s := 0.00833329846104016603 + 0.00139411254626643269*r + 0.000198992928679471671*r2
	return r * (p + r2*(q+r2*s))
}

// The branches below are rarely taken, and cheaper than clamping. NaN fails every
// comparison.

func exp32(x float32) float32 {
	if !(x > -104 && x < 89) {
		return float32(math.Exp(float64(x)))
	}
	scale, r := reduce(float64(x))
	return float32(scale + scale*expm1r(r))
}

func exp(dst, x unsafe.Pointer, n int) {
	d, a := vec[float32](dst, n), vec[float32](x, n)
	for i := range d {
		d[i] = exp32(a[i])
	}
}

// exp64 returns math.Exp(x), but on amd64 that overflows from 709.44 on instead of
// 709.78; there e^x-1 rounds to e^x.
func exp64(x float64) float64 {
	if x > 709 {
		return math.Expm1(x)
	}
	return math.Exp(x)
}

func expm132(x float32) float32 {
	if !(x > -104 && x < 89) || x == 0 {
		return float32(math.Expm1(float64(x)))
	}
	return float32(expm1(float64(x)))
}

// expm1 returns exp(x) - 1 for |x| < 700.
func expm1(x float64) float64 {
	scale, r := reduce(x)
	return scale*expm1r(r) + (scale - 1)
}

// log64 returns the logarithm of a float32, or of a float64 in (0, +Inf), with relative
// error of about 1e-11.
func log64(x float64) float64 {
	e, log := logParts(x)
	return e*math.Ln2 + log
}

// logParts returns e and log(1+f) with x = 2ᵉ·(1+f), 1+f in [√½, √2).
func logParts(x float64) (e, log float64) {
	const sqrtHalf = 0x3fe6a09e00000000
	b := math.Float64bits(x)
	n := int64(b-sqrtHalf) >> 52
	f := math.Float64frombits(b-uint64(n)<<52) - 1
	s := f / (2 + f)
	z := s * s
	z2 := z * z
	p := 2.00000000000836347 + 0.666666652469490662*z + z2*(0.400003847823047332+0.285350440589296294*z+0.236164946876587351*z2)
	return float64(n), s * p
}

func log32(x float32) float32 {
	// One comparison finds zero, negative numbers, infinities and NaN.
	if math.Float32bits(x)-1 >= 0x7f800000-1 {
		return float32(math.Log(float64(x)))
	}
	return float32(log64(float64(x)))
}

func log232(x float32) float32 {
	if math.Float32bits(x)-1 >= 0x7f800000-1 {
		return float32(math.Log(float64(x)))
	}
	e, log := logParts(float64(x))
	return float32(e + log*math.Log2E)
}

// log264 is [math.Log2], which loses digits near 1.
func log264(x float64) float64 {
	m, e := math.Frexp(x) // in [½, 1)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	return float64(e) + math.Log(m)*math.Log2E
}

// log1p32 adds the rounding error of u = 1+x to log(u). For |x| from 2⁻²⁹ to 2⁵³ that
// error is 0; nearer to 0 the derivative of log at u is 1.
func log1p32(x float32) float32 {
	if !(x > -1 && x < 1<<53) || x == 0 {
		return float32(math.Log1p(float64(x)))
	}
	v := float64(x)
	u := 1 + v
	return float32(log64(u) + (v - (u - 1)))
}

func tanh32(x float32) float32 {
	if !(x > -10 && x < 10) || x == 0 {
		return float32(math.Tanh(float64(x)))
	}
	m := expm1(2 * float64(x))
	return float32(m / (m + 2))
}

func erf32(x float32) float32 {
	if !(x > -4 && x < 4) || x == 0 { // erf(4) rounds to 1
		return float32(math.Erf(float64(x)))
	}
	v := float64(x)
	t := math.Abs(v)
	t2 := t * t
	t4 := t2 * t2
	// -log(erfc(t))/t to 1.1e-8 on [0, 4].
	q := (1.12837915582039837 + 0.636620592051647918*t) + t2*(0.102762360323820765-0.0190764096875084862*t) +
		t4*((-0.000351144110440589871+0.0019342060756835222*t)+t2*(-0.000854247559008414+0.000227120307747172075*t)+
			t4*((-0.0000405873873524704548+4.7856078685317682e-6*t)+t2*(-3.3760508709067932e-7+1.08054827410312204e-8*t)))
	return float32(math.Copysign(-expm1(-t*q), v))
}

// erfc32 is exp(-t²)·P(t/(t+3))/(t+3) with t = |x|, or 2 less that, with P to 2.1e-9.
func erfc32(x float32) float32 {
	if !(x > -10 && x < 10) {
		return float32(math.Erfc(float64(x)))
	}
	v := float64(x)
	t := math.Abs(v)
	scale, r := reduce(-t * t)
	y := 1 / (t + 3)
	z := t * y
	z2 := z * z
	z4 := z2 * z2
	p := (3 - 7.155412762531437*z) + z2*(9.689200872455144-7.3993412242982775*z) +
		z4*((2.1553394012949965+0.9997264226265875*z)-z2*(0.5734486158650323+0.6123098427118254*z)+
			z4*(0.6273217176477509-0.16696811643438692*z))
	p *= y * (scale + scale*expm1r(r))
	if v < 0 {
		p = 2 - p
	}
	return float32(p)
}

// quadrant returns k mod 4 and r with x = k·π/2 + r and |r| ≤ π/4, for a
// float32 below 1e8.
func quadrant(x float64) (k uint64, r float64) {
	const (
		magic = 3 << 51
		// π/2 in two parts; the first has 25 bits, so that its multiples are exact.
		high = 1.57079631090164184570
		low  = 1.58932547735281966916e-08
	)
	f := x*(2/math.Pi) + magic
	k = math.Float64bits(f)
	f -= magic
	return k, x - f*high - f*low
}

// sinQuarter returns the sine of k·π/2 + r.
func sinQuarter(k uint64, r float64) float32 {
	z := r * r
	z2 := z * z
	var v float64
	if k&1 == 0 {
		v = r + r*z*(-1.0/6+z*(1.0/120)+z2*(-1.0/5040+z*(1.0/362880)))
	} else {
		v = 1 - z/2 + z2*(1.0/24-z*(1.0/720)+z2*(1.0/40320-z*(1.0/3628800)))
	}
	return math.Float32frombits(math.Float32bits(float32(v)) ^ uint32(k&2)<<30)
}

func sin32(x float32) float32 {
	if !(x > -1e8 && x < 1e8) || x == 0 {
		return float32(math.Sin(float64(x)))
	}
	return sinQuarter(quadrant(float64(x)))
}

func cos32(x float32) float32 {
	if !(x > -1e8 && x < 1e8) {
		return float32(math.Cos(float64(x)))
	}
	k, r := quadrant(float64(x))
	return sinQuarter(k+1, r)
}

func atan32(x float32) float32 { return float32(math.Atan(float64(x))) }

func atan232(y, x float32) float32 { return float32(math.Atan2(float64(y), float64(x))) }

func pow32(x, y float32) float32 {
	// Positive finite base and finite exponent other than 0.
	if math.Float32bits(x)-1 < 0x7f800000-1 && math.Float32bits(y)&0x7fffffff-1 < 0x7f800000-1 {
		if e := float64(y) * log64(float64(x)); e > -104 && e < 89 {
			scale, r := reduce(e)
			return float32(scale + scale*expm1r(r))
		}
	}
	return float32(math.Pow(float64(x), float64(y)))
}
