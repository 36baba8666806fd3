package optim_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/hosttest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A halves model has a half on another device.
type halves struct{ Here, There tensor.Tensor }

// TestJitOfSteps has losses that more than one plan computes. Steps of them are recorded.
func TestJitOfSteps(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer d.Close()
	square := func(x tensor.Tensor) tensor.Tensor { return x.T().MatMul(x).Add(tensor.Eye(x.Dim(-1))) }
	cell := func(w tensor.Tensor) func(h, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return func(h, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			h = h.MatMul(w).Add(x).Tanh()
			return h, h
		}
	}
	for name, loss := range map[string]func(m halves, x tensor.Tensor) tensor.Tensor{
		"the host": func(m halves, x tensor.Tensor) tensor.Tensor {
			return x.MatMul(hosttest.Inv(square(m.Here)).MatMul(m.There)).Square().Mean()
		},
		"checkpoints": func(m halves, x tensor.Tensor) tensor.Tensor {
			h, y := grad.Scan(cell(m.Here), x.At(0).MatMul(m.There), x, &grad.ScanOptions{Checkpoint: 2})
			return h.Sum().Add(y.Square().Mean())
		},
		"a Scan in a Scan": func(m halves, x tensor.Tensor) tensor.Tensor {
			h, _ := grad.Scan(func(h, row tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
				h, y := grad.Scan(cell(m.Here), h, x, nil)
				return h.Mul(row), y.Sum()
			}, x.At(0).MatMul(m.There), x, nil)
			return h.Square().Sum()
		},
		"the host in a Scan": func(m halves, x tensor.Tensor) tensor.Tensor {
			h, _ := grad.Scan(func(h, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
				return h.Unsqueeze(0).MatMul(hosttest.Inv(square(m.Here))).Squeeze(0).Add(x), x
			}, m.There.At(0), x, nil)
			return h.Square().Sum()
		},
		"two devices": func(m halves, x tensor.Tensor) tensor.Tensor {
			return x.MatMul(m.Here).Tanh().To(d).MatMul(m.There).Square().Mean()
		},
		"a bottleneck on two devices": func(m halves, x tensor.Tensor) tensor.Tensor {
			h := x.MatMul(m.Here).Tanh().To(d).MatMul(m.There).Tanh().To(tensor.CPU())
			return h.MatMul(m.Here.T()).Sub(x).Square().Mean()
		},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 4
			start := func() halves {
				rng := tensor.NewRNG(3)
				m := halves{rng.Normal(n, n), rng.Normal(n, n)}
				if name == "two devices" || name == "a bottleneck on two devices" {
					m = halves{m.Here.To(tensor.CPU()), m.There.To(d)}
				}
				return m
			}
			runs := 0
			o, p := optim.New(optim.AdamW{}, 0.01), optim.New(optim.AdamW{}, 0.01)
			step := optim.Jit(o, func(m halves, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, halves) { runs++; return loss(m, x), m })
			m, q, rng := start(), start(), tensor.NewRNG(4)
			for i := range 8 {
				x := rng.Normal(5, n).Keep()
				got, err := step(&m, x, nil)
				if err != nil {
					t.Fatal(err)
				}
				want, g := grad.ValueAndGrad(func(m halves) tensor.Tensor { return loss(m, x) })(q)
				if err := p.Step(&q, g); err != nil {
					t.Fatal(err)
				}
				if a, b := all(t, got, m, o.State), all(t, want, q, p.State); !reflect.DeepEqual(a, b) {
					t.Fatalf("step %d: recorded\n%v\nwant\n%v", i, a, b)
				}
			}
			if want := 1 + 2 + 1; runs != want { // as in TestJit
				t.Errorf("the loss ran %d times, want %d", runs, want)
			}
		})
	}
}

// A recorded step of several steps that meets a bad index, or a singular matrix, leaves the model
// and the State as they were, also on a device that runs ahead.
func TestFailedStepOfSteps(t *testing.T) {
	type words struct {
		Embed nn.Embedding
		Mix   tensor.Tensor
	}
	loss := func(m words, ids tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, words) {
		x := m.Embed.Apply(ids)
		x = hosttest.Inv(x.MatMul(x.T()).Add(tensor.Eye(4).Mul(ids.Max().Cast(tensor.Float32)))).MatMul(x)
		h, _ := grad.Scan(func(h, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			return h.Unsqueeze(0).MatMul(m.Mix).Squeeze(0).Add(x).Tanh(), x
		}, x.At(0), x, &grad.ScanOptions{Checkpoint: 2})
		return h.Square().Sum(), m
	}
	for name, d := range devices(t) {
		rng := tensor.NewRNG(5)
		o := optim.New(optim.AdamW{}, 0.02)
		m := tree.To(words{nn.NewEmbedding(rng, 10, 3), rng.Normal(3, 3)}, d)
		step := optim.Jit(o, loss)
		good := tensor.New([]int32{1, 2, 3, 4}).To(d)
		for range 4 {
			if _, err := step(&m, good, nil); err != nil {
				t.Fatal(err)
			}
		}
		for want, bad := range map[string]tensor.Tensor{
			"nn.Embedding: index 10 at [2] is out of range": tensor.New([]int32{1, 2, 10, 4}),
			"hosttest.Inv: the matrix is singular":          tensor.New([]int32{0, 0, 0, 0}),
		} {
			before := all(t, m, o.State.Slots)
			loss, err := step(&m, bad.To(d), nil)
			if err == nil {
				_, err = tensor.Data[float32](loss)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			if after := all(t, m, o.State.Slots); !reflect.DeepEqual(after, before) {
				t.Errorf("%s: a step that fails with %q changed the model or the State", name, want)
			}
			if _, err := step(&m, good, nil); err != nil {
				t.Errorf("%s: after %q: %v", name, want, err)
			}
		}
	}
}
