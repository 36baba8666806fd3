//go:build linux && (amd64 || arm64)

package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/clock"
	nodes "github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A decoding makes random weights in a format on a device, and counts their bytes.
type decoding struct {
	format ir.DType
	device *tensor.Device
	pool   []byte // random
	bytes  int
}

// eachFormat runs a benchmark on a GPU for formats of decoders.
func eachFormat(b *testing.B, bench func(b *testing.B, d *decoding) (step func() error)) {
	for _, name := range []string{"Q8_0", "Q4_K"} {
		b.Run(name, func(b *testing.B) {
			drv := openBench(b, true)
			formats := ir.Formats()
			d := &decoding{format: formats[slices.IndexFunc(formats, func(d ir.DType) bool { return d.String() == name })], device: tensor.NewDevice(drv)}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 1 << 20 {
				d.pool = append(d.pool, byte(rng.Uint32()))
			}
			step := bench(b, d)
			for range 4 { // records, makes a graph, runs it
				if err := step(); err != nil {
					b.Fatal(err)
				}
			}
			if err := d.device.Sync(); err != nil {
				b.Fatal(err)
			}
			start := clock.Now()
			for b.Loop() {
				if err := step(); err != nil {
					b.Fatal(err)
				}
			}
			if err := d.device.Sync(); err != nil { // of steps that the host is ahead
				b.Fatal(err)
			}
			rate := float64(b.N) / clock.Since(start).Seconds()
			b.ReportMetric(rate, "steps/s")
			b.ReportMetric(rate*float64(d.bytes)/1e9, "GB/s")
			b.ReportMetric(rate*float64(d.bytes)/drv.Target.Machine.Bandwidth, "share")
		})
	}
}

// table returns weights of which a step reads few.
func (d *decoding) table(rows, columns int) tensor.Tensor {
	f, data := d.format.Format(), make([]byte, d.format.Bytes(rows*columns))
	for at := 0; at < len(data); {
		at += copy(data[at:], d.pool)
	}
	for at := 0; at < len(data); at += f.Bytes {
		for _, x := range []*ir.Factor{&f.Codes.Scale, f.Codes.Offset} {
			if x != nil { // weights of about 0.1
				data[at+x.At+1] = 0x14
				if x.Times != nil {
					data[at+x.At+1] = 0x08
				}
			}
		}
	}
	return tensor.Internal.FromBlocks(nodes.Token{}, "bench", d.format, []int{rows, columns}, data).To(d.device)
}

// linear returns a layer whose weights each step reads.
func (d *decoding) linear(width, out int) nn.Linear {
	d.bytes += d.format.Bytes(out * width)
	return nn.Linear{Weight: d.table(out, width)}
}

// The sizes of Llama 3 of eight billion parameters.
const (
	llamaWidth, llamaInner, llamaLayers = 4096, 14336, 32
	llamaHeads, llamaKVHeads            = 32, 8
	llamaVocabulary                     = 128256
)

// BenchmarkNetworks computes gated networks of a decoder, one after the other.
func BenchmarkNetworks(b *testing.B) {
	eachFormat(b, func(b *testing.B, d *decoding) func() error {
		var list []models.GatedMLP
		for range 8 {
			list = append(list, d.network())
		}
		step := grad.Jit(func(x tensor.Tensor) tensor.Tensor {
			for _, n := range list {
				x = x.Add(n.Apply(x).Mul(1e-3))
			}
			return x
		})
		x := tensor.Ones(1, llamaWidth).To(d.device)
		return func() error { return tensor.Eval(step(x)) }
	})
}

func (d *decoding) network() models.GatedMLP {
	return models.GatedMLP{GateProj: d.linear(llamaWidth, llamaInner), UpProj: d.linear(llamaWidth, llamaInner), DownProj: d.linear(llamaInner, llamaWidth), Act: tensor.Tensor.SiLU}
}

// BenchmarkDecode writes a token a step with a random decoder.
func BenchmarkDecode(b *testing.B) {
	eachFormat(b, func(b *testing.B, d *decoding) func() error {
		const kv = llamaWidth / llamaHeads * llamaKVHeads
		norm := func() models.RMSNorm { return models.RMSNorm{Weight: tensor.Ones(llamaWidth).To(d.device), Eps: 1e-5} }
		m := &models.Llama{}
		m.Model.EmbedTokens, m.Model.Norm = nn.Embedding{Weight: d.table(llamaVocabulary, llamaWidth)}, norm()
		head := d.linear(llamaWidth, llamaVocabulary)
		m.LMHead = &head
		for range llamaLayers {
			n := d.network()
			m.Model.Layers = append(m.Model.Layers, models.LlamaLayer{
				InputLayernorm: norm(), PostAttentionLayernorm: norm(), MLP: &n,
				SelfAttn: models.Attention{
					QProj: d.linear(llamaWidth, llamaWidth), KProj: d.linear(llamaWidth, kv), VProj: d.linear(llamaWidth, kv), OProj: d.linear(llamaWidth, llamaWidth),
					Settings: nn.Attention{Heads: llamaHeads, KVHeads: llamaKVHeads, Causal: true, Rotary: nn.Rotary{Base: 500000}},
				},
			})
			if err := tensor.Eval(m); err != nil { // a layer at a time on the host
				b.Fatal(err)
			}
		}
		type state struct {
			IDs   tensor.Tensor
			Cache models.Cache
		}
		step := grad.Jit(func(s state) state {
			x, c := m.Decode(s.IDs, s.Cache)
			return state{m.Logits(x).Squeeze(1).ArgMax(-1).Unsqueeze(-1), c}
		})
		const prompt, capacity = 4, 256
		x, c := m.Decode(tensor.Arange(prompt).Reshape(1, prompt).To(d.device), tree.To(m.NewCache(1, capacity), d.device))
		s, held := state{m.Logits(x.Index(tensor.All, -1)).ArgMax(-1).Unsqueeze(-1), tree.To(c.OnDevice(), d.device)}, prompt
		return func() error {
			if held++; held > capacity { // begins again
				s.Cache.Len, s.Cache.Pos, held = prompt, tensor.Tensor{}, prompt+1
				s.Cache = s.Cache.OnDevice()
			}
			s = step(s)
			return tensor.Eval(s)
		}
	})
}
