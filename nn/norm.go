package nn

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A LayerNorm subtracts the mean of the last axes and divides by their
// standard deviation, √(variance + Eps): those axes that the weight has, the
// last one if it is absent.
//
// Source: Ba, Kiros, Hinton, "Layer Normalization", 2016.
type LayerNorm struct {
	Weight, Bias tensor.Tensor // [width], or absent
	Eps          float64       // 0 is 1e-5
}

// NewLayerNorm returns a layer norm of weight one and bias zero.
func NewLayerNorm(width int) LayerNorm {
	checkShape("NewLayerNorm", []int{width})
	return LayerNorm{Weight: tensor.Ones(width), Bias: tensor.Zeros(width)}
}

// Apply takes x of shape [... width] to the same shape.
func (l LayerNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("LayerNorm")
	axes := lastAxes("LayerNorm", x, l.Weight)
	centred := x.Sub(x.Mean(axes...))
	y := centred.Div(centred.Square().Mean(axes...).Add(cmp.Or(l.Eps, 1e-5)).Sqrt())
	return affine(y, l.Weight, l.Bias)
}

// An RMSNorm divides by the root of the mean square of the last axes.
//
// Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.
type RMSNorm struct {
	Weight, Bias tensor.Tensor // [width], or absent
	Eps          float64       // 0 is 1e-6
}

// NewRMSNorm returns a norm of weight one, without bias.
func NewRMSNorm(width int) RMSNorm {
	checkShape("NewRMSNorm", []int{width})
	return RMSNorm{Weight: tensor.Ones(width)}
}

// Apply takes x of shape [... width] to the same shape.
func (l RMSNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("RMSNorm")
	axes := lastAxes("RMSNorm", x, l.Weight)
	y := x.Div(x.Square().Mean(axes...).Add(cmp.Or(l.Eps, 1e-6)).Sqrt())
	return affine(y, l.Weight, l.Bias)
}

// lastAxes are the axes of x that the weight has, the last if it is absent.
func lastAxes(layer string, x, weight tensor.Tensor) []int {
	if !weight.IsValid() {
		return []int{-1}
	}
	first := x.Rank() - weight.Rank()
	if first < 0 || !slices.Equal(x.Shape()[first:], weight.Shape()) {
		fail(layer, "the input %v does not end in the weight's shape %v", x.Shape(), weight.Shape())
	}
	axes := make([]int, weight.Rank())
	for i := range axes {
		axes[i] = first + i
	}
	return axes
}

// affine is x·weight + bias, each if present.
func affine(x, weight, bias tensor.Tensor) tensor.Tensor {
	if weight.IsValid() {
		x = x.Mul(weight)
	}
	if bias.IsValid() {
		x = x.Add(bias)
	}
	return x
}

// A BatchNorm subtracts each channel's mean and divides by its standard
// deviation, √(variance + Eps): the batch's own in training, running averages
// of them at inference.
//
// Source: Ioffe, Szegedy, "Batch Normalization", 2015.
type BatchNorm struct {
	Weight, Bias tensor.Tensor // [channels], or absent
	Mean         tensor.Tensor `tensor:"running_mean,state"` // [channels]
	Var          tensor.Tensor `tensor:"running_var,state"`  // [channels]
	Momentum     float64       // the batch's share of the new averages; 0 is 0.1
	Eps          float64       // 0 is 1e-5
}

// NewBatchNorm returns a batch norm of weight one, bias zero, running mean
// zero and running variance one.
func NewBatchNorm(channels int) BatchNorm {
	checkShape("NewBatchNorm", []int{channels})
	return BatchNorm{
		Weight: tensor.Ones(channels), Bias: tensor.Zeros(channels),
		Mean: tensor.Zeros(channels), Var: tensor.Ones(channels),
	}
}

// Apply takes x of shape [batch channels ...] to the same shape.
func (l BatchNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("BatchNorm")
	l.check(x)
	y := x.Sub(onChannels(l.Mean, x.Rank())).Div(onChannels(l.Var.Add(cmp.Or(l.Eps, 1e-5)).Sqrt(), x.Rank()))
	return channelAffine(y, l.Weight, l.Bias)
}

