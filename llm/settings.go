package llm

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tensorken/tensorken/internal/files"
)

// settings has the part of config.json that this package reads itself; package models checks the file.
type settings struct {
	Context int // 0: no limit
	// Rows is the number of rows of HeadWidth numbers that a token takes in the cache.
	Rows, HeadWidth int
	// Type is the type of the weights, and of the cache; inBlocks, of which a cache on the CPU is float16.
	Type string
	// Start is the first token of the decoder of a T5.
	Start int32
}

// inBlocks is the type of quantised weights.
const inBlocks = "blocks"

func readSettings(f source) (s settings, err error) {
	var c struct {
		Length, GPTLength, Width, Layers, Heads, KVHeads, HeadWidth int
		Start                                                       int32
		Type, OldType                                               string
	}
	raw, err := f.config()
	if err != nil {
		return s, err
	}
	for name, into := range map[string]any{
		"max_position_embeddings": &c.Length, "n_positions": &c.GPTLength, "hidden_size": &c.Width, "n_embd": &c.Width, "d_model": &c.Width,
		"num_hidden_layers": &c.Layers, "n_layer": &c.Layers, "num_layers": &c.Layers, "num_attention_heads": &c.Heads, "n_head": &c.Heads, "num_heads": &c.Heads,
		"num_key_value_heads": &c.KVHeads, "head_dim": &c.HeadWidth, "d_kv": &c.HeadWidth, "torch_dtype": &c.OldType, "dtype": &c.Type,
		"decoder_start_token_id": &c.Start,
	} {
		if raw[name] != nil && files.JSON(raw[name], into) != nil {
			return s, fmt.Errorf("the setting %q has another type than it should", name)
		}
	}
	heads := max(1, c.Heads)
	s.Context = max(0, c.Length, c.GPTLength)
	s.Rows, s.HeadWidth = 2*max(0, c.Layers)*max(1, cmp.Or(c.KVHeads, heads)), cmp.Or(max(0, c.HeadWidth), max(0, c.Width)/heads)
	s.Type, s.Start = cmp.Or(c.Type, c.OldType, f.elements()), c.Start
	return s, nil
}

// readDefaults reads the settings that the model's makers recommend.
func (m *Model) readDefaults(path string, f source) error {
	c := struct {
		Sample      bool    `json:"do_sample"`
		Temperature float64 `json:"temperature"`
		TopK        int     `json:"top_k"`
		TopP        float64 `json:"top_p"`
		MinP        float64 `json:"min_p"`
		Typical     float64 `json:"typical_p"`
		Repetition  float64 `json:"repetition_penalty"`
	}{Temperature: 1, TopK: 50}
	if err := f.generation(&c); err != nil {
		return err
	}
	o := &m.defaults
	if o.RepetitionPenalty = c.Repetition; c.Sample {
		o.Temperature, o.TopK, o.TopP, o.MinP, o.Typical = c.Temperature, c.TopK, c.TopP, c.MinP, c.Typical
	}
	var err error
	if o.End, err = f.stops(); err != nil {
		return err
	}
	if m.tokenizer != nil {
		if id, ok := m.tokenizer.TokenToID(m.special["eos"]); ok && !slices.Contains(o.End, id) {
			o.End = append(o.End, id)
		}
	}
	if err := o.Check(); err != nil {
		return fmt.Errorf("%s: %w", files.Name(filepath.Join(path, "generation_config.json")), err)
	}
	return nil
}

// Defaults returns the settings that the model's makers recommend, which a nil *GenerateOptions
// stands for, in generation_config.json.
func (m *Model) Defaults() GenerateOptions { return m.defaults }
