package golden

import (
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestLSTM loads a layer that PyTorch saved.
func TestLSTM(t *testing.T) {
	d, _, _ := openDevice(t)
	var l nn.LSTM
	if err := safetensors.Load("testdata/lstm/model.safetensors", &l); err != nil {
		t.Fatal(err)
	}
	io := readIO(t, "lstm")
	y, last := tree.To(l, d).Apply(io.In["x"].To(d), nil)
	closeTo(t, "l.Apply(x)", y, io.Out["y"])
	closeTo(t, "the last h of layer 1", last[0].At(1), io.Out["y"].Index(tensor.All, -1))
}

// recurrent is a layer of inputs x, the initial state, and the parameters of its cells in
// PyTorch's order. The outputs and the last state are one vector.
func recurrent(in []tensor.Tensor, a args) tensor.Tensor {
	kind, directions := arg(a, "kind", ""), 1
	if arg(a, "bidirectional", false) {
		directions = 2
	}
	states := map[string]int{"RNN": 1, "LSTM": 2, "GRU": 1}[kind]
	x, state, weights := in[0], in[1:1+states], in[1+states:]
	layers := arg(a, "layers", 0)
	each := len(weights) / layers / directions
	var cells [2][]nn.Cell
	for i := range layers * directions {
		var c nn.Cell
		for k, field := range []*tensor.Tensor{&c.WeightIH, &c.WeightHH, &c.BiasIH, &c.BiasHH, &c.WeightHR}[:each] {
			*field = weights[i*each+k]
		}
		cells[i%directions] = append(cells[i%directions], c)
	}
	var lengths tensor.Tensor
	if l := ints(a, "lengths"); len(l) > 0 {
		lengths = tensor.From(l)
	}
	var y tensor.Tensor
	var last []tensor.Tensor
	switch kind {
	case "RNN":
		y, last = nn.RNN{Layers: cells[0], Reverse: cells[1], ReLU: arg(a, "relu", false)}.Run(x, state, lengths, nil)
	case "LSTM":
		y, last = nn.LSTM{Layers: cells[0], Reverse: cells[1]}.Run(x, state, lengths, nil)
	case "GRU":
		y, last = nn.GRU{Layers: cells[0], Reverse: cells[1]}.Run(x, state, lengths, nil)
	}
	all := []tensor.Tensor{y.Flatten(0)}
	for _, s := range last {
		all = append(all, s.Flatten(0))
	}
	return tensor.Cat(0, all...)
}
