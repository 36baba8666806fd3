package models

import (
	"github.com/tensorken/tensorken/nn"
)

// A clipConfig has the settings of one side.
type clipConfig struct {
	Width      int     `config:"hidden_size,positive"`
	Inner      int     `config:"intermediate_size,positive"`
	Layers     int     `config:"num_hidden_layers,count"`
	Heads      int     `config:"num_attention_heads,positive"`
	Act        string  `config:"hidden_act"`
	Eps        float64 `config:"layer_norm_eps,epsilon"`
	Projection int     `config:"projection_dim,positive"`
	Vocab      int     `config:"vocab_size,positive"`
	Positions  int     `config:"max_position_embeddings,positive"`
	End        int     `config:"eos_token_id,any"`
	Image      sides   `config:"image_size,positive"`
	Patch      sides   `config:"patch_size,positive"`
	Channels   int     `config:"num_channels,positive"`
}

var (
	clipKinds       = []string{"clip"}
	clipTextKinds   = []string{"clip_text_model"}
	clipVisionKinds = []string{"clip_vision_model"}

	// Defaults of the sides.
	clipText   = clipConfig{Width: 512, Inner: 2048, Layers: 12, Heads: 8, Act: "quick_gelu", Eps: 1e-5, Projection: 512, Vocab: 49408, Positions: 77, End: 49407}
	clipVision = clipConfig{Width: 768, Inner: 3072, Layers: 12, Heads: 12, Act: "quick_gelu", Eps: 1e-5, Projection: 512, Image: sides{224, 224}, Patch: sides{32, 32}, Channels: 3}
)

// clipLayout is the layout of a file of one side alone: newer versions of transformers write the
// names of its tensors without the side's name.
func clipLayout(base string) layout {
	return layout{base: base, biased: not(contains("embedding", "_projection"))}
}

// LoadCLIP reads a CLIP from a folder.
func LoadCLIP(dir string) (*CLIP, error) { return loadKind(dir, clipKinds, loadCLIP) }

func loadCLIP(c config) (*CLIP, error) {
	s := struct {
		Projection int `config:"projection_dim,positive"`
		// Read below; those that end in _dict replace the others' settings.
		Text      any `config:"text_config"`
		TextOld   any `config:"text_config_dict"`
		Vision    any `config:"vision_config"`
		VisionOld any `config:"vision_config_dict"`
	}{Projection: 512}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	m, text, vision := &CLIP{}, clipText, clipVision
	for _, side := range []struct {
		name string
		into *clipConfig
	}{{"text_config", &text}, {"text_config_dict", &text}, {"vision_config", &vision}, {"vision_config_dict", &vision}} {
		part, err := c.part(side.name)
		if err == nil {
			err = part.read(side.into)
		}
		if err != nil {
			return nil, err
		}
	}
	text.Projection, vision.Projection = s.Projection, s.Projection
	if err := m.CLIPText.configure(c, text); err != nil {
		return nil, err
	}
	if err := m.CLIPVision.configure(c, vision); err != nil {
		return nil, err
	}
	if err := clipLayout("").load(c, m); err != nil {
		return nil, err
	}
	if m.TextProjection == nil || m.VisualProjection == nil {
		return nil, c.errorf("the file lacks text_projection.weight or visual_projection.weight")
	}
	return m, c.check(append(m.CLIPText.sizes(text), m.CLIPVision.sizes(vision)...)...)
}

// LoadCLIPText reads the text side of a CLIP from a folder that has it alone, with or without its
// projection.
func LoadCLIPText(dir string) (*CLIPText, error) {
	return loadKind(dir, clipTextKinds, loadCLIPText)
}

func loadCLIPText(c config) (*CLIPText, error) {
	return loadCLIPSide(c, clipText, "text_model", (*CLIPText).configure, (*CLIPText).sizes)
}

// LoadCLIPVision reads the image side of a CLIP from a folder that has it alone, with or without
// its projection.
func LoadCLIPVision(dir string) (*CLIPVision, error) {
	return loadKind(dir, clipVisionKinds, loadCLIPVision)
}

func loadCLIPVision(c config) (*CLIPVision, error) {
	return loadCLIPSide(c, clipVision, "vision_model", (*CLIPVision).configure, (*CLIPVision).sizes)
}

func loadCLIPSide[M any](c config, s clipConfig, base string, configure func(*M, config, clipConfig) error, sizes func(*M, clipConfig) []size) (*M, error) {
	if err := c.read(&s); err != nil {
		return nil, err
	}
	m := new(M)
	if err := configure(m, c, s); err != nil {
		return nil, err
	}
	if err := clipLayout(base).load(c, m); err != nil {
		return nil, err
	}
	return m, c.check(sizes(m, s)...)
}

// configure sets the fields that come from config.json.
func (m *CLIPText) configure(c config, s clipConfig) error {
	m.EndID = s.End
	m.TextModel.FinalLayerNorm.Eps = s.Eps
	return m.TextModel.Encoder.configure(c, s, true)
}

func (m *CLIPVision) configure(c config, s clipConfig) error {
	m.Size = s.Image
	v := &m.VisionModel
	v.PreLayerNorm.Eps, v.PostLayernorm.Eps = s.Eps, s.Eps
	v.Embeddings.PatchEmbedding.Options.Stride = s.Patch[:]
	return v.Encoder.configure(c, s, false)
}

func (e *CLIPEncoder) configure(c config, s clipConfig, causal bool) error {
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
	e.Act, err = c.activation("hidden_act", s.Act)
	return err
}

func (m *CLIPText) sizes(s clipConfig) []size {
	e := m.TextModel.Embeddings
	return append(projectionSize("text_projection", m.TextProjection, s),
		size{"token_embedding", e.TokenEmbedding.Weight, []int{s.Vocab, s.Width}},
		size{"text position_embedding", e.PositionEmbedding.Weight, []int{s.Positions, s.Width}})
}

func (m *CLIPVision) sizes(s clipConfig) []size {
	e := m.VisionModel.Embeddings
	patches := s.Image[0] / s.Patch[0] * (s.Image[1] / s.Patch[1])
	return append(projectionSize("visual_projection", m.VisualProjection, s),
		size{"vision position_embedding", e.PositionEmbedding.Weight, []int{1 + patches, s.Width}},
		size{"patch_embedding", e.PatchEmbedding.Weight, []int{s.Width, s.Channels, s.Patch[0], s.Patch[1]}})
}

func projectionSize(name string, l *nn.Linear, s clipConfig) []size {
	if l == nil {
		return nil
	}
	return []size{{name, l.Weight, []int{s.Projection, s.Width}}}
}
