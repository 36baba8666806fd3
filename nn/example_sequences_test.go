package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A token's vector is a row of the weight.
func ExampleNewEmbedding() {
	e := nn.NewEmbedding(tensor.NewRNG(1), 100, 8)
	fmt.Println(e.Apply(tensor.New([]int32{5, 7, 5}, 1, 3)).Shape())
	// Output: [1 3 8]
}

// Recurrent layers as layers of a Sequential: Last keeps the end of the sequence.
func ExampleLSTMLayer() {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{
		nn.RNNLayer{RNN: nn.NewRNN(rng, 4, 8, nil)},
		nn.GRULayer{GRU: nn.NewGRU(rng, 8, 8, nil)},
		nn.LSTMLayer{LSTM: nn.NewLSTM(rng, 8, 6, nil), Last: true},
	}
	fmt.Println(net.Apply(rng.Normal(2, 5, 4)).Shape())
	// Output: [2 6]
}

// A bidirectional layer has the outputs of both directions.
func ExampleGRU() {
	rng := tensor.NewRNG(1)
	var l nn.GRU = nn.NewGRU(rng, 4, 8, &nn.RecurrentOptions{Bidirectional: true})
	y, last := l.Apply(rng.Normal(2, 5, 4), nil)
	fmt.Println(y.Shape(), len(last), last[0].Shape())
	// Output: [2 5 16] 1 [2 2 8]
}

func ExampleRNN() {
	rng := tensor.NewRNG(1)
	var l nn.RNN = nn.NewRNN(rng, 4, 8, &nn.RecurrentOptions{Layers: 2})
	_, last := l.Apply(rng.Normal(2, 5, 4), nil)
	fmt.Println(last[0].Shape())
	// Output: [2 2 8]
}

// A Cell has the weights of one step; LSTMCell and RNNCell run it.
func ExampleCell() {
	rng := tensor.NewRNG(1)
	lstm := nn.NewLSTMCell(rng, 4, 8)
	var weights nn.Cell = lstm.Cell
	fmt.Println(weights.WeightIH.Shape(), weights.WeightHH.Shape())
	var long nn.LSTMCell = lstm
	state := long.Apply(tensor.Ones(1, 4), nil)
	fmt.Println(len(state), "tensors of state")
	var simple nn.RNNCell = nn.NewRNNCell(rng, 4, 8)
	fmt.Println(len(simple.Apply(tensor.Ones(1, 4), nil)), "tensor of state")
	// Output:
	// [32 4] [32 8]
	// 2 tensors of state
	// 1 tensor of state
}

// PyTorch's layer, with its names of parameters.
func ExampleMultiheadAttention() {
	rng := tensor.NewRNG(1)
	var l nn.MultiheadAttention = nn.NewMultiheadAttention(rng, 8, 2)
	x, memory := rng.Normal(1, 3, 8), rng.Normal(1, 5, 8)
	fmt.Println(l.Apply(x).Shape(), l.Attend(x, memory, tensor.Tensor{}, nil).Shape())
	// Output: [1 3 8] [1 3 8]
}

// A decoder writes position by position, with caches of its own keys and of the encoder's.
func ExampleDecoderCache() {
	rng := tensor.NewRNG(1)
	d := nn.TransformerDecoder{Layers: []nn.TransformerDecoderLayer{nn.NewTransformerDecoderLayer(rng, 8, 2, 16)}}
	memory := rng.Normal(1, 5, 8)
	var caches []nn.DecoderCache = d.NewCaches(memory, 4)
	x := tensor.Ones(1, 1, 8)
	for range 3 {
		x, caches = d.Decode(x, caches)
	}
	fmt.Println(x.Shape(), caches[0].Self.Position(), len(caches))
	// Output: [1 1 8] 3 1
}

// The bias of T5, by the distance of query and key.
func ExampleRelativeBias() {
	var l nn.RelativeBias = nn.NewRelativeBias(tensor.NewRNG(1), 8, 2)
	fmt.Println(l.Buckets(3, 4, 0))
	fmt.Println(l.Apply(3, 4, 0).Shape())
	// Output:
	// [[0 0 0 0]
	//  [1 0 0 0]
	//  [2 1 0 0]]
	// [2 3 4]
}

// Scalings change the rates of rotations, for texts longer than in the training.
func ExampleRotaryScaling() {
	positions := tensor.Arange(32)
	for _, s := range []nn.RotaryScaling{
		nn.LinearScaling{Factor: 4},
		nn.DynamicScaling{Factor: 4, Length: 8},
		nn.YaRNScaling{Factor: 4, Length: 8},
	} {
		rates, factor := s.Rates(nn.Rotary{Base: 100}, 4, positions.Cast(tensor.Float32))
		fmt.Printf("%T %.3f %.3f\n", s, rates, factor)
	}
	// Output:
	// nn.LinearScaling [0.250 0.025] 1.000
	// nn.DynamicScaling [1.000 0.008] 1.000
	// nn.YaRNScaling [1.000 0.025] 1.139
}
