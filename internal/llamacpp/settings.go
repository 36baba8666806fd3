package llamacpp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/gguf"
)

// ropeFactors is the tensor of divisors of the rates of rotary positions.
const ropeFactors = "rope_freqs.weight"

// longFactors are such tensors for short and long texts, by their settings.
var longFactors = map[string]string{"short_factor": "rope_factors_short.weight", "long_factor": "rope_factors_long.weight"}

// noEffect lists keys, after the architecture, that do not change results, or that finish reads.
var noEffect = strings.Fields(`
	rope.dimension_count rope.scaling.finetuned pooling_type attention.causal
	tensor_data_layout attention.scale attention.sliding_window_pattern
	rope.scaling.type rope.scaling.factor rope.scaling.original_context_length rope.scaling.attn_factor
	rope.scaling.yarn_beta_fast rope.scaling.yarn_beta_slow rope.scaling.yarn_ext_factor rope.scaling.yarn_attn_factor
	rope.scale_linear
`)

// readSettings returns the settings of config.json that metadata has, numbers as they are there.
func (a *architecture) readSettings(m gguf.Meta) (map[string]any, error) {
	s := map[string]any{}
	known := map[string]bool{}
	for _, l := range a.settingLines() {
		known[l.key] = true
		if m.Value(l.key) == nil {
			continue
		}
		var v any
		var err error
		if l.typ == "u" {
			v, err = gguf.Get[uint32](m, l.key)
		} else {
			v, err = gguf.Get[float32](m, l.key)
		}
		if err != nil {
			return nil, err
		}
		if l.typ == "u" && v == uint32(0) {
			continue // none, as of experts
		}
		if have, ok := s[l.name]; ok && have != v {
			return nil, fmt.Errorf("%s is %v, which is only supported if it is %v as before", l.key, v, have)
		}
		s[l.name] = v
	}
	for _, p := range m {
		key, ours := strings.CutPrefix(p.Key, a.name+".")
		if ours && !known[p.Key] && !slices.Contains(noEffect, key) {
			return nil, fmt.Errorf("the setting %s is not known for models of architecture %s, and may change results", strconv.Quote(p.Key), a.name)
		}
	}
	return s, nil
}

// optional returns a number of metadata, 0 if it is missing.
func (m *Model) optional(a *architecture, key string) (float64, error) {
	if m.file.Meta.Value(a.keyed(key)) == nil {
		return 0, nil
	}
	return gguf.Get[float64](m.file.Meta, a.keyed(key))
}

// finish adds the settings that follow from tensors, or from several keys, and chooses the kind.
func (m *Model) finish(a *architecture, s map[string]any, gated bool) error {
	m.Kind = a.kinds[0]
	has := func(name string) bool { _, ok := m.tensors[name]; return ok }
	switch a.name {
	case "llama":
		if s["num_local_experts"] != nil {
			m.Kind = "mixtral"
		} else if s["sliding_window"] != nil {
			m.Kind = "mistral"
		}
		if m.Kind == "llama" {
			s["attention_bias"], s["mlp_bias"] = has("model.layers.0.self_attn.q_proj.bias"), has("model.layers.0.mlp.up_proj.bias")
		} else if s["sliding_window"] == nil {
			s["sliding_window"] = nil // and not the default
		}
	case "qwen2", "qwen3", "qwen2moe", "qwen3moe":
		delete(s, "sliding_window") // not used by default
		if s["num_experts"] != nil {
			s["norm_topk_prob"] = a.fixed["norm_topk_prob"]
		}
		if a.name == "qwen2moe" {
			s["qkv_bias"] = has("model.layers.0.self_attn.q_proj.bias")
		}
	case "gemma2", "gemma3":
		if err := m.finishGemma(a, s); err != nil {
			return err
		}
	case "t5":
		s["feed_forward_proj"] = "relu"
		if gated {
			s["feed_forward_proj"] = "gated-gelu"
		}
		s["scale_decoder_outputs"] = !has("lm_head.weight")
	}
	s["model_type"], s["architectures"] = m.Kind, []string{a.class}
	if a.name != "bert" {
		s["tie_word_embeddings"] = !has("lm_head.weight")
	}
	for _, info := range m.file.Tensors() {
		if info.Name == "token_embd.weight" && len(info.Shape) == 2 && s["vocab_size"] == nil {
			s["vocab_size"] = info.Shape[0]
		}
	}
	if err := m.finishRope(a, s); err != nil {
		return err
	}
	return m.finishTokens(s)
}

