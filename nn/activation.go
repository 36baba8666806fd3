package nn

import "github.com/tensorken/tensorken/tensor"

// An Identity layer returns its input: in place of a layer that a model may lack.
type Identity struct{}

// Apply returns x.
func (Identity) Apply(x tensor.Tensor) tensor.Tensor { return x }

// A PReLU layer computes max(0, x) + weight·min(0, x), with a weight for all elements or one
// for each channel.
//
// Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015.
type PReLU struct {
	Weight tensor.Tensor // [1] or [channels]
}

// NewPReLU returns a layer with one weight, for channels = 1, or one for each channel. They
// are 0.25, as in PyTorch.
func NewPReLU(channels int) PReLU {
	checkShape("NewPReLU", []int{channels})
	return PReLU{Weight: tensor.FullOf(tensor.Float32, 0.25, channels)}
}

// Apply maps x to the same shape. With a weight for each channel it is [batch channels ...].
func (l PReLU) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("PReLU")
	checkPresent("PReLU", "Weight", l.Weight)
	w := l.Weight
	if n := w.Len(); n != 1 {
		if x.Rank() < 2 || x.Dim(1) != n {
			fail("PReLU", "the input %v does not have the layer's %d channels on axis 1", x.Shape(), n)
		}
		w = perChannel(w, x.Rank())
	}
	return tensor.Where(x.Gt(0), x, x.Mul(w))
}
