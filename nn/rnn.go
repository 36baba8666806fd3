package nn

import "github.com/tensorken/tensorken/tensor"

// An RNN computes h' = tanh(W·x + b + U·h + c) step by step, the simplest recurrent layer:
// [LSTM] describes inputs, outputs and states.
//
// Source: Elman, "Finding Structure in Time", 1990.
type RNN struct {
	Layers     []Cell  `tensor:"*_l#"`         // weight_ih_l0, …
	Reverse    []Cell  `tensor:"*_l#_reverse"` // weight_ih_l0_reverse, …; nil if not bidirectional
	Dropout    float64 // the probability that an output of a layer but the last is dropped in training
	Checkpoint int     // see [grad.ScanOptions]
	ReLU       bool    // instead of tanh
}

// An LSTM is a long short-term memory: beside its output h it passes a memory c from step to
// step, with a gate that forgets, one that adds and one that shows.
//
// Inputs are of shape [... time in], usually [batch time in], and outputs [... time out]: out
// is the width of h, or twice it for a bidirectional layer. A state is PyTorch's: h, and of
// an LSTM c, each [layers·directions ... width]: the cell of layer 2 that reads backward is
// number 2·2+1. All steps are in one plan, whose size does not depend on how many there are:
// see [grad.Scan].
//
// Source: Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997; forget gates: Gers,
// Schmidhuber, Cummins, "Learning to Forget", 2000; projections: Sak, Senior, Beaufays, "Long
// Short-Term Memory Recurrent Neural Network Architectures", 2014.
type LSTM struct {
	Layers     []Cell  `tensor:"*_l#"`         // weight_ih_l0, …
	Reverse    []Cell  `tensor:"*_l#_reverse"` // weight_ih_l0_reverse, …; nil if not bidirectional
	Dropout    float64 // the probability that an output of a layer but the last is dropped in training
	Checkpoint int     // see [grad.ScanOptions]
}

// A GRU is a gated recurrent unit, PyTorch's: its update gate says how much of h stays, and
// its reset gate how much of h the candidate for the rest sees. [LSTM] describes inputs,
// outputs and states.
//
// Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder for
// Statistical Machine Translation", 2014.
type GRU struct {
	Layers     []Cell  `tensor:"*_l#"`         // weight_ih_l0, …
	Reverse    []Cell  `tensor:"*_l#_reverse"` // weight_ih_l0_reverse, …; nil if not bidirectional
	Dropout    float64 // the probability that an output of a layer but the last is dropped in training
	Checkpoint int     // see [grad.ScanOptions]
}

// NewRNN returns a layer for inputs of width in, whose state has the given width. All
// parameters are uniform in ±1/√width, as in PyTorch. Nil options are one layer.
func NewRNN(rng *tensor.RNG, in, width int, o *RecurrentOptions) RNN {
	l := tanhRNN.newCells(rng, in, width, o)
	return RNN{Layers: l.Layers, Reverse: l.Reverse, Dropout: l.Dropout}
}

// NewLSTM is [NewRNN] of an LSTM.
func NewLSTM(rng *tensor.RNG, in, width int, o *RecurrentOptions) LSTM {
	return LSTM(lstm.newCells(rng, in, width, o))
}

// NewGRU is [NewRNN] of a GRU.
func NewGRU(rng *tensor.RNG, in, width int, o *RecurrentOptions) GRU {
	return GRU(gru.newCells(rng, in, width, o))
}

// Apply maps x of shape [... time in] and an initial state, {h}, to the outputs and the last
// state. A nil state is zeros.
func (l RNN) Apply(x tensor.Tensor, state []tensor.Tensor) (y tensor.Tensor, last []tensor.Tensor) {
	return l.Run(x, state, tensor.Tensor{}, nil)
}

// Apply maps x of shape [... time in] and an initial state, {h, c}, to the outputs and the
// last state. A nil state is zeros.
func (l LSTM) Apply(x tensor.Tensor, state []tensor.Tensor) (y tensor.Tensor, last []tensor.Tensor) {
	return l.Run(x, state, tensor.Tensor{}, nil)
}

// Apply maps x of shape [... time in] and an initial state, {h}, to the outputs and the last
// state. A nil state is zeros.
func (l GRU) Apply(x tensor.Tensor, state []tensor.Tensor) (y tensor.Tensor, last []tensor.Tensor) {
	return l.Run(x, state, tensor.Tensor{}, nil)
}

// Run is Apply to sequences of several lengths and in training. Lengths, of shape [...], say
// how many steps of each sequence count, from 0 to time: outputs after them are 0, the last
// state is the state after the last step that counts, and a cell that reads backward begins
// there. Without lengths, all steps of x count. Dropout needs an rng.
func (l RNN) Run(x tensor.Tensor, state []tensor.Tensor, lengths tensor.Tensor, rng *tensor.RNG) (y tensor.Tensor, last []tensor.Tensor) {
	return rnn(l.ReLU).run(recurrent{l.Layers, l.Reverse, l.Dropout, l.Checkpoint}, x, state, lengths, rng)
}

// Run is [RNN.Run].
func (l LSTM) Run(x tensor.Tensor, state []tensor.Tensor, lengths tensor.Tensor, rng *tensor.RNG) (y tensor.Tensor, last []tensor.Tensor) {
	return lstm.run(recurrent(l), x, state, lengths, rng)
}

// Run is [RNN.Run].
func (l GRU) Run(x tensor.Tensor, state []tensor.Tensor, lengths tensor.Tensor, rng *tensor.RNG) (y tensor.Tensor, last []tensor.Tensor) {
	return gru.run(recurrent(l), x, state, lengths, rng)
}

// An RNNCell is one step of an [RNN].
type RNNCell struct {
	Cell
	ReLU bool // instead of tanh
}

// An LSTMCell is one step of an [LSTM].
type LSTMCell struct{ Cell }

// A GRUCell is one step of a [GRU].
type GRUCell struct{ Cell }

// NewRNNCell returns a cell for inputs of width in, whose state has the given width. All
// parameters are uniform in ±1/√width, as in PyTorch.
func NewRNNCell(rng *tensor.RNG, in, width int) RNNCell {
	return RNNCell{Cell: tanhRNN.newCell("NewRNNCell", rng, in, width, RecurrentOptions{})}
}

// NewLSTMCell is [NewRNNCell] of an LSTM.
func NewLSTMCell(rng *tensor.RNG, in, width int) LSTMCell {
	return LSTMCell{lstm.newCell("NewLSTMCell", rng, in, width, RecurrentOptions{})}
}

// NewGRUCell is [NewRNNCell] of a GRU.
func NewGRUCell(rng *tensor.RNG, in, width int) GRUCell {
	return GRUCell{gru.newCell("NewGRUCell", rng, in, width, RecurrentOptions{})}
}

// Apply maps x of shape [... in] and a state, {h} of shape [... width], to the next state. A
// nil state is zeros.
func (l RNNCell) Apply(x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor {
	return rnn(l.ReLU).step("RNNCell", l.Cell, x, state)
}

// Apply maps x of shape [... in] and a state, {h, c} of shape [... width], to the next state.
// A nil state is zeros.
func (l LSTMCell) Apply(x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor {
	return lstm.step("LSTMCell", l.Cell, x, state)
}

// Apply maps x of shape [... in] and a state, {h} of shape [... width], to the next state. A
// nil state is zeros.
func (l GRUCell) Apply(x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor {
	return gru.step("GRUCell", l.Cell, x, state)
}
