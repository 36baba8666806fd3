package parallel_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/models/parallel"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// newLlama returns a decoder of the shape of Llama 3 8B, whose weights are parts of one table.
func newLlama(d *tensor.Device) *models.Llama {
	const layers, width, inner, heads, keys, vocabulary = 32, 4096, 14336, 32, 8, 128256
	table := tensor.NewRNG(1).Normal(vocabulary*width/8).Cast(tensor.BFloat16).To(d).Repeat(0, 8).Keep()
	weight := func(out, in int) nn.Linear {
		return nn.Linear{Weight: table.Slice(0, 0, out*in).Reshape(out, in).Mul(1 / math.Sqrt(float64(in))).Keep()}
	}
	norm := func() models.RMSNorm {
		return models.RMSNorm{Weight: tensor.Ones(width).Cast(tensor.BFloat16).To(d), Eps: 1e-5}
	}
	head := weight(vocabulary, width)
	m := &models.Llama{LMHead: &head}
	m.Model.EmbedTokens.Weight, m.Model.Norm = weight(vocabulary, width).Weight, norm()
	for range layers {
		m.Model.Layers = append(m.Model.Layers, models.LlamaLayer{
			InputLayernorm: norm(), PostAttentionLayernorm: norm(),
			SelfAttn: models.Attention{
				QProj: weight(width, width), KProj: weight(width*keys/heads, width), VProj: weight(width*keys/heads, width), OProj: weight(width, width),
				Settings: nn.Attention{Heads: heads, KVHeads: keys, Causal: true, Rotary: nn.Rotary{Base: 500000}},
			},
			MLP: &models.GatedMLP{GateProj: weight(inner, width), UpProj: weight(inner, width), DownProj: weight(width, inner), Act: tensor.Tensor.SiLU},
		})
	}
	return m
}

// BenchmarkDecode is the time of a token of a decoder that the ranks of tensorken launch divide, each with a GPU.
func BenchmarkDecode(b *testing.B) {
	g, err := dist.Init(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	d, err := cuda.Open(&cuda.Options{Index: g.LocalRank()})
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	m := newLlama(d)
	if g.Size() > 1 {
		part, err := parallel.Divide(g, m)
		if err != nil {
			b.Fatal(err)
		}
		m = tree.Map(part, func(_ string, t tensor.Tensor) tensor.Tensor { return t.Keep() })
		if err := tensor.Eval(m); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{1, 16} {
		prompts := make([][]int32, n)
		for i := range prompts {
			prompts[i] = []int32{int32(i), 5, 7, 11, 13, 17, 19, 23}
		}
		for range b.N {
			var times []time.Duration
			last := time.Now()
			for _, err := range (&models.Generator{Model: m, MaxTokens: 128}).All(prompts) {
				if err != nil {
					b.Fatal(err)
				}
				now := time.Now()
				times, last = append(times, now.Sub(last)), now
			}
			if slices.Sort(times); g.Rank() == 0 {
				b.Logf("%d ranks, %d texts: %v a step, the median; %s", g.Size(), n, times[len(times)/2], g.Transport())
			}
		}
	}
}
