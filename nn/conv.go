package nn

import (
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A Conv layer is a convolution (a cross-correlation, by its usual name) over one
// to three spatial axes, as many as its weight has.
type Conv struct {
	Weight  tensor.Tensor // [out in/groups spatial...]
	Bias    tensor.Tensor `tensor:",optional"` // [out], or absent
	Options tensor.ConvOptions
}

// NewConv1D returns a convolution of kernels of length kernel over inputs of
// shape [batch in length]. Weight and bias are uniform in ±1/√(in/groups·kernel),
// as in PyTorch. Nil options are stride 1 without padding.
func NewConv1D(rng *tensor.RNG, in, out, kernel int, o *tensor.ConvOptions) Conv {
	return newConv("NewConv1D", rng, in, out, o, kernel)
}

// NewConv2D is NewConv1D for square kernels over [batch in height width].
func NewConv2D(rng *tensor.RNG, in, out, kernel int, o *tensor.ConvOptions) Conv {
	return newConv("NewConv2D", rng, in, out, o, kernel, kernel)
}

// NewConv3D is NewConv1D for cubic kernels over [batch in depth height width].
func NewConv3D(rng *tensor.RNG, in, out, kernel int, o *tensor.ConvOptions) Conv {
	return newConv("NewConv3D", rng, in, out, o, kernel, kernel, kernel)
}

func newConv(op string, rng *tensor.RNG, in, out int, o *tensor.ConvOptions, kernel ...int) Conv {
	if kernel[0] < 1 {
		fail(op, "the kernel's length is %d, want at least 1", kernel[0])
	}
	var l Conv
	if o != nil {
		l.Options = *o
	}
	groups := max(l.Options.Groups, 1)
	if in%groups != 0 || out%groups != 0 {
		fail(op, "%d groups do not divide %d input and %d output channels", groups, in, out)
	}
	shape := append([]int{out, in / groups}, kernel...)
	fanIn, _ := fans(op, rng, shape)
	l.Weight, l.Bias = uniform(rng, bound(fanIn), shape...), uniform(rng, bound(fanIn), out)
	return l
}

// Apply maps x of shape [batch in spatial...] to [batch out spatial...].
func (l Conv) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Conv")
	if !l.Weight.IsValid() {
		fail("Conv", "Weight is absent: make the layer with nn.NewConv2D, or load it")
	}
	if x.Rank() != l.Weight.Rank() {
		fail("Conv", "the input %v has rank %d, the weight [out in/groups spatial...] = %v takes %d", x.Shape(), x.Rank(), l.Weight.Shape(), l.Weight.Rank())
	}
	if in := l.Weight.Dim(1) * max(l.Options.Groups, 1); x.Dim(1) != in {
		fail("Conv", "the input %v has %d channels on axis 1, the weight %v takes %d", x.Shape(), x.Dim(1), l.Weight.Shape(), in)
	}
	checkBias("Conv", l.Bias, l.Weight.Dim(0))
	return affine(x.Conv(l.Weight, &l.Options), tensor.Tensor{}, perChannel(l.Bias, x.Rank()))
}

// perChannel reshapes t, one element a channel, to broadcast along axis 1 of a
// tensor of that rank. An absent t stays absent.
func perChannel(t tensor.Tensor, rank int) tensor.Tensor {
	if !t.IsValid() {
		return t
	}
	return t.Reshape(append([]int{t.Len()}, slices.Repeat([]int{1}, rank-2)...)...)
}

// A MaxPool layer returns the maximum of each window of Size along every axis after
// the first two. The stride is Size unless Options has one; padding is -inf. Windows of other
// lengths for each axis are Options.Window, with Size 0.
type MaxPool struct {
	Size    int
	Options tensor.ConvOptions
}

// Apply maps x of shape [batch channels spatial...] to the same rank and channels.
func (l MaxPool) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("MaxPool")
	return x.MaxPool(l.Size, &l.Options)
}

// An AvgPool layer returns the mean of each window, as MaxPool the maximum. Padding
// is zeros, which count in the mean.
type AvgPool struct {
	Size    int
	Options tensor.ConvOptions
}

// Apply maps x of shape [batch channels spatial...] to the same rank and channels.
func (l AvgPool) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("AvgPool")
	return x.AvgPool(l.Size, &l.Options)
}
