package optim_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// freshDevice makes a device without plans the default one until the test ends.
func freshDevice(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	tensor.SetDefault(d)
	t.Cleanup(func() { tensor.SetDefault(nil); d.Close() })
}

// rules has every rule, with the settings that change its operations.
var rules = map[string]optim.Rule{
	"SGD": optim.SGD{}, "momentum": optim.SGD{Momentum: 0.9, Nesterov: true},
	"Adam": optim.Adam{}, "AdamW": optim.AdamW{WeightDecay: 0.1}, "AMSGrad": optim.AdamW{AMSGrad: true},
	"Adamax": optim.Adamax{WeightDecay: 0.1}, "NAdam": optim.NAdam{WeightDecay: 0.1}, "RAdam": optim.RAdam{WeightDecay: 0.1, Decoupled: true},
	"LAMB": optim.LAMB{WeightDecay: 0.1}, "RMSprop": optim.RMSprop{}, "centred": optim.RMSprop{Centered: true, Momentum: 0.9},
	"Adagrad": optim.Adagrad{LRDecay: 0.1}, "Adadelta": optim.Adadelta{}, "ASGD": optim.ASGD{T0: 3}, "Lion": optim.Lion{WeightDecay: 0.1},
	"Rprop": optim.Rprop{}, "Muon": optim.Muon{WeightDecay: 0.1}, "MatchAdamW": optim.Muon{MatchAdamW: true, Plain: true},
}

// plansOfSteps returns the number of plans after each of eight steps: RAdam's sixth is
// the first with another formula.
func plansOfSteps[M any](t *testing.T, opt *optim.Optimizer, m M, loss func(M) tensor.Tensor) (plans []int) {
	t.Helper()
	for range 8 {
		_, g := grad.ValueAndGrad(loss)(m)
		if err := opt.Step(&m, g); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, tensor.Info().Plans)
	}
	return plans
}

// The first step of a rule and all later ones run one plan.
func TestFirstStepSharesThePlan(t *testing.T) {
	for name, rule := range rules {
		rng := tensor.NewRNG(1)
		net := nn.Sequential{nn.NewLinear(rng, 6, 8), nn.Func(tensor.Tensor.Tanh), nn.NewLinear(rng, 8, 6)}
		x := rng.Normal(4, 6)
		opt := optim.New(rule, 0.01)
		opt.ClipNorm, opt.Schedule = 1, optim.Cosine(6, 0) // a rate of 0 is an operand as others are
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		plans := plansOfSteps(t, opt, net, func(n nn.Sequential) tensor.Tensor { return nn.MSE(n.Apply(x), x).Mean() })
		if plans[0] != plans[7] {
			t.Errorf("%s: after each step there are %v plans, want no more after the first", name, plans)
		}
	}
}

// So do steps of parameters that start as constants or as views, and of two that start equal.
func TestFirstStepOfConstants(t *testing.T) {
	type net struct{ Weight, Scale, Bias tensor.Tensor }
	for name, start := range map[string]func() tensor.Tensor{
		"Zeros":     func() tensor.Tensor { return tensor.Zeros(16) },
		"Ones":      func() tensor.Tensor { return tensor.Ones(16) },
		"Full":      func() tensor.Tensor { return tensor.Full(0.3, 16) },
		"New":       func() tensor.Tensor { return tensor.New(make([]float32, 16)) },
		"Arange":    func() tensor.Tensor { return tensor.Arange(16).Cast(tensor.Float32) },
		"float16":   func() tensor.Tensor { return tensor.Zeros(16).Cast(tensor.Float16) },
		"ZerosLike": func() tensor.Tensor { return tensor.ZerosLike(tensor.New(make([]float32, 16))) },
		"Expand":    func() tensor.Tensor { return tensor.New([]float32{1}).Expand(16) },
		"Flip":      func() tensor.Tensor { return tensor.New(make([]float32, 16)).Flip(0) },
		"Slice":     func() tensor.Tensor { return tensor.New(make([]float32, 20)).Slice(0, 1, 17) },
	} {
		for _, evaluated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,evaluated=%v", name, evaluated), func(t *testing.T) {
				freshDevice(t)
				rng := tensor.NewRNG(1)
				m, x := net{rng.Normal(6, 16), start(), start()}, rng.Normal(4, 6)
				if err := tensor.Eval(x); err != nil {
					t.Fatal(err)
				}
				if evaluated {
					if err := tensor.Eval(m); err != nil {
						t.Fatal(err)
					}
				}
				plans := plansOfSteps(t, optim.New(optim.Adam{}, 0.01), m, func(n net) tensor.Tensor {
					y := x.MatMul(n.Weight).Mul(n.Scale.Cast(tensor.Float32)).Add(n.Bias.Cast(tensor.Float32))
					return y.Square().Mean()
				})
				if plans[0] != plans[7] {
					t.Errorf("after each step there are %v plans, want no more after the first", plans)
				}
			})
		}
	}
}
