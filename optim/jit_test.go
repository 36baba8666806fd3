package optim_test

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A jitModel has a state, a rate of dropout and parameters of several shapes.
type jitModel struct {
	In   nn.Linear
	Norm nn.BatchNorm
	Drop nn.Dropout
	Out  nn.Linear
	Mask tensor.Tensor // of integers
}

type jitBatch struct {
	X, Y tensor.Tensor
	Name string
}

func newJitModel() jitModel {
	rng := tensor.NewRNG(3)
	return jitModel{nn.NewLinear(rng, 5, 8), nn.NewBatchNorm(8), nn.Dropout{P: 0.25}, nn.NewLinear(rng, 8, 4), tensor.New([]int32{1, 0, 1, 1, 1, 0, 1, 1})}
}

func jitLoss(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
	h := m.In.Apply(b.X.Cast(m.In.Weight.DType()))
	h, norm := m.Norm.Train(h, rng)
	m.Norm = norm.(nn.BatchNorm)
	h = m.Drop.Drop(h.GELU(), rng).Mul(m.Mask.Cast(h.DType()))
	return nn.CrossEntropy(m.Out.Apply(h), b.Y).Mean(), m
}

// jitBatches returns batches of 6 examples, some of 4 and one of 3.
func jitBatches(n int) []jitBatch {
	rng := tensor.NewRNG(4)
	batches := make([]jitBatch, n)
	for i := range batches {
		size := 6
		switch {
		case i == 5:
			size = 3
		case i%3 == 2:
			size = 4
		}
		batches[i] = jitBatch{X: rng.Normal(size, 5).Keep(), Y: rng.Ints(4, size).Keep()}
		if err := tensor.Eval(batches[i]); err != nil {
			panic(err)
		}
	}
	return batches
}

// An update is a rule without slots. Functions cannot be compared.
type update func(p, g tensor.Tensor, lr float64, step int) tensor.Tensor

func (f update) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	return f(p, g, lr, step), nil
}

// all returns the elements of the tensors of trees, by name.
func all(t *testing.T, trees ...any) map[string]string {
	t.Helper()
	found := map[string]string{}
	for i, x := range trees {
		for name, y := range tree.All(x) {
			data, err := y.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			found[fmt.Sprint(i, ".", name)] = fmt.Sprint(y.DType(), y.Shape(), y, data)
		}
	}
	return found
}

