package nn

import (
	"cmp"

	"github.com/tensorken/tensorken/tensor"
)

// A LocalResponseNorm divides each element by (K + Alpha·m)^Beta, where m is the mean of the
// squares of Size neighbouring channels, zeros beyond the edges.
//
// Source: Krizhevsky, Sutskever, Hinton, "ImageNet Classification with Deep Convolutional
// Neural Networks", 2012.
type LocalResponseNorm struct {
	Size           int
	Alpha, Beta, K float64 // 0 is 1e-4, 0.75 and 1
}

// Apply maps x of shape [batch channels ...] to the same shape.
func (l LocalResponseNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("LocalResponseNorm")
	if l.Size < 1 {
		fail("LocalResponseNorm", "Size is %d, want at least 1", l.Size)
	}
	if x.Rank() < 2 {
		fail("LocalResponseNorm", "the input %v has no channels on axis 1", x.Shape())
	}
	squares := x.Square().Pad(1, l.Size/2, (l.Size-1)/2).Unfold(1, l.Size, 1).Mean(-1).Squeeze(-1)
	return x.Div(squares.Mul(cmp.Or(l.Alpha, 1e-4)).Add(cmp.Or(l.K, 1)).Pow(cmp.Or(l.Beta, 0.75)))
}
