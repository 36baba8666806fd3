package nn

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A Cell has the parameters of one step of a recurrent layer. The gates of the layer, 1 of an
// RNN, 4 of an LSTM and 3 of a GRU, follow each other on axis 0, in PyTorch's order.
type Cell struct {
	WeightIH tensor.Tensor // [gates·width in]
	WeightHH tensor.Tensor // [gates·width out]
	BiasIH   tensor.Tensor `tensor:",optional"` // [gates·width], or absent
	BiasHH   tensor.Tensor `tensor:",optional"` // [gates·width], or absent
	WeightHR tensor.Tensor `tensor:",optional"` // [out width] of an LSTM with a projection, or absent: out is width
}

// ofInput returns the part of the gates that depends on the input.
func (c Cell) ofInput(x tensor.Tensor) tensor.Tensor {
	return affine(x.MatMul(c.WeightIH.T()), tensor.Tensor{}, c.BiasIH)
}

// ofState returns the part of the gates that depends on the previous output.
func (c Cell) ofState(h tensor.Tensor) tensor.Tensor {
	return affine(h.MatMul(c.WeightHH.T()), tensor.Tensor{}, c.BiasHH)
}

// A recurrence is the arithmetic of a kind of cells.
type recurrence struct {
	layer  string
	gates  int
	states int // tensors of a state: the output, then LSTM's memory
	next   func(c Cell, x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor
}

var (
	tanhRNN = recurrence{"RNN", 1, 1, func(c Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{c.ofInput(x).Add(c.ofState(s[0])).Tanh()}
	}}
	reluRNN = recurrence{"RNN", 1, 1, func(c Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{c.ofInput(x).Add(c.ofState(s[0])).ReLU()}
	}}
	lstm = recurrence{"LSTM", 4, 2, func(c Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		gates := c.ofInput(x).Add(c.ofState(s[0])).Chunk(-1, 4)
		input, forget, output := gates[0].Sigmoid(), gates[1].Sigmoid(), gates[3].Sigmoid()
		memory := forget.Mul(s[1]).Add(input.Mul(gates[2].Tanh()))
		h := output.Mul(memory.Tanh())
		if c.WeightHR.IsValid() {
			h = h.MatMul(c.WeightHR.T())
		}
		return []tensor.Tensor{h, memory}
	}}
	gru = recurrence{"GRU", 3, 1, func(c Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		i, h := c.ofInput(x).Chunk(-1, 3), c.ofState(s[0]).Chunk(-1, 3)
		reset, update := i[0].Add(h[0]).Sigmoid(), i[1].Add(h[1]).Sigmoid()
		candidate := i[2].Add(reset.Mul(h[2])).Tanh()
		return []tensor.Tensor{candidate.Add(update.Mul(s[0].Sub(candidate)))}
	}}
)

func rnn(relu bool) *recurrence {
	if relu {
		return &reluRNN
	}
	return &tanhRNN
}

// widths returns the width of each tensor of a state.
func (r *recurrence) widths(c Cell) []int {
	w := slices.Repeat([]int{c.WeightHH.Dim(0) / r.gates}, r.states)
	w[0] = c.WeightHH.Dim(1)
	return w
}

// check panics unless a cell of the layer has the shapes of r and takes inputs of width in.
// end is the end of its parameters' names, as "_l0".
func (r *recurrence) check(layer string, c Cell, in int, end string) {
	if !c.WeightIH.IsValid() || !c.WeightHH.IsValid() {
		fail(layer, "weight_ih%s or weight_hh%s is absent: make the layer with nn.New%s, or load it", end, end, layer)
	}
	hh := c.WeightHH.Shape()
	if len(hh) != 2 || hh[0]%r.gates != 0 || !c.WeightHR.IsValid() && hh[0] != r.gates*hh[1] {
		fail(layer, "weight_hh%s is %v, want [%d·width width]", end, hh, r.gates)
	}
	if c.WeightHR.IsValid() && r.layer != "LSTM" {
		fail(layer, "it has weight_hr%s, a projection: want an LSTM", end)
	}
	for _, p := range []struct {
		name string
		t    tensor.Tensor
		want []int
	}{
		{"weight_ih", c.WeightIH, []int{hh[0], in}},
		{"bias_ih", c.BiasIH, hh[:1]},
		{"bias_hh", c.BiasHH, hh[:1]},
		{"weight_hr", c.WeightHR, []int{hh[1], hh[0] / r.gates}},
	} {
		if p.t.IsValid() && !slices.Equal(p.t.Shape(), p.want) {
			fail(layer, "%s%s is %v, want %v for inputs of width %d and weight_hh%s of %v", p.name, end, p.t.Shape(), p.want, in, end, hh)
		}
	}
}

// zeros returns an initial state: tensors of the given axes and their own width.
func (r *recurrence) zeros(c Cell, axes []int) []tensor.Tensor {
	state := make([]tensor.Tensor, r.states)
	for i, w := range r.widths(c) {
		state[i] = tensor.ZerosOf(c.WeightHH.DType(), append(slices.Clone(axes), w)...)
	}
	return state
}

// step is the Apply method of a cell of the layer, for example RNNCell.
func (r *recurrence) step(layer string, c Cell, x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor {
	defer named(layer)
	if x.Rank() == 0 {
		fail(layer, "the input is a scalar, want [... in]")
	}
	r.check(layer, c, x.Dim(-1), "")
	checkType(layer, "the input", x, c)
	axes := x.Shape()[:x.Rank()-1]
	if state == nil {
		state = r.zeros(c, axes)
	}
	r.checkState(layer, c, state, axes)
	return r.next(c, x, state)
}

// checkType panics unless a tensor has the type of a cell's parameters, or none of its own.
func checkType(layer, what string, t tensor.Tensor, c Cell) {
	if d := c.WeightHH.DType(); !tensor.Internal.TakesType(graph.Token{}, t, d) {
		fail(layer, "%s is %v and the parameters are %v: Cast one of them", what, t.DType(), d)
	}
}

// checkState panics unless the tensors of a state have the given axes and their own width.
func (r *recurrence) checkState(layer string, c Cell, state []tensor.Tensor, axes []int) {
	if len(state) != r.states {
		fail(layer, "the state has %d tensors, want %s", len(state), []string{"1: h", "2: h and c"}[r.states-1])
	}
	for i, w := range r.widths(c) {
		want := append(slices.Clone(axes), w)
		if !state[i].IsValid() {
			fail(layer, "%s of the state is absent: a state has all tensors or is nil", "hc"[i:i+1])
		}
		if !slices.Equal(state[i].Shape(), want) {
			fail(layer, "%s of the state is %v, want %v", "hc"[i:i+1], state[i].Shape(), want)
		}
		checkType(layer, "hc"[i:i+1]+" of the state", state[i], c)
	}
}
