package llamacpp

import (
	"errors"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/tensor"
)

// writeRope adds the scaling of rotary positions.
func (f *Folder) writeRope(s map[string]any) error {
	rope := f.rope("full_attention")
	if width, ok := s["head_dim"].(uint32); ok {
		part := number(rope, "partial_rotary_factor", number(f.config, "partial_rotary_factor", 1))
		f.set(f.a.keyed("rope.dimension_count"), uint32(part*float64(width)))
	}
	kind, _ := rope["rope_type"].(string)
	if kind == "" {
		kind, _ = rope["type"].(string)
	}
	number := func(name string) float64 { return number(rope, name, 0) }
	key := func(name string) string { return f.a.keyed("rope.scaling." + name) }
	switch kind {
	case "", "default":
		return nil
	case "linear", "yarn":
		f.set(key("type"), kind)
		for _, p := range [][2]string{
			{"factor", "factor"}, {"attn_factor", "attention_factor"}, {"yarn_beta_fast", "beta_fast"}, {"yarn_beta_slow", "beta_slow"},
		} {
			if n := number(p[1]); n != 0 {
				f.set(key(p[0]), float32(n))
			}
		}
		if n := number("original_max_position_embeddings"); n != 0 {
			f.set(key("original_context_length"), uint32(n))
		}
		return nil
	case "llama3":
		factors, err := llama3Factors(s, number)
		if err == nil {
			f.addFactors(ropeFactors, factors)
		}
		return err
	case "longrope", "su":
		return f.writeLongRope(s, rope)
	}
	return fmt.Errorf("rotary positions are of type %q: want default, linear, yarn, llama3 or longrope", kind)
}

// addFactors adds a tensor of divisors of rates.
func (f *Folder) addFactors(name string, factors []float32) {
	f.Sources = append(f.Sources, gguf.Source{Name: name, Type: gguf.F32, Shape: []int{len(factors)},
		Tensor: func() (tensor.Tensor, error) { return tensor.New(factors, len(factors)), nil }})
}

// writeLongRope adds the factors of short and long texts, and of scores.
func (f *Folder) writeLongRope(s, rope map[string]any) error {
	trained := number(rope, "original_max_position_embeddings", number(f.config, "original_max_position_embeddings", 0))
	length, _ := s["max_position_embeddings"].(uint32)
	if !(trained > 1) || f.a.name != "phi3" {
		return errors.New("rotary positions of type longrope need original_max_position_embeddings, and are only known for models of type phi3")
	}
	for setting, name := range longFactors {
		list, _ := rope[setting].([]any)
		factors := make([]float32, len(list))
		for i, v := range list {
			n, ok := v.(float64)
			if factors[i] = float32(n); !ok || !(n > 0) {
				return fmt.Errorf("%s has %v: want numbers above 0", setting, v)
			}
		}
		if len(factors) == 0 {
			return fmt.Errorf("rotary positions of type longrope: there is no %s", setting)
		}
		f.addFactors(name, factors)
	}
	magnitude := number(rope, "attention_factor", 0)
	if scale := number(rope, "factor", float64(length)/trained); magnitude == 0 {
		magnitude = math.Sqrt(1 + math.Log(max(1, scale))/math.Log(trained))
	}
	f.set(f.a.keyed("rope.scaling.attn_factor"), float32(magnitude))
	return nil
}

// writeGemma adds which layers have a window. llama.cpp derives the factor of scores from widths, so that
// another factor becomes a part of the norms of queries.
func (f *Folder) writeGemma(s map[string]any) error {
	known := f.a.queryScalar(s)
	if n, ok := f.config["query_pre_attn_scalar"].(float64); ok && n > 0 && n != float64(known) {
		if f.a.name != "gemma3" {
			return fmt.Errorf("query_pre_attn_scalar is %v: files of llama.cpp can only hold %d, the width of heads", n, known)
		}
		f.heads.scale = math.Sqrt(float64(known) / n)
	}
	types, ok := f.config["layer_types"].([]any)
	period := number(f.config, "_sliding_window_pattern", number(f.config, "sliding_window_pattern", 0))
	if layers, _ := s["num_hidden_layers"].(uint32); !ok && period >= 1 && int(layers) <= len(f.weights.Names()) {
		for i := range layers {
			types = append(types, layerType((i+1)%uint32(period) != 0))
		}
	}
	if types == nil {
		return nil
	}
	pattern := make([]bool, len(types))
	for i, t := range types {
		if pattern[i] = t == layerType(true); !pattern[i] && t != layerType(false) {
			return fmt.Errorf("layer_types has %v: want %s or %s", t, layerType(true), layerType(false))
		}
	}
	f.set(f.a.keyed("attention.sliding_window_pattern"), pattern)
	return nil
}

// number returns a number of an object, or another one if it is missing.
func number(from map[string]any, name string, missing float64) float64 {
	if n, ok := from[name].(float64); ok {
		return n
	}
	return missing
}
