package optim_test

import (
	"fmt"
	"strings"

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

func ExampleOptimizer_Step() {
	// The running mean has no gradient: it is carried over.
	type Model struct {
		W    tensor.Tensor
		Mean tensor.Tensor `tensor:",state"`
	}
	m := Model{tensor.New([]float32{1}), tensor.New([]float32{5})}
	g := grad.Of(func(m Model) tensor.Tensor { return m.W.Mul(m.Mean).Sum() })(m)
	opt := optim.New(optim.SGD{}, 0.1)
	fmt.Println(opt.Step(&m, g), m.W, m.Mean, opt.State.Step)
	// Output: <nil> [0.5] [5] [1]
}

func ExampleOptimizer_ruleFor() {
	opt := optim.New(optim.AdamW{WeightDecay: 0.01}, 1e-3)
	opt.RuleFor = func(name string) optim.Rule {
		switch {
		case strings.HasPrefix(name, "embedding."):
			return nil // frozen
		case strings.HasSuffix(name, ".bias"):
			return optim.AdamW{} // no decay
		}
		return opt.Rule
	}
	fmt.Println(opt.RuleFor("embedding.weight"), opt.RuleFor("out.bias"), opt.RuleFor("out.weight"))
	// Output: <nil> {0 0 0 0 false} {0 0 0 0.01 false}
}

func ExampleSGD() {
	p, g := tensor.New([]float32{1}), tensor.New([]float32{2})
	rule := optim.SGD{Momentum: 0.5}
	p, slots := rule.Update(p, g, nil, 0.25, 0)
	fmt.Println(p, slots)
	p, slots = rule.Update(p, g, slots, 0.25, 1)
	fmt.Println(p, slots)
	// Output:
	// [0.5] [[2]]
	// [-0.25] [[3]]
}

func ExampleAdam() {
	p, g := tensor.New([]float32{1, 1}), tensor.New([]float32{0.001, -1000})
	p, _ = optim.Adam{}.Update(p, g, nil, 0.1, 0) // the first step is lr, whatever the gradient's size
	fmt.Printf("%.3f\n", p)
	// Output: [0.900 1.100]
}

func ExampleClipValue() {
	fmt.Println(optim.ClipValue(tensor.New([]float32{-3, 0.5, 2}), 1))
	// Output: [-1.0 0.5 1.0]
}

func ExampleCosine() {
	cosine, linear := optim.Cosine(100, 0), optim.Linear(100, 0)
	for _, step := range []int{0, 25, 50, 100} {
		fmt.Printf("%.2f %.2f\n", cosine(step), linear(step))
	}
	// Output:
	// 1.00 1.00
	// 0.85 0.75
	// 0.50 0.50
	// 0.00 0.00
}
