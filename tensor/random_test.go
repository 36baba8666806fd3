package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/tensor"
)

const draws = 20000

// moments returns the mean and the standard deviation.
func moments(x []float64) (mean, std float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		std += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(std)
}

func TestDistributions(t *testing.T) {
	rng := tensor.NewRNG(1)
	p := tensor.Full(0.3, draws)
	weights := floats(1, 0, 3).Expand(draws, 3)
	truncated := 0.8796256610342398 // the standard deviation of a normal within [-2, 2]
	for _, c := range []struct {
		name      string
		x         tensor.Tensor
		mean, std float64
		lo, hi    float64
	}{
		{"Uniform", rng.Uniform(draws), 0.5, math.Sqrt(1.0 / 12), 0, 1 - 0x1p-24},
		{"Normal", rng.Normal(draws), 0, 1, -6, 6},
		{"TruncNormal", rng.TruncNormal(draws), 0, truncated, -2, 2},
		{"Ints", rng.Ints(10, draws), 4.5, math.Sqrt(99.0 / 12), 0, 9},
		{"Ints(3·2²⁹)", rng.Ints(3<<29, draws), 3<<28 - 0.5, 3 << 29 / math.Sqrt(12), 0, 3<<29 - 1},
		{"Ints(1)", rng.Ints(1, draws), 0, 0, 0, 0},
		{"Bernoulli", rng.Bernoulli(p), 0.3, math.Sqrt(0.21), 0, 1},
		{"Categorical", rng.Categorical(weights), 1.5, math.Sqrt(0.75), 0, 2},
	} {
		x := values(t, c.x)
		mean, std := moments(x)
		if math.Abs(mean-c.mean) > 0.03*max(c.std, 1) || math.Abs(std-c.std) > 0.03*max(c.std, 0.1) {
			t.Errorf("%s: mean %.3f, standard deviation %.3f, want %.3f, %.3f", c.name, mean, std, c.mean, c.std)
		}
		if lo, hi := slices.Min(x), slices.Max(x); lo < c.lo || hi > c.hi {
			t.Errorf("%s: from %v to %v, want within [%v, %v]", c.name, lo, hi, c.lo, c.hi)
		}
	}
	if got := values(t, rng.Bernoulli(floats(0, 1))); got[0] != 0 || got[1] != 1 {
		t.Errorf("Bernoulli(0, 1) = %v", got)
	}
	tail := values(t, rng.Normal(draws))
	far := 0
	for _, v := range tail {
		if math.Abs(v) > 2 {
			far++
		}
	}
	if share := float64(far) / draws; math.Abs(share-0.0455) > 0.006 {
		t.Errorf("Normal: %.4f of the draws are beyond 2, want 0.0455", share)
	}
}

func TestPerm(t *testing.T) {
	for _, rng := range []*tensor.RNG{tensor.NewRNG(5), tensor.KeyRNG(tensor.NewRNG(5).Keys(1).At(0))} {
		first, second := values(t, rng.Perm(50)), values(t, rng.Perm(50))
		if slices.Equal(first, second) || slices.IsSorted(first) {
			t.Errorf("Perm(50) gave %v, then %v", first, second)
		}
		slices.Sort(first)
		if want := values(t, tensor.Arange(50)); !slices.Equal(first, want) {
			t.Errorf("Perm(50), sorted: %v", first)
		}
	}
	if n := tensor.NewRNG(1).Perm(0).Len(); n != 0 {
		t.Errorf("Perm(0) has %d elements", n)
	}
}

// The state of an RNG is its seed and count, and a key in a tensor gives the same
// sequence as one in Go numbers.
func TestRNGState(t *testing.T) {
	seed := uint64(0x123456789abcdef0)
	rng := tensor.NewRNG(seed)
	rng.Normal(3)
	rng.Perm(3)
	want := values(t, (&tensor.RNG{Seed: seed, Count: 2}).Uniform(2, 3))
	if got := values(t, rng.Uniform(2, 3)); !slices.Equal(got, want) || rng.Count != 3 {
		t.Errorf("third draw %v at count %d, want %v at 3", got, rng.Count, want)
	}
	key := tensor.New([]uint32{uint32(seed >> 32), uint32(seed & maxU)})
	keyed := tensor.KeyRNG(key)
	keyed.Normal(3)
	keyed.Perm(3)
	if got := values(t, keyed.Uniform(2, 3)); !slices.Equal(got, want) {
		t.Errorf("KeyRNG: third draw %v, want %v", got, want)
	}
	keys := tensor.NewRNG(1).Keys(2)
	a, b := values(t, tensor.KeyRNG(keys.At(0)).Uniform(3)), values(t, tensor.KeyRNG(keys.At(1)).Uniform(3))
	if slices.Equal(a, b) {
		t.Errorf("two keys give %v", a)
	}
}

// Of a draw of more numbers than an int32 counts, each depends on its 64-bit position. Only the
// last few are computed.
func TestLargeDraw(t *testing.T) {
	const seed, n = 9, 1 << 30
	word := func(position uint64) float64 {
		k0, k1 := simd.ThreefryWord(0, seed, 0, 0), simd.ThreefryWord(0, seed, 0, 1)
		return float64(simd.ThreefryWord(k0, k1, uint32(position>>32*2), uint32(position)) >> 2)
	}
	for _, shape := range [][]int{{1<<17 + 3, 1 << 16}, {1 << 16, 1 << 15}, {7, 1<<17 + 3, 1 << 15}, {1<<31 - 1, 5}} {
		x := tensor.NewRNG(seed).Ints(n, shape...)
		all := uint64(x.Len())
		for a, length := range shape {
			x = x.Slice(a, length-2, length)
		}
		got := values(t, x)
		if last := got[len(got)-1]; last != word(all-1) {
			t.Errorf("the last of Ints(%d, %v) is %v, want %v", n, shape, last, word(all-1))
		}
		if before := got[len(got)-2]; before != word(all-2) {
			t.Errorf("the last but one of Ints(%d, %v) is %v, want %v", n, shape, before, word(all-2))
		}
	}
}
