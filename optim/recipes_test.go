package optim_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// Muon for the matrices of a network's layers, AdamW for the others, no decay of biases,
// and a frozen embedding.
func ExampleGroups() {
	type Model struct {
		Embedding   nn.Embedding
		Hidden, Out nn.Linear
	}
	rng := tensor.NewRNG(1)
	m := Model{nn.NewEmbedding(rng, 10, 4), nn.NewLinear(rng, 4, 4), nn.NewLinear(rng, 4, 10)}
	opt := optim.New(optim.AdamW{WeightDecay: 0.01}, 1e-3)
	opt.Groups = optim.Groups{
		{Names: "embedding.*", Frozen: true},
		{Names: "*.bias", Rule: optim.AdamW{}},
		{Names: "hidden.weight", Rule: optim.Muon{}, LR: 20},
	}
	fmt.Println(opt.Step(&m, m), len(opt.State.Slots)) // AdamW's two of out.weight and of each bias, Muon's one
	// Output: <nil> 7
}

// Minimize suits fits of few parameters to all of the data.
func ExampleMinimize() {
	x := tensor.Linspace(0, 3, 20)
	y := x.Mul(-0.5).Exp().Mul(4)
	type Decay struct{ Height, Rate tensor.Tensor }
	m := Decay{tensor.Scalar(1), tensor.Scalar(1)}
	_, err := optim.Minimize(&optim.LBFGS{}, &m, func(m Decay) tensor.Tensor {
		return nn.MSE(x.Mul(m.Rate.Neg()).Exp().Mul(m.Height), y).Mean()
	})
	fmt.Printf("%.3f %.3f %v\n", m.Height, m.Rate, err)
	// Output: 4.000 0.500 <nil>
}

// The forward and backward passes compute in bfloat16; the parameters stay float32.
func ExampleValueAndGrad() {
	x := tensor.New([]float32{1, 2, 3})
	w := tensor.New([]float32{0.5, 0.5, 0.5})
	opt := optim.New(optim.SGD{}, 0.125)
	opt.Precision = tensor.BFloat16
	loss, g := optim.ValueAndGrad(opt, func(w tensor.Tensor) tensor.Tensor {
		return w.Mul(x.Cast(w.DType())).Sum()
	})(w)
	fmt.Println(opt.Step(&w, g))
	fmt.Println(loss, w, w.DType())
	// Output:
	// <nil>
	// 3 [0.375 0.250 0.125] float32
}

// The rate falls when the metric has not improved for more than Patience observations.
func ExamplePlateau() {
	plateau := &optim.Plateau{Factor: 0.5, Patience: 1}
	opt := optim.New(optim.SGD{}, 0.1)
	opt.Schedule = plateau.Schedule
	for _, loss := range []float64{2, 1, 1.5, 1.2, 0.9} {
		plateau.Observe(loss)
		fmt.Print(opt.Schedule(0), " ")
	}
	// Output: 1 1 1 0.5 0.5
}

func ExampleAveraged() {
	ema, mean := optim.Averaged[tensor.Tensor]{Decay: 0.5}, optim.Averaged[tensor.Tensor]{}
	for _, w := range []float32{1, 2, 6} {
		if err := ema.Add(tensor.New([]float32{w})); err != nil {
			fmt.Println(err)
		}
		if err := mean.Add(tensor.New([]float32{w})); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(ema.Model, mean.Model)
	// Output: [3.75] [3]
}

// The rate rises for 10 steps, stays for 80 and falls in the last 10.
func ExampleSequence() {
	stay := func(int) float64 { return 1 }
	rate := optim.Warmup(10, optim.Sequence(stay, 80, optim.Linear(10, 0)))
	for _, step := range []int{0, 9, 50, 90, 95, 100} {
		fmt.Printf("%.1f ", rate(step))
	}
	// Output: 0.1 1.0 1.0 1.0 0.5 0.0
}
