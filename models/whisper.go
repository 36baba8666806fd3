package models

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Whisper writes down speech: an encoder of log-mel spectrograms and a decoder of tokens.
//
// Source: Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2023.
type Whisper struct {
	Model struct {
		Encoder struct {
			Conv1, Conv2   nn.Conv
			EmbedPositions nn.Embedding
			Layers         []WhisperLayer
			LayerNorm      nn.LayerNorm
		}
		Decoder struct {
			EmbedTokens, EmbedPositions nn.Embedding
			Layers                      []WhisperLayer
			LayerNorm                   nn.LayerNorm
		}
	}
	ProjOut *nn.Linear `tensor:",optional"` // nil if Tied
	Tied    bool       // the weight of the head is the decoder's EmbedTokens
	Act     nn.Func
}

// A WhisperLayer is a layer of a [Whisper]. Layers of the decoder attend to the encoder's
// result, too.
type WhisperLayer struct {
	SelfAttn             OutAttention
	SelfAttnLayerNorm    nn.LayerNorm
	EncoderAttn          *OutAttention `tensor:",optional"`
	EncoderAttnLayerNorm *nn.LayerNorm `tensor:",optional"`
	Fc1, Fc2             nn.Linear
	FinalLayerNorm       nn.LayerNorm
}

// feed is the last part of a layer.
func (l WhisperLayer) feed(x tensor.Tensor, act nn.Func) tensor.Tensor {
	return x.Add(l.Fc2.Apply(act(l.Fc1.Apply(l.FinalLayerNorm.Apply(x)))))
}

var whisperKinds = []string{"whisper"}

// LoadWhisper reads a Whisper from a folder.
func LoadWhisper(dir string) (*Whisper, error) { return loadKind(dir, whisperKinds, loadWhisper) }

func loadWhisper(c config) (_ *Whisper, err error) {
	s := struct {
		Width     int    `config:"d_model,positive,required"`
		Mels      int    `config:"num_mel_bins,positive"`
		Layers    int    `config:"encoder_layers,count,required"`
		Heads     int    `config:"encoder_attention_heads,positive,required"`
		Inner     int    `config:"encoder_ffn_dim,positive,required"`
		OutLayers int    `config:"decoder_layers,count,required"`
		OutHeads  int    `config:"decoder_attention_heads,positive,required"`
		OutInner  int    `config:"decoder_ffn_dim,positive,required"`
		AllLayers int    `config:"num_hidden_layers,count"` // encoder_layers again
		Frames    int    `config:"max_source_positions,positive"`
		Positions int    `config:"max_target_positions,positive"`
		Vocab     int    `config:"vocab_size,positive,required"`
		Act       string `config:"activation_function"`
		Tied      bool   `config:"tie_word_embeddings"`
		// Embeddings are not scaled, whatever this says.
		Scaled bool `config:"scale_embedding"`
	}{Mels: 80, Frames: 1500, Positions: 448, Act: "gelu", Tied: true}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	m := &Whisper{Tied: s.Tied}
	if m.Act, err = c.activation("activation_function", s.Act); err != nil {
		return nil, err
	}
	if err := c.divides("encoder_attention_heads", s.Heads, "d_model", s.Width); err != nil {
		return nil, err
	}
	if err := c.divides("decoder_attention_heads", s.OutHeads, "d_model", s.Width); err != nil {
		return nil, err
	}
	e, d := &m.Model.Encoder, &m.Model.Decoder
	e.Conv1.Options = tensor.ConvOptions{Padding: []int{1}}
	e.Conv2.Options = tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}}
	e.Layers = make([]WhisperLayer, s.Layers)
	for i := range e.Layers {
		e.Layers[i].SelfAttn.Settings = nn.Attention{Heads: s.Heads}
	}
	d.Layers = make([]WhisperLayer, s.OutLayers)
	for i := range d.Layers {
		d.Layers[i].SelfAttn.Settings = nn.Attention{Heads: s.OutHeads, Causal: true}
		d.Layers[i].EncoderAttn = &OutAttention{Settings: nn.Attention{Heads: s.OutHeads}}
	}
	l := layout{base: "model", biased: not(contains("embed_", "k_proj", "proj_out"))}
	if err := l.withHead("proj_out", s.Tied).load(c, m); err != nil {
		return nil, err
	}
	sizes := []size{
		{"conv1", e.Conv1.Weight, []int{s.Width, s.Mels, 3}},
		{"encoder.embed_positions", e.EmbedPositions.Weight, []int{s.Frames, s.Width}},
		{"decoder.embed_positions", d.EmbedPositions.Weight, []int{s.Positions, s.Width}},
		{"decoder.embed_tokens", d.EmbedTokens.Weight, []int{s.Vocab, s.Width}},
	}
	for _, l := range e.Layers {
		sizes = append(sizes, size{"encoder.fc1", l.Fc1.Weight, []int{s.Inner, s.Width}})
	}
	for _, l := range d.Layers {
		if !l.EncoderAttn.QProj.Weight.IsValid() || l.EncoderAttnLayerNorm == nil {
			return nil, c.errorf("the file lacks encoder_attn of a layer of the decoder")
		}
		sizes = append(sizes, size{"decoder.fc1", l.Fc1.Weight, []int{s.OutInner, s.Width}})
	}
	return m, c.check(sizes...)
}

