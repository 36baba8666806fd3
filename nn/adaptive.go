package nn

import "github.com/tensorken/tensorken/tensor"

// An AdaptiveAvgPool layer returns means of windows of all axes after the first two, so many
// that their lengths become Size.
type AdaptiveAvgPool struct{ Size []int } // one length for all axes, or one each

// Apply maps x of shape [batch channels spatial...] to [batch channels size...].
func (l AdaptiveAvgPool) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("AdaptiveAvgPool")
	return x.AdaptiveAvgPool(spatial("AdaptiveAvgPool", "Size", l.Size, x)...)
}

// An AdaptiveMaxPool layer returns maxima where an AdaptiveAvgPool returns means.
type AdaptiveMaxPool struct{ Size []int } // one length for all axes, or one each

// Apply maps x of shape [batch channels spatial...] to [batch channels size...].
func (l AdaptiveMaxPool) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("AdaptiveMaxPool")
	return x.AdaptiveMaxPool(spatial("AdaptiveMaxPool", "Size", l.Size, x)...)
}
