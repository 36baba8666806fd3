package ptx

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// A product with the reciprocal, computed as divide writes it, is the quotient.
func TestReciprocal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	divisors := []uint64{3, 5, 6, 7, 10, 1000, 3000, 1<<31 - 1, 1<<32 + 1, 1<<63 - 1, 1<<63 + 1, math.MaxUint64}
	for range 1000 {
		divisors = append(divisors, rng.Uint64()>>rng.IntN(62))
	}
	for _, d := range divisors {
		if d&(d-1) == 0 {
			continue
		}
		factor, shift := reciprocal(d)
		check := func(x uint64) {
			high, _ := bits.Mul64(x, factor)
			if got := ((x-high)>>1 + high) >> (shift - 1); got != x/d {
				t.Errorf("%d / %d: %d, want %d", x, d, got, x/d)
			}
		}
		for _, x := range []uint64{0, 1, d - 1, d, d + 1, math.MaxUint64, math.MaxUint64 / d * d, math.MaxUint64/d*d - 1} {
			check(x)
		}
		for range 100 {
			check(rng.Uint64() >> rng.IntN(64))
		}
	}
}
