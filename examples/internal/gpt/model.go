// Package gpt is a small GPT of characters, which example gpt and the page of examples/web train.
package gpt

import (
	"iter"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Model is a transformer that predicts the token after each token of a text, as GPT-2 does.
type Model struct {
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

// A Size is the size of a model.
type Size struct {
	Vocabulary, Length, Layers, Width, Heads int
	Dropout                                  float64
}

// New returns a model with random weights.
func New(rng *tensor.RNG, s Size) Model {
	embedding := func(n int) nn.Embedding {
		return nn.Embedding{Weight: rng.Normal(n, s.Width).Mul(0.02)}
	}
	m := Model{
		Tokens: embedding(s.Vocabulary), Positions: embedding(s.Length),
		Norm: nn.NewLayerNorm(s.Width), Head: nn.NewLinear(rng, s.Width, s.Vocabulary),
		dropout: nn.Dropout{P: s.Dropout},
	}
	for range s.Layers {
		b := block{
			LN1: nn.NewLayerNorm(s.Width), LN2: nn.NewLayerNorm(s.Width),
			Attn: nn.NewAttention(rng, s.Width, s.Heads),
			MLP:  nn.NewFeedForward(rng, s.Width, 4*s.Width, tensor.Tensor.GELU),
		}
		b.Attn.Causal, b.Attn.Dropout = true, s.Dropout
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// Train maps token ids, int32 [batch time], to the logits of the next tokens, [batch time
// vocabulary]. Without an rng there is no dropout.
func (m Model) Train(ids tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return m.apply(ids, 0, rng, func(i int, a nn.Attention, x tensor.Tensor) tensor.Tensor {
		return a.Attend(x, tensor.Tensor{}, tensor.Tensor{}, rng)
	})
}

// Decode does so for tokens that follow those in the caches, one for each block.
func (m Model) Decode(ids tensor.Tensor, caches []nn.KVCache) tensor.Tensor {
	return m.apply(ids, caches[0].Len, nil, func(i int, a nn.Attention, x tensor.Tensor) (y tensor.Tensor) {
		y, caches[i] = a.Decode(x, caches[i])
		return y
	})
}

// apply maps ids at the positions from a first one on to logits.
func (m Model) apply(ids tensor.Tensor, at int, rng *tensor.RNG, attend func(i int, a nn.Attention, x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	x := m.Tokens.Apply(ids).Add(m.Positions.Apply(tensor.Arange(ids.Dim(1)).Add(at)))
	for i, b := range m.Blocks {
		x = x.Add(m.dropout.Drop(attend(i, b.Attn, b.LN1.Apply(x)), rng))
		x = x.Add(m.dropout.Drop(b.MLP.Apply(b.LN2.Apply(x)), rng))
	}
	return m.Head.Apply(m.Norm.Apply(x))
}

// Caches returns empty caches for Decode.
func (m Model) Caches() (caches []nn.KVCache) {
	for _, b := range m.Blocks {
		caches = append(caches, b.Attn.NewCache(1, m.Positions.Weight.Dim(0)))
	}
	return caches
}

// Write yields the tokens that follow a text, without end. Choose returns the next token,
// int32 [1], for its logits [1 vocabulary]. When the caches are full, Write begins others with
// the last part of the text.
func (m Model) Write(text []int32, choose func(logits tensor.Tensor) tensor.Tensor) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		length := m.Positions.Weight.Dim(0)
		text := text[max(0, len(text)-length):len(text):len(text)]
		caches, next := m.Caches(), text
		for {
			if caches[0].Len == length {
				caches, next = m.Caches(), text[len(text)-length/2:]
			}
			token := int32(choose(m.Decode(tensor.New(next, 1, len(next)), caches).Select(1, -1)).Item())
			if !yield(token) {
				return
			}
			text = append(text, token)
			next = text[len(text)-1:]
		}
	}
}
