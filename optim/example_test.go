package optim_test

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	x := tensor.New([]float32{4})
	opt := optim.New(optim.SGD{Momentum: 0.5}, 0.25)
	for range 4 {
		loss, g := grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor { return x.Square().Sum() })(x)
		if err := opt.Step(&x, g); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(loss, x)
	}
	// Output:
	// 16 [2]
	// 4 [0]
	// 0 [-1]
	// 1 [-1]
}

func ExampleWarmup() {
	opt := optim.New(optim.AdamW{WeightDecay: 0.01}, 1e-3)
	opt.Schedule = optim.Warmup(100, optim.Cosine(900, 0.1))
	for _, step := range []int{0, 99, 100, 550, 1000} {
		fmt.Printf("%.2f ", opt.Schedule(step))
	}
	// Output: 0.01 1.00 1.00 0.55 0.10
}

func ExampleClipNorm() {
	g := []tensor.Tensor{tensor.New([]float32{30}), tensor.New([]float32{40})}
	fmt.Printf("%.1f\n", optim.ClipNorm(g, 10))
	// Output: [[6.0] [8.0]]
}

func ExampleAverage() {
	avg, model := tensor.New([]float32{0}), tensor.New([]float32{1})
	for range 3 {
		avg = optim.Average(avg, model, 0.5)
	}
	fmt.Println(avg)
	// Output: [0.875]
}