// Train normalises by the batch's own statistics, and returns the layer with
// new running averages. The variance in them is divided by n-1, as in
// PyTorch, so a batch has at least two elements a channel. It draws nothing
// from rng, but a nil one means inference, as everywhere.
func (l BatchNorm) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	if rng == nil {
		return l.Apply(x), l
	}
	defer named("BatchNorm")
	l.check(x)
	n, axes := x.Len()/max(x.Dim(1), 1), []int{0}
	for a := 2; a < x.Rank(); a++ {
		axes = append(axes, a)
	}
	if n < 2 {
		fail("BatchNorm", "training takes at least 2 elements a channel, and the input %v has %d", x.Shape(), n)
	}
	mean := x.Mean(axes...)
	centred := x.Sub(mean)
	variance := centred.Square().Mean(axes...)
	y := channelAffine(centred.Div(variance.Add(cmp.Or(l.Eps, 1e-5)).Sqrt()), l.Weight, l.Bias)

	m, channels := cmp.Or(l.Momentum, 0.1), x.Dim(1)
	l.Mean = l.Mean.Mul(1 - m).Add(mean.Reshape(channels).Mul(m))
	l.Var = l.Var.Mul(1 - m).Add(variance.Reshape(channels).Mul(m * float64(n) / float64(n-1)))
	return y, l
}

func (l BatchNorm) check(x tensor.Tensor) {
	present("BatchNorm", "Mean", l.Mean)
	present("BatchNorm", "Var", l.Var)
	if x.Rank() < 2 || x.Dim(1) != l.Mean.Len() {
		fail("BatchNorm", "the input %v has not the layer's %d channels on axis 1", x.Shape(), l.Mean.Len())
	}
}

// A GroupNorm parts the channels of each example into groups, subtracts each
// group's mean and divides by its standard deviation, √(variance + Eps).
//
// Source: Wu, He, "Group Normalization", 2018.
type GroupNorm struct {
	Weight, Bias tensor.Tensor // [channels], or absent
	Groups       int
	Eps          float64 // 0 is 1e-5
}

// NewGroupNorm returns a group norm of weight one and bias zero. The channels
// are a multiple of groups.
func NewGroupNorm(groups, channels int) GroupNorm {
	checkShape("NewGroupNorm", []int{channels})
	if groups < 1 || channels%groups != 0 {
		fail("NewGroupNorm", "%d groups do not divide %d channels", groups, channels)
	}
	return GroupNorm{Weight: tensor.Ones(channels), Bias: tensor.Zeros(channels), Groups: groups}
}

// Apply takes x of shape [batch channels ...] to the same shape.
func (l GroupNorm) Apply(x tensor.Tensor) tensor.Tensor {
	return groupNorm("GroupNorm", x, l.Groups, cmp.Or(l.Eps, 1e-5), l.Weight, l.Bias)
}

// An InstanceNorm is a GroupNorm whose groups are the channels: of each
// example, each channel is normalised over the other axes.
//
// Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization", 2016.
type InstanceNorm struct {
	Weight, Bias tensor.Tensor // [channels], or absent
	Eps          float64       // 0 is 1e-5
}

// NewInstanceNorm returns an instance norm of weight one and bias zero.
func NewInstanceNorm(channels int) InstanceNorm {
	checkShape("NewInstanceNorm", []int{channels})
	return InstanceNorm{Weight: tensor.Ones(channels), Bias: tensor.Zeros(channels)}
}

// Apply takes x of shape [batch channels ...] to the same shape.
func (l InstanceNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("InstanceNorm")
	groups := 0
	if x.Rank() > 1 {
		groups = x.Dim(1)
	}
	return groupNorm("InstanceNorm", x, groups, cmp.Or(l.Eps, 1e-5), l.Weight, l.Bias)
}

func groupNorm(layer string, x tensor.Tensor, groups int, eps float64, weight, bias tensor.Tensor) tensor.Tensor {
	defer named(layer)
	if x.Rank() < 2 {
		fail(layer, "the input %v has no channels on axis 1", x.Shape())
	}
	if weight.IsValid() && weight.Len() != x.Dim(1) {
		fail(layer, "the input %v has not the layer's %d channels on axis 1", x.Shape(), weight.Len())
	}
	if groups < 1 || x.Dim(1)%groups != 0 {
		fail(layer, "%d groups do not divide the %d channels of the input %v", groups, x.Dim(1), x.Shape())
	}
	y := x.Reshape(x.Dim(0), groups, x.Len()/max(x.Dim(0)*groups, 1))
	y = y.Sub(y.Mean(2))
	y = y.Div(y.Square().Mean(2).Add(eps).Sqrt())
	return channelAffine(y.Reshape(x.Shape()...), weight, bias)
}

// channelAffine is x·weight + bias, each if present, one element a channel.
func channelAffine(x, weight, bias tensor.Tensor) tensor.Tensor {
	if weight.IsValid() {
		x = x.Mul(onChannels(weight, x.Rank()))
	}
	if bias.IsValid() {
		x = x.Add(onChannels(bias, x.Rank()))
	}
	return x
}
