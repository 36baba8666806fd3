package main

import (
	"strings"

	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// A bigram knows how often one symbol follows another. The row of a symbol has the logits of
// the next one.
type bigram struct{ Table nn.Embedding }

// Apply maps symbols [n 1] to logits [n 27].
func (m bigram) Apply(x tensor.Tensor) tensor.Tensor { return m.Table.Apply(x).Squeeze(1) }

// countTable returns how often each symbol (rows) is followed by each (columns) in contexts
// of one symbol: int32 [27 27].
func countTable(e examples) tensor.Tensor {
	pairs := e.X.Squeeze(1).Mul(symbols).Add(e.Y)
	zeros := tensor.Zeros(symbols * symbols).Cast(tensor.Int32)
	return zeros.ScatterAdd(0, pairs, tensor.New([]int32{1})).Reshape(symbols, symbols)
}

// counts is the stage without training: a bigram's logits are logarithms of counts. Softmax
// divides the counts, its exponentials, by their sum. Each count is greater by 1, so that no
// pair is impossible.
func counts(s *session) error {
	n := network{name: "counts", time: 1}
	table := countTable(n.examples(s.data.train, s.data))
	m := bigram{nn.Embedding{Weight: table.Add(1).Cast(tensor.Float32).Log()}}
	if err := tensor.Eval(table, m); err != nil {
		return err
	}
	if err := s.report(n, m, nil); err != nil {
		return err
	}
	return s.draw("counts", func() *plot.Figure {
		f := plot.Heatmap(table)
		f.Title = "How often a letter follows another"
		f.X.Names = strings.Split(names.Alphabet, "")
		f.Y.Names = f.X.Names
		f.X.Label, f.Y.Label, f.Z.Label = "next letter", "letter", "pairs"
		return f
	})
}

// neuron is a bigram that is found by gradient descent on all pairs. A layer of one-hot
// letters is its table: to multiply a matrix by a one-hot vector is to take a row.
var neuron = network{
	name: "neuron", time: 1, steps: 200, rate: 50,
	make: func(rng *tensor.RNG, _ int) nn.Layer { return bigram{nn.NewEmbedding(rng, symbols, symbols)} },
}
