package models

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Llama is a decoder with rotary positions: Llama, Mistral, Mixtral, Qwen 2 and 3 with experts and without,
// Phi 3, Gemma, Gemma 2 and the text models of Gemma 3.
//
// Source: Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023; Jiang et al., "Mistral 7B",
// 2023, "Mixtral of Experts", 2024; Yang et al., "Qwen2 Technical Report", 2024; Gemma Team, "Gemma 2: Improving
// Open Language Models at a Practical Size", 2024, "Gemma 3 Technical Report", 2025.
type Llama struct {
	Model struct {
		EmbedTokens nn.Embedding
		Layers      []LlamaLayer
		Norm        RMSNorm
	}
	LMHead *nn.Linear `tensor:",optional"` // nil if Tied, and in files of the body alone
	Tied   bool       // the weight of the head is EmbedTokens' weight
	// EmbedScale multiplies embeddings, if it is not 0; logits are LogitCap·tanh(logit/LogitCap), if that is not 0.
	EmbedScale, LogitCap float64
	Sum                  nn.Func // adds up the parts of results of ranks, see package models/parallel; nil: the model is whole
}

// A LlamaLayer is a layer of a [Llama]. Of the networks MLP and BlockSparseMoE it has one.
type LlamaLayer struct {
	InputLayernorm         RMSNorm
	SelfAttn               Attention
	PostAttentionLayernorm RMSNorm
	// Gemma 2 normalizes the result of each part, too: then PostAttentionLayernorm is for the
	// result of the attention, and not for the input of the network.
	PreFeedforwardLayernorm, PostFeedforwardLayernorm *RMSNorm `tensor:",optional"`

	MLP            *GatedMLP  `tensor:",optional"`
	BlockSparseMoE *SparseMLP `tensor:"block_sparse_moe,optional"`
}

// Files of Qwen have other names for the parts of a network of experts.
var (
	qwenNames   = strings.NewReplacer(".mlp.gate.", ".block_sparse_moe.gate.", ".mlp.shared_expert", ".block_sparse_moe.shared_expert")
	expertNames = strings.NewReplacer(".mlp.experts.", ".block_sparse_moe.experts.", "gate_proj", "w1", "down_proj", "w2", "up_proj", "w3")
)

func mixtralName(name string) string {
	if strings.Contains(name, ".mlp.experts.") {
		return expertNames.Replace(name)
	}
	return qwenNames.Replace(name)
}

var llamaKinds = slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(llamas)), slices.Collect(maps.Keys(textSides)))))

// textSides has, by kinds of models of images and text, the kind of the decoder of their text. Its settings
// are the object text_config.
var textSides = map[string]string{"gemma3": "gemma3_text"}

// textNames has beginnings of names of a text side's tensors, in old and new files, and in a file of the decoder alone.
var textNames = [][2]string{{"language_model.model.", "model."}, {"language_model.lm_head.", "lm_head."}, {"model.language_model.", "model."}, {"lm_head.", "lm_head."}}

// textName returns the decoder's name for a tensor of a model of images and text, "" for one of images.
func textName(name string) string {
	for _, n := range textNames {
		if rest, ok := strings.CutPrefix(name, n[0]); ok {
			return n[1] + rest
		}
	}
	return ""
}

// textSide returns the decoder's settings of a model of images and text.
func (c config) textSide() (config, error) {
	text, err := c.part("text_config")
	if text.raw == nil && err == nil {
		return text, c.errorf("there is no text_config")
	}
	text.kind = textSides[c.kind]
	if tied, ok := c.raw["tie_word_embeddings"]; ok && text.raw["tie_word_embeddings"] == nil {
		text.raw["tie_word_embeddings"] = tied
	}
	return text, err
}

// LoadLlama reads a decoder from a folder. Of a Gemma 3 of images and text it reads the text side.
func LoadLlama(dir string) (*Llama, error) { return loadKind(dir, llamaKinds, loadLlama) }

func loadLlama(c config) (_ *Llama, err error) {
	rename := mixtralName
	if textSides[c.kind] != "" {
		if c, err = c.textSide(); err != nil {
			return nil, err
		}
		rename = textName
	}
	s, err := readLlama(c)
	if err != nil {
		return nil, err
	}
	m := &Llama{Tied: s.Tied, LogitCap: s.LogitCap}
	if s.gemma {
		m.EmbedScale = math.Sqrt(float64(s.Width))
	}
	m.Model.Norm = s.norm()
	for i := range s.Layers {
		m.Model.Layers = append(m.Model.Layers, s.layer(i))
	}
	if err := (layout{base: "model", biased: s.biased, rename: rename}).withHead("lm_head", s.Tied).load(c, m); err != nil {
		return nil, err
	}
	return m, s.check(m)
}

// Apply maps tokens, [batch time], to the logits of those that follow, [batch time vocabulary].
func (m *Llama) Apply(ids tensor.Tensor) tensor.Tensor { return m.Logits(m.hidden(ids, newPass(nil))) }

// Logits maps the results of Decode, [... width], to logits [... vocabulary].
func (m *Llama) Logits(x tensor.Tensor) tensor.Tensor {
	x = logits(x, m.LMHead, m.Tied, m.Model.EmbedTokens)
	if m.LogitCap != 0 {
		x = x.Div(m.LogitCap).Tanh().Mul(m.LogitCap)
	}
	return x
}

// NewCache returns an empty cache for length positions.
func (m *Llama) NewCache(batch, length int) Cache {
	return newCache(m.Model.Layers, func(l LlamaLayer) (nn.KVCache, tensor.Tensor) {
		a := l.SelfAttn.Attention()
		return a.NewCache(batch, length), a.O.Weight
	})
}

// Decode implements [Decoder].
func (m *Llama) Decode(ids tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	p := newPass(&c)
	return m.hidden(ids, p), p.next
}

func (m *Llama) hidden(ids tensor.Tensor, p *pass) tensor.Tensor {
	x := m.Model.EmbedTokens.Apply(ids)
	if m.EmbedScale != 0 {
		x = x.Mul(m.EmbedScale)
	}
	sum := m.Sum
	if sum == nil {
		sum = func(x tensor.Tensor) tensor.Tensor { return x }
	}
	for i, l := range m.Model.Layers {
		attend := func(x tensor.Tensor) tensor.Tensor {
			return sum(p.attend(i, l.SelfAttn.Attention(), x, tensor.Tensor{}))
		}
		var feed nn.Layer = l.MLP
		if l.BlockSparseMoE != nil {
			feed = l.BlockSparseMoE
		}
		x = l.apply(x, attend, func(x tensor.Tensor) tensor.Tensor { return sum(feed.Apply(x)) })
		if done := i + 1; done%layersAhead == 0 && done < len(m.Model.Layers) && m.Sum == nil {
			p.begin(x)
		}
	}
	return m.Model.Norm.Apply(x)
}

func (l LlamaLayer) apply(x tensor.Tensor, attend, feed nn.Func) tensor.Tensor {
	y := attend(l.InputLayernorm.Apply(x))
	if l.PreFeedforwardLayernorm == nil {
		x = x.Add(y)
		return x.Add(feed(l.PostAttentionLayernorm.Apply(x)))
	}
	x = x.Add(l.PostAttentionLayernorm.Apply(y))
	return x.Add(l.PostFeedforwardLayernorm.Apply(feed(l.PreFeedforwardLayernorm.Apply(x))))
}
