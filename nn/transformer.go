package nn

import (
	"github.com/tensorken/tensorken/tensor"
)

// A TransformerEncoderLayer is self-attention and a feed-forward network, each with dropout,
// a residual and a layer norm. Names and defaults are as in PyTorch's
// nn.TransformerEncoderLayer; axes are as with its batch_first.
//
// Source: Vaswani et al., "Attention Is All You Need", 2017.
type TransformerEncoderLayer struct {
	SelfAttn         MultiheadAttention
	Linear1, Linear2 Linear
	Norm1, Norm2     LayerNorm
	Dropout          Dropout // of each branch before its residual sum
	Act              Func    // of the feed-forward network; nil is ReLU
	// NormFirst normalizes the input of attention and feed-forward network, and not the
	// sums: pre-norm.
	NormFirst bool
}

// NewTransformerEncoderLayer returns a layer of a width, with heads and a feed-forward
// network of hidden units. Dropout is 0.1, as in PyTorch.
func NewTransformerEncoderLayer(rng *tensor.RNG, width, heads, hidden int) TransformerEncoderLayer {
	l := TransformerEncoderLayer{
		SelfAttn: NewMultiheadAttention(rng, width, heads),
		Linear1:  NewLinear(rng, width, hidden), Linear2: NewLinear(rng, hidden, width),
		Norm1: NewLayerNorm(width), Norm2: NewLayerNorm(width), Dropout: Dropout{P: 0.1},
	}
	l.SelfAttn.Dropout = 0.1
	return l
}

// Apply maps x of shape [batch time width] to the same shape.
func (l TransformerEncoderLayer) Apply(x tensor.Tensor) tensor.Tensor {
	return l.ApplyMasked(x, tensor.Tensor{}, nil)
}

// Train returns the result with dropout, and l.
func (l TransformerEncoderLayer) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.ApplyMasked(x, tensor.Tensor{}, rng), l
}

// ApplyMasked is Apply with a mask of scores, see [Attention.Attend], and with dropout if
// rng is not nil.
func (l TransformerEncoderLayer) ApplyMasked(x, mask tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	defer named("TransformerEncoderLayer")
	b := residualNorm{l.Dropout, l.NormFirst, rng}
	x = b.add(x, l.Norm1, func(x tensor.Tensor) tensor.Tensor { return l.SelfAttn.Attend(x, tensor.Tensor{}, mask, rng) })
	return b.add(x, l.Norm2, func(x tensor.Tensor) tensor.Tensor { return b.feed(x, l.Linear1, l.Linear2, l.Act) })
}

// A residualNorm says how the layers of a transformer join their parts.
type residualNorm struct {
	dropout   Dropout
	normFirst bool
	rng       *tensor.RNG
}

// add returns x + f(x), normalized before f or after the sum.
func (b residualNorm) add(x tensor.Tensor, norm LayerNorm, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	if b.normFirst {
		return x.Add(b.dropout.Drop(f(norm.Apply(x)), b.rng))
	}
	return norm.Apply(x.Add(b.dropout.Drop(f(x), b.rng)))
}

// feed is the feed-forward network.
func (b residualNorm) feed(x tensor.Tensor, up, down Linear, act Func) tensor.Tensor {
	return down.Apply(b.dropout.Drop(activate(act, tensor.Tensor.ReLU, up.Apply(x)), b.rng))
}

// A TransformerEncoder applies its layers one after the other, and then Norm unless it is
// nil, as with layers whose norms come first.
type TransformerEncoder struct {
	Layers []TransformerEncoderLayer
	Norm   *LayerNorm
}

// Apply maps x of shape [batch time width] to the same shape.
func (l TransformerEncoder) Apply(x tensor.Tensor) tensor.Tensor {
	return l.ApplyMasked(x, tensor.Tensor{}, nil)
}

// Train returns the result with dropout, and l.
func (l TransformerEncoder) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.ApplyMasked(x, tensor.Tensor{}, rng), l
}

// ApplyMasked is [TransformerEncoderLayer.ApplyMasked] of all layers with one mask.
func (l TransformerEncoder) ApplyMasked(x, mask tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	for _, layer := range l.Layers {
		x = layer.ApplyMasked(x, mask, rng)
	}
	return normed(x, l.Norm)
}

// normed applies a norm that may be nil.
func normed(x tensor.Tensor, norm *LayerNorm) tensor.Tensor {
	if norm == nil {
		return x
	}
	return norm.Apply(x)
}
