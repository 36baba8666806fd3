package nn

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// An Attention layer projects x to queries, keys and values of several heads, lets the
// queries attend to the keys, and projects the result.
//
// Source: Vaswani et al., "Attention Is All You Need", 2017; grouped queries: Ainslie et
// al., "GQA: Training Generalized Multi-Query Transformer Models", 2023.
type Attention struct {
	Q, K, V, O Linear
	// QNorm and KNorm normalize each head of queries and of keys, before Rotary, as in
	// Qwen 3. They are nil in most models.
	QNorm, KNorm Layer

	Heads   int // of the queries
	KVHeads int // of keys and values, each shared by Heads/KVHeads queries'; 0 is Heads

	Causal  bool    // a query attends to positions up to its own
	Window  int     // if not 0, to positions less than Window away
	Scale   float64 // the factor of scores; 0 is 1/√width of a head
	SoftCap float64 // if not 0, scores are SoftCap·tanh(score/SoftCap)
	Rotary  Rotary  // of queries and keys; the zero value rotates nothing
	ALiBi   bool    // adds [ALiBi] to the scores
	Dropout float64 // the probability that a weight is dropped in training
}

// NewAttention returns a layer of heads that share the width evenly, with biases.
func NewAttention(rng *tensor.RNG, width, heads int) Attention {
	checkHeads("NewAttention", width, heads)
	linear := func() Linear { return NewLinear(rng, width, width) }
	return Attention{Q: linear(), K: linear(), V: linear(), O: linear(), Heads: heads}
}

// checkHeads panics unless heads divide width.
func checkHeads(op string, width, heads int) {
	if heads < 1 || width%heads != 0 {
		fail(op, "%d heads do not divide the width %d: set Heads", heads, width)
	}
}

// Apply lets x of shape [... time width] attend to itself.
func (l Attention) Apply(x tensor.Tensor) tensor.Tensor {
	return l.Attend(x, tensor.Tensor{}, tensor.Tensor{}, nil)
}

// Train returns the result with dropout, and l.
func (l Attention) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.Attend(x, tensor.Tensor{}, tensor.Tensor{}, rng), l
}

// Attend lets x of shape [... time width] attend to memory, [... keys width], such as an
// encoder's result, or to x if memory is absent. The mask, if it is not absent, is as in
// [tensor.AttentionOptions]: it broadcasts to [... heads time keys]. See [PaddingMask] for
// keys that are padding. Dropout needs an rng.
func (l Attention) Attend(x, memory, mask tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	defer named("Attention")
	if !memory.IsValid() {
		memory = x
	}
	q := l.queries(x)
	k, v := l.keys(memory)
	q, k = l.rotate(q, k, 0)
	return l.attend(q, k, v, mask, 0, rng)
}

// Decode lets x of shape [batch time width] attend to the positions of a cache and to
// itself, causally, and returns the cache with x's keys and values.
func (l Attention) Decode(x tensor.Tensor, c KVCache) (tensor.Tensor, KVCache) {
	return l.DecodeMasked(x, tensor.Tensor{}, c)
}

// DecodeMasked is Decode with a mask for the positions of the cache, that broadcasts to [batch
// heads time capacity], as of a [RelativeBias].
func (l Attention) DecodeMasked(x, mask tensor.Tensor, c KVCache) (tensor.Tensor, KVCache) {
	defer named("Attention")
	q := l.queries(x)
	k, v := l.keys(x)
	q, k = l.rotate(q, k, c.Position())
	c, at := c.append(k, v)
	l.Causal = true
	k, v = c.Held(q.DType())
	return l.attend(q, k, v, combined(mask, c.mask()), at, nil), c
}

// NewCache returns an empty cache of length positions for Decode.
func (l Attention) NewCache(batch, length int) KVCache {
	defer named("Attention")
	heads, width := l.kvHeads(), l.headWidth()
	return NewKVCache(batch, heads, length, width)
}

// Memory returns a full cache with the keys and values of memory, [batch keys width], for
// Recall.
func (l Attention) Memory(memory tensor.Tensor) KVCache {
	defer named("Attention")
	k, v := l.keys(memory)
	return KVCache{K: k.Keep(), V: v.Keep(), Len: k.Dim(-2)}
}

