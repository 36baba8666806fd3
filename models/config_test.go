package models_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// The settings of published models are read: loading fails for lack of weights only.
func TestPublished(t *testing.T) {
	folders, err := filepath.Glob("testdata/published/*")
	if err != nil || len(folders) < 20 {
		t.Fatal(folders, err)
	}
	others := map[string]tensor.Tensor{} // as many as a model may have layers
	for i := range 300 {
		others[fmt.Sprintf("other%d", i)] = tensor.Zeros(1)
	}
	for _, folder := range folders {
		if _, err := models.Load(folder); err == nil || !strings.Contains(err.Error(), "there is neither model.safetensors nor") {
			t.Errorf("Load(%q): %v", folder, err)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if err := safetensors.Save(filepath.Join(dir, "model.safetensors"), others); err != nil {
			t.Fatal(err)
		}
		if _, err := models.Load(dir); err == nil || !strings.Contains(err.Error(), "other0") && !strings.Contains(err.Error(), `lacks "`) {
			t.Errorf("Load(%q) with other tensors: %v", folder, err)
		}
	}
}

// No setting of a config.json, however wrong, panics or takes memory that the file of tensors
// does not have.
func TestHostileSettings(t *testing.T) {
	values := []any{-1, 0, 1e9, 1e18, nil, []int{-1, 2}, []float64{1e9, 1e9}}
	next := 0
	for _, name := range []string{"gpt2_gen", "gemma3", "mixtral", "bert", "vit", "resnet", "whisper", "clip", "clip_text", "t5", "qwen2_moe", "phi3", "nomic_bert"} {
		dir, path := changed(t, name, nil), filepath.Join("testdata", name, "config.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		var walk func(object map[string]any)
		walk = func(object map[string]any) {
			for name, was := range object {
				if inner, ok := was.(map[string]any); ok {
					walk(inner)
				}
				try := values
				if testing.Short() { // one for every second setting
					try = values[next/2:][:next%2]
					next = (next + 1) % (2 * len(values))
				}
				for _, object[name] = range try {
					text, err := json.Marshal(all)
					if err == nil {
						err = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					_, err = models.Load(dir)
					runtime.ReadMemStats(&after)
					if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
						t.Errorf("%s with %s %v allocates %d MB, error %v", path, name, object[name], got>>20, err)
					}
				}
				object[name] = was
			}
		}
		walk(all)
	}
}

// changed copies a model of testdata with other settings. A nil value removes one.
func changed(t *testing.T, name string, settings map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for k, v := range settings {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	if text, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A setting that would change results, or does not fit the file, is an error that names it.
func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		model    string
		settings map[string]any
		want     string
	}{
		{"llama_gqa", map[string]any{"residual_multiplier": 0.5}, `"residual_multiplier" is not known for llama`},
		{"llama_gqa", map[string]any{"attn_logit_softcapping": 50}, `"attn_logit_softcapping" is not known for llama`},
		{"llama_gqa", map[string]any{"quantization_config": map[string]any{"bits": 4}}, `"quantization_config" is not known`},
		{"llama_gqa", map[string]any{"hidden_act": "snake"}, `hidden_act is "snake"`},
		{"llama_gqa", map[string]any{"num_attention_heads": nil}, "there is no num_attention_heads"},
		{"llama_gqa", map[string]any{"num_hidden_layers": -1}, "num_hidden_layers is -1: want at least 1"},
		{"llama_gqa", map[string]any{"num_hidden_layers": 1e8}, "num_hidden_layers is 100000000: the file has only "},
		{"llama_gqa", map[string]any{"head_dim": -8}, "head_dim is -8: want at least 0"},
		{"llama_gqa", map[string]any{"max_position_embeddings": -1}, "max_position_embeddings is -1: want at least 1"},
		{"llama_gqa", map[string]any{"rms_norm_eps": 1e308}, "rms_norm_eps is 1e+308: want at most 1"},
		{"llama_gqa", map[string]any{"hidden_size": 1e10}, "hidden_size is 10000000000: want at most 2.147483647e+09"},
		{"llama_gqa", map[string]any{"vocab_size": "\u009b2J"}, `vocab_size is "\u009b2J"`},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"rope_type": "llama3", "factor": 2}}, "low_freq_factor is 0 and high_freq_factor 0"},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"partial_rotary_factor": 2}}, "partial_rotary_factor is 2: want more than 0 and at most 1"},
		{"mixtral", map[string]any{"sliding_window": -5}, "sliding_window is -5: want at least 0"},
		{"mixtral", map[string]any{"num_local_experts": 1e9}, "num_local_experts is 1000000000 in 2 layers: the file has only"},
		{"gpt2_gen", map[string]any{"n_layer": 1e18}, "n_layer is 1000000000000000000: want at most"},
		{"bert", map[string]any{"num_hidden_layers": 0}, "num_hidden_layers is 0: want at least 1"},
		{"bert", map[string]any{"num_hidden_layers": -1}, "num_hidden_layers is -1: want at least 1"},
		{"t5", map[string]any{"num_decoder_layers": 1e9}, "num_decoder_layers is 1000000000: the file has only"},
		{"whisper", map[string]any{"num_mel_bins": -1}, "num_mel_bins is -1: want at least 1"},
		{"whisper", map[string]any{"encoder_layers": 1e9}, "encoder_layers is 1000000000: the file has only"},
		{"resnet", map[string]any{"depths": []int{-1, 2}}, "depths is [-1,2]: want at least 1"},
		{"resnet", map[string]any{"depths": []float64{200, 200}}, "depths is [200,200]: the file has only"},
		{"vit", map[string]any{"patch_size": 0}, "patch_size is 0: want at least 1"},
		{"vit", map[string]any{"num_hidden_layers": 1e18}, "want at most"},
		{"clip", map[string]any{"projection_dim": -1}, "projection_dim is -1: want at least 1"},
		{"clip", map[string]any{"text_config": map[string]any{"num_hidden_layers": 1e9}}, "text_config: num_hidden_layers is 1000000000: the file has only"},
		{"clip_text", map[string]any{"num_hidden_layers": 1e9}, "num_hidden_layers is 1000000000: the file has only"},
		{"gemma3", map[string]any{"rope_parameters": map[string]any{"full_attention": map[string]any{}}}, "there is no sliding_attention"},
		{"gemma3", map[string]any{"sliding_window_pattern": 0}, "sliding_window_pattern is 0: want at least 1"},
		{"llama_gqa", map[string]any{"num_attention_heads": 5}, "num_key_value_heads is 2, which does not divide num_attention_heads, 5"},
		{"llama_gqa", map[string]any{"head_dim": 4}, "self_attn.q_proj.weight is [16 32], and in the file [32 32]"},
		{"llama_gqa", map[string]any{"vocab_size": 97}, "embed_tokens.weight is [97 32], and in the file [96 32]"},
		{"llama_gqa", map[string]any{"vocab_size": "many"}, `vocab_size is "many"`},
		{"llama_gqa", map[string]any{"tie_word_embeddings": false}, `the file lacks "lm_head.weight"`},
		{"llama_gqa", map[string]any{"attention_bias": true}, `the file lacks "model.layers.0.self_attn.k_proj.bias"`},
		{"llama_gqa", map[string]any{"num_hidden_layers": 1}, `has no field for "model.layers.1.`},
		{"llama_gqa", map[string]any{"num_hidden_layers": 3}, `it lacks "model.layers.2.`},
		{"llama_gqa", map[string]any{"model_type": "mamba"}, `model_type is "mamba"`},
		{"llama_gqa", map[string]any{"model_type": nil}, "there is no model_type"},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"rope_type": "longrope", "factor": 2}}, `type "longrope": want 4 factors each in short_factor and long_factor`},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"rope_type": "strange"}}, `type "strange" are not supported: want default, dynamic, linear, llama3, longrope, su, yarn`},
		{"llama_gqa", map[string]any{"rope_parameters": nil, "rope_theta": -1}, "rope_theta is -1: want at least 0"},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"rope_theta": 0}}, "rope_theta is 0: want more than 0"},
		{"llama_gqa", map[string]any{"rms_norm_eps": -1e-6}, "rms_norm_eps is -0.000001: want at least 0"},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"rope_type": "linear"}}, "there is no factor"},
		{"llama_gqa", map[string]any{"rope_parameters": map[string]any{"spiral": 2}}, `rope_parameters: the setting "spiral"`},
		{"qwen2", map[string]any{"layer_types": []string{"full_attention", "linear_attention"}}, `layer_types has "linear_attention"`},
		{"qwen2", map[string]any{"layer_types": []string{"full_attention"}}, "layer_types has 1 elements for 2 layers"},
		{"qwen2", map[string]any{"model_type": "llama", "layer_types": nil, "max_window_layers": nil, "use_sliding_window": nil}, `the file has "model.layers.0.self_attn.k_proj.bias"`},
		{"gemma2", map[string]any{"model_type": "gemma", "layer_types": nil}, "is not known for gemma"},
		{"gemma2", map[string]any{"use_bidirectional_attention": true}, "use_bidirectional_attention is true: only false"},
		{"mixtral", map[string]any{"num_experts_per_tok": 5}, "num_experts_per_tok is 5: want 1 to num_local_experts, 4"},
		{"mixtral", map[string]any{"num_experts_per_tok": 0}, "num_experts_per_tok is 0: want 1"},
		{"mixtral", map[string]any{"num_local_experts": 0}, "num_experts_per_tok is 2: want 1 to num_local_experts, 0"},
		{"mixtral", map[string]any{"num_local_experts": 5}, `it lacks "model.layers.0.block_sparse_moe.experts.4`},
		{"gpt2_gen", map[string]any{"add_cross_attention": true}, "add_cross_attention is true"},
		{"gpt2_gen", map[string]any{"n_inner": 64}, "mlp.c_fc is [32 64], and in the file [32 128]"},
		{"gpt2_gen", map[string]any{"n_head": 5}, "n_head is 5, which does not divide n_embd, 32"},
		{"bert", map[string]any{"position_embedding_type": "relative_key"}, `position_embedding_type is "relative_key"`},
		{"gpt2_gen", map[string]any{"layer_norm_epsilon": -1}, "layer_norm_epsilon is -1: want at least 0"},
		{"bert", map[string]any{"layer_norm_eps": -1}, "layer_norm_eps is -1: want at least 0"},
		{"vit", map[string]any{"layer_norm_eps": -1}, "layer_norm_eps is -1: want at least 0"},
		{"t5", map[string]any{"layer_norm_epsilon": -1}, "layer_norm_epsilon is -1: want at least 0"},
		{"bert", map[string]any{"is_decoder": true}, "is_decoder is true"},
		{"bert", map[string]any{"type_vocab_size": 3}, "token_type_embeddings is [3 32]"},
		{"vit", map[string]any{"image_size": 20}, "position_embeddings is [1 26 32], and in the file [1 17 32]"},
		{"vit", map[string]any{"qkv_bias": false}, "the model does not"},
		{"resnet", map[string]any{"layer_type": "dense"}, `layer_type is "dense"`},
		{"resnet", map[string]any{"depths": []int{1}}, "1 depths and 2 hidden_sizes"},
		{"whisper", map[string]any{"decoder_layers": 1}, "has no field"},
		{"whisper", map[string]any{"num_mel_bins": 80}, "conv1 is [32 80 3]"},
		{"clip", map[string]any{"text_config": map[string]any{"flavour": 1}}, `text_config: the setting "flavour"`},
		{"clip", map[string]any{"projection_dim": 8}, "text_projection is [8 24]"},
		{"t5", map[string]any{"feed_forward_proj": "gated-gelu"}, "other weights than it needs"},
		{"t5_gated", map[string]any{"d_kv": 5}, "SelfAttention.q is [15 24]"},
		{"t5", map[string]any{"tie_word_embeddings": false}, "has no lm_head.weight"},
	} {
		if _, err := models.Load(changed(t, c.model, c.settings)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %v: %v, want %q", c.model, c.settings, err, c.want)
		}
	}
}

