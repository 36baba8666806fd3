package models_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

// A languageModel is a decoder that also computes whole texts.
type languageModel interface {
	models.Decoder
	Apply(ids tensor.Tensor) tensor.Tensor
}

func toDevice(t *testing.T, name string, d *tensor.Device) languageModel {
	t.Helper()
	if name == "gpt2_gen" {
		return load[*models.GPT2](t, name, d)
	}
	return load[*models.Llama](t, name, d)
}

// A config.json of before version 5 of transformers describes the same Gemma 3.
func TestOldGemma3(t *testing.T) {
	dir := changed(t, "gemma3", map[string]any{
		"rope_parameters": nil, "layer_types": nil, "_sliding_window_pattern": nil, "sliding_window_pattern": 3,
		"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": map[string]any{"rope_type": "linear", "factor": 8},
	})
	io := readIO(t, "gemma3")
	closeTo(t, "Apply(ids)", loadDir[*models.Llama](t, dir).Apply(io.In["input_ids"]), io.Out["logits"])
}

// Logits and greedy texts equal transformers' or llama.cpp's, with and without a cache.
func TestDecoders(t *testing.T) {
	d := openDevice(t)
	for _, name := range []string{"gpt2_gen", "llama_gqa", "llama3_rope", "qwen2", "gemma2", "gemma3", "mixtral", "qwen2_moe", "qwen3_moe", "phi3"} {
		t.Run(name, func(t *testing.T) {
			m := toDevice(t, name, d)
			io := readIO(t, name)
			closeTo(t, "Apply(ids)", m.Apply(io.In["input_ids"].To(d)), io.Out["logits"])

			want, err := tensor.Data[int32](io.Out["greedy"].Cast(tensor.Int32))
			if err != nil {
				t.Fatal(err)
			}
			const prompt = 12
			g := models.Generator{Model: m, MaxTokens: len(want) - prompt}
			got, err := g.Generate([][]int32{want[:prompt]})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0], want[prompt:]) {
				t.Errorf("Generate returned %v, want %v", got[0], want[prompt:])
			}
			step := 7
			if testing.Short() {
				step = len(want)
			}
			for n := prompt; n < len(want); n += step { // texts of any length
				next := m.Apply(tensor.New(want[:n], 1, n).To(d)).Index(0, -1).ArgMax(-1).Item()
				if int32(next) != want[n] {
					t.Errorf("without a cache token %d is %v, want %d", n, next, want[n])
				}
			}
		})
	}
}

// Texts longer than in the training have the other factors of LongRoPE.
func TestLongRope(t *testing.T) {
	rope := func(short, long []float64) map[string]any {
		return map[string]any{"type": "longrope", "short_factor": short, "long_factor": long, "attention_factor": 1.25}
	}
	a, b := []float64{1, 1.5}, []float64{2, 6}
	apply := func(trained int, rope map[string]any) tensor.Tensor {
		dir := changed(t, "phi3", map[string]any{"original_max_position_embeddings": trained, "rope_scaling": rope})
		return loadDir[*models.Llama](t, dir).Apply(tensor.New([]int32{3, 5, 7, 9, 11, 2}, 1, 6))
	}
	closeTo(t, "a long text", apply(5, rope(a, b)), apply(256, rope(b, a)))
	closeTo(t, "a short text", apply(6, rope(a, b)), apply(256, rope(a, b)))
	if same, err := tensor.AllClose(apply(5, rope(a, b)), apply(6, rope(a, b)), 1e-3, 1e-3); same || err != nil {
		t.Errorf("the factors have no effect, %v", err)
	}
}

// A running device counts runs.
type running struct {
	driver.Device
	runs *int
}

func (d running) Run(calls []driver.Call) error {
	*d.runs++
	return d.Device.Run(calls)
}

// A device computes the first layers of a prompt before the last ones are made, with the same results.
func TestLayersAhead(t *testing.T) {
	runs, ids := 0, tensor.New(spoken, 1, len(spoken))
	d := tensor.NewDevice(running{cpu.New(cpu.Options{}), &runs})
	here, there := *load[*models.Llama](t, "llama_gqa", tensor.CPU()), *load[*models.Llama](t, "llama_gqa", d)
	decode := func() int {
		before := runs
		y, c := there.Decode(ids.To(d), there.NewCache(1, 64))
		begun := runs - before
		want, _ := here.Decode(ids, here.NewCache(1, 64))
		closeTo(t, "Decode", y, want)
		if err := tensor.Eval(c); err != nil {
			t.Error(err)
		}
		return begun
	}
	few := decode()
	here.Model.Layers, there.Model.Layers = slices.Repeat(here.Model.Layers, 6), slices.Repeat(there.Model.Layers, 6)
	if more := decode(); more != few+2 {
		t.Errorf("%d runs have begun with 2 layers, %d with 12: want 2 more", few, more)
	}
}
