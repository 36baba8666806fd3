package ir

import (
	"math"
	"testing"
)

// A format says how the bits of a 16-bit floating-point number are read.
type format struct {
	name     string
	fraction int // bits
	bias     int
	decode   func(uint16) float32
	encode   func(float32) uint16
}

var formats = []format{
	{"F16", 10, 15, func(b uint16) float32 { return F16(b).Float32() }, func(x float32) uint16 { return uint16(ToF16(x)) }},
	{"BF16", 7, 127, func(b uint16) float32 { return BF16(b).Float32() }, func(x float32) uint16 { return uint16(ToBF16(x)) }},
}

// value is the number that bits stand for, by the definition of IEEE 754.
func (f format) value(b uint16) float64 {
	sign, scale := 1.0, math.Ldexp(1, -f.fraction)
	if b>>15 == 1 {
		sign = -1
	}
	exp, frac := int(b&0x7fff)>>f.fraction, float64(b&(1<<f.fraction-1))*scale
	switch {
	case exp == 0x7fff>>f.fraction && frac == 0:
		return math.Inf(int(sign))
	case exp == 0x7fff>>f.fraction:
		return math.NaN()
	case exp == 0:
		return sign * math.Ldexp(frac, 1-f.bias)
	}
	return sign * math.Ldexp(1+frac, exp-f.bias)
}

func TestHalvesDecode(t *testing.T) {
	for _, f := range formats {
		for i := range 1 << 16 {
			b := uint16(i)
			got, want := float64(f.decode(b)), f.value(b)
			if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("%s(%#04x).Float32() = %v, want %v", f.name, b, got, want)
			}
			back := f.encode(float32(want))
			if math.IsNaN(want) {
				if !math.IsNaN(f.value(back)) {
					t.Fatalf("To%s(NaN of %#04x) = %#04x, no NaN", f.name, b, back)
				}
			} else if back != b {
				t.Fatalf("To%s(%v) = %#04x, want %#04x", f.name, want, back, b)
			}
		}
	}
}

// nearest is x rounded to nearest, ties to even, by looking at neighbours:
// below is the greatest number not above |x|.
func (f format) nearest(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	abs := math.Abs(float64(x))
	infinite := uint16(0x7fff>>f.fraction) << f.fraction
	lo, hi := uint16(0), infinite
	for lo < hi { // the first number above |x|
		mid := lo + (hi-lo)/2
		if f.value(mid) > abs {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if math.IsInf(abs, 1) {
		return sign | infinite
	}
	below, above := lo-1, lo
	top := f.value(above)
	if above == infinite { // where the next number would be
		top = 2*f.value(below) - f.value(below-1)
	}
	toBelow, toAbove := abs-f.value(below), top-abs
	if toBelow < toAbove || toBelow == toAbove && below%2 == 0 {
		return sign | below
	}
	return sign | above
}

// Each number, each half way between two, and their neighbours.
func TestHalvesEncode(t *testing.T) {
	for _, f := range formats {
		infinite := uint16(0x7fff>>f.fraction) << f.fraction
		for b := uint16(0); b < infinite; b++ {
			x := float32(f.value(b))
			next := f.value(b + 1)
			if b+1 == infinite {
				next = 2*f.value(b) - f.value(b-1)
			}
			middle := float32((f.value(b) + next) / 2)
			for _, y := range []float32{x, middle} {
				below := math.Nextafter32(y, float32(math.Inf(-1)))
				above := math.Nextafter32(y, float32(math.Inf(1)))
				for _, z := range []float32{y, below, above, -y, -below, -above} {
					if got, want := f.encode(z), f.nearest(z); got != want {
						t.Fatalf("To%s(%v) = %#04x, want %#04x", f.name, z, got, want)
					}
				}
			}
		}
		for _, x := range []float32{math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), math.SmallestNonzeroFloat32} {
			if got, want := f.encode(x), f.nearest(x); got != want {
				t.Errorf("To%s(%v) = %#04x, want %#04x", f.name, x, got, want)
			}
		}
	}
}
