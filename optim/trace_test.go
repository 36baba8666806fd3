package optim_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// traces has the losses of PyTorch's optimizers on a small network.
type traces struct {
	X      array
	Y      struct{ Data []int32 }
	Params []array
	Runs   []struct {
		Optimizer   string
		Losses      []float64
		FinalParams []array `json:"final_params"`
	}
}

type array struct {
	Shape []int
	Data  []float32
}

func (a array) tensor() tensor.Tensor { return tensor.New(a.Data, a.Shape...) }

// model is the network of the traces, with weights [in out].
type model struct{ W1, B1, W2, B2 tensor.Tensor }

func (m model) apply(x tensor.Tensor) tensor.Tensor {
	return x.MatMul(m.W1).Add(m.B1).Tanh().MatMul(m.W2).Add(m.B2)
}

// traced has the optimizers that this package provides.
var traced = map[string]func() *optim.Optimizer{
	"sgd":          func() *optim.Optimizer { return optim.New(optim.SGD{}, 0.1) },
	"sgd_momentum": func() *optim.Optimizer { return optim.New(optim.SGD{Momentum: 0.9}, 0.05) },
	"sgd_nesterov": func() *optim.Optimizer {
		return optim.New(optim.SGD{Momentum: 0.9, WeightDecay: 0.01, Nesterov: true}, 0.05)
	},
	"adam":  func() *optim.Optimizer { return optim.New(optim.Adam{}, 0.01) },
	"adamw": func() *optim.Optimizer { return optim.New(optim.AdamW{WeightDecay: 0.1}, 0.01) },
	"adamw_clip_cosine": func() *optim.Optimizer {
		o := optim.New(optim.AdamW{WeightDecay: 0.05}, 0.02)
		o.ClipNorm, o.Schedule = 0.5, optim.Cosine(30, 0)
		return o
	},
}

func TestTraces(t *testing.T) {
	b, err := os.ReadFile("testdata/training_traces.json")
	if err != nil {
		t.Fatal(err)
	}
	var tr traces
	if err := json.Unmarshal(b, &tr); err != nil {
		t.Fatal(err)
	}
	x, y := tr.X.tensor(), tensor.New(tr.Y.Data)
	ran := 0
	for _, run := range tr.Runs {
		newOptimizer, ok := traced[run.Optimizer]
		if !ok {
			continue // a rule that is not written yet
		}
		ran++
		t.Run(run.Optimizer, func(t *testing.T) {
			m := model{tr.Params[0].tensor(), tr.Params[1].tensor(), tr.Params[2].tensor(), tr.Params[3].tensor()}
			o := newOptimizer()
			for step, want := range run.Losses {
				loss, g := grad.ValueAndGrad(func(m model) tensor.Tensor {
					return nn.CrossEntropy(m.apply(x), y).Mean()
				})(m)
				if err := o.Step(&m, g); err != nil {
					t.Fatal(err)
				}
				if got := loss.Item(); math.Abs(got-want) > 1e-5 {
					t.Fatalf("step %d: loss %v, want %v", step, got, want)
				}
			}
			for i, got := range []tensor.Tensor{m.W1, m.B1, m.W2, m.B2} {
				ok, err := tensor.AllClose(got, run.FinalParams[i].tensor(), 1e-4, 1e-5)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					t.Errorf("parameter %d =\n%v\nwant\n%v", i, got, run.FinalParams[i].tensor())
				}
			}
		})
	}
	if ran != len(traced) {
		t.Errorf("%d of %d optimizers have a trace", ran, len(traced))
	}
}