func TestStopTokens(t *testing.T) {
	for _, c := range []struct {
		config, generation any // eos_token_id
		want               []int32
	}{
		{nil, nil, nil},
		{2, nil, []int32{2}},
		{2, []int{3, 4}, []int32{3, 4}},
		{[]int{5, 6}, nil, []int32{5, 6}},
	} {
		dir := changed(t, "llama_gqa", map[string]any{"eos_token_id": c.config})
		if c.generation != nil {
			text, err := json.Marshal(map[string]any{"eos_token_id": c.generation})
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "generation_config.json"), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, err := models.StopTokens(dir); !slices.Equal(got, c.want) || err != nil {
			t.Errorf("eos_token_id %v and %v: StopTokens returned %v, %v, want %v", c.config, c.generation, got, err, c.want)
		}
	}
	for _, bad := range []string{`{"eos_token_id": "end"}`, `[`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := models.StopTokens(dir); err == nil {
			t.Errorf("%s: StopTokens returned %v", bad, got)
		}
	}
}

// Windows and rotary positions of layers follow the settings.
func TestLayers(t *testing.T) {
	sliding := []string{"full_attention", "sliding_attention"}
	rope := func(r map[string]any) map[string]any {
		return map[string]any{"rope_parameters": r, "max_position_embeddings": 256, "layer_types": nil}
	}
	for _, c := range []struct {
		model    string
		settings map[string]any
		windows  [2]int
		scaling  nn.RotaryScaling
	}{
		{model: "llama_gqa"},
		{"mixtral", map[string]any{"sliding_window": 4}, [2]int{4, 4}, nil},
		{"mixtral", map[string]any{"sliding_window": 4, "layer_types": sliding}, [2]int{0, 4}, nil},
		{"qwen2", map[string]any{"sliding_window": 4, "layer_types": nil, "max_window_layers": 1}, [2]int{}, nil},
		{"qwen2", map[string]any{"sliding_window": 4, "use_sliding_window": true, "layer_types": nil, "max_window_layers": 1}, [2]int{0, 4}, nil},
		{"qwen2", map[string]any{"sliding_window": 4, "use_sliding_window": true, "layer_types": sliding}, [2]int{0, 4}, nil},
		{"gemma2", map[string]any{"layer_types": nil}, [2]int{6, 0}, nil},
		{"gemma2", map[string]any{"layer_types": sliding}, [2]int{0, 6}, nil},
		{"llama_gqa", rope(map[string]any{"type": "linear", "factor": 2}), [2]int{}, nn.LinearScaling{Factor: 2}},
		{"llama_gqa", rope(map[string]any{"rope_type": "dynamic", "factor": 2, "original_max_position_embeddings": 64}), [2]int{}, nn.DynamicScaling{Factor: 2, Length: 256}},
		{"llama_gqa", rope(map[string]any{"rope_type": "llama3", "factor": 8, "low_freq_factor": 2, "high_freq_factor": 3, "original_max_position_embeddings": 64}), [2]int{},
			nn.Llama3Scaling{Factor: 8, LowFreq: 2, HighFreq: 3, Length: 64}},
		{"llama_gqa", rope(map[string]any{"rope_type": "yarn", "factor": 2, "beta_fast": 16, "beta_slow": 2, "attention_factor": 1.5, "truncate": false}), [2]int{},
			nn.YaRNScaling{Factor: 2, Length: 256, BetaFast: 16, BetaSlow: 2, Magnitude: 1.5, Exact: true}},
		{"llama_gqa", rope(map[string]any{"rope_type": "yarn", "factor": nil, "original_max_position_embeddings": 64}), [2]int{}, nn.YaRNScaling{Factor: 4, Length: 64}},
		{"llama_gqa", rope(map[string]any{"rope_type": "yarn", "factor": math.E, "mscale": 2, "mscale_all_dim": 2}), [2]int{},
			nn.YaRNScaling{Factor: math.E, Length: 256, Magnitude: 1}},
	} {
		m := loadDir[*models.Llama](t, changed(t, c.model, c.settings))
		for i, l := range m.Model.Layers {
			if a := l.SelfAttn.Settings; a.Window != c.windows[i] || a.Rotary.Scaling != c.scaling {
				t.Errorf("%s with %v: layer %d has the window %d and the scaling %+v, want %d and %+v",
					c.model, c.settings, i, a.Window, a.Rotary.Scaling, c.windows[i], c.scaling)
			}
		}
	}
}