// endings are tokens that end an answer in each vocabulary that has them, whatever their type: most files name one of
// their tokens alone, eos, and chats end turns by another.
var endings = []string{
	"<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<end_of_utterance>",
	"<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>",
}

// controlEndings end an answer if they are control tokens: others are text, as the tag </s> of Gemma is.
var controlEndings = []string{"<EOT>", "_<EOT>", "[EOT]", "[EOS]", "</s>", "<eos>"}

// control is the token_type of control tokens.
const control = 3

// finishTokens adds the tokens that end a text.
func (m *Model) finishTokens(s map[string]any) error {
	var stops []uint32
	for _, key := range []string{"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"} {
		if m.file.Meta.Value(key) == nil {
			continue
		}
		id, err := gguf.Get[uint32](m.file.Meta, key)
		if err != nil {
			return err
		}
		if !slices.Contains(stops, id) {
			stops = append(stops, id)
		}
	}
	// Package tokenizer reports errors in both lists.
	tokens, _ := gguf.Get[[]string](m.file.Meta, "tokenizer.ggml.tokens")
	types, _ := gguf.Get[[]int32](m.file.Meta, "tokenizer.ggml.token_type")
	// In this format <|end|> ends a part of an answer.
	harmony := slices.Contains(tokens, "<|return|>") && slices.Contains(tokens, "<|call|>")
	for id, token := range tokens {
		ends := slices.Contains(endings, token) && !(harmony && token == "<|end|>")
		ends = ends || id < len(types) && types[id] == control && slices.Contains(controlEndings, token)
		if ends && !slices.Contains(stops, uint32(id)) {
			stops = append(stops, uint32(id))
		}
	}
	if stops != nil {
		s["eos_token_id"] = stops
	}
	return nil
}

// queryScalar returns the divisor of scores, before its square root, that llama.cpp computes with.
func (a *architecture) queryScalar(s map[string]any) uint32 {
	number := func(name string) uint32 { n, _ := s[name].(uint32); return n }
	// The greatest models, of 27 billion parameters, are the exceptions.
	if largest := map[string]uint32{"gemma2": 46, "gemma3": 62}[a.name]; number("num_hidden_layers") == largest && number("num_attention_heads") > 0 {
		return number("hidden_size") / number("num_attention_heads")
	}
	return number("head_dim")
}

// finishGemma adds the divisor of scores, and which layers have a window.
func (m *Model) finishGemma(a *architecture, s map[string]any) error {
	scale, err := m.optional(a, "attention.scale")
	if err != nil {
		return err
	}
	if scale > 0 {
		s["query_pre_attn_scalar"] = math.Round(1e4/(scale*scale)) / 1e4
	} else if n := a.queryScalar(s); n > 0 {
		s["query_pre_attn_scalar"] = n
	}
	layers, _ := s["num_hidden_layers"].(uint32)
	key := a.keyed("attention.sliding_window_pattern")
	if m.file.Meta.Value(key) == nil {
		return nil
	}
	pattern, err := gguf.Get[[]bool](m.file.Meta, key)
	if err != nil {
		n, err := gguf.Get[int](m.file.Meta, key)
		if err != nil || n < 1 {
			return fmt.Errorf("%s is neither a list of bools nor a number above 0", key)
		}
		for i := range min(int(layers), len(m.file.Tensors())) {
			pattern = append(pattern, (i+1)%n != 0)
		}
	}
	kinds := make([]string, len(pattern))
	for i, sliding := range pattern {
		kinds[i] = layerType(sliding)
	}
	s["layer_types"] = kinds
	return nil
}

