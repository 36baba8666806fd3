package models

import (
	"maps"
	"math"
	"slices"
	"strings"

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
	Positions int     `config:"max_position_embeddings,positive" of:"bert roberta xlm-roberta camembert distilbert"`
	Types     int     `config:"type_vocab_size" of:"bert roberta xlm-roberta camembert nomic_bert"`
	Eps       float64 `config:"layer_norm_eps,epsilon" of:"bert roberta xlm-roberta camembert"`
	Padding   int     `config:"pad_token_id,any"`
	Tied      bool    `config:"tie_word_embeddings"`
	// The table of positions is in the file, sinusoidal or not.
	Sinusoidal bool `config:"sinusoidal_pos_embds" of:"distilbert"`
	TiedOld    bool `config:"tie_weights_" of:"distilbert"`

	NWidth   int     `config:"n_embd,positive" of:"nomic_bert"`
	NInner   int     `config:"n_inner,positive" of:"nomic_bert"`
	NLayers  int     `config:"n_layer,count" of:"nomic_bert"`
	NHeads   int     `config:"n_head,positive" of:"nomic_bert"`
	NAct     string  `config:"activation_function" of:"nomic_bert"`
	NEps     float64 `config:"layer_norm_epsilon,epsilon" of:"nomic_bert"`
	NLength  int     `config:"n_positions,positive" of:"nomic_bert"`
	Theta    float64 `config:"rotary_emb_base" of:"nomic_bert"`
	Trained  int     `config:"max_trained_positions,positive" of:"nomic_bert"`
	Scaling  float64 `config:"rotary_scaling_factor" of:"nomic_bert"`
	QKVBias  bool    `config:"qkv_proj_bias" of:"nomic_bert"`
	UpBias   bool    `config:"mlp_fc1_bias" of:"nomic_bert"`
	DownBias bool    `config:"mlp_fc2_bias" of:"nomic_bert"`
}

// nomic completes the settings of an encoder of Nomic.
func (s *bertConfig) nomic(c config, m *BERT) error {
	s.Width, s.Inner, s.Layers, s.Heads, s.Eps = s.NWidth, s.NInner, s.NLayers, s.NHeads, s.NEps
	acts := map[string]string{"swiglu": "silu", "geglu": "gelu", "glu": "sigmoid"}
	if s.Act = acts[s.NAct]; s.Act == "" {
		return c.errorf("activation_function is %q: want swiglu, geglu or glu", s.NAct)
	}
	m.Rotary.Base = s.Theta
	if s.Scaling > 0 {
		m.Rotary.Scaling = nn.DynamicScaling{Factor: s.Scaling, Length: s.Trained}
	}
	return nil
}

// biased reports whether the layer of a name has a bias.
func (s *bertConfig) biased(kind string) func(layer string) bool {
	if kind != "nomic_bert" {
		return not(contains("_embeddings", ".decoder"))
	}
	return func(layer string) bool {
		switch {
		case strings.Contains(layer, ".intermediate."):
			return s.UpBias
		case strings.HasSuffix(layer, ".attention.self.qkv"), strings.HasSuffix(layer, ".attention.output.dense"):
			return s.QKVBias
		case strings.HasSuffix(layer, ".output.dense"):
			return s.DownBias
		}
		return !strings.Contains(layer, "_embeddings")
	}
}

// LoadBERT reads an encoder of texts from a folder.
func LoadBERT(dir string) (*BERT, error) { return loadKind(dir, bertKinds, loadBERT) }

func loadBERT(c config) (_ *BERT, err error) {
	s := bertConfig{Width: 768, Inner: 3072, Layers: 12, Heads: 12, Act: "gelu", Vocab: 30522, Positions: 512, Types: 2, Eps: 1e-12, Padding: 1, Tied: true}
	s.NWidth, s.NInner, s.NLayers, s.NHeads, s.NAct, s.NEps, s.NLength, s.Theta, s.Trained = 768, 3072, 12, 12, "swiglu", 1e-12, 8192, 1000, 2048
	s.DWidth, s.DInner, s.DLayers, s.DHeads, s.DAct = s.Width, s.Inner, 6, s.Heads, s.Act
	if err := c.read(&s); err != nil {
		return nil, err
	}
	if c.kind == "distilbert" {
		s.Width, s.Inner, s.Layers, s.Heads, s.Act, s.Types = s.DWidth, s.DInner, s.DLayers, s.DHeads, s.DAct, 0
	}
	m := &BERT{PaddingID: -1, PerToken: c.architecture("ForTokenClassification")}
	nomic := c.kind == "nomic_bert"
	if nomic {
		if err := s.nomic(c, m); err != nil {
			return nil, err
		}
	}
	if m.Heads = s.Heads; bertNamesOf[c.kind] == robertaNames {
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
		biased: s.biased(c.kind),
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
	sizes, err := s.sizes(c, m, nomic)
	if err != nil {
		return nil, err
	}
	if m.Classifier != nil && m.Classifier.OutProj == nil && !m.Classifier.Weight.IsValid() {
		return nil, c.errorf("the file has a part of a classifier")
	}
	return m, c.check(sizes...)
}

// sizes returns the shapes that tensors have by the settings.
func (s *bertConfig) sizes(c config, m *BERT, nomic bool) (sizes []size, err error) {
	e := m.Bert.Embeddings
	add := func(name string, t tensor.Tensor, shape ...int) { sizes = append(sizes, size{name, t, shape}) }
	add("word_embeddings", e.WordEmbeddings.Weight, s.Vocab, s.Width)
	switch {
	case (e.PositionEmbeddings == nil) != nomic:
		return nil, c.errorf("models of type %s have position_embeddings, and Nomic's encoders have none: the file does not agree", c.kind)
	case s.Types > 0 && e.TokenTypeEmbeddings == nil:
		return nil, c.errorf("type_vocab_size is %d, and the file has no token_type_embeddings", s.Types)
	}
	if !nomic {
		add("position_embeddings", e.PositionEmbeddings.Weight, s.Positions, s.Width)
	}
	if s.Types > 0 {
		add("token_type_embeddings", e.TokenTypeEmbeddings.Weight, s.Types, s.Width)
	}
	for i, l := range m.Bert.Encoder.Layer {
		self := l.Attention.Self
		if (self.QKV != nil) != nomic || (l.Intermediate.Gate != nil) != nomic {
			return nil, c.errorf("layer %d of the file has other matrices than models of type %s", i, c.kind)
		}
		if nomic {
			add("attn.Wqkv", self.QKV.Weight, 3*s.Width, s.Width)
			add("mlp.fc12", l.Intermediate.Gate.Weight, s.Inner, s.Width)
		} else {
			add("attention.self.query", self.Query.Weight, s.Width, s.Width)
			add("attention.self.key", self.Key.Weight, s.Width, s.Width)
			add("attention.self.value", self.Value.Weight, s.Width, s.Width)
		}
		add("intermediate.dense", l.Intermediate.Dense.Weight, s.Inner, s.Width)
	}
	return sizes, nil
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
	d := x.DType().ComputeType() // 16 bits may lack the sum and the number of tokens
	n := mask.Cast(d).Sum(1).Maximum(1)
	return tensor.Where(mask, x, 0).Cast(d).Sum(1).Div(n).Squeeze(1).Cast(x.DType())
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
