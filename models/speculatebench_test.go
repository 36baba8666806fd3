package models_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A decoderSize has the sizes of a decoder of Llama's kind.
type decoderSize struct{ layers, width, inner, heads, keys int }

const spokenTokens = 1 << 15

// newSpeaker returns a decoder in bfloat16 with the work of its size, whose next token depends on the last one alone. It
// agrees with all others for four tokens of five, and if it is exact with each exact one.
func newSpeaker(b *testing.B, size decoderSize, d *tensor.Device, exact bool) *models.Llama {
	bf16 := func(t tensor.Tensor) tensor.Tensor { return t.Cast(tensor.BFloat16).To(d).Keep() }
	table := bf16(tensor.NewRNG(1).Normal(size.inner * size.width))
	weight := func(out, in int, scale float64) nn.Linear {
		return nn.Linear{Weight: table.Slice(0, 0, out*in).Reshape(out, in).Mul(scale / math.Sqrt(float64(in))).Keep()}
	}
	norm := func() models.RMSNorm {
		return models.RMSNorm{Weight: bf16(tensor.Ones(size.width)), Eps: 1e-5}
	}
	from := make([]int32, spokenTokens) // of tokens: the token before
	for t := range int32(spokenTokens) {
		next := (5*t + 1) % spokenTokens // a cycle of all
		if from[next] = t; !exact && next%5 == 0 {
			from[next] = (t + 7) % spokenTokens
		}
	}
	embeddings := bf16(tensor.NewRNG(2).Normal(spokenTokens, size.width))
	head := nn.Linear{Weight: embeddings.Take(0, tensor.New(from, spokenTokens).To(d)).Keep()}
	m := &models.Llama{LMHead: &head}
	m.Model.EmbedTokens.Weight, m.Model.Norm = embeddings, norm()
	const little = 1e-6 // the layers add next to nothing
	for range size.layers {
		m.Model.Layers = append(m.Model.Layers, models.LlamaLayer{
			InputLayernorm: norm(), PostAttentionLayernorm: norm(),
			SelfAttn: models.Attention{
				QProj: weight(size.width, size.width, 1), KProj: weight(size.width*size.keys/size.heads, size.width, 1),
				VProj: weight(size.width*size.keys/size.heads, size.width, 1), OProj: weight(size.width, size.width, little),
				Settings: nn.Attention{Heads: size.heads, KVHeads: size.keys, Causal: true, Rotary: nn.Rotary{Base: 500000}},
			},
			MLP: &models.GatedMLP{GateProj: weight(size.inner, size.width, 1), UpProj: weight(size.inner, size.width, 1), DownProj: weight(size.width, size.inner, little), Act: tensor.Tensor.SiLU},
		})
		if err := tensor.Eval(m); err != nil { // one layer's random numbers at a time
			b.Fatal(err)
		}
	}
	return m
}

// BenchmarkSpeculate writes a text with a draft of a tenth of the model's size that agrees on four tokens of five, and
// without. The gain is how many times as fast it is.
func BenchmarkSpeculate(b *testing.B) {
	for _, c := range []struct {
		name         string
		model, draft decoderSize
	}{
		{"0.3B", decoderSize{24, 1024, 2816, 16, 4}, decoderSize{8, 384, 1024, 6, 2}},
		{"3.2B", decoderSize{28, 3072, 8192, 24, 8}, decoderSize{16, 1024, 2816, 16, 4}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := openDevice(b)
			m, draft := newSpeaker(b, c.model, d, true), newSpeaker(b, c.draft, d, false)
			const recorded, length = 260, 500 // tokens, between which the cache does not grow; the draft agrees on 192 of 240
			prompt := [][]int32{{1, 2, 3, 4, 5, 6, 7, 8}}
			write := func(g *models.Generator) float64 {
				start, n := time.Now(), 0
				for _, err := range g.All(prompt) {
					if err != nil {
						b.Fatal(err)
					}
					if n++; n == recorded {
						start = time.Now()
					}
				}
				return time.Since(start).Seconds() / float64(n-recorded)
			}
			alone := &models.Generator{Model: m, MaxTokens: length}
			pairs := []*models.Generator{alone}
			for _, n := range []int{2, 3, 4, 6} {
				pairs = append(pairs, &models.Generator{Model: m, Draft: draft, Propose: n, MaxTokens: length})
			}
			for b.Loop() {
				var seconds []float64
				for _, g := range pairs {
					seconds = append(seconds, write(g))
				}
				b.Logf("%.3f ms a token; proposals of 2: %.2f times as fast; of 3: %.2f; of 4: %.2f; of 6: %.2f", 1e3*seconds[0],
					seconds[0]/seconds[1], seconds[0]/seconds[2], seconds[0]/seconds[3], seconds[0]/seconds[4])
			}
		})
	}
}

// BenchmarkPrompt is the time to the first token after a prompt.
func BenchmarkPrompt(b *testing.B) {
	d := openDevice(b)
	g := &models.Generator{Model: newSpeaker(b, decoderSize{28, 3072, 8192, 24, 8}, d, true), MaxTokens: 1}
	for _, n := range []int{64, 512, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			prompt := [][]int32{make([]int32, n)}
			for b.Loop() {
				if _, err := g.Generate(prompt); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
