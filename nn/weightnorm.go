package nn

import "github.com/tensorken/tensorken/tensor"

// A WeightNorm is a weight as a direction and a length, which are trained separately. Embed
// it in a layer, and use Weight in place of a field:
//
//	type Layer struct {
//		nn.WeightNorm               // weight_g and weight_v, as in PyTorch
//		Bias          tensor.Tensor
//	}
//	func (l Layer) Apply(x tensor.Tensor) tensor.Tensor {
//		return nn.Linear{Weight: l.Weight(), Bias: l.Bias}.Apply(x)
//	}
//
// Source: Salimans, Kingma, "Weight Normalization", 2016.
type WeightNorm struct {
	G tensor.Tensor `tensor:"weight_g"` // the lengths, such as [out 1]
	V tensor.Tensor `tensor:"weight_v"` // the directions, such as [out in]
}

// NewWeightNorm returns the norm of a weight, with a length for each of its outputs, axis 0.
func NewWeightNorm(weight tensor.Tensor) WeightNorm {
	defer named("WeightNorm")
	if weight.Rank() < 2 {
		fail("NewWeightNorm", "the weight %v has rank %d, want at least 2", weight.Shape(), weight.Rank())
	}
	var axes []int
	for i := 1; i < weight.Rank(); i++ {
		axes = append(axes, i)
	}
	return WeightNorm{G: weight.NormP(2, axes...).Keep(), V: weight}
}

// Weight returns G·V/|V|, with a norm over the axes along which G has length 1.
func (l WeightNorm) Weight() tensor.Tensor {
	defer named("WeightNorm")
	checkPresent("WeightNorm", "G", l.G)
	checkPresent("WeightNorm", "V", l.V)
	if l.G.Rank() != l.V.Rank() {
		fail("WeightNorm", "G is %v and V %v: want equal ranks", l.G.Shape(), l.V.Shape())
	}
	var axes []int
	for i, n := range l.G.Shape() {
		if n == 1 {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		fail("WeightNorm", "G is %v: want length 1 along an axis", l.G.Shape())
	}
	return l.V.Div(l.V.NormP(2, axes...)).Mul(l.G)
}
