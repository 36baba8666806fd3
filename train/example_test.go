package train_test

import (
	"context"
	"fmt"
	"io"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

func ExampleLoop() {
	type Example struct{ X, Y tensor.Tensor }
	x := tensor.New([]float32{-2, -1, 1, 2}, 4, 1)
	l := train.Loop[nn.Linear, Example]{
		Model:     nn.NewLinear(tensor.NewRNG(1), 1, 1),
		Data:      &data.Loader[Example]{Set: data.Of(Example{x, x.Mul(3)}), Batch: 2, Shuffle: true},
		Optimizer: optim.New(optim.SGD{}, 0.1),
		Epochs:    50,
		Loss: func(m nn.Linear, b Example, _ *tensor.RNG) (tensor.Tensor, nn.Linear) {
			return nn.MSE(m.Apply(b.X), b.Y).Mean(), m
		},
		Monitor: "-loss",
		Out:     io.Discard, // nil shows progress on standard error
	}
	if err := l.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("y = %.2f x\n", l.Best.Weight.Item())
	// Output: y = 3.00 x
}

func ExampleAccuracy() {
	logits := tensor.From([][]float32{{3, 1}, {0, 2}, {1, 0}, {5, 4}})
	fmt.Println(train.Accuracy(logits, tensor.New([]int32{0, 1, 1, 0})))
	// Output: 0.75
}
