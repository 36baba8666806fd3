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
	CLIPText
	CLIPVision
	LogitScale tensor.Tensor // the logarithm of the factor of similarities
}

// A CLIPText is the text side of a [CLIP], as image generators have it.
type CLIPText struct {
	TextModel struct {
		Embeddings     struct{ TokenEmbedding, PositionEmbedding nn.Embedding }
		Encoder        CLIPEncoder
		FinalLayerNorm nn.LayerNorm
	}
	TextProjection *nn.Linear `tensor:",optional"` // nil in files of the side alone that lack it

	// EndID is the token that ends texts; the embedding of a text is taken at the first one. If
	// it is 2, as in old files, at the greatest token.
	EndID int
}

// A CLIPVision is the image side of a [CLIP].
type CLIPVision struct {
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
	VisualProjection *nn.Linear `tensor:",optional"` // nil in files of the side alone that lack it

	Size [2]int // height and width of images
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

// Apply returns how similar images, [images channels height width], and texts, integers [texts
// time], are: logits [images texts], whose softmax are probabilities of the texts. Valid is as
// in [BERT.Apply].
func (m *CLIP) Apply(images, ids, valid tensor.Tensor) tensor.Tensor {
	unit := func(x tensor.Tensor) tensor.Tensor { return nn.Normalize(x, -1) }
	return unit(m.EmbedImages(images)).MatMul(unit(m.EmbedTexts(ids, valid)).T()).Mul(m.LogitScale.Exp())
}

// EncodeTexts maps texts, integers [batch time], to [batch time width]. Valid is as in
// [BERT.Apply].
func (m *CLIPText) EncodeTexts(ids, valid tensor.Tensor) tensor.Tensor {
	t := m.TextModel
	x := t.Embeddings.TokenEmbedding.Apply(ids).Add(t.Embeddings.PositionEmbedding.Apply(tensor.Arange(ids.Dim(-1))))
	return t.FinalLayerNorm.Apply(t.Encoder.apply(x, paddingMask(valid)))
}

// EmbedTexts maps texts, integers [batch time], to [batch width]: the row of EncodeTexts for the
// token that ends the text, projected if the model has a projection. Valid is as in [BERT.Apply].
func (m *CLIPText) EmbedTexts(ids, valid tensor.Tensor) tensor.Tensor {
	x := m.EncodeTexts(ids, valid)
	at := ids.ArgMax(-1)
	if m.EndID != 2 {
		at = ids.Eq(m.EndID).Cast(tensor.Int32).ArgMax(-1)
	}
	here := tensor.Arange(ids.Dim(-1)).Eq(at.Unsqueeze(-1)).Unsqueeze(-1) // [batch time 1]
	return project(m.TextProjection, tensor.Where(here, x, 0).Sum(1).Squeeze(1))
}

// EncodeImages maps images, [batch channels height width], to [batch 1+patches width]: a vector
// of the image, and one of each patch, row by row.
func (m *CLIPVision) EncodeImages(images tensor.Tensor) tensor.Tensor {
	v := m.VisionModel
	checkImages("CLIP", images, m.Size)
	patches := v.Embeddings.PatchEmbedding.Apply(images).Flatten(2).T()
	class := v.Embeddings.ClassEmbedding.Expand(images.Dim(0), 1, patches.Dim(2))
	x := tensor.Cat(1, class, patches).Add(v.Embeddings.PositionEmbedding.Weight)
	return v.Encoder.apply(v.PreLayerNorm.Apply(x), tensor.Tensor{})
}

// EmbedImages maps images, [batch channels height width], to [batch width]: the normalized vector
// of the image, projected if the model has a projection.
func (m *CLIPVision) EmbedImages(images tensor.Tensor) tensor.Tensor {
	x := m.EncodeImages(images).Index(tensor.All, 0)
	return project(m.VisualProjection, m.VisionModel.PostLayernorm.Apply(x))
}

func project(l *nn.Linear, x tensor.Tensor) tensor.Tensor {
	if l == nil {
		return x
	}
	return l.Apply(x)
}
