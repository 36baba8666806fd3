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
	Runs   []run
}

type run struct {
	Optimizer     string
	Losses, Rates []float64
	FinalParams   []array `json:"final_params"`
}

type array struct {
	Shape []int
	Data  []float64
}

// tensor returns the array in float32.
func (a array) tensor() tensor.Tensor {
	narrow := make([]float32, len(a.Data))
	for i, x := range a.Data {
		narrow[i] = float32(x)
	}
	return tensor.New(narrow, a.Shape...)
}

// model is the network of the traces, with weights [in out].
type model struct{ W1, B1, W2, B2 tensor.Tensor }

func (m model) apply(x tensor.Tensor) tensor.Tensor {
	return x.MatMul(m.W1).Add(m.B1).Tanh().MatMul(m.W2).Add(m.B2)
}

// traced has the optimizers of each file of traces; lbfgs is in TestLBFGSTrace.
var traced = map[string]map[string]func() *optim.Optimizer{
	"training_traces": {
		"sgd":          func() *optim.Optimizer { return optim.New(optim.SGD{}, 0.1) },
		"sgd_momentum": func() *optim.Optimizer { return optim.New(optim.SGD{Momentum: 0.9}, 0.05) },
		"sgd_nesterov": func() *optim.Optimizer {
			return optim.New(optim.SGD{Momentum: 0.9, WeightDecay: 0.01, Nesterov: true}, 0.05)
		},
		"adam":    func() *optim.Optimizer { return optim.New(optim.Adam{}, 0.01) },
		"adamw":   func() *optim.Optimizer { return optim.New(optim.AdamW{WeightDecay: 0.1}, 0.01) },
		"rmsprop": func() *optim.Optimizer { return optim.New(optim.RMSprop{}, 0.01) },
		"adagrad": func() *optim.Optimizer { return optim.New(optim.Adagrad{}, 0.05) },
		"adamw_clip_cosine": func() *optim.Optimizer {
			o := scheduled(optim.AdamW{WeightDecay: 0.05}, 0.02, optim.Cosine(30, 0))
			o.ClipNorm = 0.5
			return o
		},
	},
	"optimizer_traces": {
		"adamax":   func() *optim.Optimizer { return optim.New(optim.Adamax{}, 0.02) },
		"nadam":    func() *optim.Optimizer { return optim.New(optim.NAdam{}, 0.01) },
		"radam":    func() *optim.Optimizer { return optim.New(optim.RAdam{}, 0.02) },
		"adadelta": func() *optim.Optimizer { return optim.New(optim.Adadelta{}, 1) },
		"rmsprop_centered_momentum": func() *optim.Optimizer {
			return optim.New(optim.RMSprop{Momentum: 0.9, Centered: true}, 0.005)
		},
		"adagrad_decay": func() *optim.Optimizer {
			return optim.New(optim.Adagrad{LRDecay: 0.01, WeightDecay: 0.01}, 0.05)
		},
		"adam_amsgrad": func() *optim.Optimizer { return optim.New(optim.Adam{AMSGrad: true}, 0.02) },
		"adam_l2":      func() *optim.Optimizer { return optim.New(optim.Adam{WeightDecay: 0.1}, 0.02) },
		"asgd":         func() *optim.Optimizer { return optim.New(optim.ASGD{}, 0.05) },
		"rprop":        func() *optim.Optimizer { return optim.New(optim.Rprop{}, 0.01) },
		"muon_2d_only": func() *optim.Optimizer {
			o := optim.New(optim.Muon{WeightDecay: 0.1}, 0.02)
			o.Groups = optim.Groups{{Names: "b*", Frozen: true}}
			return o
		},
		"sgd_step":        func() *optim.Optimizer { return scheduled(optim.SGD{}, 0.2, optim.StepDecay(7, 0.5)) },
		"sgd_exponential": func() *optim.Optimizer { return scheduled(optim.SGD{}, 0.2, optim.Exponential(0.95)) },
		"sgd_onecycle": func() *optim.Optimizer {
			return scheduled(optim.SGD{Momentum: 0.9}, 0.3, optim.OneCycle(31))
		},
		"sgd_warm_restarts": func() *optim.Optimizer {
			return scheduled(optim.SGD{}, 0.2, optim.WarmRestarts(8, 2, 0))
		},
		"sgd_polynomial":    func() *optim.Optimizer { return scheduled(optim.SGD{}, 0.2, optim.Polynomial(30, 2)) },
		"sgd_linear_warmup": func() *optim.Optimizer { return scheduled(optim.SGD{}, 0.2, optim.Rise(0.1, 10, nil)) },
	},
}

func scheduled(r optim.Rule, lr float64, schedule func(step int) float64) *optim.Optimizer {
	o := optim.New(r, lr)
	o.Schedule = schedule
	return o
}

func readTraces(t *testing.T, file string) (tr traces) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// problem returns the network before the first step, and its loss, in float32.
func (tr traces) problem() (model, func(model) tensor.Tensor) { return tr.problemIn(tensor.Float32) }

func (tr traces) problemIn(d tensor.DType) (model, func(model) tensor.Tensor) {
	get := func(a array) tensor.Tensor {
		if d == tensor.Float64 {
			return tensor.New(a.Data, a.Shape...)
		}
		return a.tensor()
	}
	x, y := get(tr.X), tensor.New(tr.Y.Data)
	m := model{get(tr.Params[0]), get(tr.Params[1]), get(tr.Params[2]), get(tr.Params[3])}
	return m, func(m model) tensor.Tensor { return nn.CrossEntropy(m.apply(x), y).Mean() }
}

// checkFinal compares the parameters after the last step.
func (r run) checkFinal(t *testing.T, m model) {
	t.Helper()
	for i, got := range []tensor.Tensor{m.W1, m.B1, m.W2, m.B2} {
		ok, err := tensor.AllClose(got, r.FinalParams[i].tensor(), 1e-4, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			t.Errorf("parameter %d =\n%v\nwant\n%v", i, got, r.FinalParams[i].tensor())
		}
	}
}

func TestTraces(t *testing.T) {
	for file, optimizers := range traced {
		tr, ran := readTraces(t, file), 0
		for _, run := range tr.Runs {
			newOptimizer, ok := optimizers[run.Optimizer]
			if !ok && run.Optimizer != "lbfgs" {
				t.Errorf("%s: no optimizer is named %s", file, run.Optimizer)
			}
			if !ok {
				continue
			}
			ran++
			t.Run(run.Optimizer, func(t *testing.T) {
				m, f := tr.problem()
				o := newOptimizer()
				for step, want := range run.Losses {
					if run.Rates != nil {
						checkRate(t, o, step, run.Rates[step])
					}
					loss, g := grad.ValueAndGrad(f)(m)
					if err := o.Step(&m, g); err != nil {
						t.Fatal(err)
					}
					if got := loss.Item(); math.Abs(got-want) > 1e-5 {
						t.Fatalf("step %d: loss %v, want %v", step, got, want)
					}
				}
				run.checkFinal(t, m)
			})
		}
		if ran != len(optimizers) {
			t.Errorf("%s: %d of %d optimizers have a trace", file, ran, len(optimizers))
		}
	}
}

func checkRate(t *testing.T, o *optim.Optimizer, step int, want float64) {
	t.Helper()
	got := o.LR
	if o.Schedule != nil {
		got *= o.Schedule(step)
	}
	if math.Abs(got-want) > 1e-8*want {
		t.Errorf("step %d: rate %v, want %v", step, got, want)
	}
}
