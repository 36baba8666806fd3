package models

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A CLIP compares texts with images by embeddings of both.
//
// Source: Radford et al., "Learning Transferable Visual Models From Natural Language
// Supervision", 2021.
type CLIP struct {
	TextModel struct {
		Embeddings     struct{ TokenEmbedding, PositionEmbedding nn.Embedding }
		Encoder        CLIPEncoder
		FinalLayerNorm nn.LayerNorm
	}
	VisionModel struct {
		Embeddings struct {
			ClassEmbedding    tensor.Tensor // [width]
			PatchEmbedding    nn.Conv
			PositionEmbedding nn.Embedding
		}
		PreLayerNorm  nn.LayerNorm `tensor:"pre_layrnorm"` // as in the files
		Encoder       CLIPEncoder
		PostLayernorm nn.LayerNorm
	}
	TextProjection, VisualProjection nn.Linear
	LogitScale                       tensor.Tensor // the logarithm of the factor of similarities

	Size [2]int // height and width of images
	// EndID is the token that ends texts; the embedding of a text is taken at the first one. If
	// it is 2, as in old files, at the greatest token.
	EndID int
}

// A CLIPEncoder has the layers of one side of a [CLIP].
type CLIPEncoder struct {
	Layers []CLIPLayer
	Act    nn.Func
}

// A CLIPLayer is a layer of a [CLIPEncoder].
type CLIPLayer struct {
	SelfAttn               OutAttention
	LayerNorm1, LayerNorm2 nn.LayerNorm
	MLP                    struct{ Fc1, Fc2 nn.Linear }
}

func (e CLIPEncoder) apply(x, mask tensor.Tensor) tensor.Tensor {
	for _, l := range e.Layers {
		x = x.Add(l.SelfAttn.Attention().Attend(l.LayerNorm1.Apply(x), tensor.Tensor{}, mask, nil))
		x = x.Add(l.MLP.Fc2.Apply(e.Act(l.MLP.Fc1.Apply(l.LayerNorm2.Apply(x)))))
	}
	return x
}

// A clipConfig has the settings of one side.
type clipConfig struct {
	Width      int     `config:"hidden_size"`
	Inner      int     `config:"intermediate_size"`
	Layers     int     `config:"num_hidden_layers"`
	Heads      int     `config:"num_attention_heads"`
	Act        string  `config:"hidden_act"`
	Eps        float64 `config:"layer_norm_eps,unsigned"`
	Projection int     `config:"projection_dim"`
	Vocab      int     `config:"vocab_size"`
	Positions  int     `config:"max_position_embeddings"`
	End        int     `config:"eos_token_id"`
	Image      sides   `config:"image_size"`
	Patch      sides   `config:"patch_size"`
	Channels   int     `config:"num_channels"`
}

var clipKinds = []string{"clip"}

// LoadCLIP reads a CLIP from a folder.
func LoadCLIP(dir string) (*CLIP, error) {
	c, err := openConfig(dir, clipKinds...)
	if err != nil {
		return nil, err
	}
	s := struct {
		Projection int `config:"projection_dim"`
		// Read below; those that end in _dict replace the others' settings.
		Text      any `config:"text_config"`
		TextOld   any `config:"text_config_dict"`
		Vision    any `config:"vision_config"`
		VisionOld any `config:"vision_config_dict"`
	}{Projection: 512}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	m := &CLIP{}
	text := clipConfig{Width: 512, Inner: 2048, Layers: 12, Heads: 8, Act: "quick_gelu", Eps: 1e-5, Vocab: 49408, Positions: 77, End: 49407}
	if err := m.TextModel.Encoder.configure(c, "text_config", &text, true); err != nil {
		return nil, err
	}
	vision := clipConfig{Width: 768, Inner: 3072, Layers: 12, Heads: 12, Act: "quick_gelu", Eps: 1e-5, Image: sides{224, 224}, Patch: sides{32, 32}, Channels: 3}
	if err := m.VisionModel.Encoder.configure(c, "vision_config", &vision, false); err != nil {
		return nil, err
	}
	m.EndID, m.Size = text.End, vision.Image
	m.TextModel.FinalLayerNorm.Eps = text.Eps
	v := &m.VisionModel
	v.PreLayerNorm.Eps, v.PostLayernorm.Eps = vision.Eps, vision.Eps
	v.Embeddings.PatchEmbedding.Options.Stride = vision.Patch[:]
	if err := (layout{biased: not(contains("embedding", "_projection"))}).load(dir, m); err != nil {
		return nil, err
	}
	if vision.Patch[0] < 1 || vision.Patch[1] < 1 {
		return nil, c.errorf("patch_size is %v", vision.Patch)
	}
	patches := vision.Image[0] / vision.Patch[0] * (vision.Image[1] / vision.Patch[1])
	t := m.TextModel.Embeddings
	return m, c.check(
		size{"token_embedding", t.TokenEmbedding.Weight, []int{text.Vocab, text.Width}},
		size{"text position_embedding", t.PositionEmbedding.Weight, []int{text.Positions, text.Width}},
		size{"vision position_embedding", v.Embeddings.PositionEmbedding.Weight, []int{1 + patches, vision.Width}},
		size{"patch_embedding", v.Embeddings.PatchEmbedding.Weight, []int{vision.Width, vision.Channels, vision.Patch[0], vision.Patch[1]}},
		size{"text_projection", m.TextProjection.Weight, []int{s.Projection, text.Width}},
		size{"visual_projection", m.VisualProjection.Weight, []int{s.Projection, vision.Width}},
	)
}

