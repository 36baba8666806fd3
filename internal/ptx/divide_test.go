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
	for _, n := range []int{32, 64} {
		most := uint64(math.MaxUint64) >> (64 - n)
		divisors := []uint64{3, 5, 6, 7, 10, 1000, 3000, 1<<31 - 1, 1<<31 + 1, most}
		if n == 64 {
			divisors = append(divisors, 1<<32+1, 1<<63-1, 1<<63+1)
		}
		for range 1000 {
			divisors = append(divisors, rng.Uint64()&most>>rng.IntN(n-2))
		}
		for _, d := range divisors {
			if d&(d-1) == 0 {
				continue
			}
			factor, shift := reciprocal(d, n)
			check := func(x uint64) {
				high, low := bits.Mul64(x, factor)
				if n == 32 {
					high = low >> 32
				}
				if got := ((x-high)>>1 + high) & most >> (shift - 1); got != x/d || factor > most {
					t.Errorf("%d / %d in %d bits: %d, want %d", x, d, n, got, x/d)
				}
			}
			for _, x := range []uint64{0, 1, d - 1, d, (d + 1) & most, most, most / d * d, most/d*d - 1} {
				check(x)
			}
			for range 100 {
				check(rng.Uint64() & most >> rng.IntN(n))
			}
		}
	}
}
