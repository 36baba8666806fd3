package main

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A gpt is a transformer that predicts the token after each token of a text, as GPT-2 does.
type gpt struct {
	Tokens, Positions nn.Embedding
	Blocks            []block
	Norm              nn.LayerNorm
	Head              nn.Linear
	dropout           nn.Dropout
}

type block struct {
	LN1, LN2 nn.LayerNorm
	Attn     nn.Attention
	MLP      nn.FeedForward
}

// A size is that of a model.
type size struct {
	vocabulary, length, layers, width, heads int
	dropout                                  float64
}

func newGPT(rng *tensor.RNG, s size) gpt {
	embedding := func(n int) nn.Embedding {
		return nn.Embedding{Weight: rng.Normal(n, s.width).Mul(0.02)}
	}
	m := gpt{
		Tokens: embedding(s.vocabulary), Positions: embedding(s.length),
		Norm: nn.NewLayerNorm(s.width), Head: nn.NewLinear(rng, s.width, s.vocabulary),
		dropout: nn.Dropout{P: s.dropout},
	}
	for range s.layers {
		b := block{
			LN1: nn.NewLayerNorm(s.width), LN2: nn.NewLayerNorm(s.width),
			Attn: nn.NewAttention(rng, s.width, s.heads),
			MLP:  nn.NewFeedForward(rng, s.width, 4*s.width, tensor.Tensor.GELU),
		}
		b.Attn.Causal, b.Attn.Dropout = true, s.dropout
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// train maps token ids, int32 [batch time], to the logits of the next tokens, [batch time
// vocabulary]. Without an rng there is no dropout.
func (m gpt) train(ids tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return m.apply(ids, 0, rng, func(i int, a nn.Attention, x tensor.Tensor) tensor.Tensor {
		return a.Attend(x, tensor.Tensor{}, tensor.Tensor{}, rng)
	})
}

// decode does so for tokens that follow those in the caches, one for each block.
func (m gpt) decode(ids tensor.Tensor, caches []nn.KVCache) tensor.Tensor {
	return m.apply(ids, caches[0].Len, nil, func(i int, a nn.Attention, x tensor.Tensor) (y tensor.Tensor) {
		y, caches[i] = a.Decode(x, caches[i])
		return y
	})
}

// apply maps ids at the positions from a first one on to logits.
func (m gpt) apply(ids tensor.Tensor, at int, rng *tensor.RNG, attend func(i int, a nn.Attention, x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	x := m.Tokens.Apply(ids).Add(m.Positions.Apply(tensor.Arange(ids.Dim(1)).Add(at)))
	for i, b := range m.Blocks {
		x = x.Add(m.dropout.Drop(attend(i, b.Attn, b.LN1.Apply(x)), rng))
		x = x.Add(m.dropout.Drop(b.MLP.Apply(b.LN2.Apply(x)), rng))
	}
	return m.Head.Apply(m.Norm.Apply(x))
}

// caches returns empty caches for decode.
func (m gpt) caches() (caches []nn.KVCache) {
	for _, b := range m.Blocks {
		caches = append(caches, b.Attn.NewCache(1, m.Positions.Weight.Dim(0)))
	}
	return caches
}

// sample returns text with n more tokens. When the caches are full, it begins others with
// the last part of the text.
func (m gpt) sample(rng *tensor.RNG, text []int32, n int) []int32 {
	length := m.Positions.Weight.Dim(0)
	caches, next := m.caches(), text[max(0, len(text)-length):]
	for range n {
		if caches[0].Len == length {
			caches, next = m.caches(), text[len(text)-length/2:]
		}
		p := m.decode(tensor.New(next, 1, len(next)), caches).Index(0, -1).Softmax(-1)
		next = []int32{int32(rng.Categorical(p).Item())}
		text = append(text, next...)
	}
	return text
}
