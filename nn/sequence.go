package nn

import "github.com/tensorken/tensorken/tensor"

// An RNNLayer is an [RNN] as a [Layer], for a [Sequential]: see [LSTMLayer].
type RNNLayer struct {
	RNN
	Last bool
}

// An LSTMLayer is an [LSTM] as a [Layer], for a [Sequential]. It begins with a state of zeros
// and gives the outputs of all steps, [... time out] for x of shape [... time in], as PyTorch's
// layers do beside the state. Its tensors have the names of the LSTM.
//
//	nn.Sequential{nn.LSTMLayer{LSTM: nn.NewLSTM(rng, 28, 64, nil), Last: true}, nn.NewLinear(rng, 64, 10)}
type LSTMLayer struct {
	LSTM
	// Last returns only the last layer's outputs at the end of its cells, [... out], as
	// Keras' layers do without return_sequences: a cell that reads backward ends at the
	// first step.
	Last bool
}

// A GRULayer is a [GRU] as a [Layer], for a [Sequential]: see [LSTMLayer].
type GRULayer struct {
	GRU
	Last bool
}

// Apply maps x of shape [... time in] to [... time out], or to [... out] if Last is set.
func (l RNNLayer) Apply(x tensor.Tensor) tensor.Tensor { return outputs(l.RNN, l.Last, x, nil) }

// Apply maps x of shape [... time in] to [... time out], or to [... out] if Last is set.
func (l LSTMLayer) Apply(x tensor.Tensor) tensor.Tensor { return outputs(l.LSTM, l.Last, x, nil) }

// Apply maps x of shape [... time in] to [... time out], or to [... out] if Last is set.
func (l GRULayer) Apply(x tensor.Tensor) tensor.Tensor { return outputs(l.GRU, l.Last, x, nil) }

// Train returns the result with dropout, and l.
func (l RNNLayer) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return outputs(l.RNN, l.Last, x, rng), l
}

// Train returns the result with dropout, and l.
func (l LSTMLayer) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return outputs(l.LSTM, l.Last, x, rng), l
}

// Train returns the result with dropout, and l.
func (l GRULayer) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return outputs(l.GRU, l.Last, x, rng), l
}

// outputs returns the outputs of a recurrent network for all steps or, if last, the outputs of its last
// layer at the end, of both directions.
func outputs(l interface {
	Run(x tensor.Tensor, state []tensor.Tensor, lengths tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor)
}, last bool, x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	y, state := l.Run(x, nil, tensor.Tensor{}, rng)
	if !last {
		return y
	}
	h := state[0] // [layers·directions ... out]
	directions := y.Dim(-1) / max(h.Dim(-1), 1)
	ends := make([]tensor.Tensor, directions)
	for i := range ends {
		ends[i] = h.At(h.Dim(0) - directions + i)
	}
	return tensor.Cat(-1, ends...)
}
