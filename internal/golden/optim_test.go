package golden

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// rules maps names in the file to optimizers.
var rules = map[string]func(a args) optim.Rule{
	"sgd": func(a args) optim.Rule {
		return optim.SGD{Momentum: arg(a, "momentum", 0.0), WeightDecay: arg(a, "weight_decay", 0.0), Nesterov: arg(a, "nesterov", false)}
	},
	"adam":  func(a args) optim.Rule { return adam(a) },
	"adamw": func(a args) optim.Rule { return optim.AdamW(adam(a)) },
}

func adam(a args) optim.Adam {
	betas := arg(a, "betas", [2]float64{})
	return optim.Adam{Beta1: betas[0], Beta2: betas[1], Eps: arg(a, "eps", 0.0), WeightDecay: arg(a, "weight_decay", 0.0)}
}

// schedules maps names in the file to learning rate schedules.
var schedules = map[string]func(steps, warmup int, floor float64) func(step int) float64{
	"":       func(steps, warmup int, floor float64) func(step int) float64 { return nil },
	"cosine": func(steps, warmup int, floor float64) func(step int) float64 { return optim.Cosine(steps, floor) },
	"linear": func(steps, warmup int, floor float64) func(step int) float64 { return optim.Linear(steps, floor) },
	"warmup": func(steps, warmup int, floor float64) func(step int) float64 { return optim.Warmup(warmup, nil) },
	"warmup_cosine": func(steps, warmup int, floor float64) func(step int) float64 {
		return optim.Warmup(warmup, optim.Cosine(steps, floor))
	},
}

// A case is a configuration of an optimizer. Its outputs are the loss of each
// step and the final parameters, in float64; GPUs compute them in float32.
func TestDifferentialOptimizers(t *testing.T) {
	tg := newTarget(t)
	cases := readCases(t, "testdata/differential/optimizers.json.gz")
	if tg.gpu {
		for _, c := range cases {
			for _, a := range slices.Concat(pointers(c.Inputs), pointers(c.Outputs)) {
				a.DType, a.Tol = "float32", [2]float64{1e-6, 1e-6}
			}
		}
	}
	tg.each(t, cases, func(c testCase, in []tensor.Tensor) error {
		o := optim.New(rules[c.Op](c.Args), arg(c.Args, "lr", 0.0))
		o.Schedule = schedules[arg(c.Args, "schedule", "")](arg(c.Args, "steps", 0), arg(c.Args, "warmup", 0), arg(c.Args, "floor", 0.0))
		o.ClipNorm = arg(c.Args, "clip_norm", 0.0)
		limit := arg(c.Args, "clip_value", 0.0)
		params, x, y := [2]tensor.Tensor{in[0], in[1]}, in[2], in[3]
		var losses []tensor.Tensor
		for range c.Outputs[0].Shape[0] {
			loss, g := grad.ValueAndGrad(func(p [2]tensor.Tensor) tensor.Tensor {
				return x.MatMul(p[0]).Tanh().Add(p[1]).Sub(y).Square().Mean()
			})(params)
			if limit != 0 {
				g = optim.ClipValue(g, limit)
			}
			if err := o.Step(&params, g); err != nil {
				return err
			}
			losses = append(losses, loss)
		}
		got := []tensor.Tensor{tensor.Stack(0, losses...), params[0], params[1]}
		return tg.compareAll(got, pointers(c.Outputs))
	})
}
