package nn

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/internal/limits"
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
	set := func(name string, v, zero float64) float64 {
		return setting("LocalResponseNorm", name, cmp.Or(v, zero), limits.Positive)
	}
	alpha, beta, k := set("Alpha", l.Alpha, 1e-4), set("Beta", l.Beta, 0.75), set("K", l.K, 1)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		x := ts[0]
		mean := func(x tensor.Tensor) tensor.Tensor {
			return x.Square().Pad(1, l.Size/2, (l.Size-1)/2).Unfold(1, l.Size, 1).Mean(-1).Squeeze(-1).Mul(alpha)
		}
		s, _ := ranges(x.DType())
		m, scaled := mean(x), mean(x.Mul(s)) // where m overflows, K does not matter
		over := m.IsInf()
		up := tensor.Where(over, math.Pow(s, beta), tensor.OnesLike(m))
		return x.Div(tensor.Where(over, scaled, m.Add(atLeast(x, k))).Pow(beta)).Mul(up).Mul(up)
	}, x)
}
