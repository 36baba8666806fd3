package main

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A transformerModel is a small GPT-2: every position looks at all positions up to its own.
//
// Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
type transformerModel struct {
	Symbols, Positions nn.Embedding
	Blocks             []block
	Norm               nn.LayerNorm
	Out                nn.Linear // without bias
}

// A block is attention and a feed-forward network. Both add their result to x.
type block struct {
	Norm1, Norm2 nn.LayerNorm
	Attention    nn.Attention
	FeedForward  nn.FeedForward
}

// Apply maps symbols [n time] to logits [n time 27].
func (m transformerModel) Apply(x tensor.Tensor) tensor.Tensor {
	h := m.Symbols.Apply(x).Add(m.Positions.Apply(tensor.Arange(x.Dim(1))))
	for _, b := range m.Blocks {
		h = h.Add(b.Attention.Apply(b.Norm1.Apply(h)))
		h = h.Add(b.FeedForward.Apply(b.Norm2.Apply(h)))
	}
	return m.Out.Apply(m.Norm.Apply(h))
}

var transformer = network{
	name: "transformer", batch: 32, steps: 1000, adam: true, rate: 2e-3,
	make: func(rng *tensor.RNG, time int) nn.Layer {
		const layers, width, heads = 4, 64, 4
		m := transformerModel{
			Symbols: nn.NewEmbedding(rng, symbols, width), Positions: nn.NewEmbedding(rng, time, width),
			Norm: nn.NewLayerNorm(width), Out: nn.Linear{Weight: nn.NewLinear(rng, width, symbols).Weight},
		}
		for range layers {
			attention := nn.NewAttention(rng, width, heads)
			attention.Causal = true
			m.Blocks = append(m.Blocks, block{
				nn.NewLayerNorm(width), nn.NewLayerNorm(width), attention,
				nn.NewFeedForward(rng, width, 4*width, nn.Func(tensor.Tensor.GELU)),
			})
		}
		return m
	},
}
