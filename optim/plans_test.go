package optim_test

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// The first step of a rule and all later ones run one plan.
func TestFirstStepSharesThePlan(t *testing.T) {
	for name, rule := range map[string]optim.Rule{
		"SGD": optim.SGD{}, "momentum": optim.SGD{Momentum: 0.9, Nesterov: true}, "Adam": optim.Adam{}, "AdamW": optim.AdamW{WeightDecay: 0.1},
	} {
		rng := tensor.NewRNG(1)
		net := nn.Sequential{nn.NewLinear(rng, 6, 8), nn.Func(tensor.Tensor.Tanh), nn.NewLinear(rng, 8, 6)}
		x := rng.Normal(4, 6)
		opt := optim.New(rule, 0.01)
		opt.ClipNorm = 1
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		var plans []int
		for range 4 {
			_, g := grad.ValueAndGrad(func(n nn.Sequential) tensor.Tensor { return nn.MSE(n.Apply(x), x).Mean() })(net)
			if err := opt.Step(&net, g); err != nil {
				t.Fatal(err)
			}
			plans = append(plans, tensor.Info().Plans)
		}
		if plans[0] != plans[1] || plans[1] != plans[3] {
			t.Errorf("%s: after each step there are %v plans, want no more after the first", name, plans)
		}
	}
}
