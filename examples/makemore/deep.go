package main

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A deep model has several hidden layers.
type deep struct {
	Embedding nn.Embedding
	Hidden    []hidden
	Out       nn.Linear
}

// A hidden layer is linear, normalized unless Norm is nil, and a tanh.
type hidden struct {
	Linear nn.Linear
	Norm   *nn.BatchNorm
}

// A start says how a deep model begins.
type start struct {
	name string
	// gain is the standard deviation of a hidden layer's sums for inputs of standard
	// deviation 1; 0 draws weights with standard deviation 1.
	gain      float64
	batchNorm bool
	// sure keeps the last layer as it is drawn, instead of a tenth: the model begins sure
	// of guesses, and most are wrong.
	sure bool
}

// newDeep returns a model of a number of layers that sees three symbols.
func newDeep(rng *tensor.RNG, layers, width int, o start) deep {
	const time, embedding = 3, 10
	weights := func(out, in int, gain float64) nn.Linear {
		if gain != 0 {
			gain /= math.Sqrt(float64(in))
		} else {
			gain = 1
		}
		return nn.Linear{Weight: rng.Normal(out, in).Mul(gain).Keep(), Bias: tensor.ZerosOf(tensor.Float32, out)}
	}
	m := deep{Embedding: nn.NewEmbedding(rng, symbols, embedding)}
	in := time * embedding
	for range layers {
		h := hidden{Linear: weights(width, in, o.gain)}
		if o.batchNorm {
			norm := nn.NewBatchNorm(width)
			h.Linear.Bias, h.Norm = tensor.Tensor{}, &norm // the norm has a bias, and subtracts any other
		}
		m.Hidden, in = append(m.Hidden, h), width
	}
	last := 0.1
	if o.sure {
		last = 1
	}
	if o.gain == 0 {
		last *= math.Sqrt(float64(width))
	}
	m.Out = weights(symbols, width, last)
	return m
}

// Apply maps symbols [n 3] to logits [n 27].
func (m deep) Apply(x tensor.Tensor) tensor.Tensor {
	logits, _ := m.forward(x, nil, nil)
	return logits
}

// Train is Apply with the statistics of the batch.
func (m deep) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, nn.Layer) {
	return m.forward(x, rng, nil)
}

// forward returns the logits, and the model with new statistics. It calls see, unless nil,
// with the activations [n width] of each hidden layer, and computes on with its result.
func (m deep) forward(x tensor.Tensor, rng *tensor.RNG, see func(layer int, h tensor.Tensor) tensor.Tensor) (tensor.Tensor, deep) {
	next := m
	next.Hidden = nil
	h := m.Embedding.Apply(x).Flatten(1)
	for i, l := range m.Hidden {
		h = l.Linear.Apply(h)
		if l.Norm != nil {
			h, l.Norm = nn.Train(l.Norm, h, rng)
		}
		h = h.Tanh()
		if see != nil {
			h = see(i, h)
		}
		next.Hidden = append(next.Hidden, l)
	}
	return m.Out.Apply(h), next
}

// batchNorm is the deep model that trains well from any start.
var batchNorm = network{
	name: "batchnorm", time: 3, batch: 32, steps: 2000, rate: 0.1,
	make: func(rng *tensor.RNG, _ int) nn.Layer {
		return newDeep(rng, 3, 100, start{gain: 5.0 / 3, batchNorm: true})
	},
}
