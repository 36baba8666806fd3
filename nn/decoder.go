package nn

import (
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A TransformerDecoderLayer is self-attention, attention to an encoder's result and a
// feed-forward network, each with dropout, a residual and a layer norm. Names and defaults are
// as in PyTorch's nn.TransformerDecoderLayer; axes are as with its batch_first.
//
// Self-attention is causal if SelfAttn.Causal is set, as NewTransformerDecoderLayer does.
//
// Source: Vaswani et al., "Attention Is All You Need", 2017.
type TransformerDecoderLayer struct {
	SelfAttn, MultiheadAttn MultiheadAttention
	Linear1, Linear2        Linear
	Norm1, Norm2, Norm3     LayerNorm
	Dropout                 Dropout // of each branch before its residual sum
	Act                     Func    // of the feed-forward network; nil is ReLU
	NormFirst               bool    // see [TransformerEncoderLayer]
}

// NewTransformerDecoderLayer returns a layer of a width, with heads and a feed-forward
// network of hidden units. Dropout is 0.1, as in PyTorch.
func NewTransformerDecoderLayer(rng *tensor.RNG, width, heads, hidden int) TransformerDecoderLayer {
	attention := func(causal bool) MultiheadAttention {
		a := NewMultiheadAttention(rng, width, heads)
		a.Causal, a.Dropout = causal, 0.1
		return a
	}
	return TransformerDecoderLayer{
		SelfAttn: attention(true), MultiheadAttn: attention(false),
		Linear1: NewLinear(rng, width, hidden), Linear2: NewLinear(rng, hidden, width),
		Norm1: NewLayerNorm(width), Norm2: NewLayerNorm(width), Norm3: NewLayerNorm(width), Dropout: Dropout{P: 0.1},
	}
}

// Apply maps x of shape [batch time width], with the encoder's result memory [batch keys
// width], to x's shape.
func (l TransformerDecoderLayer) Apply(x, memory tensor.Tensor) tensor.Tensor {
	return l.ApplyMasked(x, memory, tensor.Tensor{}, tensor.Tensor{}, nil)
}

// ApplyMasked is Apply with masks of the scores of x and of memory, which may be absent,
// see [Attention.Attend], and with dropout if rng is not nil.
func (l TransformerDecoderLayer) ApplyMasked(x, memory, mask, memoryMask tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	defer named("TransformerDecoderLayer")
	return l.join(x, rng,
		func(x tensor.Tensor) tensor.Tensor { return l.SelfAttn.Attend(x, tensor.Tensor{}, mask, rng) },
		func(x tensor.Tensor) tensor.Tensor { return l.MultiheadAttn.Attend(x, memory, memoryMask, rng) })
}

// join joins the parts of the layer.
func (l TransformerDecoderLayer) join(x tensor.Tensor, rng *tensor.RNG, self, cross func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	b := residualNorm{l.Dropout, l.NormFirst, rng}
	x = b.add(x, l.Norm1, self)
	x = b.add(x, l.Norm2, cross)
	return b.add(x, l.Norm3, func(x tensor.Tensor) tensor.Tensor { return b.feed(x, l.Linear1, l.Linear2, l.Act) })
}

// A DecoderCache has the keys and values that a [TransformerDecoderLayer] keeps from
// position to position: of the decoded positions, and of the encoder's result.
type DecoderCache struct{ Self, Memory KVCache }

// NewCache returns a cache of length positions for an encoder's result, [batch keys width].
func (l TransformerDecoderLayer) NewCache(memory tensor.Tensor, length int) DecoderCache {
	defer named("TransformerDecoderLayer")
	return DecoderCache{
		Self:   l.SelfAttn.Attention().NewCache(memory.Dim(0), length),
		Memory: l.MultiheadAttn.Attention().Memory(memory),
	}
}

// Decode maps the next positions x of shape [batch time width] to x's shape, as Apply does
// with all positions up to them, and returns the cache with them.
func (l TransformerDecoderLayer) Decode(x tensor.Tensor, c DecoderCache) (tensor.Tensor, DecoderCache) {
	defer named("TransformerDecoderLayer")
	y := l.join(x, nil,
		func(x tensor.Tensor) (y tensor.Tensor) {
			y, c.Self = l.SelfAttn.Attention().Decode(x, c.Self)
			return y
		},
		func(x tensor.Tensor) tensor.Tensor { return l.MultiheadAttn.Attention().Recall(x, c.Memory) })
	return y, c
}

// A TransformerDecoder applies its layers one after the other, and then Norm unless it is
// nil.
type TransformerDecoder struct {
	Layers []TransformerDecoderLayer
	Norm   *LayerNorm
}

// Apply is [TransformerDecoderLayer.Apply] of all layers.
func (l TransformerDecoder) Apply(x, memory tensor.Tensor) tensor.Tensor {
	return l.ApplyMasked(x, memory, tensor.Tensor{}, tensor.Tensor{}, nil)
}

// ApplyMasked is [TransformerDecoderLayer.ApplyMasked] of all layers.
func (l TransformerDecoder) ApplyMasked(x, memory, mask, memoryMask tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	for _, layer := range l.Layers {
		x = layer.ApplyMasked(x, memory, mask, memoryMask, rng)
	}
	return normed(x, l.Norm)
}

// NewCaches returns the caches of all layers, see [TransformerDecoderLayer.NewCache].
func (l TransformerDecoder) NewCaches(memory tensor.Tensor, length int) []DecoderCache {
	caches := make([]DecoderCache, len(l.Layers))
	for i, layer := range l.Layers {
		caches[i] = layer.NewCache(memory, length)
	}
	return caches
}

// Decode is [TransformerDecoderLayer.Decode] of all layers, each with its cache.
func (l TransformerDecoder) Decode(x tensor.Tensor, caches []DecoderCache) (tensor.Tensor, []DecoderCache) {
	if len(caches) != len(l.Layers) {
		fail("TransformerDecoder", "%d caches for %d layers: make them with NewCaches", len(caches), len(l.Layers))
	}
	caches = slices.Clone(caches)
	for i, layer := range l.Layers {
		x, caches[i] = layer.Decode(x, caches[i])
	}
	return normed(x, l.Norm), caches
}
