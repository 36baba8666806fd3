package models

import (
	"slices"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A ResNet classifies images by convolutions with residuals.
//
// Source: He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2016.
type ResNet struct {
	Resnet struct {
		Embedder struct{ Embedder ResNetConv }
		Encoder  struct{ Stages []ResNetStage }
	}
	Classifier *ResNetHead `tensor:",optional"`
	Act        nn.Func
}

// A ResNetHead is the classifier of a [ResNet], after an nn.Flatten.
type ResNetHead struct {
	Linear nn.Linear `tensor:"1"`
}

// A ResNetStage is a part of a [ResNet] in which images have one size.
type ResNetStage struct{ Layers []ResNetLayer }

// A ResNetLayer adds the result of some convolutions to its input, or to Shortcut's result for
// it.
type ResNetLayer struct {
	Shortcut *ResNetConv `tensor:",optional"`
	Layer    []ResNetConv
}

// A ResNetConv is a convolution with a batch norm.
type ResNetConv struct {
	Convolution   nn.Conv
	Normalization nn.BatchNorm
}

// Apply maps x of shape [batch in height width] to [batch out height width].
func (l ResNetConv) Apply(x tensor.Tensor) tensor.Tensor {
	return l.Normalization.Apply(l.Convolution.Apply(x))
}

// resNetConv returns a convolution of kernels of a size without its tensors.
func resNetConv(kernel, stride int) ResNetConv {
	var l ResNetConv
	l.Convolution.Options = tensor.ConvOptions{Stride: []int{stride}, Padding: []int{kernel / 2}}
	return l
}

// A resNetConfig has the settings of a [ResNet].
type resNetConfig struct {
	Channels  int    `config:"num_channels,positive"`
	Embedding int    `config:"embedding_size,positive,required"`
	Widths    []int  `config:"hidden_sizes,positive,required"`
	Depths    []int  `config:"depths,count,required"`
	Type      string `config:"layer_type"`
	Act       string `config:"hidden_act"`
	First     bool   `config:"downsample_in_first_stage"`
	Early     bool   `config:"downsample_in_bottleneck"`
}

var resNetKinds = []string{"resnet"}

// LoadResNet reads a classifier of images from a folder.
func LoadResNet(dir string) (*ResNet, error) { return loadKind(dir, resNetKinds, loadResNet) }

func loadResNet(c config) (_ *ResNet, err error) {
	s := resNetConfig{Channels: 3, Type: "bottleneck", Act: "relu"}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"basic", "bottleneck"}, s.Type) {
		return nil, c.errorf("layer_type is %q: want basic or bottleneck", s.Type)
	}
	if len(s.Widths) != len(s.Depths) {
		return nil, c.errorf("there are %d depths and %d hidden_sizes", len(s.Depths), len(s.Widths))
	}
	m := &ResNet{}
	if m.Act, err = c.activation("hidden_act", s.Act); err != nil {
		return nil, err
	}
	m.Resnet.Embedder.Embedder = resNetConv(7, 2)
	m.Resnet.Encoder.Stages = s.stages()
	convolution := contains(".convolution")
	if err := (layout{base: "resnet", biased: not(convolution)}).load(c, m); err != nil {
		return nil, err
	}
	sizes := []size{{"embedder", m.Resnet.Embedder.Embedder.Convolution.Weight, []int{s.Embedding, s.Channels, 7, 7}}}
	for i, stage := range m.Resnet.Encoder.Stages {
		for _, l := range stage.Layers {
			sizes = append(sizes, size{"layer", l.Layer[len(l.Layer)-1].Convolution.Weight, []int{s.Widths[i], -1, -1, -1}})
		}
	}
	return m, c.check(sizes...)
}

// stages returns the stages without their tensors.
func (s resNetConfig) stages() []ResNetStage {
	var stages []ResNetStage
	in := s.Embedding
	for i, out := range s.Widths {
		stage := ResNetStage{Layers: make([]ResNetLayer, s.Depths[i])}
		for j := range stage.Layers {
			stride := 1
			if j == 0 && (i > 0 || s.First) {
				stride = 2
			}
			l := ResNetLayer{Layer: []ResNetConv{resNetConv(3, stride), resNetConv(3, 1)}}
			if s.Type == "bottleneck" {
				first, second := 1, stride
				if s.Early {
					first, second = stride, 1
				}
				l.Layer = []ResNetConv{resNetConv(1, first), resNetConv(3, second), resNetConv(1, 1)}
			}
			if in != out || stride != 1 {
				shortcut := resNetConv(1, stride)
				l.Shortcut = &shortcut
			}
			stage.Layers[j], in = l, out
		}
		stages = append(stages, stage)
	}
	return stages
}

// Apply maps images, [batch channels height width], to logits of classes, [batch classes].
func (m *ResNet) Apply(images tensor.Tensor) tensor.Tensor {
	if m.Classifier == nil {
		fail("ResNet", "the file has no classifier: use Features")
	}
	return m.Classifier.Linear.Apply(m.Features(images).Mean(2, 3).Flatten(1))
}

// Features maps images, [batch channels height width], to the result of the last stage.
func (m *ResNet) Features(images tensor.Tensor) tensor.Tensor {
	x := m.Act(m.Resnet.Embedder.Embedder.Apply(images))
	x = x.MaxPool(3, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}})
	for _, s := range m.Resnet.Encoder.Stages {
		for _, l := range s.Layers {
			x = l.apply(x, m.Act)
		}
	}
	return x
}

func (l ResNetLayer) apply(x tensor.Tensor, act nn.Func) tensor.Tensor {
	y := x
	for i, conv := range l.Layer {
		if i > 0 {
			y = act(y)
		}
		y = conv.Apply(y)
	}
	if l.Shortcut != nil {
		x = l.Shortcut.Apply(x)
	}
	return act(x.Add(y))
}
