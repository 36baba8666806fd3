package main

import (
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A recurrent model reads a name symbol by symbol. Its memory is a state, [n width].
type recurrent struct {
	Embedding nn.Embedding
	Start     state // of one name: [1 width]
	Cell      cell
	Out       nn.Linear
}

// A state passes from position to position. C is absent unless the cell is an LSTM.
type state struct{ H, C tensor.Tensor }

// A cell computes the next state from a state and an input [n embedding].
type cell interface {
	next(s state, x tensor.Tensor) state
}

// Apply maps symbols [n time] to logits [n time 27].
func (m recurrent) Apply(x tensor.Tensor) tensor.Tensor {
	start := tree.Map(m.Start, func(_ string, t tensor.Tensor) tensor.Tensor { return t.Expand(x.Dim(0), -1) })
	_, h := grad.Scan(func(s state, x tensor.Tensor) (state, tensor.Tensor) {
		s = m.Cell.next(s, x)
		return s, s.H
	}, start, m.Embedding.Apply(x).Transpose(0, 1), nil)
	return m.Out.Apply(h.Transpose(0, 1))
}

// rnnCell is the simplest cell: h' = tanh(W·[x h] + b).
type rnnCell struct{ XH nn.Linear }

func (l rnnCell) next(s state, x tensor.Tensor) state {
	return state{H: l.XH.Apply(tensor.Cat(1, x, s.H)).Tanh()}
}

// gruCell is a gated recurrent unit: z says how much of the state is replaced, r how much of
// the state the candidate sees.
//
// Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014.
type gruCell struct{ Z, R, Candidate nn.Linear }

func (l gruCell) next(s state, x tensor.Tensor) state {
	xh := tensor.Cat(1, x, s.H)
	z, r := l.Z.Apply(xh).Sigmoid(), l.R.Apply(xh).Sigmoid()
	candidate := l.Candidate.Apply(tensor.Cat(1, x, r.Mul(s.H))).Tanh()
	return state{H: s.H.Add(z.Mul(candidate.Sub(s.H)))}
}

// lstmCell is a long short-term memory: C passes through all positions with a gate that
// forgets and one that adds, and H is C through a third gate.
//
// Source: Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997; with the forget gate of
// Gers, Schmidhuber, Cummins, "Learning to Forget", 2000.
type lstmCell struct{ Gates nn.Linear }

func (l lstmCell) next(s state, x tensor.Tensor) state {
	width := s.H.Dim(1)
	gates := l.Gates.Apply(tensor.Cat(1, x, s.H)).Split(1, width, width, width, width)
	input, forget, output := gates[0].Sigmoid(), gates[1].Sigmoid(), gates[2].Sigmoid()
	c := s.C.Mul(forget).Add(gates[3].Tanh().Mul(input))
	return state{H: c.Tanh().Mul(output), C: c}
}

// recurrentNetwork returns a network with cells of inputs of width in and states of width
// out.
func recurrentNetwork(name string, newCell func(rng *tensor.RNG, in, out int) cell) network {
	return network{
		name: name, batch: 32, steps: 1000, adam: true, rate: 2e-3,
		make: func(rng *tensor.RNG, _ int) nn.Layer {
			const embedding, width = 32, 64
			m := recurrent{
				Embedding: nn.NewEmbedding(rng, symbols, embedding),
				Start:     state{H: tensor.ZerosOf(tensor.Float32, 1, width)},
				Cell:      newCell(rng, embedding, width),
				Out:       nn.NewLinear(rng, width, symbols),
			}
			if _, ok := m.Cell.(lstmCell); ok {
				m.Start.C = tensor.ZerosOf(tensor.Float32, 1, width)
			}
			return m
		},
	}
}

var (
	rnn = recurrentNetwork("rnn", func(rng *tensor.RNG, in, out int) cell {
		return rnnCell{nn.NewLinear(rng, in+out, out)}
	})
	gru = recurrentNetwork("gru", func(rng *tensor.RNG, in, out int) cell {
		return gruCell{nn.NewLinear(rng, in+out, out), nn.NewLinear(rng, in+out, out), nn.NewLinear(rng, in+out, out)}
	})
	lstm = recurrentNetwork("lstm", func(rng *tensor.RNG, in, out int) cell {
		return lstmCell{nn.NewLinear(rng, in+out, 4*out)}
	})
)
