package ir

import "math"

// F16 holds the bits of an IEEE 754 binary16 number.
type F16 uint16

// BF16 holds the bits of a bfloat16 number: the upper half of a float32.
type BF16 uint16

// Float32 returns x as a float32; every F16 is one exactly.
func (x F16) Float32() float32 {
	sign := uint32(x&0x8000) << 16
	exp := uint32(x>>10) & 0x1f
	frac := uint32(x & 0x3ff)
	switch {
	case exp == 0x1f: // infinity or NaN
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case exp == 0: // zero or subnormal: frac · 2^-24
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// Float32 returns x as a float32; every BF16 is one exactly.
func (x BF16) Float32() float32 { return math.Float32frombits(uint32(x) << 16) }

// ToF16 rounds x to the nearest F16, ties to even. Numbers too large become
// infinite.
func ToF16(x float32) F16 {
	b := math.Float32bits(x)
	sign := F16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000: // NaN stays NaN, quiet
		return sign | 0x7e00
	case abs >= 0x477ff000: // rounds to 65520 or more
		return sign | 0x7c00
	case abs < 0x38800000: // subnormal or zero in half precision
		// Adding 0.5 lets the float32 adder round to a multiple of 2^-24.
		f := math.Float32frombits(abs) + 0.5
		return sign | F16(math.Float32bits(f)-math.Float32bits(0.5))
	}
	abs += 0xfff + abs>>13&1 // to nearest even
	return sign | F16((abs-112<<23)>>13)
}

// ToBF16 rounds x to the nearest BF16, ties to even.
func ToBF16(x float32) BF16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 { // NaN stays NaN, quiet
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}
