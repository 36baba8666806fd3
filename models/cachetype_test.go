package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// With caches of fewer bits logits are near those without a cache, of a prompt that is read in pieces. Greedy texts
// are transformers' with float16 and q8_0. Models with random weights write other texts with f8_e4m3.
func TestCacheTypes(t *testing.T) {
	d := openDevice(t)
	for _, name := range []string{"gpt2_gen", "llama_gqa", "llama3_rope", "qwen2", "gemma2", "gemma3", "mixtral", "qwen2_moe", "qwen3_moe", "phi3"} {
		if testing.Short() && name != "gpt2_gen" && name != "gemma3" {
			continue
		}
		m := toDevice(t, name, d)
		io := readIO(t, name)
		text, err := tensor.Data[int32](io.Out["greedy"].Cast(tensor.Int32))
		if err != nil {
			t.Fatal(err)
		}
		ids := io.In["input_ids"].To(d)
		want := m.Apply(ids)
		for typ, c := range map[nn.CacheType]struct {
			off  float64 // of the greatest logit
			same bool
		}{nn.CacheF16: {2e-3, true}, nn.CacheQ8: {2.5e-2, true}, nn.CacheF8: {0.2, false}} {
			cache := m.NewCache(ids.Dim(0), 32).As(typ)
			var parts []tensor.Tensor
			for at := 0; at < ids.Dim(1); {
				n := min(3, ids.Dim(1)-at)
				var x tensor.Tensor
				x, cache = m.Decode(ids.Slice(1, at, at+n), cache)
				parts, at = append(parts, m.Logits(x)), at+n
			}
			off := tensor.Cat(1, parts...).Sub(want).Abs().Max().Div(want.Abs().Max()).Item()
			if !(off <= c.off) {
				t.Errorf("%s, %s: logits are off by %.4f of the greatest, want at most %.4f", name, typ, off, c.off)
			}
			const prompt = 12
			g := &models.Generator{Model: m, MaxTokens: len(text) - prompt, CacheType: typ}
			if got := generate(t, g, text[:prompt])[0]; c.same && !slices.Equal(got, text[prompt:]) {
				t.Errorf("%s, %s: %v, want %v", name, typ, got, text[prompt:])
			}
		}
	}
}

// The ways of a Generator write one text by one type of cache: chosen on the device and on the host, proposed, drawn
// twice, beside longer texts, as the next of another text, and in a cache that grows.
func TestCacheTypesGenerate(t *testing.T) {
	m := toDevice(t, "llama_gqa", openDevice(t))
	for _, typ := range []nn.CacheType{nn.CacheQ8, nn.CacheF8} {
		const n = 80 // beyond the first capacity
		want := generate(t, &models.Generator{Model: m, MaxTokens: n, CacheType: typ}, spoken)[0]
		for name, g := range map[string]models.Generator{
			"host": {LogProbs: 1}, "draft": {Draft: m}, "n-grams": {NGram: 2}, "twice": {N: 2}, "batch": {}, "reuse": {Reuse: true},
		} {
			g.Model, g.MaxTokens, g.CacheType = m, n, typ
			prompts := [][]int32{spoken}
			if name == "batch" {
				prompts = append(prompts, []int32{9, 8, 7, 6, 5, 4, 3, 2, 1})
			}
			texts := 1
			if name == "reuse" {
				texts = 2
			}
			for range texts {
				for i, got := range generate(t, &g, prompts...) {
					if i != 1 || name != "batch" {
						if !slices.Equal(got, want) {
							t.Errorf("%s, %s: %v, want %v", typ, name, got, want)
						}
					}
				}
			}
		}
	}
	g := models.Generator{Model: m, MaxTokens: 1, CacheType: "q5_1"}
	if _, err := g.Generate([][]int32{spoken}); err == nil || !strings.Contains(err.Error(), `the type of a cache is "q5_1": want f32, f16, bf16, q8_0 or f8_e4m3`) {
		t.Errorf("a type that there is not: error %v", err)
	}
}

// The memory of a cache is its type's for each head and position, whatever the type of the model.
func TestCacheTypesMemory(t *testing.T) {
	m := toDevice(t, "llama_gqa", tensor.CPU())
	for _, typ := range []nn.CacheType{nn.CacheF32, nn.CacheF16, nn.CacheQ8, nn.CacheF8} {
		c := m.NewCache(3, 10).As(typ)
		_, c = m.Decode(tensor.New([]int32{1, 2, 3}, 3, 1), c)
		if err := tensor.Eval(c); err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for name, x := range tree.All(c) {
			if !strings.HasPrefix(name, "pads") {
				bytes += x.Len() * x.DType().Size()
			}
		}
		layers, heads, width := len(c.K), c.K[0].Dim(1), c.K[0].Dim(3)
		if want := 2 * 3 * 10 * layers * heads * typ.Bytes(width); bytes != want {
			t.Errorf("%s: %d bytes, want %d", typ, bytes, want)
		}
	}
	if f16, q8 := nn.CacheF16.Bytes(64), nn.CacheQ8.Bytes(64); fmt.Sprint(f16, q8) != "128 68" {
		t.Errorf("heads of 64 take %d bytes as float16 and %d as q8_0, want 128 and 68", f16, q8)
	}
}