func layerType(sliding bool) string {
	if sliding {
		return "sliding_attention"
	}
	return "full_attention"
}

// finishRope adds the scaling of rotary positions.
func (m *Model) finishRope(a *architecture, s map[string]any) error {
	if s["num_key_value_heads"] == nil && a.name != "llama" {
		return nil // no rotary positions
	}
	numbers := map[string]float64{}
	scaling := map[string]any{}
	for name, key := range map[string]string{
		"factor": "rope.scaling.factor", "original_max_position_embeddings": "rope.scaling.original_context_length",
		"attention_factor": "rope.scaling.attn_factor", "beta_fast": "rope.scaling.yarn_beta_fast", "beta_slow": "rope.scaling.yarn_beta_slow",
	} {
		v, err := m.optional(a, key)
		if err != nil {
			return err
		}
		if numbers[name] = v; v != 0 {
			scaling[name] = v
		}
	}
	old, err := m.optional(a, "rope.scale_linear")
	if err != nil {
		return err
	}
	kind := "none"
	if old != 0 {
		kind, scaling["factor"] = "linear", old
	}
	if key := a.keyed("rope.scaling.type"); m.file.Meta.Value(key) != nil {
		if kind, err = gguf.Get[string](m.file.Meta, key); err != nil {
			return err
		}
	}
	factors, err := m.rateFactors(ropeFactors)
	long := map[string]any{"rope_type": "longrope", "attention_factor": scaling["attention_factor"]}
	for setting, name := range longFactors {
		list, readErr := m.rateFactors(name)
		if err = cmp.Or(err, readErr); list != nil {
			long[setting] = list
		}
	}
	if err != nil {
		return err
	}
	switch {
	case len(long) > 2:
		s["rope_scaling"] = long
	case factors != nil:
		s["rope_scaling"] = map[string]any{"factors": factors}
	case kind == "none":
	case kind == "linear" && scaling["factor"] != nil:
		s["rope_scaling"] = map[string]any{"rope_type": kind, "factor": scaling["factor"]}
	default:
		scaling["rope_type"] = kind
		s["rope_scaling"] = scaling
	}
	return m.finishPartial(a, s)
}

// finishPartial adds the part of heads that is rotated, if it is not all.
func (m *Model) finishPartial(a *architecture, s map[string]any) error {
	rotated, err := m.optional(a, "rope.dimension_count")
	if err != nil || rotated == 0 {
		return err
	}
	width, _ := s["head_dim"].(uint32)
	if hidden, _ := s["hidden_size"].(uint32); width == 0 {
		h, err := a.heads(s)
		if err != nil {
			return err
		}
		width = hidden / uint32(h.queries)
	}
	if a.name == "phi3" && width > 0 && rotated <= float64(width) {
		s["partial_rotary_factor"] = rotated / float64(width)
		return nil
	}
	if width > 0 && rotated != float64(width) {
		return fmt.Errorf("%s is %v and heads are %d wide: heads that are rotated in part are not supported", a.keyed("rope.dimension_count"), rotated, width)
	}
	return nil
}

// rateFactors returns the divisors of rates of rotary positions in a tensor, nil if the file lacks it.
func (m *Model) rateFactors(name string) ([]float64, error) {
	if !slices.Contains(m.file.Names(), name) {
		return nil, nil
	}
	x, err := m.file.Tensor(name)
	if err != nil {
		return nil, err
	}
	factors, err := floats(x)
	if err == nil && slices.ContainsFunc(factors, func(v float64) bool { return !(v > 0 && v-v == 0) }) {
		err = fmt.Errorf("%q has %v: want numbers above 0", name, factors)
	}
	return factors, err
}
