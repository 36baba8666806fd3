//go:build linux && (amd64 || arm64)

package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// newDecoding returns a decoding in the format of a name.
func newDecoding(name string, d *tensor.Device) *decoding {
	formats, rng := ir.Formats(), rand.New(rand.NewPCG(1, 2))
	x := &decoding{format: formats[slices.IndexFunc(formats, func(d ir.DType) bool { return d.String() == name })], device: d, pool: make([]byte, 1<<20)}
	for i := range x.pool {
		x.pool[i] = byte(rng.Uint32())
	}
	return x
}

// eachFormat runs a benchmark on a GPU for formats of decoders.
func eachFormat(b *testing.B, bench func(b *testing.B, d *decoding) (step func() error)) {
	for _, name := range []string{"Q8_0", "Q4_K"} {
		b.Run(name, func(b *testing.B) {
			drv := openBench(b, true)
			d := newDecoding(name, tensor.NewDevice(drv))
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

// A llamaSize is the sizes of a decoder.
type llamaSize struct{ width, inner, layers, heads, kvHeads, vocabulary int }

// llama8B is Llama 3 of eight billion parameters.
var llama8B = llamaSize{4096, 14336, 32, 32, 8, 128256}

func (z llamaSize) network(d *decoding) models.GatedMLP {
	return models.GatedMLP{GateProj: d.linear(z.width, z.inner), UpProj: d.linear(z.width, z.inner), DownProj: d.linear(z.inner, z.width), Act: tensor.Tensor.SiLU}
}

// new returns a random decoder.
func (z llamaSize) new(t testing.TB, d *decoding) *models.Llama {
	kv := z.width / z.heads * z.kvHeads
	norm := func() models.RMSNorm { return models.RMSNorm{Weight: tensor.Ones(z.width).To(d.device), Eps: 1e-5} }
	m := &models.Llama{}
	m.Model.EmbedTokens, m.Model.Norm = nn.Embedding{Weight: d.table(z.vocabulary, z.width)}, norm()
	head := d.linear(z.width, z.vocabulary)
	m.LMHead = &head
	for range z.layers {
		n := z.network(d)
		m.Model.Layers = append(m.Model.Layers, models.LlamaLayer{
			InputLayernorm: norm(), PostAttentionLayernorm: norm(), MLP: &n,
			SelfAttn: models.Attention{
				QProj: d.linear(z.width, z.width), KProj: d.linear(z.width, kv), VProj: d.linear(z.width, kv), OProj: d.linear(z.width, z.width),
				Settings: nn.Attention{Heads: z.heads, KVHeads: z.kvHeads, Causal: true, Rotary: nn.Rotary{Base: 500000}},
			},
		})
		if err := tensor.Eval(m); err != nil { // a layer at a time on the host
			t.Fatal(err)
		}
	}
	return m
}

// decode returns a function that writes the next token, and the token.
func decode(m *models.Llama, d *decoding) func() (tensor.Tensor, error) {
	const prompt, capacity = 4, 256
	type state struct {
		IDs   tensor.Tensor
		Cache models.Cache
	}
	step := grad.Jit(func(s state) state {
		x, c := m.Decode(s.IDs, s.Cache)
		return state{m.Logits(x).Squeeze(1).ArgMax(-1).Unsqueeze(-1), c}
	})
	x, c := m.Decode(tensor.Arange(prompt).Reshape(1, prompt).To(d.device), tree.To(m.NewCache(1, capacity), d.device))
	s, held := state{m.Logits(x.Index(tensor.All, -1)).ArgMax(-1).Unsqueeze(-1), tree.To(c.OnDevice(), d.device)}, prompt
	return func() (tensor.Tensor, error) {
		if held++; held > capacity { // begins again
			s.Cache.Len, s.Cache.Pos, held = prompt, tensor.Tensor{}, prompt+1
			s.Cache = s.Cache.OnDevice()
		}
		s = step(s)
		return s.IDs, tensor.Eval(s)
	}
}

// BenchmarkNetworks computes gated networks of a decoder, one after the other.
func BenchmarkNetworks(b *testing.B) {
	eachFormat(b, func(b *testing.B, d *decoding) func() error {
		var list []models.GatedMLP
		for range 8 {
			list = append(list, llama8B.network(d))
		}
		step := grad.Jit(func(x tensor.Tensor) tensor.Tensor {
			for _, n := range list {
				x = x.Add(n.Apply(x).Mul(1e-3))
			}
			return x
		})
		x := tensor.Ones(1, llama8B.width).To(d.device)
		return func() error { return tensor.Eval(step(x)) }
	})
}

// BenchmarkDecode writes a token a step with a random decoder.
func BenchmarkDecode(b *testing.B) {
	eachFormat(b, func(b *testing.B, d *decoding) func() error {
		step := decode(llama8B.new(b, d), d)
		return func() error {
			_, err := step()
			return err
		}
	})
}

// A decoder's step gets a new position, which changes the parameters of few kernels, and of none in each layer.
func TestDecodeUpdates(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const name, warm, steps = "GraphExecKernelNodeSetParams_v2", 5, 4
	updates := func(layers int) (n int) {
		f := newFake(t, 1<<30)
		f.isIdle = true
		drv, err := f.open(Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		d := newDecoding("Q8_0", tensor.NewDevice(drv))
		defer d.device.Close()
		step := decode(llamaSize{256, 512, layers, 4, 2, 512}.new(t, d), d)
		for i := range warm + steps {
			if i == warm {
				n = -f.count(name)
			}
			ids, err := step()
			if err == nil {
				_, err = tensor.Data[int32](ids)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return n + f.count(name)
	}
	if few, more := updates(2), updates(5); more != few || few == 0 {
		t.Errorf("%d steps update %d kernels with two layers, %d with five", steps, few, more)
	}
}

// Tokens and positions of a round of speculation, and the reports on its positions, move from round to round, as the
// round before may still run: few kernels of a layer use them.
func TestRoundUpdates(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const name, warm, tokens = "GraphExecKernelNodeSetParams_v2", 25, 40
	updates := func(layers int) (n int) {
		f := newFake(t, 1<<30)
		f.isIdle = true // all tokens are 0, as the number of accepted proposals
		drv, err := f.open(Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		d := newDecoding("Q8_0", tensor.NewDevice(drv))
		defer d.device.Close()
		size := llamaSize{256, 512, layers, 4, 2, 512}
		g := &models.Generator{Model: size.new(t, d), Draft: size.new(t, d), Propose: 2, MaxTokens: tokens}
		written := 0
		for _, err := range g.All([][]int32{{1, 2, 3}}) {
			if err != nil {
				t.Fatal(err)
			}
			if written++; written == warm {
				n = -f.count(name)
			}
		}
		return n + f.count(name)
	}
	const layers, rounds, steps, perLayer = 2, tokens - warm, 3, 4
	if few, more := updates(layers), updates(2*layers); more-few > rounds*steps*perLayer*layers || few == 0 {
		t.Errorf("%d rounds update %d kernels with %d layers, %d with %d", rounds, few, layers, more, 2*layers)
	}
}

// Texts whose tokens are read while the next step runs equal texts of the host, up to logits that are no numbers.
func TestReadAhead(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<30)
	drv, err := f.open(Options{Graphs: true})
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoding("Q8_0", tensor.NewDevice(drv))
	defer d.device.Close()
	m := llamaSize{32, 32, 1, 2, 1, 32}.new(t, d)
	table := tensor.NewRNG(1).Normal(32, 32)
	m.Model.EmbedTokens.Weight, m.LMHead.Weight = table.To(d.device).Keep(), table.Roll(0, 1).To(d.device).Keep()
	generate := func(g models.Generator) ([]int32, error) {
		g.Model, g.MaxTokens = m, 14
		texts, err := g.Generate([][]int32{{1, 2}})
		return texts[0], err
	}
	kinds := map[string]models.Generator{"device": {}, "draft": {Draft: m, Propose: 2}, "n-grams": {NGram: 2}}
	want, err := generate(models.Generator{LogProbs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range kinds {
		if got, err := generate(g); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	bad := want[8]
	m.Model.EmbedTokens.Weight = tensor.Where(tensor.Arange(32).Eq(int(bad)).Unsqueeze(-1), math.NaN(), table).To(d.device).Keep()
	for name, g := range kinds {
		got, err := generate(g)
		end := slices.Index(want, bad) + 1
		if err == nil || !strings.Contains(err.Error(), "NaN") || len(got) < end-g.Propose || !slices.Equal(got, want[:min(end, len(got))]) {
			t.Errorf("%s: %v, %v, want NaN after %v, or a round before", name, got, err, want[:end])
		}
	}
}

// A launch that fails is an error of the elements that are read, ahead or not, and of no others.
func TestReadAheadOfFailure(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, ahead := range []bool{false, true} {
		f := newFake(t, 1<<30)
		drv, err := f.open(Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		d := tensor.NewDevice(drv)
		y := func() tensor.Tensor { return tensor.New([]int32{1, 2, 3}).To(d).Mul(5).Keep() }
		for range 3 {
			if _, err := tensor.Data[int32](y()); err != nil {
				t.Fatal(err)
			}
		}
		x := y()
		for _, n := range []string{"LaunchKernel", "LaunchKernelEx", "GraphLaunch", "GraphInstantiateWithFlags"} {
			f.fails[n] = outOfMemory
		}
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		read := func() ([]int32, error) { return tensor.Data[int32](x) }
		if ahead {
			read, _ = tensor.Internal.Ahead(nodes.Token{}, x)
		}
		got, err := read()
		clear(f.fails)
		if err == nil {
			t.Errorf("ahead %v: read %v, want an error", ahead, got)
		}
		if _, err := tensor.Data[int32](y()); err != nil {
			t.Errorf("ahead %v: a later read has error %v", ahead, err)
		}
		d.Close()
	}
}
