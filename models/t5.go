package models

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A T5 maps texts to texts: an encoder and a decoder with relative positions. Files of the encoder
// alone have no Decoder.
//
// Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer", 2020.
type T5 struct {
	Shared  nn.Embedding
	Encoder struct {
		Block          []T5Block
		FinalLayerNorm RMSNorm
	}
	Decoder *T5DecoderStack `tensor:",optional"`
	LMHead  *nn.Linear      `tensor:",optional"` // nil: the weight is shared with Shared

	OutputScale float64 // multiplies the head's input
	Act         nn.Func
	MaxDistance int // see [nn.RelativeBias]
}

// A T5DecoderStack is the decoder of a [T5] without its head.
type T5DecoderStack struct {
	Block          []T5DecoderBlock
	FinalLayerNorm RMSNorm
}

// A T5Block is a layer of the encoder.
type T5Block struct {
	Layer struct {
		Self T5Attention   `tensor:"0"`
		Feed T5FeedForward `tensor:"1"`
	}
}

// A T5DecoderBlock is a layer of the decoder.
type T5DecoderBlock struct {
	Layer struct {
		Self  T5Attention      `tensor:"0"`
		Cross T5CrossAttention `tensor:"1"`
		Feed  T5FeedForward    `tensor:"2"`
	}
}

// A T5Attention attends to its own input. The first layer has the biases of all.
type T5Attention struct {
	SelfAttention struct {
		nn.Attention
		RelativeAttentionBias *nn.Embedding `tensor:",optional"`
	} `tensor:"SelfAttention"`
	LayerNorm RMSNorm
}

// A T5CrossAttention attends to the encoder's result.
type T5CrossAttention struct {
	EncDecAttention nn.Attention `tensor:"EncDecAttention"`
	LayerNorm       RMSNorm
}

// A T5FeedForward has WI, or, if it is gated, WI0 and WI1.
type T5FeedForward struct {
	DenseReluDense struct {
		WI  *nn.Linear `tensor:",optional"`
		WI0 *nn.Linear `tensor:"wi_0,optional"`
		WI1 *nn.Linear `tensor:"wi_1,optional"`
		WO  nn.Linear
	} `tensor:"DenseReluDense"`
	LayerNorm RMSNorm
}

func (l T5FeedForward) apply(x tensor.Tensor, act nn.Func) tensor.Tensor {
	y, d := l.LayerNorm.Apply(x), l.DenseReluDense
	if d.WI != nil {
		y = act(d.WI.Apply(y))
	} else {
		y = act(d.WI0.Apply(y)).Mul(d.WI1.Apply(y))
	}
	return x.Add(d.WO.Apply(y))
}

// bias returns the biases of scores: see [nn.RelativeBias.Apply].
func (m *T5) bias(l T5Attention, both bool, queries, keys int, offset tensor.Operand) tensor.Tensor {
	b := nn.RelativeBias{Weight: l.SelfAttention.RelativeAttentionBias.Weight, Bidirectional: both, MaxDistance: m.MaxDistance}
	return b.Apply(queries, keys, offset)
}

// Encode maps texts, integers [batch time], to [batch time width]. Valid is as in [BERT.Apply].
func (m *T5) Encode(ids, valid tensor.Tensor) tensor.Tensor {
	x, time := m.Shared.Apply(ids), ids.Dim(-1)
	mask := m.bias(m.Encoder.Block[0].Layer.Self, true, time, time, 0)
	if valid.IsValid() {
		mask = tensor.Where(paddingMask(valid), mask, math.Inf(-1))
	}
	for _, b := range m.Encoder.Block {
		self := b.Layer.Self
		x = x.Add(self.SelfAttention.Attend(self.LayerNorm.Apply(x), tensor.Tensor{}, mask, nil))
		x = b.Layer.Feed.apply(x, m.Act)
	}
	return m.Encoder.FinalLayerNorm.Apply(x)
}

// Apply maps texts, [batch time], and the tokens that were decoded, [batch decoded], to logits of
// those that follow, [batch decoded vocabulary].
func (m *T5) Apply(ids, valid, decoded tensor.Tensor) tensor.Tensor {
	d := m.NewDecoder(m.Encode(ids, valid), valid)
	return d.Logits(d.hidden(decoded, newPass(nil)))
}

// A T5Decoder is the [Decoder] of a [T5] for a result of its encoder.
type T5Decoder struct {
	Model  *T5
	Memory []nn.KVCache // of each layer
}

// NewDecoder returns a decoder for the result of Encode with the same valid. Prompts for it are
// decoder_start_token_id of config.json; a batch has one for each example of memory.
func (m *T5) NewDecoder(memory, valid tensor.Tensor) *T5Decoder {
	if m.Decoder == nil {
		fail("T5", "the file has no decoder")
	}
	if valid.IsValid() && valid.DType() != tensor.Bool {
		valid = valid.Ne(0)
	}
	d := &T5Decoder{Model: m}
	for _, b := range m.Decoder.Block {
		c := b.Layer.Cross.EncDecAttention.Memory(memory)
		c.Valid = valid
		d.Memory = append(d.Memory, c)
	}
	return d
}

// NewCache returns an empty cache for length positions.
func (d *T5Decoder) NewCache(batch, length int) Cache {
	return newCache(d.Model.Decoder.Block, func(l T5DecoderBlock) (nn.KVCache, tensor.Tensor) {
		a := l.Layer.Self.SelfAttention
		return a.NewCache(batch, length), a.O.Weight
	})
}

// Decode implements [Decoder].
func (d *T5Decoder) Decode(ids tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	p := newPass(&c)
	return d.hidden(ids, p), p.next
}

// Logits maps the results of Decode, [... width], to logits [... vocabulary].
func (d *T5Decoder) Logits(x tensor.Tensor) tensor.Tensor {
	return logits(x.Mul(d.Model.OutputScale), d.Model.LMHead, d.Model.LMHead == nil, d.Model.Shared)
}

func (d *T5Decoder) hidden(ids tensor.Tensor, p *pass) tensor.Tensor {
	m := d.Model
	x, time := m.Shared.Apply(ids), ids.Dim(-1)
	keys := time
	if p.cache != nil {
		keys = p.cache.Capacity()
	}
	mask := m.bias(m.Decoder.Block[0].Layer.Self, false, time, keys, p.start())
	for i, b := range m.Decoder.Block {
		self, cross := b.Layer.Self, b.Layer.Cross
		x = x.Add(p.attend(i, self.SelfAttention.Attention, self.LayerNorm.Apply(x), mask))
		x = x.Add(cross.EncDecAttention.Recall(cross.LayerNorm.Apply(x), d.Memory[i]))
		x = b.Layer.Feed.apply(x, m.Act)
	}
	return m.Decoder.FinalLayerNorm.Apply(x)
}
