package models

import (
	"strings"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A BERT encodes texts: BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT and Nomic's encoders, with the names
// of BERT's files.
//
// Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
// Understanding", 2019; Liu et al., "RoBERTa", 2019; Sanh et al., "DistilBERT", 2019.
type BERT struct {
	Bert struct {
		Embeddings struct {
			WordEmbeddings      nn.Embedding
			PositionEmbeddings  *nn.Embedding `tensor:",optional"` // nil in Nomic's
			TokenTypeEmbeddings *nn.Embedding `tensor:",optional"` // nil in DistilBERT
			LayerNorm           nn.LayerNorm  `tensor:"LayerNorm"`
		}
		Encoder struct{ Layer []BERTLayer }
		Pooler  *struct{ Dense nn.Linear } `tensor:",optional"`
	}
	// Heads: Classifier of a text or, in models ForTokenClassification, of each token; QAOutputs
	// of begin and end of an answer; Cls of tokens that are masked.
	PreClassifier *nn.Linear      `tensor:",optional"` // DistilBERT's pooler
	Classifier    *BERTClassifier `tensor:",optional"`
	QAOutputs     *nn.Linear      `tensor:",optional"`
	Cls           *BERTTokenHead  `tensor:",optional"`

	PerToken bool    // Classifier is for tokens
	Act      nn.Func // of the layers
	Heads    int
	// PaddingID is the token of padding in RoBERTa, where positions begin after it and count
	// the tokens that are not padding; -1 in other models.
	PaddingID int
	// Rotary rotates queries and keys in Nomic's encoders.
	Rotary nn.Rotary
}

// A BERTLayer is a layer of a [BERT].
type BERTLayer struct {
	Attention struct {
		Self struct {
			Query, Key, Value nn.Linear  `tensor:",optional"`
			QKV               *nn.Linear `tensor:"qkv,optional"` // in Nomic's files: the rows of all three
		}
		Output BERTOutput
	}
	Intermediate struct {
		Dense nn.Linear
		Gate  *nn.Linear `tensor:",optional"` // in Nomic's
	}
	Output BERTOutput
}

// attention returns the attention of a model of heads.
func (l BERTLayer) attention(m *BERT) nn.Attention {
	self := l.Attention.Self
	if self.QKV != nil {
		n := self.QKV.Weight.Dim(0) / 3
		parts := split(*self.QKV, n, n, n)
		self.Query, self.Key, self.Value = parts[0], parts[1], parts[2]
	}
	return nn.Attention{Q: self.Query, K: self.Key, V: self.Value, O: l.Attention.Output.Dense, Heads: m.Heads, Rotary: m.Rotary}
}

// inner returns the result of the first layer of the network.
func (l BERTLayer) inner(x tensor.Tensor, act nn.Func) tensor.Tensor {
	y := l.Intermediate.Dense.Apply(x)
	if l.Intermediate.Gate != nil {
		return act(l.Intermediate.Gate.Apply(x)).Mul(y)
	}
	return act(y)
}

// A BERTOutput ends each part of a [BERTLayer].
type BERTOutput struct {
	Dense     nn.Linear
	LayerNorm nn.LayerNorm `tensor:"LayerNorm"`
}

func (l BERTOutput) add(x, y tensor.Tensor) tensor.Tensor {
	return l.LayerNorm.Apply(x.Add(l.Dense.Apply(y)))
}

// A BERTClassifier is one linear layer, Weight and Bias, or, in RoBERTa, two.
type BERTClassifier struct {
	Weight, Bias   tensor.Tensor `tensor:",optional"`
	Dense, OutProj *nn.Linear    `tensor:",optional"`
}

// Apply maps x of shape [... width] to logits, [... classes].
func (l BERTClassifier) Apply(x tensor.Tensor) tensor.Tensor {
	if l.OutProj != nil {
		return l.OutProj.Apply(l.Dense.Apply(x).Tanh())
	}
	return nn.Linear{Weight: l.Weight, Bias: l.Bias}.Apply(x)
}

// A BERTTokenHead predicts tokens that are masked.
type BERTTokenHead struct {
	Predictions struct {
		Transform BERTTransform
		Decoder   *nn.Linear    `tensor:",optional"` // nil: the weight is shared with the embeddings
		Bias      tensor.Tensor // [vocabulary]
	}
}

// A BERTTransform is a part of a [BERTTokenHead].
type BERTTransform struct {
	Dense     nn.Linear
	LayerNorm nn.LayerNorm `tensor:"LayerNorm"`
}

// Apply maps tokens, integers [batch time], to [batch time width]. Valid, [batch time], is false
// or 0 for padding; absent, nothing is padding. All tokens are of type 0: see ApplyTypes.
func (m *BERT) Apply(ids, valid tensor.Tensor) tensor.Tensor {
	return m.ApplyTypes(ids, tensor.Tensor{}, valid)
}

// ApplyTypes is Apply with types of tokens, [batch time]: 1 in the second of two texts.
func (m *BERT) ApplyTypes(ids, types, valid tensor.Tensor) tensor.Tensor {
	e := m.Bert.Embeddings
	x := e.WordEmbeddings.Apply(ids)
	if e.PositionEmbeddings != nil {
		x = x.Add(e.PositionEmbeddings.Apply(m.positions(ids)))
	}
	switch {
	case e.TokenTypeEmbeddings == nil && types.IsValid():
		fail("BERT", "the model has no types of tokens: use Apply")
	case types.IsValid():
		x = x.Add(e.TokenTypeEmbeddings.Apply(types))
	case e.TokenTypeEmbeddings != nil:
		x = x.Add(e.TokenTypeEmbeddings.Weight.At(0))
	}
	x = e.LayerNorm.Apply(x)
	mask := paddingMask(valid)
	for _, l := range m.Bert.Encoder.Layer {
		x = l.Attention.Output.LayerNorm.Apply(x.Add(l.attention(m).Attend(x, tensor.Tensor{}, mask, nil)))
		x = l.Output.add(x, l.inner(x, m.Act))
	}
	return x
}

func (m *BERT) positions(ids tensor.Tensor) tensor.Tensor {
	if m.PaddingID < 0 {
		return tensor.Arange(ids.Dim(-1))
	}
	text := ids.Ne(m.PaddingID)
	return tensor.Where(text, text.CumSum(-1), 0).Add(m.PaddingID)
}

// Pooled maps the result of Apply to the pooler's result for the first token, [batch width].
func (m *BERT) Pooled(x tensor.Tensor) tensor.Tensor {
	first := x.Index(tensor.All, 0)
	switch {
	case m.Bert.Pooler != nil:
		return m.Bert.Pooler.Dense.Apply(first).Tanh()
	case m.PreClassifier != nil:
		return m.PreClassifier.Apply(first).ReLU()
	}
	fail("BERT", "the file has no pooler")
	return x
}

// Logits maps the result of Apply to the logits of the head that the file has: [batch classes],
// or, for tokens, [batch time classes].
func (m *BERT) Logits(x tensor.Tensor) tensor.Tensor {
	switch {
	case m.Classifier != nil && m.PerToken:
		return m.Classifier.Apply(x)
	case m.Classifier != nil && m.Classifier.OutProj != nil:
		return m.Classifier.Apply(x.Index(tensor.All, 0))
	case m.Classifier != nil:
		return m.Classifier.Apply(m.Pooled(x))
	case m.QAOutputs != nil:
		return m.QAOutputs.Apply(x)
	case m.Cls == nil:
		fail("BERT", "the file has no head")
	}
	p := m.Cls.Predictions
	x = p.Transform.LayerNorm.Apply(m.Act(p.Transform.Dense.Apply(x)))
	return logits(x, p.Decoder, p.Decoder == nil, m.Bert.Embeddings.WordEmbeddings).Add(p.Bias)
}

// Embed returns an embedding of each text, [batch width]: the result of Apply, pooled. Many
// models want it divided by its norm.
func (m *BERT) Embed(ids, valid tensor.Tensor, p Pooling) tensor.Tensor {
	return p.Apply(m.Apply(ids, valid), valid)
}

var distilNames = strings.NewReplacer(
	"distilbert.", "bert.", "transformer.layer.", "encoder.layer.",
	"attention.q_lin", "attention.self.query", "attention.k_lin", "attention.self.key", "attention.v_lin", "attention.self.value",
	"attention.out_lin", "attention.output.dense", "sa_layer_norm", "attention.output.LayerNorm",
	"ffn.lin1", "intermediate.dense", "ffn.lin2", "output.dense", "output_layer_norm", "output.LayerNorm",
	"vocab_transform", "cls.predictions.transform.dense", "vocab_layer_norm", "cls.predictions.transform.LayerNorm",
	"vocab_projector.bias", "cls.predictions.bias", "vocab_projector", "cls.predictions.decoder",
)

var robertaNames = strings.NewReplacer(
	"roberta.", "bert.", "lm_head.dense", "cls.predictions.transform.dense", "lm_head.layer_norm", "cls.predictions.transform.LayerNorm",
	"lm_head.bias", "cls.predictions.bias", "lm_head.decoder", "cls.predictions.decoder",
)

var nomicNames = strings.NewReplacer(
	"emb_ln", "embeddings.LayerNorm", "encoder.layers.", "encoder.layer.", "attn.Wqkv", "attention.self.qkv",
	"attn.out_proj", "attention.output.dense", "norm1", "attention.output.LayerNorm", "norm2", "output.LayerNorm",
	"mlp.fc11", "intermediate.dense", "mlp.fc12", "intermediate.gate", "mlp.fc2", "output.dense",
)

// Old files of BERT have other names for the tensors of norms.
var bertNames = strings.NewReplacer("LayerNorm.gamma", "LayerNorm.weight", "LayerNorm.beta", "LayerNorm.bias")

// bertNamesOf has the names in files of each kind, by model_type.
var bertNamesOf = map[string]*strings.Replacer{
	"bert": bertNames, "roberta": robertaNames, "xlm-roberta": robertaNames, "camembert": robertaNames, "distilbert": distilNames,
	"nomic_bert": nomicNames,
}
