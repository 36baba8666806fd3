package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A model is a struct of layers with a method of its own.
type MLP struct {
	Hidden, Out nn.Linear
	Dropout     nn.Dropout
}

func (m MLP) Apply(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return m.Out.Apply(m.Dropout.Drop(m.Hidden.Apply(x).ReLU(), rng))
}

func Example() {
	rng := tensor.NewRNG(1)
	m := MLP{nn.NewLinear(rng, 64, 128), nn.NewLinear(rng, 128, 10), nn.Dropout{P: 0.2}}
	fmt.Println(m.Apply(tensor.Zeros(5, 64), rng).Shape())
	fmt.Println(nn.Summary(m))
	// Output:
	// [5 10]
	// hidden.weight  float32 [128 64]  8192
	// hidden.bias    float32 [128]     128
	// out.weight     float32 [10 128]  1280
	// out.bias       float32 [10]      10
	// total                            9610
}

func ExampleSequential() {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{
		nn.NewConv2D(rng, 1, 8, 3, &tensor.ConvOptions{Padding: []int{1}}), nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2},
		nn.Flatten{}, nn.NewLinear(rng, 8*4*4, 10),
	}
	fmt.Println(net.Apply(tensor.Zeros(2, 1, 8, 8)).Shape())
	// Output: [2 10]
}

func ExampleTrain() {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewBatchNorm(1)}
	x := tensor.New([]float32{10, 20}, 2, 1)
	y, next := nn.Train(net, x, rng)
	fmt.Printf("%.1f %.1f\n", y.Reshape(2), next[0].(nn.BatchNorm).Mean)
	// Output: [-1.0 1.0] [1.5]
}

func ExampleLinear() {
	l := nn.Linear{Weight: tensor.From([][]float32{{1, 2}, {3, 4}, {5, 6}}), Bias: tensor.New([]float32{0, 0, 100})}
	fmt.Println(l.Apply(tensor.New([]float32{1, 10})))
	// Output: [21 43 165]
}

func ExampleDropout() {
	l := nn.Dropout{P: 0.5}
	fmt.Println(l.Drop(tensor.Ones(3), nil)) // inference
	// Output: [1 1 1]
}

func ExampleCrossEntropy() {
	logits := tensor.From([][]float32{{2, 0, 0}, {0, 0, 0}})
	loss := nn.CrossEntropy(logits, tensor.New([]int32{0, 2}))
	fmt.Printf("%.4f %.4f\n", loss, loss.Mean())
	// Output: [0.2395 1.0986] 0.6691
}
