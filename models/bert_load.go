package models

import (
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

var bertKinds = slices.Sorted(maps.Keys(bertNamesOf))

// A bertConfig has the settings of a [BERT].
type bertConfig struct {
	Width     int     `config:"hidden_size,positive" of:"bert roberta xlm-roberta camembert"`
	DWidth    int     `config:"dim,positive" of:"distilbert"`
	Inner     int     `config:"intermediate_size,positive" of:"bert roberta xlm-roberta camembert"`
	DInner    int     `config:"hidden_dim,positive" of:"distilbert"`
	Layers    int     `config:"num_hidden_layers,count" of:"bert roberta xlm-roberta camembert"`
	DLayers   int     `config:"n_layers,count" of:"distilbert"`
	Heads     int     `config:"num_attention_heads,positive" of:"bert roberta xlm-roberta camembert"`
	DHeads    int     `config:"n_heads,positive" of:"distilbert"`
	Act       string  `config:"hidden_act" of:"bert roberta xlm-roberta camembert"`
	DAct      string  `config:"activation" of:"distilbert"`
	Vocab     int     `config:"vocab_size,positive"`
	Positions int     `config:"max_position_embeddings,positive"`
	Types     int     `config:"type_vocab_size" of:"bert roberta xlm-roberta camembert"`
	Eps       float64 `config:"layer_norm_eps,epsilon" of:"bert roberta xlm-roberta camembert"`
	Padding   int     `config:"pad_token_id,any"`
	Tied      bool    `config:"tie_word_embeddings"`
	// The table of positions is in the file, sinusoidal or not.
	Sinusoidal bool `config:"sinusoidal_pos_embds" of:"distilbert"`
	TiedOld    bool `config:"tie_weights_" of:"distilbert"`
}

// LoadBERT reads an encoder of texts from a folder.
func LoadBERT(dir string) (*BERT, error) {
	c, err := openConfig(dir, bertKinds...)
	if err != nil {
		return nil, err
	}
	defer c.weights.Close()
	s := bertConfig{Width: 768, Inner: 3072, Layers: 12, Heads: 12, Act: "gelu", Vocab: 30522, Positions: 512, Types: 2, Eps: 1e-12, Padding: 1, Tied: true}
	s.DWidth, s.DInner, s.DLayers, s.DHeads, s.DAct = s.Width, s.Inner, 6, s.Heads, s.Act
	if err := c.read(&s); err != nil {
		return nil, err
	}
	if c.kind == "distilbert" {
		s.Width, s.Inner, s.Layers, s.Heads, s.Act, s.Types = s.DWidth, s.DInner, s.DLayers, s.DHeads, s.DAct, 0
	}
	m := &BERT{Heads: s.Heads, PaddingID: -1, PerToken: c.architecture("ForTokenClassification")}
	if bertNamesOf[c.kind] == robertaNames {
		m.PaddingID = s.Padding
	}
	if m.Act, err = c.activation("hidden_act", s.Act); err != nil {
		return nil, err
	}
	if err := c.divides("num_attention_heads", s.Heads, "hidden_size", s.Width); err != nil {
		return nil, err
	}
	norm := nn.LayerNorm{Eps: s.Eps}
	m.Bert.Embeddings.LayerNorm = norm
	m.Bert.Encoder.Layer = make([]BERTLayer, s.Layers)
	for i := range m.Bert.Encoder.Layer {
		l := &m.Bert.Encoder.Layer[i]
		l.Attention.Output.LayerNorm, l.Output.LayerNorm = norm, norm
	}
	l := layout{
		base: "bert", rename: bertNamesOf[c.kind].Replace,
		skip:   []string{"cls.predictions.decoder.bias", "cls.seq_relationship.weight", "cls.seq_relationship.bias"},
		biased: not(contains("_embeddings", ".decoder")),
	}
	if s.Tied {
		l.skip = append(l.skip, "cls.predictions.decoder.weight")
	}
	if err := l.load(c, m); err != nil {
		return nil, err
	}
	if m.Cls != nil {
		m.Cls.Predictions.Transform.LayerNorm.Eps = s.Eps
	}
	e := m.Bert.Embeddings
	sizes := []size{{"word_embeddings", e.WordEmbeddings.Weight, []int{s.Vocab, s.Width}}, {"position_embeddings", e.PositionEmbeddings.Weight, []int{s.Positions, s.Width}}}
	if s.Types > 0 {
		if e.TokenTypeEmbeddings == nil {
			return nil, c.errorf("type_vocab_size is %d, and the file has no token_type_embeddings", s.Types)
		}
		sizes = append(sizes, size{"token_type_embeddings", e.TokenTypeEmbeddings.Weight, []int{s.Types, s.Width}})
	}
	for _, l := range m.Bert.Encoder.Layer {
		sizes = append(sizes, size{"intermediate.dense", l.Intermediate.Dense.Weight, []int{s.Inner, s.Width}})
	}
	if m.Classifier != nil && m.Classifier.OutProj == nil && !m.Classifier.Weight.IsValid() {
		return nil, c.errorf("the file has a part of a classifier")
	}
	return m, c.check(sizes...)
}

// A Pooling makes the embedding of a text from the embeddings of its tokens.
type Pooling int

// The poolings of Sentence Transformers.
const (
	MeanPooling Pooling = iota // the mean of tokens that are not padding
	CLSPooling                 // the first token
	MaxPooling                 // the greatest of each element, of tokens that are not padding
)

// Apply maps embeddings of tokens, [batch time width], to [batch width]. Valid is as in
// [BERT.Apply].
func (p Pooling) Apply(x, valid tensor.Tensor) tensor.Tensor {
	mask := paddingMask(valid)
	if !mask.IsValid() {
		mask = tensor.Arange(x.Dim(1)).Ge(0).Reshape(1, 1, 1, -1)
	}
	mask = mask.Squeeze(1).Transpose(1, 2) // [batch time 1]
	switch p {
	case CLSPooling:
		return x.Index(tensor.All, 0)
	case MaxPooling:
		return tensor.Where(mask, x, math.Inf(-1)).Max(1).Squeeze(1)
	}
	n := mask.Cast(x.DType()).Sum(1).Maximum(1)
	return tensor.Where(mask, x, 0).Sum(1).Div(n).Squeeze(1)
}

// paddingMask returns a mask of scores from valid, bools or numbers [batch time]; absent, if
// valid is.
func paddingMask(valid tensor.Tensor) tensor.Tensor {
	if !valid.IsValid() {
		return valid
	}
	if valid.DType() != tensor.Bool {
		valid = valid.Ne(0)
	}
	return nn.PaddingMask(valid)
}