// TestJit compares recorded steps with steps that run the loss.
func TestJit(t *testing.T) {
	type change func(step int, o *optim.Optimizer)
	rules := map[string]optim.Rule{
		"SGD": optim.SGD{}, "momentum": optim.SGD{Momentum: 0.9, Nesterov: true}, "AdamW": optim.AdamW{WeightDecay: 0.1}, "AMSGrad": optim.Adam{AMSGrad: true},
		"Adamax": optim.Adamax{}, "NAdam": optim.NAdam{}, "RAdam": optim.RAdam{}, "Adadelta": optim.Adadelta{}, "RMSprop": optim.RMSprop{}, "Adagrad": optim.Adagrad{},
		"ASGD": optim.ASGD{}, "Rprop": optim.Rprop{}, "Lion": optim.Lion{}, "LAMB": optim.LAMB{}, "Muon": optim.Muon{},
	}
	type config struct {
		name   string
		o      func() *optim.Optimizer
		change change
		runs   int // of the loss
	}
	// The loss runs, for each form of batches, in its first step, twice in its second, which is recorded, and before
	// the first replay: of sizes 6, 4 and, in one step, 3.
	const usual = (1 + 2 + 1) + (1 + 2 + 1) + 1
	var configs []config
	for name, r := range rules {
		if testing.Short() && !slices.Contains([]string{"momentum", "AdamW", "NAdam", "Muon"}, name) {
			continue
		}
		configs = append(configs, config{name: name, o: func() *optim.Optimizer { return optim.New(r, 0.01) }, runs: usual})
	}
	scheduled := func() *optim.Optimizer {
		o := optim.New(optim.AdamW{}, 0.02)
		o.Schedule, o.ClipNorm = optim.Warmup(5, optim.Cosine(20, 0.1)), 0.5
		o.Groups = optim.Groups{{Names: "*.bias", Rule: optim.SGD{Momentum: 0.5}, LR: 3}, {Names: "out.weight", LR: 0.1}}
		return o
	}
	configs = append(configs,
		config{"groups and a schedule", scheduled, nil, usual},
		config{"a frozen layer", func() *optim.Optimizer {
			o := optim.New(optim.AdamW{}, 0.02)
			o.Groups = optim.Groups{{Names: "in.*", Frozen: true}}
			return o
		}, nil, usual},
		config{"RuleFor", func() *optim.Optimizer {
			o := optim.New(nil, 0.02)
			o.RuleFor = func(name string) optim.Rule {
				if strings.HasSuffix(name, "bias") {
					return optim.SGD{}
				}
				return optim.Lion{}
			}
			return o
		}, nil, usual},
		config{"rates by hand", scheduled, func(step int, o *optim.Optimizer) { o.LR = 0.01 / float64(step+1) }, usual},
		config{"other settings later", scheduled, func(step int, o *optim.Optimizer) {
			if step == 7 {
				o.ClipNorm, o.Groups[0].LR = 0, 2
			}
		}, 0},
		config{"a rule of a function", func() *optim.Optimizer {
			return optim.New(update(func(p, g tensor.Tensor, lr float64, step int) tensor.Tensor {
				return p.Sub(g.Mul(lr / float64(step+2)))
			}), 0.1)
		}, nil, usual},
		config{"a rule with the rate in a tensor", func() *optim.Optimizer {
			return optim.New(update(func(p, g tensor.Tensor, lr float64, step int) tensor.Tensor {
				return p.Sub(g.Mul(tensor.New([]float32{float32(lr) / float32(step+1)})))
			}), 0.1)
		}, nil, 0},
		config{"a rule with a table", func() *optim.Optimizer {
			table := tensor.Arange(100).Add(1).Cast(tensor.Float32).Keep()
			return optim.New(update(func(p, g tensor.Tensor, lr float64, step int) tensor.Tensor {
				return p.Sub(g.Mul(lr).Div(table.Slice(0, step, step+1)))
			}), 0.1)
		}, nil, 0},
		config{"a rule for every second step", func() *optim.Optimizer {
			return optim.New(update(func(p, g tensor.Tensor, lr float64, step int) tensor.Tensor {
				if step%2 == 0 {
					return p
				}
				return p.Sub(g.Mul(lr))
			}), 0.1)
		}, nil, 0},
		config{"bfloat16", func() *optim.Optimizer {
			o := optim.New(optim.AdamW{}, 0.02)
			o.Precision = tensor.BFloat16
			return o
		}, nil, usual},
		config{"float16 with overflow", func() *optim.Optimizer {
			o := optim.New(optim.AdamW{}, 0.02)
			o.Precision, o.Scaling = tensor.Float16, optim.Scaling{Initial: 1 << 24, Interval: 3}
			return o
		}, nil, usual},
	)
	const n = 14
	batches := jitBatches(n)
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) {
			runs := 0
			loss := func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
				runs++
				if rng == nil {
					t.Error("no RNG")
				}
				return jitLoss(m, b, rng)
			}
			o, p := c.o(), c.o()
			m, q := newJitModel(), newJitModel()
			r, s := tensor.NewRNG(9), tensor.NewRNG(9)
			step := optim.Jit(o, loss)
			for i, b := range batches {
				if c.change != nil {
					c.change(i, o)
					c.change(i, p)
				}
				if i == 10 { // a State from a file, say
					for _, x := range []*optim.Optimizer{o, p} {
						x.State = tree.Map(x.State, func(_ string, t tensor.Tensor) tensor.Tensor { return t.Mul(1) })
					}
				}
				got, err := step(&m, b, r)
				if err != nil {
					t.Fatal(err)
				}
				want, next, g := optim.ValueAndGradAux(p, func(m jitModel) (tensor.Tensor, jitModel) { return jitLoss(m, b, s) })(q)
				if err := p.Step(&next, g); err != nil {
					t.Fatal(err)
				}
				q = next
				if x, y := all(t, got, m, o.State), all(t, want, q, p.State); !reflect.DeepEqual(x, y) {
					t.Fatalf("step %d: recorded\n%v\nwant\n%v", i, x, y)
				}
				if r.Count != s.Count {
					t.Errorf("step %d: the RNG drew %d keys, want %d", i, r.Count, s.Count)
				}
			}
			if c.runs > 0 && runs != c.runs {
				t.Errorf("the loss ran %d times, want %d", runs, c.runs)
			}
			if o.State.Step.Item() != n {
				t.Errorf("State.Step is %v, want %d", o.State.Step, n)
			}
		})
	}
}

