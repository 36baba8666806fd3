package nn

import (
	"math"
	"math/bits"

	"github.com/tensorken/tensorken/tensor"
)

// Sinusoids returns a table of positions [length width]: element 2i of row p is
// sin(p·10000^(-2i/width)), and element 2i+1 the cosine. It is an untyped constant, to be
// added to embeddings. Embeddings of positions that are learned are an [Embedding].
//
// Source: Vaswani et al., "Attention Is All You Need", 2017.
func Sinusoids(length, width int) tensor.Tensor {
	defer named("Sinusoids")
	if width%2 != 0 {
		fail("Sinusoids", "the width is %d, want an even number", width)
	}
	a := tensor.Arange(length).Unsqueeze(1).Mul(rotaryRates(fixed(math.Log(10000)), width))
	return tensor.Stack(2, a.Sin(), a.Cos()).Flatten(1)
}

// ALiBiSlopes returns the slope of each head, [heads], an untyped constant: 2^(-8h/heads)
// for h from 1. If heads is not a power of 2, the slopes of the next lower power come first,
// and then every second slope of twice as many heads.
//
// Source: Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases Enables
// Input Length Extrapolation", 2022.
func ALiBiSlopes(heads int) tensor.Tensor {
	if heads < 1 {
		fail("ALiBiSlopes", "there are %d heads, want at least 1", heads)
	}
	power := 1 << (bits.Len(uint(heads)) - 1)
	slopes := func(count, step, of int) tensor.Tensor {
		return tensor.Arange(1, 1+count*step, step).Mul(tensor.Scalar(-8 / float64(of))).Exp2()
	}
	first := slopes(power, 1, power)
	if heads == power {
		return first
	}
	return tensor.Cat(0, first, slopes(heads-power, 2, 2*power))
}

// ALiBi returns a bias for scores [heads queries keys]: minus the distance of query and key,
// times the head's slope. The first query is at position offset, an integer or an int32 tensor,
// the first key at 0. For an integer it is an untyped constant. See [ALiBiSlopes].
func ALiBi(heads, queries, keys int, offset tensor.Operand) tensor.Tensor {
	defer named("ALiBi")
	return ALiBiSlopes(heads).Reshape(heads, 1, 1).Mul(distances(queries, keys, offset).Abs().Neg())
}

// distances returns the positions of keys relative to queries', [queries keys], in int32.
func distances(queries, keys int, offset tensor.Operand) tensor.Tensor {
	return tensor.Arange(keys).Sub(tensor.Arange(queries).Unsqueeze(1).Add(offset))
}

// A RelativeBias is learned for ranges of distances between query and key, the same for all
// layers of a model: one for each small distance, and ranges that grow with the logarithm of
// the distance, up to MaxDistance and beyond. It is T5's.
//
// Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified
// Text-to-Text Transformer", 2020.
type RelativeBias struct {
	Weight tensor.Tensor // [buckets heads], relative_attention_bias in T5's files
	// Bidirectional is for encoders: half of the buckets are for keys after the query. If
	// it is false, all of these are at distance 0.
	Bidirectional bool
	MaxDistance   int // 0 is 128
}

// NewRelativeBias returns biases that are standard normal. T5 has 32 buckets.
func NewRelativeBias(rng *tensor.RNG, buckets, heads int) RelativeBias {
	return RelativeBias{Weight: NewEmbedding(rng, buckets, heads).Weight}
}

// Apply returns the biases of scores, [heads queries keys], for the mask of an [Attention].
// The first query is at position offset, an integer or an int32 tensor, the first key at 0.
func (l RelativeBias) Apply(queries, keys int, offset tensor.Operand) tensor.Tensor {
	defer named("RelativeBias")
	checkPresent("RelativeBias", "Weight", l.Weight)
	return l.Weight.Take(0, l.Buckets(queries, keys, offset)).Permute(2, 0, 1)
}

// Buckets returns the int32 bucket of each query and key, [queries keys].
func (l RelativeBias) Buckets(queries, keys int, offset tensor.Operand) tensor.Tensor {
	defer named("RelativeBias")
	checkPresent("RelativeBias", "Weight", l.Weight)
	buckets, most := l.Weight.Dim(0), l.MaxDistance
	if most == 0 {
		most = 128
	}
	d := distances(queries, keys, offset)
	if !l.Bidirectional {
		return bucketed(d.Neg().Maximum(0), buckets, most)
	}
	if buckets%2 != 0 {
		fail("RelativeBias", "%d buckets do not divide in halves for keys before and after", buckets)
	}
	b := bucketed(d.Abs(), buckets/2, most)
	return tensor.Where(d.Gt(0), b.Add(buckets/2), b)
}

// bucketed returns the bucket of each distance: those below half of the buckets have their
// own.
func bucketed(distance tensor.Tensor, buckets, most int) tensor.Tensor {
	exact := buckets / 2
	if exact < 1 || most <= exact || most > 1<<20 {
		fail("RelativeBias", "%d buckets for distances up to %d: want at least 2, and distances up to more than half of them, at most %d", buckets, most, 1<<20)
	}
	table := make([]int32, most+1)
	for d := range table {
		table[d] = int32(d)
		if d >= exact {
			// The small number makes up for logarithms that are just below a whole one.
			far := math.Log(float64(d)/float64(exact)) / math.Log(float64(most)/float64(exact))
			table[d] = int32(min(exact+int(far*float64(buckets-exact)+1e-9), buckets-1))
		}
	}
	return tensor.New(table).Take(0, distance.Minimum(most))
}
