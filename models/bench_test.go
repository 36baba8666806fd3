package models_test

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// idle is a device that compiles and runs nothing.
type idle struct{ driver.Device }

func (idle) Compile(*ir.Kernel) (driver.Program, error) { return nil, nil }
func (idle) Run([]driver.Call) error                    { return nil }

// newGPT2 returns a model of random weights.
func newGPT2(layers, width, heads, vocabulary, length int) *models.GPT2 {
	rng := tensor.NewRNG(1)
	linear := func(in, out int) models.Conv1D {
		return models.Conv1D{Weight: rng.Normal(in, out).Mul(0.02).Keep(), Bias: tensor.ZerosOf(tensor.Float32, out)}
	}
	m := &models.GPT2{Tied: true}
	t := &m.Transformer
	t.Wte, t.Wpe, t.LnF = nn.NewEmbedding(rng, vocabulary, width), nn.NewEmbedding(rng, length, width), nn.NewLayerNorm(width)
	for range layers {
		b := models.GPT2Block{LN1: nn.NewLayerNorm(width), LN2: nn.NewLayerNorm(width)}
		b.Attn = models.GPT2Attention{CAttn: linear(width, 3*width), CProj: linear(width, width), Heads: heads, Scale: 1}
		b.MLP.CFc, b.MLP.CProj, b.MLP.Act = linear(width, 4*width), linear(4*width, width), tensor.Tensor.GELUTanh
		t.H = append(t.H, b)
	}
	return m
}

// BenchmarkStep is the host's time for a token, of a decoder of 12 layers: with a step that is
// recorded, and without.
func BenchmarkStep(b *testing.B) {
	type state struct {
		IDs   tensor.Tensor
		Cache models.Cache
	}
	d := tensor.NewDevice(idle{cpu.New(cpu.Options{})})
	m := tree.To(newGPT2(12, 16, 2, 32, 64), d)
	if err := tensor.Eval(m); err != nil {
		b.Fatal(err)
	}
	step := func(s state) state {
		x, c := m.Decode(s.IDs, s.Cache)
		return state{m.Logits(x).ArgMax(-1), c}
	}
	for _, c := range []struct {
		name string
		step func(state) state
	}{{"recorded", grad.Jit(step)}, {"traced", step}} {
		b.Run(c.name, func(b *testing.B) {
			_, cache := m.Decode(tensor.New([]int32{1}, 1, 1).To(d), m.NewCache(1, 64))
			s := state{tensor.New([]int32{1}, 1, 1).To(d), cache.OnDevice()}
			b.ReportAllocs()
			for b.Loop() {
				s = c.step(s)
				if err := tensor.Eval(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