// TestJitMisuse checks the errors of losses that fail or cannot be recorded.
func TestJitMisuse(t *testing.T) {
	batch := jitBatches(1)[0]
	own := tensor.NewRNG(1)
	for _, c := range []struct {
		name string
		loss func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel)
		want string // "" is no error in 5 steps
		runs int
	}{
		{"a value", func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			l, m := jitLoss(m, b, rng)
			if m.Out.Bias.Sum().Item() > 1e9 {
				l = l.Mul(2)
			}
			return l, m
		}, "inside of optim.Jit (and of a train.Loop that is not Eager) a tensor stands for those of all steps", 0},
		{"a lost tensor", func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			l, m := jitLoss(m, b, rng)
			m.Norm.Mean = tensor.Tensor{}
			return l, m
		}, `optim: Loss returned a model without "norm.running_mean": want the model that it was given, with its new state`, 0},
		{"a shape", func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			return m.Out.Apply(b.X).Sum(), m
		}, "nn.Linear: the input [6 5] does not end in the 8", 0},
		{"an RNG of its own", func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			b.X = b.X.Add(own.Normal(b.X.Shape()...))
			return jitLoss(m, b, rng)
		}, "", 1 + 1 + 2 + 1 + 1 + 1},
		{"no RNG of its own", jitLoss, "", 1 + 2 + 1},
	} {
		m, rng, runs := newJitModel(), tensor.NewRNG(2), 0
		step := optim.Jit(optim.New(optim.AdamW{}, 0.1), func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			runs++
			return c.loss(m, b, rng)
		})
		var err error
		losses := map[float64]bool{}
		for range 5 {
			failed := tensor.Try(func() {
				var loss tensor.Tensor
				if loss, err = step(&m, batch, rng); err == nil {
					losses[loss.Item()] = true
				}
			})
			if err == nil {
				err = failed
			}
			if err != nil {
				break
			}
		}
		switch {
		case c.want == "" && (err != nil || runs != c.runs || len(losses) != 5):
			t.Errorf("%s: error %v, %d runs, losses %v; want no error, %d runs", c.name, err, runs, losses, c.runs)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := optim.Jit(optim.New(optim.SGD{}, 1), jitLoss)(nil, batch, nil); err == nil || !strings.Contains(err.Error(), "of a nil *optim_test.jitModel") {
		t.Errorf("a nil model: %v", err)
	}
}

