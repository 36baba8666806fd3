package models

import (
	"encoding/json"
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A ViT classifies images by attention between patches.
//
// Source: Dosovitskiy et al., "An Image is Worth 16x16 Words: Transformers for Image Recognition
// at Scale", 2021.
type ViT struct {
	Vit struct {
		Embeddings struct {
			CLSToken           tensor.Tensor // [1 1 width]
			PositionEmbeddings tensor.Tensor // [1 1+patches width]
			MaskToken          tensor.Tensor `tensor:",optional"` // for training
			PatchEmbeddings    struct{ Projection nn.Conv }
		}
		Encoder   struct{ Layer []ViTLayer }
		Layernorm nn.LayerNorm
		Pooler    *struct{ Dense nn.Linear } `tensor:",optional"`
	}
	Classifier *nn.Linear `tensor:",optional"`

	Heads          int
	Act, PoolerAct nn.Func
	Size           [2]int // height and width of images
}

// A ViTLayer is a layer of a [ViT].
type ViTLayer struct {
	Attention struct {
		Attention struct{ Query, Key, Value nn.Linear }
		Output    struct{ Dense nn.Linear }
	}
	Intermediate, Output            struct{ Dense nn.Linear }
	LayernormBefore, LayernormAfter nn.LayerNorm
}

// A sides is a size of images, a number or [height width] in config.json.
type sides [2]int

// UnmarshalJSON reads one number or two.
func (s *sides) UnmarshalJSON(b []byte) error {
	if n := 0; json.Unmarshal(b, &n) == nil {
		*s = sides{n, n}
		return nil
	}
	var both []int
	if err := json.Unmarshal(b, &both); err != nil || len(both) != 2 {
		return fmt.Errorf("want a number or [height, width]")
	}
	*s = sides(both)
	return nil
}

var vitKinds = []string{"vit"}

// LoadViT reads a classifier of images from a folder.
func LoadViT(dir string) (*ViT, error) { return loadKind(dir, vitKinds, loadViT) }

func loadViT(c config) (_ *ViT, err error) {
	s := struct {
		Width     int     `config:"hidden_size,positive,required"`
		Inner     int     `config:"intermediate_size,positive,required"`
		Layers    int     `config:"num_hidden_layers,count,required"`
		Heads     int     `config:"num_attention_heads,positive,required"`
		Channels  int     `config:"num_channels,positive"`
		Image     sides   `config:"image_size,positive"`
		Patch     sides   `config:"patch_size,positive"`
		Act       string  `config:"hidden_act"`
		PoolerAct string  `config:"pooler_act"`
		Pooled    int     `config:"pooler_output_size,positive"`
		Eps       float64 `config:"layer_norm_eps,epsilon"`
		Bias      bool    `config:"qkv_bias"`
	}{Channels: 3, Image: sides{224, 224}, Patch: sides{16, 16}, Act: "gelu", PoolerAct: "tanh", Eps: 1e-12, Bias: true}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	m := &ViT{Heads: s.Heads, Size: s.Image}
	if m.Act, err = c.activation("hidden_act", s.Act); err != nil {
		return nil, err
	}
	if m.PoolerAct, err = c.activation("pooler_act", s.PoolerAct); err != nil {
		return nil, err
	}
	if err := c.divides("num_attention_heads", s.Heads, "hidden_size", s.Width); err != nil {
		return nil, err
	}
	norm := nn.LayerNorm{Eps: s.Eps}
	m.Vit.Layernorm = norm
	for range s.Layers {
		m.Vit.Encoder.Layer = append(m.Vit.Encoder.Layer, ViTLayer{LayernormBefore: norm, LayernormAfter: norm})
	}
	e := &m.Vit.Embeddings
	e.PatchEmbeddings.Projection.Options.Stride = s.Patch[:]
	qkv := contains("attention.attention.")
	l := layout{base: "vit", biased: func(layer string) bool { return s.Bias || !qkv(layer) }}
	if err := l.load(c, m); err != nil {
		return nil, err
	}
	patches := s.Image[0] / s.Patch[0] * (s.Image[1] / s.Patch[1])
	sizes := []size{
		{"position_embeddings", e.PositionEmbeddings, []int{1, 1 + patches, s.Width}},
		{"patch_embeddings", e.PatchEmbeddings.Projection.Weight, []int{s.Width, s.Channels, s.Patch[0], s.Patch[1]}},
	}
	for _, l := range m.Vit.Encoder.Layer {
		sizes = append(sizes, size{"intermediate.dense", l.Intermediate.Dense.Weight, []int{s.Inner, s.Width}})
	}
	return m, c.check(sizes...)
}

// Apply maps images, [batch channels height width], to logits of classes, [batch classes].
func (m *ViT) Apply(images tensor.Tensor) tensor.Tensor {
	if m.Classifier == nil {
		fail("ViT", "the file has no classifier: use Features")
	}
	return m.Classifier.Apply(m.Features(images).Index(tensor.All, 0))
}

// Features maps images, [batch channels height width], to [batch 1+patches width]: a vector of
// the image, and one of each patch, row by row.
func (m *ViT) Features(images tensor.Tensor) tensor.Tensor {
	e := m.Vit.Embeddings
	checkImages("ViT", images, m.Size)
	patches := e.PatchEmbeddings.Projection.Apply(images).Flatten(2).T()
	cls := e.CLSToken.Expand(images.Dim(0), 1, patches.Dim(2))
	x := tensor.Cat(1, cls, patches).Add(e.PositionEmbeddings)
	for _, l := range m.Vit.Encoder.Layer {
		in := l.Attention.Attention
		a := nn.Attention{Q: in.Query, K: in.Key, V: in.Value, O: l.Attention.Output.Dense, Heads: m.Heads}
		x = x.Add(a.Apply(l.LayernormBefore.Apply(x)))
		x = x.Add(l.Output.Dense.Apply(m.Act(l.Intermediate.Dense.Apply(l.LayernormAfter.Apply(x)))))
	}
	return m.Vit.Layernorm.Apply(x)
}

// Pooled maps the result of Features to the pooler's result for the vector of the image, [batch
// width].
func (m *ViT) Pooled(x tensor.Tensor) tensor.Tensor {
	if m.Vit.Pooler == nil {
		fail("ViT", "the file has no pooler")
	}
	return m.PoolerAct(m.Vit.Pooler.Dense.Apply(x.Index(tensor.All, 0)))
}

// checkImages panics unless images have a size.
func checkImages(op string, images tensor.Tensor, size [2]int) {
	if images.Rank() != 4 || images.Dim(2) != size[0] || images.Dim(3) != size[1] {
		fail(op, fmt.Sprintf("images are %v, want [batch channels %d %d]: resize them", images.Shape(), size[0], size[1]))
	}
}
