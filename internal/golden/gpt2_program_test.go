package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// From here to runGPT2 this is the program that generates text with the published weights of
// GPT-2, as a user writes it. Only the number of heads is a field, so that tests run smaller
// models.

type Conv1D struct{ Weight, Bias tensor.Tensor } // GPT-2's linear layer: [in out]
type Block struct {
	LN1  nn.LayerNorm `tensor:"ln_1"`
	Attn struct{ CAttn, CProj Conv1D }
	LN2  nn.LayerNorm `tensor:"ln_2"`
	MLP  struct{ CFc, CProj Conv1D }
}
type GPT2 struct {
	Wte, Wpe nn.Embedding
	H        []Block
	LnF      nn.LayerNorm
	heads    int
} // wte.weight, h.0.attn.c_attn.weight, …

func (l Conv1D) Apply(x tensor.Tensor) tensor.Tensor { return x.MatMul(l.Weight).Add(l.Bias) }
func (m GPT2) Apply(ids tensor.Tensor, cache []nn.KVCache) (y tensor.Tensor) {
	x := m.Wte.Apply(ids).Add(m.Wpe.Apply(tensor.Arange(ids.Dim(1)).Add(cache[0].Len)))
	for i, b := range m.H {
		qkv := b.Attn.CAttn.Apply(b.LN1.Apply(x)).Reshape(ids.Dim(0), ids.Dim(1), 3, m.heads, -1).Permute(2, 0, 3, 1, 4)
		y, cache[i] = cache[i].Attend(qkv.At(0), qkv.At(1), qkv.At(2))
		x = x.Add(b.Attn.CProj.Apply(y.Transpose(1, 2).Flatten(2)))
		x = x.Add(b.MLP.CProj.Apply(b.MLP.CFc.Apply(b.LN2.Apply(x)).GELUTanh()))
	}
	return m.LnF.Apply(x).MatMul(m.Wte.Weight.T()) // tied: one field, used twice
}

func load(path string, m *GPT2) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Load(m, func(name string) string {
		if strings.HasSuffix(name, ".attn.bias") { // a mask, not a parameter
			return ""
		}
		return strings.TrimPrefix(name, "transformer.")
	})
}

// runGPT2 returns count tokens after ids. The model in the folder gpt2 has heads of width 64.
func runGPT2(m GPT2, rng *tensor.RNG, ids []int32, count int) (out []int32) {
	cache := make([]nn.KVCache, len(m.H))
	for i := range cache {
		cache[i] = nn.NewKVCache(1, m.heads, 1024, 64)
	}
	for range count {
		logits := m.Apply(tensor.New(ids, 1, len(ids)), cache).Index(0, -1)
		ids = []int32{int32(rng.Categorical(logits.Div(0.8).Softmax(-1)).Item())}
		out = append(out, ids...)
	}
	return out
}

func gpt2Tiny(t *testing.T) (m GPT2, io modelIO) {
	t.Helper()
	m.heads = 4
	if err := load("testdata/gpt2_tiny/model.safetensors", &m); err != nil {
		t.Fatal(err)
	}
	return m, readIO(t, "gpt2_tiny")
}

// TestGPT2Tiny compares logits with PyTorch's: of all tokens at once, and of prompts of
// some lengths and then token by token.
func TestGPT2Tiny(t *testing.T) {
	d, _, _ := openDevice(t)
	m, io := gpt2Tiny(t)
	m = tree.To(m, d)
	ids := io.In["input_ids"].Cast(tensor.Int32)
	prompts := []int{5, 12}
	if d != tensor.CPU() {
		prompts = prompts[:1] // each is a plan of its own, and shaders take seconds to compile
	}
	for _, prompt := range prompts {
		parts := []int{prompt}
		for range 12 - prompt {
			parts = append(parts, 1)
		}
		cache := make([]nn.KVCache, len(m.H))
		for i := range cache {
			cache[i] = nn.NewKVCache(2, m.heads, 16, 8)
		}
		var logits []tensor.Tensor
		for _, part := range ids.Split(1, parts...) {
			y := m.Apply(part, cache)
			if err := tensor.Eval(y); err != nil {
				t.Fatal(err)
			}
			logits = append(logits, y)
		}
		closeTo(t, "logits", tensor.Cat(1, logits...), io.Out["logits"])
	}
}

// TestGPT2Program runs the program on a file with the names and widths of the published
// one, of one layer with random weights. Tokens after the prompt cost no new plan.
func TestGPT2Program(t *testing.T) {
	rng := tensor.NewRNG(1)
	const width, vocabulary = 768, 3291
	random := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).Mul(0.02) }
	conv := func(in, out int) Conv1D { return Conv1D{random(in, out), random(out)} }
	file := struct {
		Transformer GPT2
		Mask        tensor.Tensor `tensor:"transformer.h.0.attn.bias"`
	}{GPT2{Wte: nn.Embedding{Weight: random(vocabulary, width)}, Wpe: nn.Embedding{Weight: random(1024, width)}, LnF: nn.NewLayerNorm(width)}, tensor.Ones(1, 1, 4, 4)}
	b := Block{LN1: nn.NewLayerNorm(width), LN2: nn.NewLayerNorm(width)}
	b.Attn.CAttn, b.Attn.CProj = conv(width, 3*width), conv(width, width)
	b.MLP.CFc, b.MLP.CProj = conv(width, 4*width), conv(4*width, width)
	file.Transformer.H = []Block{b}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := safetensors.Save(path, file); err != nil {
		t.Fatal(err)
	}
	m := GPT2{heads: 12}
	if err := load(path, &m); err != nil {
		t.Fatal(err)
	}
	runGPT2(m, tensor.NewRNG(1), []int32{464, 3290}, 3)
	plans := tensor.Info().Plans
	count := 50
	if testing.Short() {
		count = 20
	}
	ids := runGPT2(m, tensor.NewRNG(1), []int32{464, 3290}, count)
	if n := tensor.Info().Plans - plans; n > 0 {
		t.Errorf("a text of %d tokens made %d more plans", count, n)
	}
	if len(ids) != count {
		t.Fatalf("%d tokens, want %d", len(ids), count)
	}
	// Each token follows from those before it, without a cache.
	again := tensor.NewRNG(1)
	for i := range ids[:5] {
		text := append([]int32{464, 3290}, ids[:i]...)
		cache := []nn.KVCache{nn.NewKVCache(1, 12, len(text), 64)}
		p := m.Apply(tensor.New(text, 1, len(text)), cache).Index(0, -1).Div(0.8).Softmax(-1)
		if got := int32(again.Categorical(p).Item()); got != ids[i] {
			t.Errorf("token %d is %d with the cache, %d without", i, ids[i], got)
		}
	}
}
