package nn

import (
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A ChannelDropout layer sets whole channels of examples to zero with probability P in
// training, and divides the others by 1-P. It is PyTorch's Dropout1d to Dropout3d.
//
// Source: Tompson et al., "Efficient Object Localization Using Convolutional Networks", 2015.
type ChannelDropout struct{ P float64 }

// Apply returns x: nothing is dropped at inference.
func (l ChannelDropout) Apply(x tensor.Tensor) tensor.Tensor { return l.Drop(x, nil) }

// Drop drops channels of x, which is [batch channels ...]; none if rng is nil.
func (l ChannelDropout) Drop(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	defer named("ChannelDropout")
	if x.Rank() < 2 {
		fail("ChannelDropout", "the input %v has no channels on axis 1", x.Shape())
	}
	mask := append(x.Shape()[:2], slices.Repeat([]int{1}, x.Rank()-2)...)
	return drop("ChannelDropout", l.P, x, rng, mask)
}

// Train returns Drop(x, rng) and l.
func (l ChannelDropout) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.Drop(x, rng), l
}