// configure reads the settings of a side and sets what the file does not hold.
func (e *CLIPEncoder) configure(c config, name string, s *clipConfig, causal bool) error {
	for _, n := range []string{name, name + "_dict"} {
		part, err := c.part(n)
		if err == nil {
			err = part.read(s)
		}
		if err != nil {
			return err
		}
	}
	if err := c.divides("num_attention_heads", s.Heads, "hidden_size", s.Width); err != nil {
		return err
	}
	norm := nn.LayerNorm{Eps: s.Eps}
	for range s.Layers {
		e.Layers = append(e.Layers, CLIPLayer{
			SelfAttn: OutAttention{Settings: nn.Attention{Heads: s.Heads, Causal: causal}}, LayerNorm1: norm, LayerNorm2: norm,
		})
	}
	var err error
	e.Act, err = c.activation(name+".hidden_act", s.Act)
	return err
}

// Apply returns how similar images, [images channels height width], and texts, integers [texts
// time], are: logits [images texts], whose softmax are probabilities of the texts. Valid is as
// in [BERT.Apply].
func (m *CLIP) Apply(images, ids, valid tensor.Tensor) tensor.Tensor {
	unit := func(x tensor.Tensor) tensor.Tensor { return x.Div(x.Square().Sum(-1).Sqrt()) }
	return unit(m.EmbedImages(images)).MatMul(unit(m.EmbedTexts(ids, valid)).T()).Mul(m.LogitScale.Exp())
}

// EmbedTexts maps texts, integers [batch time], to [batch width]. Valid is as in [BERT.Apply].
func (m *CLIP) EmbedTexts(ids, valid tensor.Tensor) tensor.Tensor {
	t := m.TextModel
	x := t.Embeddings.TokenEmbedding.Apply(ids).Add(t.Embeddings.PositionEmbedding.Apply(tensor.Arange(ids.Dim(-1))))
	x = t.FinalLayerNorm.Apply(t.Encoder.apply(x, paddingMask(valid)))
	at := ids.ArgMax(-1)
	if m.EndID != 2 {
		at = ids.Eq(m.EndID).Cast(tensor.Int32).ArgMax(-1)
	}
	here := tensor.Arange(ids.Dim(-1)).Eq(at.Unsqueeze(-1)).Unsqueeze(-1) // [batch time 1]
	return m.TextProjection.Apply(tensor.Where(here, x, 0).Sum(1).Squeeze(1))
}

// EmbedImages maps images, [batch channels height width], to [batch width].
func (m *CLIP) EmbedImages(images tensor.Tensor) tensor.Tensor {
	v := m.VisionModel
	checkImages("CLIP", images, m.Size)
	patches := v.Embeddings.PatchEmbedding.Apply(images).Flatten(2).T()
	class := v.Embeddings.ClassEmbedding.Expand(images.Dim(0), 1, patches.Dim(2))
	x := tensor.Cat(1, class, patches).Add(v.Embeddings.PositionEmbedding.Weight)
	x = v.Encoder.apply(v.PreLayerNorm.Apply(x), tensor.Tensor{})
	return m.VisualProjection.Apply(v.PostLayernorm.Apply(x.Index(tensor.All, 0)))
}
