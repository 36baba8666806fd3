package models

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"github.com/tensorken/tensorken/nn"
)

// A t5Config has the settings of a [T5].
type t5Config struct {
	Width     int     `config:"d_model,positive,required"`
	HeadWidth int     `config:"d_kv,positive,required"`
	Inner     int     `config:"d_ff,positive,required"`
	Layers    int     `config:"num_layers,count,required"`
	OutLayers int     `config:"num_decoder_layers,count"`
	Heads     int     `config:"num_heads,positive,required"`
	Vocab     int     `config:"vocab_size,positive,required"`
	Buckets   int     `config:"relative_attention_num_buckets,positive"`
	Distance  int     `config:"relative_attention_max_distance,positive"`
	Feed      string  `config:"feed_forward_proj"`
	Eps       float64 `config:"layer_norm_epsilon,epsilon"`
	Tied      bool    `config:"tie_word_embeddings"`
	Scale     *bool   `config:"scale_decoder_outputs"`
	// Feed again, and settings without effect.
	Gated     any `config:"is_gated_act"`
	Act       any `config:"dense_act_fn"`
	Positions any `config:"n_positions,positive"`
}

var t5Kinds = []string{"t5", "mt5"}

// LoadT5 reads a T5 from a folder: T5, T5 1.1, FLAN-T5, mT5.
func LoadT5(dir string) (*T5, error) { return loadKind(dir, t5Kinds, loadT5) }

func loadT5(c config) (_ *T5, err error) {
	s := t5Config{Buckets: 32, Distance: 128, Feed: "relu", Eps: 1e-6, Tied: c.kind == "t5"}
	if c.kind == "mt5" {
		s.Feed = "gated-gelu"
	}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	m := &T5{MaxDistance: s.Distance, OutputScale: 1}
	if s.Scale == nil && s.Tied || s.Scale != nil && *s.Scale {
		m.OutputScale = 1 / math.Sqrt(float64(s.Width))
	}
	act, gated := strings.CutPrefix(s.Feed, "gated-")
	if gated && act == "gelu" {
		act = "gelu_new" // as transformers reads it
	}
	if m.Act, err = c.activation("feed_forward_proj", act); err != nil {
		return nil, err
	}
	s.configure(m)
	none := func(string) bool { return false }
	// Tables of tokens are Shared again; the decoder's attention to the encoder has no biases.
	l := layout{biased: none, skip: []string{"coder.embed_tokens.weight", "EncDecAttention.relative_attention_bias.weight"}}
	if err := l.load(c, m); err != nil {
		return nil, err
	}
	if !m.Decoder.FinalLayerNorm.Weight.IsValid() {
		m.Decoder = nil
	}
	if m.Decoder != nil && m.LMHead == nil && !s.Tied {
		return nil, c.errorf("tie_word_embeddings is false, and the file has no lm_head.weight")
	}
	return m, s.check(c, m, gated)
}

// configure makes the layers without their tensors.
func (s t5Config) configure(m *T5) {
	norm, attention := RMSNorm{Eps: s.Eps}, nn.Attention{Heads: s.Heads, Scale: 1}
	m.Encoder.FinalLayerNorm = norm
	m.Encoder.Block = make([]T5Block, s.Layers)
	for i := range m.Encoder.Block {
		l := &m.Encoder.Block[i].Layer
		l.Self.SelfAttention.Attention = attention
		l.Self.LayerNorm, l.Feed.LayerNorm = norm, norm
	}
	m.Decoder = &T5DecoderStack{FinalLayerNorm: norm, Block: make([]T5DecoderBlock, cmp.Or(s.OutLayers, s.Layers))}
	for i := range m.Decoder.Block {
		l := &m.Decoder.Block[i].Layer
		l.Self.SelfAttention.Attention, l.Cross.EncDecAttention = attention, attention
		l.Self.SelfAttention.Causal = true
		l.Self.LayerNorm, l.Cross.LayerNorm, l.Feed.LayerNorm = norm, norm, norm
	}
}

// check returns an error unless the shapes of a model's tensors agree with the settings.
func (s t5Config) check(c config, m *T5, gated bool) error {
	sizes := []size{{"shared", m.Shared.Weight, []int{s.Vocab, s.Width}}}
	one := func(a T5Attention, first bool) error {
		sizes = append(sizes, size{"SelfAttention.q", a.SelfAttention.Q.Weight, []int{s.Heads * s.HeadWidth, s.Width}})
		switch b := a.SelfAttention.RelativeAttentionBias; {
		case first && b == nil:
			return c.errorf("the file has no relative_attention_bias for the first layer")
		case first:
			sizes = append(sizes, size{"relative_attention_bias", b.Weight, []int{s.Buckets, s.Heads}})
		}
		return nil
	}
	feed := func(f T5FeedForward) error {
		d := f.DenseReluDense
		if (d.WI == nil) != gated || (d.WI0 == nil || d.WI1 == nil) == gated {
			return c.errorf("feed_forward_proj is %q, and the file has other weights than it needs", s.Feed)
		}
		sizes = append(sizes, size{"DenseReluDense.wo", d.WO.Weight, []int{s.Width, s.Inner}})
		return nil
	}
	var errs []error
	for i, b := range m.Encoder.Block {
		errs = append(errs, one(b.Layer.Self, i == 0), feed(b.Layer.Feed))
	}
	if m.Decoder != nil {
		for i, b := range m.Decoder.Block {
			errs = append(errs, one(b.Layer.Self, i == 0), feed(b.Layer.Feed))
		}
	}
	return cmp.Or(errors.Join(errs...), c.check(sizes...))
}
