package optim_test

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// descend prints a parameter after 20 steps from 1 towards the minimum of x² at 0.
func descend(r optim.Rule, lr float64) {
	x := tensor.New([]float32{1, 1}, 1, 2)
	opt := optim.New(r, lr)
	for range 20 {
		if err := opt.Step(&x, x.Mul(2)); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%.3f\n", x.At(0).At(0).Abs())
}

func ExampleASGD() {
	descend(optim.ASGD{}, 0.1)
	// Output: 0.012
}

func ExampleAdadelta() {
	descend(optim.Adadelta{Rho: 0.5}, 10)
	// Output: 0.533
}

func ExampleAdagrad() {
	descend(optim.Adagrad{}, 0.1)
	// Output: 0.377
}

func ExampleAdamax() {
	descend(optim.Adamax{}, 0.05)
	// Output: 0.255
}

func ExampleLAMB() {
	descend(optim.LAMB{}, 0.05)
	// Output: 0.358
}

// Lion's steps have the length of the learning rate.
func ExampleLion() {
	descend(optim.Lion{}, 0.03)
	// Output: 0.400
}

func ExampleMuon() {
	descend(optim.Muon{Plain: true}, 0.05)
	// Output: 0.515
}

func ExampleNAdam() {
	descend(optim.NAdam{}, 0.05)
	// Output: 0.297
}

func ExampleRAdam() {
	descend(optim.RAdam{}, 0.5)
	// Output: 0.073
}

func ExampleRMSprop() {
	descend(optim.RMSprop{}, 0.02)
	// Output: 0.072
}

// Rprop uses the gradient's sign alone, and a step for each element.
func ExampleRprop() {
	descend(optim.Rprop{}, 0.05)
	// Output: 0.022
}

// signed is a rule of one's own: a step of the length lr.
type signed struct{}

func (signed) Update(p, g tensor.Tensor, _ []tensor.Tensor, lr float64, _ int) (tensor.Tensor, []tensor.Tensor) {
	return p.Sub(g.Sign().Mul(lr)), nil
}

func ExampleRule() {
	descend(signed{}, 0.04)
	// Output: 0.200
}

// The first group whose pattern a name matches decides.
func ExampleGroup() {
	type layer struct{ Weight, Bias tensor.Tensor }
	m := map[string]layer{
		"embedding": {tensor.New([]float32{1}), tensor.New([]float32{1})},
		"head":      {tensor.New([]float32{1}), tensor.New([]float32{1})},
	}
	g := map[string]layer{
		"embedding": {tensor.New([]float32{1}), tensor.New([]float32{1})},
		"head":      {tensor.New([]float32{1}), tensor.New([]float32{1})},
	}
	opt := optim.New(optim.SGD{}, 0.1)
	frozen := optim.Group{Names: "embedding.*", Frozen: true}
	opt.Groups = optim.Groups{frozen, {Names: "*.bias", LR: 2}}
	if err := opt.Step(&m, g); err != nil {
		panic(err)
	}
	fmt.Println(m["embedding"].Weight, m["head"].Weight, m["head"].Bias)
	// Output: [1] [0.9] [0.8]
}

// Two batches make one step, as if they were one.
func ExampleAccumulator() {
	x := tensor.New([]float32{3})
	var sum optim.Accumulator[tensor.Tensor]
	for _, factor := range []float64{1, 3} {
		g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Mul(factor).Sum() })(x)
		if err := sum.Add(g); err != nil {
			panic(err)
		}
	}
	fmt.Println(sum.Count, "batches")
	fmt.Println(sum.Mean())
	// Output:
	// 2 batches
	// [2]
}

// The first step records a plan, which later steps replay.
func ExampleJit() {
	x := tensor.New([]float32{8})
	step := optim.Jit(optim.New(optim.SGD{}, 0.25), func(x, y tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, tensor.Tensor) {
		return x.Sub(y).Square().Sum(), x
	})
	for range 4 {
		loss, err := step(&x, tensor.New([]float32{4}), nil)
		fmt.Println(loss, x, err)
	}
	// Output:
	// 16 [6] <nil>
	// 4 [5] <nil>
	// 1 [4.5] <nil>
	// 0.25 [4.25] <nil>
}

// A gradient that overflows skips its step and halves the scale.
func ExampleScaling() {
	x := tensor.New([]float32{1})
	opt := optim.New(optim.SGD{}, 0.1)
	opt.Precision, opt.Scaling = tensor.Float16, optim.Scaling{Initial: 1024}
	for _, factor := range []float64{2, math.Inf(1)} {
		_, types, g := optim.ValueAndGradAux(opt, func(x tensor.Tensor) (tensor.Tensor, []tensor.DType) {
			return x.Mul(factor).Sum(), []tensor.DType{x.DType()}
		})(x)
		if err := opt.Step(&x, g); err != nil {
			panic(err)
		}
		fmt.Printf("%.2f %v %v\n", x, types, opt.State.Scale)
	}
	// Output:
	// [0.80] [float16] [1024]
	// [0.80] [float16] [512]
}

// The state of LBFGS grows with its steps, and is saved like a model.
func ExampleLBFGSState() {
	x := tensor.New([]float64{3, -2})
	o := &optim.LBFGS{}
	loss, err := optim.Minimize(o, &x, func(x tensor.Tensor) tensor.Tensor {
		return x.Sub(tensor.New([]float64{1, 2})).Square().Mul(tensor.New([]float64{1, 10})).Sum()
	})
	var s optim.LBFGSState = o.State
	fmt.Printf("%.3f %.3f %v %v\n", x, loss, s.Pairs.Item() > 0, err)
	// Output: [1.000 2.000] 0.000 true <nil>
}
