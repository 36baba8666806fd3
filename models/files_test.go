package models_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// tensorsOf reads all tensors of a model of testdata.
func tensorsOf(t *testing.T, name string) map[string]tensor.Tensor {
	t.Helper()
	f, err := safetensors.Open(filepath.Join("testdata", name, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]tensor.Tensor{}
	for _, n := range f.Names() {
		if all[n], err = f.Tensor(n); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// rewritten is changed with other tensors.
func rewritten(t *testing.T, name string, settings map[string]any, tensors map[string]tensor.Tensor) string {
	t.Helper()
	dir := changed(t, name, settings)
	if err := safetensors.Save(filepath.Join(dir, "model.safetensors"), tensors); err != nil {
		t.Fatal(err)
	}
	return dir
}

func loadDir[M any](t *testing.T, dir string) M {
	t.Helper()
	m, err := models.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m.(M)
}

// renamed returns tensors with other names, without those whose name is "".
func renamed(all map[string]tensor.Tensor, f func(string) string) map[string]tensor.Tensor {
	out := map[string]tensor.Tensor{}
	for n, x := range all {
		if n = f(n); n != "" {
			out[n] = x
		}
	}
	return out
}

// Models are saved under the names that they were read from, in shards too; models of other makers have the names of
// Mixtral's and BERT's files.
func TestSave(t *testing.T) {
	folders, err := filepath.Glob("testdata/*/model.safetensors")
	if err != nil || len(folders) < 15 {
		t.Fatal(folders, err)
	}
	for _, path := range folders {
		name := filepath.Base(filepath.Dir(path))
		m := loadDir[any](t, filepath.Dir(path))
		dir := changed(t, name, nil)
		if err := os.Remove(filepath.Join(dir, "model.safetensors")); err != nil {
			t.Fatal(err)
		}
		if err := safetensors.SaveSharded(filepath.Join(dir, "model.safetensors.index.json"), m, 20000); err != nil {
			t.Fatal(err)
		}
		loadDir[any](t, dir)
		f, err := safetensors.Open(filepath.Join(dir, "model.safetensors.index.json"))
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(maps.Keys(tensorsOf(t, name)))
		want = slices.DeleteFunc(want, func(n string) bool { return strings.HasSuffix(n, "num_batches_tracked") })
		got := f.Names()
		base := map[string]string{"bert": "bert.", "clip_text_plain": "text_model.", "clip_vision_plain": "vision_model."}[name]
		for i := range got { // of files of the body alone
			got[i] = strings.TrimPrefix(got[i], base)
		}
		if other := slices.Contains([]string{"nomic_bert", "qwen2_moe", "qwen3_moe"}, name); !other && !slices.Equal(got, want) {
			t.Errorf("%s is saved with the tensors %v, want %v", name, got, want)
		}
		f.Close()
	}
}

// Files of a body without head.
func TestBody(t *testing.T) {
	for name, prefix := range map[string]string{"gpt2_gen": "transformer.", "llama3_rope": "model.", "llama_gqa": "model."} {
		body := renamed(tensorsOf(t, name), func(n string) string {
			if n == "lm_head.weight" {
				return ""
			}
			return strings.TrimPrefix(n, prefix)
		})
		body["h.0.attn.bias"] = tensor.Ones(1, 1, 4, 4) // a mask, in old files
		if name != "gpt2_gen" {
			delete(body, "h.0.attn.bias")
			body["layers.0.self_attn.rotary_emb.inv_freq"] = tensor.Ones(4)
		}
		m := loadDir[languageModel](t, rewritten(t, name, nil, body))
		ids := readIO(t, name).In["input_ids"]
		x, _ := m.Decode(ids, m.NewCache(2, 12))
		err := tensor.Try(func() { closeTo(t, name+": Logits", m.Logits(x), readIO(t, name).Out["logits"]) })
		if head := name == "llama3_rope"; head != (err != nil) {
			t.Errorf("%s: Logits: %v", name, err)
		}
	}
	vit := renamed(tensorsOf(t, "vit"), func(n string) string {
		if strings.HasPrefix(n, "classifier") {
			return ""
		}
		return strings.TrimPrefix(n, "vit.")
	})
	vit["pooler.dense.weight"], vit["pooler.dense.bias"] = tensor.Eye(32).Cast(tensor.Float32), tensor.Zeros(32)
	m := loadDir[*models.ViT](t, rewritten(t, "vit", nil, vit))
	x := m.Features(readIO(t, "vit").In["pixel_values"])
	closeTo(t, "Pooled(x)", m.Pooled(x), x.Index(tensor.All, 0).Tanh())
	if err := tensor.Try(func() { m.Apply(readIO(t, "vit").In["pixel_values"]) }); err == nil || !strings.Contains(err.Error(), "no classifier") {
		t.Errorf("Apply without a classifier: %v", err)
	}
	if err := tensor.Try(func() { m.Features(tensor.Ones(1, 3, 8, 8)) }); err == nil || !strings.Contains(err.Error(), "want [batch channels 16 16]") {
		t.Errorf("Features of small images: %v", err)
	}
}

// TestTextSide reads the text side of a Gemma 3 of images and text, with the names of old and new files.
func TestTextSide(t *testing.T) {
	var text map[string]any
	settings, err := os.ReadFile("testdata/gemma3/config.json")
	if err == nil {
		err = json.Unmarshal(settings, &text)
	}
	if err != nil {
		t.Fatal(err)
	}
	delete(text, "tie_word_embeddings")
	config := map[string]any{"model_type": "gemma3", "text_config": text, "vision_config": map[string]any{"hidden_size": 8}, "mm_tokens_per_image": 4}
	for _, prefix := range []string{"language_model.model.", "model.language_model."} {
		all := renamed(tensorsOf(t, "gemma3"), func(n string) string { return prefix + strings.TrimPrefix(n, "model.") })
		all["vision_tower.vision_model.post_layernorm.weight"], all["model.vision_tower.head.bias"] = tensor.Ones(8), tensor.Ones(8)
		m := loadDir[*models.Llama](t, rewritten(t, "gemma3", config, all))
		closeTo(t, prefix, m.Apply(readIO(t, "gemma3").In["input_ids"]), readIO(t, "gemma3").Out["logits"])
	}
	all := renamed(tensorsOf(t, "gemma3"), func(n string) string { return "language_model." + n })
	config["tie_word_embeddings"] = false
	if _, err := models.Load(rewritten(t, "gemma3", config, all)); err == nil || !strings.Contains(err.Error(), `the file lacks "lm_head.weight"`) {
		t.Errorf("without a head: %v", err)
	}
	config["text_config"] = nil
	if _, err := models.Load(rewritten(t, "gemma3", config, all)); err == nil || !strings.Contains(err.Error(), "there is no text_config") {
		t.Errorf("without text_config: %v", err)
	}
}

// Settings of older versions of transformers mean the same.
func TestOldSettings(t *testing.T) {
	io := readIO(t, "llama3_rope")
	scaling := map[string]any{"type": "llama3", "factor": 8, "high_freq_factor": 4, "low_freq_factor": 1, "original_max_position_embeddings": 16}
	dir := changed(t, "llama3_rope", map[string]any{"rope_parameters": nil, "rope_theta": 10000, "rope_scaling": scaling, "head_dim": nil})
	closeTo(t, "Llama 3", loadDir[*models.Llama](t, dir).Apply(io.In["input_ids"]), io.Out["logits"])

	io = readIO(t, "gemma2")
	dir = changed(t, "gemma2", map[string]any{"rope_parameters": nil, "rope_theta": 10000, "layer_types": nil, "tie_word_embeddings": nil})
	closeTo(t, "Gemma 2", loadDir[*models.Llama](t, dir).Apply(io.In["input_ids"]), io.Out["logits"])
}

// Every setting that is read changes the result.
func TestSettingsMatter(t *testing.T) {
	rope := func(kind string, more map[string]any) map[string]any {
		r := map[string]any{"rope_type": kind, "rope_theta": 10000, "factor": 4}
		maps.Copy(r, more)
		return map[string]any{"rope_parameters": r, "max_position_embeddings": 8}
	}
	for _, c := range []struct {
		model    string
		settings map[string]any
	}{
		{"llama_gqa", map[string]any{"rms_norm_eps": 0.1}},
		{"llama_gqa", map[string]any{"hidden_act": "gelu"}},
		{"llama_gqa", rope("linear", nil)},
		{"llama_gqa", rope("dynamic", nil)},
		{"llama_gqa", rope("yarn", map[string]any{"original_max_position_embeddings": 8})},
		{"llama_gqa", rope("yarn", map[string]any{"original_max_position_embeddings": 8, "mscale": 1, "mscale_all_dim": 0.5})},
		{"llama_gqa", rope("default", map[string]any{"partial_rotary_factor": 0.5})},
		{"qwen2", map[string]any{"use_sliding_window": true, "sliding_window": 4, "layer_types": nil, "max_window_layers": 1}},
		{"qwen2", map[string]any{"use_sliding_window": true, "sliding_window": 4, "layer_types": []string{"sliding_attention", "full_attention"}}},
		{"mixtral", map[string]any{"sliding_window": 4}},
		{"mixtral", map[string]any{"num_experts_per_tok": 1}},
		{"gemma2", map[string]any{"attn_logit_softcapping": 0.01}},
		{"gemma2", map[string]any{"final_logit_softcapping": 0.1}},
		{"gemma2", map[string]any{"query_pre_attn_scalar": 256}},
		{"gemma2", map[string]any{"sliding_window": 3}},
		{"gemma2", map[string]any{"hidden_activation": "relu"}},
		{"gpt2_gen", map[string]any{"scale_attn_by_inverse_layer_idx": true}},
		{"gpt2_gen", map[string]any{"scale_attn_weights": false}},
		{"gpt2_gen", map[string]any{"layer_norm_epsilon": 0.1}},
		{"gpt2_gen", map[string]any{"activation_function": "relu"}},
	} {
		m := loadDir[languageModel](t, changed(t, c.model, c.settings))
		io := readIO(t, c.model)
		ids := io.In["input_ids"]
		y := m.Apply(ids)
		if same, err := tensor.AllClose(y, io.Out["logits"], 1e-5, 1e-5); same || err != nil {
			t.Errorf("%s with %v: the result is the same, %v", c.model, c.settings, err)
		}
		if rope, _ := c.settings["rope_parameters"].(map[string]any); rope["rope_type"] == "dynamic" {
			continue // keys in a cache stay as they were rotated
		}
		x, cache := m.Decode(ids.Slice(1, 0, 5), m.NewCache(2, 12))
		rest, _ := m.Decode(ids.Slice(1, 5, 12), cache)
		closeTo(t, c.model+" with a cache", m.Logits(tensor.Cat(1, x, rest)), y)
	}
}

// Models compute in the type that they are cast to.
func TestTypes(t *testing.T) {
	for _, name := range []string{"gpt2_gen", "llama3_rope", "gemma2", "mixtral", "qwen2"} {
		io := readIO(t, name)
		for typ, tolerance := range map[tensor.DType]float64{tensor.Float64: 1e-5, tensor.BFloat16: 0.05, tensor.Float16: 0.01} {
			m := tree.Cast(toDevice(t, name, tensor.CPU()), typ)
			y := m.Apply(io.In["input_ids"])
			ok, err := tensor.AllClose(y.Cast(tensor.Float32), io.Out["logits"], tolerance, tolerance)
			if y.DType() != typ || !ok || err != nil {
				t.Errorf("%s in %v: %v, %.3f, want %.3f", name, typ, y.DType(), y, io.Out["logits"])
			}
		}
	}
}