// Encode maps log-mel spectrograms, [batch mels frames], to [batch frames/2 width].
func (m *Whisper) Encode(features tensor.Tensor) tensor.Tensor {
	e := m.Model.Encoder
	mels, frames := e.Conv1.Weight.Dim(1), 2*e.EmbedPositions.Weight.Dim(0)
	if features.Rank() != 3 || features.Dim(1) != mels || features.Dim(2) != frames {
		fail("Whisper", fmt.Sprintf("the features are %v, want [batch %d %d]: pad the sound with silence, or cut it", features.Shape(), mels, frames))
	}
	x := e.Conv2.Apply(e.Conv1.Apply(features).GELU()).GELU().T().Add(e.EmbedPositions.Weight)
	for _, l := range e.Layers {
		x = x.Add(l.SelfAttn.Attention().Apply(l.SelfAttnLayerNorm.Apply(x)))
		x = l.feed(x, m.Act)
	}
	return e.LayerNorm.Apply(x)
}

// Apply maps log-mel spectrograms, [batch mels frames], and the tokens that were decoded, [batch
// time], to logits of those that follow, [batch time vocabulary].
func (m *Whisper) Apply(features, ids tensor.Tensor) tensor.Tensor {
	d := m.NewDecoder(m.Encode(features))
	return d.Logits(d.hidden(ids, newPass(nil)))
}

// A WhisperDecoder is the [Decoder] of a [Whisper] for a result of its encoder.
type WhisperDecoder struct {
	Model  *Whisper
	Memory []nn.KVCache // of each layer
}

// NewDecoder returns a decoder for a result of Encode. Prompts for it begin with
// decoder_start_token_id of config.json; a batch has one for each example of memory.
func (m *Whisper) NewDecoder(memory tensor.Tensor) *WhisperDecoder {
	d := &WhisperDecoder{Model: m}
	for _, l := range m.Model.Decoder.Layers {
		d.Memory = append(d.Memory, l.EncoderAttn.Attention().Memory(memory))
	}
	return d
}

// NewCache returns an empty cache for length positions.
func (d *WhisperDecoder) NewCache(batch, length int) Cache {
	return newCache(d.Model.Model.Decoder.Layers, func(l WhisperLayer) (nn.KVCache, tensor.Tensor) {
		a := l.SelfAttn.Attention()
		return a.NewCache(batch, length), a.O.Weight
	})
}

// Positions returns the greatest length of a text.
func (d *WhisperDecoder) Positions() int { return d.Model.Model.Decoder.EmbedPositions.Weight.Dim(0) }

// Decode implements [Decoder].
func (d *WhisperDecoder) Decode(ids tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	p := newPass(&c)
	return d.hidden(ids, p), p.next
}

// Logits maps the results of Decode, [... width], to logits [... vocabulary].
func (d *WhisperDecoder) Logits(x tensor.Tensor) tensor.Tensor {
	return logits(x, d.Model.ProjOut, d.Model.Tied, d.Model.Model.Decoder.EmbedTokens)
}

func (d *WhisperDecoder) hidden(ids tensor.Tensor, p *pass) tensor.Tensor {
	m := d.Model.Model.Decoder
	x := m.EmbedTokens.Apply(ids).Add(m.EmbedPositions.Apply(p.positions(ids.Dim(-1))))
	for i, l := range m.Layers {
		x = x.Add(p.attend(i, l.SelfAttn.Attention(), l.SelfAttnLayerNorm.Apply(x), tensor.Tensor{}))
		x = x.Add(l.EncoderAttn.Attention().Recall(l.EncoderAttnLayerNorm.Apply(x), d.Memory[i]))
		x = l.feed(x, d.Model.Act)
	}
	return m.LayerNorm.Apply(x)
}
