package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Two sequences of 5 and of 3 steps.
func ExampleLSTM() {
	rng := tensor.NewRNG(1)
	l := nn.NewLSTM(rng, 4, 8, &nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	y, last := l.Run(rng.Normal(2, 5, 4), nil, tensor.From([]int{5, 3}), nil)
	fmt.Println(y.Shape(), last[0].Shape(), last[1].Shape())
	fmt.Println(y.Index(1, 3).Abs().Sum())
	// Output:
	// [2 5 16] [4 2 8] [4 2 8]
	// 0
}

// A loop of one's own, for example where the next input is made from the last output.
func ExampleGRUCell() {
	rng := tensor.NewRNG(1)
	cell, out := nn.NewGRUCell(rng, 4, 8), nn.NewLinear(rng, 8, 4)
	x, state := tensor.OnesOf(tensor.Float32, 1, 4), []tensor.Tensor(nil)
	for range 3 {
		state = cell.Apply(x, state)
		x = out.Apply(state[0]).Softmax(-1)
	}
	fmt.Println(x.Shape(), x.Sum())
	// Output: [1 4] 1
}