// Recall lets x of shape [batch time width] attend to all positions of a cache that Memory
// made, as Attend would to the memory itself.
func (l Attention) Recall(x tensor.Tensor, c KVCache) tensor.Tensor {
	defer named("Attention")
	q := l.queries(x)
	k, v := c.Held(q.DType())
	return l.attend(q, k, v, c.mask(), 0, nil)
}

// kvHeads returns the number of heads of keys and values.
func (l Attention) kvHeads() int { return cmp.Or(l.KVHeads, l.Heads) }

// headWidth returns the width of a head of keys.
func (l Attention) headWidth() int {
	checkPresent("Attention", "K.Weight", l.K.Weight)
	checkHeads("Attention", l.K.Weight.Dim(0), l.kvHeads())
	return l.K.Weight.Dim(0) / l.kvHeads()
}

// queries returns the queries of x, [... heads time width].
func (l Attention) queries(x tensor.Tensor) tensor.Tensor {
	q := split(l.Q.Apply(x), l.Heads)
	if l.QNorm != nil {
		q = l.QNorm.Apply(q)
	}
	return q
}

// keys returns the keys and values of x, [... heads time width].
func (l Attention) keys(x tensor.Tensor) (k, v tensor.Tensor) {
	k, v = split(l.K.Apply(x), l.kvHeads()), split(l.V.Apply(x), l.kvHeads())
	if l.KNorm != nil {
		k = l.KNorm.Apply(k)
	}
	return k, v
}

// split gives heads an axis of their own: [... time heads·width] is [... heads time width].
func split(x tensor.Tensor, heads int) tensor.Tensor {
	if x.Rank() < 2 {
		fail("Attention", "the input %v has no axis of time: want [... time width]", x.Shape())
	}
	checkHeads("Attention", x.Dim(-1), heads)
	s := x.Shape()
	s = append(s[:len(s)-1], heads, x.Dim(-1)/heads)
	return x.Reshape(s...).Transpose(-2, -3)
}

// rotate rotates queries and keys of the positions from at.
func (l Attention) rotate(q, k tensor.Tensor, at tensor.Operand) (tensor.Tensor, tensor.Tensor) {
	if l.Rotary.Base == 0 {
		return q, k
	}
	if q.Dim(-2) != k.Dim(-2) {
		fail("Attention", "%d queries and %d keys: Rotary is for a layer that attends to its own input", q.Dim(-2), k.Dim(-2))
	}
	by := l.Rotary.angles(q, tensor.Arange(q.Dim(-2)).Add(at))
	return l.Rotary.turn(q, by), l.Rotary.turn(k, by)
}

// check panics if a setting has no meaning.
func (l Attention) check() {
	setting("Attention", "Scale", l.Scale, limits.NotNegative)
	setting("Attention", "SoftCap", l.SoftCap, limits.NotNegative)
	setting("Attention", "Dropout", l.Dropout, limits.Probability)
	setting("Attention", "Window", float64(l.Window), limits.NotNegative)
	setting("Attention", "KVHeads", float64(l.KVHeads), limits.NotNegative)
}

// attend returns the projected result of attention by queries of the positions from at.
func (l Attention) attend(q, k, v, mask tensor.Tensor, at tensor.Operand, rng *tensor.RNG) tensor.Tensor {
	l.check()
	if l.ALiBi {
		mask = combined(mask, ALiBi(l.Heads, q.Dim(-2), k.Dim(-2), at).Cast(q.DType()))
	}
	y := tensor.Attention(q, k, v, &tensor.AttentionOptions{
		Mask: mask, Causal: l.Causal, Window: l.Window, Offset: at,
		Scale: l.Scale, SoftCap: l.SoftCap, Dropout: l.Dropout, RNG: rng,
	})
	return l.O.Apply(y.Transpose(-2, -3).Flatten(-2))
}

// combined returns two masks of scores, each of bools or floats, as one. Each may be absent.
func combined(a, b tensor.Tensor) tensor.Tensor {
	isBool := func(m tensor.Tensor) bool { return m.DType() == tensor.Bool }
	switch {
	case !a.IsValid():
		return b
	case !b.IsValid():
		return a
	case isBool(a) && isBool(b):
		return a.And(b)
	case isBool(a):
		return tensor.Where(a, b, math.Inf(-1))
	case isBool(b):
		return tensor.Where(b, a, math.Inf(-1))
	}
	return a.Add(b)
}
