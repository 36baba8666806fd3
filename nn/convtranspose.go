package nn

import "github.com/tensorken/tensorken/tensor"

// A ConvTranspose layer is the transpose of a convolution over one to three spatial axes,
// as many as its weight has; see [tensor.Tensor.ConvTranspose].
type ConvTranspose struct {
	Weight  tensor.Tensor // [in out/groups spatial...]
	Bias    tensor.Tensor `tensor:",optional"` // [out], or absent
	Options tensor.ConvOptions
}

// NewConvTranspose1D returns a transposed convolution of kernels of length kernel over
// inputs of shape [batch in length]. Weight and bias are uniform in ±1/√(out/groups·kernel),
// as in PyTorch. Nil options are stride 1 without padding.
func NewConvTranspose1D(rng *tensor.RNG, in, out, kernel int, o *tensor.ConvOptions) ConvTranspose {
	return newConvTranspose("NewConvTranspose1D", rng, in, out, o, kernel)
}

// NewConvTranspose2D is NewConvTranspose1D for square kernels over [batch in height width].
func NewConvTranspose2D(rng *tensor.RNG, in, out, kernel int, o *tensor.ConvOptions) ConvTranspose {
	return newConvTranspose("NewConvTranspose2D", rng, in, out, o, kernel, kernel)
}

// NewConvTranspose3D is NewConvTranspose1D for cubic kernels over [batch in depth height
// width].
func NewConvTranspose3D(rng *tensor.RNG, in, out, kernel int, o *tensor.ConvOptions) ConvTranspose {
	return newConvTranspose("NewConvTranspose3D", rng, in, out, o, kernel, kernel, kernel)
}

func newConvTranspose(op string, rng *tensor.RNG, in, out int, o *tensor.ConvOptions, kernel ...int) ConvTranspose {
	c := newConv(op, rng, out, in, o, kernel...) // whose weight is [in out/groups spatial...]
	return ConvTranspose{c.Weight, uniform(rng, boundOf(op, rng, c.Weight), out), c.Options}
}

// boundOf returns the bound of the uniform distribution of a weight.
func boundOf(op string, rng *tensor.RNG, weight tensor.Tensor) float64 {
	fanIn, _ := fans(op, rng, weight.Shape())
	return bound(fanIn)
}

// Apply maps x of shape [batch in spatial...] to [batch out spatial...].
func (l ConvTranspose) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("ConvTranspose")
	if !l.Weight.IsValid() {
		fail("ConvTranspose", "Weight is absent: make the layer with nn.NewConvTranspose2D, or load it")
	}
	y := x.ConvTranspose(l.Weight, &l.Options)
	checkBias("ConvTranspose", l.Bias, y.Dim(1))
	return affine(y, tensor.Tensor{}, perChannel(l.Bias, y.Rank()))
}
