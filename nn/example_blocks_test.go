package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func ExampleNewSwiGLU() {
	l := nn.NewSwiGLU(tensor.NewRNG(1), 64, 172)
	fmt.Println(l.Apply(tensor.Ones(2, 5, 64)).Shape())
	// Output: [2 5 64]
}

// Training adds a little of the loss that makes experts be chosen equally often.
func ExampleMixtureOfExperts() {
	rng := tensor.NewRNG(1)
	l := nn.NewMixtureOfExperts(rng, 16, 32, 8, 2)
	x := rng.Normal(4, 10, 16)
	y, logits := l.Route(x)
	loss := nn.MSE(y, x).Mean().Add(nn.LoadBalance(logits, 2).Mul(0.01))
	fmt.Println(y.Shape(), logits.Shape(), loss.Shape())
	// Output: [4 10 16] [4 10 8] []
}

// A block of a residual network: the shortcut has the stride of the body.
func ExampleResidual() {
	rng := tensor.NewRNG(1)
	half := func(kernel, padding int) nn.Conv {
		return nn.NewConv2D(rng, 3, 8, kernel, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{padding}})
	}
	l := nn.Residual{
		Body:     nn.Sequential{half(3, 1), nn.NewBatchNorm(8), nn.Func(tensor.Tensor.ReLU)},
		Shortcut: nn.Sequential{half(1, 0)},
	}
	fmt.Println(l.Apply(tensor.Ones(1, 3, 16, 16)).Shape())
	// Output: [1 8 8 8]
}
