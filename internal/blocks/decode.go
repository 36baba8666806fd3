package blocks

import "math"

// levels are the values of 4-bit codes.
type levels [16]float32

// ramp returns code·d + m for codes from first on.
func ramp(first int, d, m float32) (t levels) {
	for i := range t {
		t[i] = float32(float32(first+i)*d) + m
	}
	return t
}

// scaled returns the levels times d.
func scaled(t *[16]int8, d float32) (s levels) {
	for i, v := range t {
		s[i] = float32(v) * d
	}
	return s
}

// nibbles decodes codes, the low halves of all bytes before the high ones.
func nibbles(y []float32, q []byte, low, high *levels) {
	lo, hi := y[:len(q)], y[len(q):2*len(q)]
	for i, c := range q {
		lo[i] = low[c&15]
		hi[i] = high[c>>4]
	}
}

func decodeQ1_0(y []float32, b []byte) {
	t := [2]float32{-half(b), half(b)}
	for i, c := range b[2:] {
		for k := range 8 {
			y[8*i+k] = t[c>>k&1]
		}
	}
}

func decodeQ2_0(y []float32, b []byte) {
	t := twoBits(half(b))
	for i, c := range b[2:] {
		for k := range 4 {
			y[4*i+k] = t[c>>(2*k)&3]
		}
	}
}

// twoBits returns -d, 0·d, d, 2·d.
func twoBits(d float32) (t [4]float32) {
	for i := range t {
		t[i] = float32(i-1) * d
	}
	return t
}

func decodeQ4_0(y []float32, b []byte) {
	d := half(b)
	var t levels
	for i := range t { // not a ramp: -0 + 0 is 0
		t[i] = float32(i-8) * d
	}
	nibbles(y, b[2:], &t, &t)
}

func decodeQ4_1(y []float32, b []byte) {
	t := ramp(0, half(b), half(b[2:]))
	nibbles(y, b[4:], &t, &t)
}

func decodeQ5_0(y []float32, b []byte) {
	d, high := half(b), long(b[2:])
	for i, c := range b[6:22] {
		lo := int32(c&15) | int32(high>>i<<4&16)
		hi := int32(c>>4) | int32(high>>(i+12)&16)
		y[i], y[i+16] = float32(lo-16)*d, float32(hi-16)*d
	}
}

func decodeQ5_1(y []float32, b []byte) {
	d, m, high := half(b), half(b[2:]), long(b[4:])
	for i, c := range b[8:24] {
		lo := int32(c&15) | int32(high>>i<<4&16)
		hi := int32(c>>4) | int32(high>>(i+12)&16)
		y[i], y[i+16] = float32(float32(lo)*d)+m, float32(float32(hi)*d)+m
	}
}

func decodeQ8_0(y []float32, b []byte) { signedBytes(y, b[2:], half(b)) }

func decodeQ8_1(y []float32, b []byte) { signedBytes(y, b[4:], half(b)) }

// signedBytes decodes signed bytes.
func signedBytes(y []float32, q []byte, d float32) {
	y = y[:len(q)]
	for i, c := range q {
		y[i] = float32(int8(c)) * d
	}
}

// e2m1 are the values of 4-bit floating-point codes, doubled.
var e2m1 = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

func decodeMXFP4(y []float32, b []byte) {
	t := scaled(&e2m1, e8m0(b[0]))
	nibbles(y, b[1:], &t, &t)
}

// e8m0 returns half of a power of two.
func e8m0(e byte) float32 {
	if e < 2 { // subnormal
		return math.Float32frombits(0x00200000 << e)
	}
	return math.Float32frombits(uint32(e-1) << 23)
}

func decodeNVFP4(y []float32, b []byte) {
	for i := range 4 {
		t := scaled(&e2m1, ue4m3(b[i]))
		nibbles(y[16*i:], b[4+8*i:12+8*i], &t, &t)
	}
}

// ue4m3 returns half of an unsigned 8-bit floating-point number, whose first bit is not used.
func ue4m3(c byte) float32 {
	if c == 0x7f { // NaN
		return 0
	}
	e, m := int(c>>3&15), float64(c&7)
	if e == 0 {
		return float32(math.Ldexp(m, -10))
	}
	return float32(math.Ldexp(8+m, e-11))
}

// nonLinear are the values of 4-bit codes, closer to each other around 0.
var nonLinear = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func decodeIQ4_NL(y []float32, b []byte) {
	t := scaled(&nonLinear, half(b))
	nibbles(y, b[2:], &t, &t)
}

func decodeIQ4_XS(y []float32, b []byte) {
	d, high := half(b), word(b[2:])
	for i := range 8 {
		s := int(b[4+i/2]>>(4*(i%2))&15) | int(high>>(2*i)&3)<<4
		t := scaled(&nonLinear, d*float32(s-32))
		nibbles(y[32*i:], b[8+16*i:24+16*i], &t, &t)
	}
}

// partsTQ1_0 are the bytes of TQ1_0, with five base-3 digits each, and four in the last part. A byte
// is the digits' value in fractions of 256, so the next digit is the overflow of three times it.
var partsTQ1_0 = [3]struct{ from, to, digits int }{{0, 32, 5}, {32, 48, 5}, {48, 52, 4}}

func decodeTQ1_0(y []float32, b []byte) {
	t := twoBits(half(b[52:]))
	for _, part := range partsTQ1_0 {
		for i, c := range b[part.from:part.to] {
			for k := range part.digits {
				y[k*(part.to-part.from)+i] = t[int(c)*3>>8]
				c *= 3
			}
		}
		y = y[part.digits*(part.to-part.from):]
	}
}

func decodeTQ2_0(y []float32, b []byte) {
	t := twoBits(half(b[64:]))
	for i := range 64 {
		for k := range 4 {
			y[i/32*128+32*k+i%32] = t[b[i]>>(2*k)&3]
		}
	}
}