// TestJitRuns has losses that give other graphs from equal arguments. They run in each step.
func TestJitRuns(t *testing.T) {
	batch := jitBatches(1)[0]
	n, steps := 0, 0
	for name, loss := range map[string]func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel){
		"a crop": func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			at := []int{1, 2, 3}[n%3]
			return jitLoss(m, jitBatch{X: b.X.Mul(b.X.Slice(1, at, at+1)), Y: b.Y}, rng)
		},
		"a tensor of the model": func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			l, m := jitLoss(m, b, rng)
			m.Mask = tensor.New([]int32{int32(n), 1, 1, 1, 1, 1, 1, 1})
			return l, m
		},
		"a number of the model": func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			l, m := jitLoss(m, b, rng)
			m.Drop.P = 0.5 - m.Drop.P
			return l, m
		},
		"a tensor of its own": func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			b.X = b.X.Mul(tensor.New([]float32{float32(n)}))
			return jitLoss(m, b, rng)
		},
		"a number that changes between steps": func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			l, m := jitLoss(m, b, rng)
			return l.Mul(steps), m
		},
		"a number of its own": func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			l, m := jitLoss(m, b, rng)
			return l.Mul(n), m
		},
	} {
		m, rng := newJitModel(), tensor.NewRNG(2)
		m.Drop.P = 0.125
		step := optim.Jit(optim.New(optim.AdamW{}, 0.1), func(m jitModel, b jitBatch, rng *tensor.RNG) (tensor.Tensor, jitModel) {
			n++
			return loss(m, b, rng)
		})
		for i := range 8 {
			before := n
			steps = i
			if _, err := step(&m, batch, rng); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n == before {
				t.Errorf("%s: the loss did not run in step %d", name, i)
			}
		}
	}
}

// TestJitClipNorm has a limit that becomes negative.
func TestJitClipNorm(t *testing.T) {
	m, rng, o := newJitModel(), tensor.NewRNG(2), optim.New(optim.SGD{}, 0.1)
	step := optim.Jit(o, jitLoss)
	for i, b := range jitBatches(9) {
		o.ClipNorm = 1
		if i >= 5 {
			o.ClipNorm = -1
		}
		if _, err := step(&m, b, rng); (err != nil) != (i >= 5) {
			t.Errorf("ClipNorm %v: %v", o.ClipNorm, err)
		}
	}
}

// TestJitMemory counts the bytes that replayed steps of a model of 4 MiB leave behind: only
// garbage that the collector has not reached.
func TestJitMemory(t *testing.T) {
	const mib = 1 << 20
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer d.Close()
	type model struct{ A, B tensor.Tensor }
	m := tree.To(model{tensor.Ones(mib / 2).Add(0), tensor.Ones(mib / 2).Add(0)}, d)
	o := optim.New(optim.AdamW{}, 0.1)
	step := optim.Jit(o, func(m model, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, model) {
		return m.A.Mul(x).Add(m.B).Square().Mean(), m
	})
	before := tensor.Info().Held
	var losses []tensor.Tensor
	for range 100 {
		loss, err := step(&m, tensor.New([]float32{2}).To(d), nil)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss) // it keeps no parameter
	}
	if held := tensor.Info().Held - before; held > 100*mib {
		t.Errorf("%d MiB are held after 100 steps of 12 MiB", held/mib)
	}
	kept := m.A
	m, o.State = model{}, optim.State{}
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if held := tensor.Info().Held - before; held > 8*mib {
		t.Errorf("%d MiB are held for a parameter of 2 MiB and that beside it", held/mib)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(losses)
}

// A State that starts over does so in a step that is not recorded, and the next one is replayed.
func TestJitStartsOver(t *testing.T) {
	o, m, steps := optim.New(optim.Adam{}, 0.1), tensor.Full(1.0, 3).Cast(tensor.Float32), 0
	step := optim.Jit(o, func(m tensor.Tensor, _ int, _ *tensor.RNG) (tensor.Tensor, tensor.Tensor) { return m.Sum(), m })
	for i := range 12 {
		if i%5 == 4 {
			o.State, steps = optim.State{}, 0
		}
		if _, err := step(&m, 0, nil); err != nil {
			t.Fatal(err)
		}
		steps++
		if got, want := m.At(0).Item(), 1-0.1*float64(i+1); math.Abs(got-want) > 1e-5 || int(o.State.Step.Item()) != steps {
			t.Errorf("after step %d: %v, want %v; State counts %v, want %d", i, got, want, o.State.Step, steps)
		}
	}
}
