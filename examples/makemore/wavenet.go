package main

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A tree of layers: each joins two neighbours into one, so three join eight symbols. It has
// the form of WaveNet's dilated convolutions, for one position.
//
// Source: van den Oord et al., "WaveNet: A Generative Model for Raw Audio", 2016.
type waveNetModel struct {
	Embedding nn.Embedding
	Joins     []join
	Out       nn.Linear
}

// A join makes of each two neighbours one vector.
type join struct {
	Linear nn.Linear
	Norm   nn.BatchNorm
}

// Apply maps symbols [n 8] to logits [n 27].
func (m waveNetModel) Apply(x tensor.Tensor) tensor.Tensor {
	logits, _ := m.Train(x, nil)
	return logits
}

// Train is Apply with the statistics of the batch.
func (m waveNetModel) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, nn.Layer) {
	next := m
	next.Joins = nil
	h := m.Embedding.Apply(x) // [n 8 width]
	for _, l := range m.Joins {
		n, time := h.Dim(0), h.Dim(1)
		h = l.Linear.Apply(h.Reshape(n*time/2, -1)) // pairs, as examples of the batch norm
		h, l.Norm = nn.Train(l.Norm, h, rng)
		h = h.Tanh().Reshape(n, time/2, -1)
		next.Joins = append(next.Joins, l)
	}
	return m.Out.Apply(h.Squeeze(1)), next
}

var waveNet = network{
	name: "wavenet", time: 8, batch: 32, steps: 2000, rate: 0.1,
	make: func(rng *tensor.RNG, time int) nn.Layer {
		const embedding, width = 24, 128
		m := waveNetModel{Embedding: nn.NewEmbedding(rng, symbols, embedding)}
		in := embedding
		for ; time > 1; time /= 2 {
			linear := nn.Linear{Weight: nn.NewLinear(rng, 2*in, width).Weight} // without bias: the norm has one
			m.Joins, in = append(m.Joins, join{linear, nn.NewBatchNorm(width)}), width
		}
		m.Out = nn.NewLinear(rng, width, symbols)
		m.Out.Weight = m.Out.Weight.Mul(0.1).Keep() // begin unsure
		return m
	},
}
