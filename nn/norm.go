package nn

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// A LayerNorm subtracts the mean over the last axes and divides by the standard
// deviation, √(variance + Eps). It normalizes the axes that the weight has, the last
// axis if the weight is absent.
//
// Source: Ba, Kiros, Hinton, "Layer Normalization", 2016.
type LayerNorm struct {
	Weight tensor.Tensor // [width], or absent
	Bias   tensor.Tensor `tensor:",optional"` // [width], or absent
	Eps    float64       // 0 is 1e-5
}

// NewLayerNorm returns a layer norm of weight one and bias zero.
func NewLayerNorm(width int) LayerNorm {
	checkShape("NewLayerNorm", []int{width})
	return LayerNorm{Weight: tensor.OnesOf(tensor.Float32, width), Bias: tensor.ZerosOf(tensor.Float32, width)}
}

// Apply maps x of shape [... width] to the same shape.
func (l LayerNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("LayerNorm")
	axes := lastAxes("LayerNorm", x, l.Weight)
	return affine(normalize(x, epsilon("LayerNorm", l.Eps, 1e-5), axes...), l.Weight, l.Bias)
}

// normalize subtracts the mean over axes and divides by √(variance + eps).
func normalize(x tensor.Tensor, eps float64, axes ...int) tensor.Tensor {
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		centred := ts[0].Sub(ts[0].Mean(axes...))
		return centred.Mul(inverseRMS(centred, eps, axes...))
	}, x)
}

// An RMSNorm divides by the root of the mean square of the last axes.
//
// Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.
type RMSNorm struct {
	Weight tensor.Tensor // [width], or absent
	Bias   tensor.Tensor `tensor:",optional"` // [width], or absent
	Eps    float64       // 0 is 1e-6
}

// NewRMSNorm returns a norm of weight one, without bias.
func NewRMSNorm(width int) RMSNorm {
	checkShape("NewRMSNorm", []int{width})
	return RMSNorm{Weight: tensor.OnesOf(tensor.Float32, width)}
}

// Apply maps x of shape [... width] to the same shape.
func (l RMSNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("RMSNorm")
	axes := lastAxes("RMSNorm", x, l.Weight)
	eps := epsilon("RMSNorm", l.Eps, 1e-6)
	y := wide(func(ts ...tensor.Tensor) tensor.Tensor { return ts[0].Mul(inverseRMS(ts[0], eps, axes...)) }, x)
	return affine(y, l.Weight, l.Bias)
}

// lastAxes returns the axes of x that the weight has, the last if it is absent.
func lastAxes(layer string, x, weight tensor.Tensor) []int {
	if !weight.IsValid() {
		return []int{-1}
	}
	first := x.Rank() - weight.Rank()
	if first < 0 || !slices.Equal(x.Shape()[first:], weight.Shape()) {
		fail(layer, "the input %v does not end in the weight's shape %v", x.Shape(), weight.Shape())
	}
	return shape.All(x.Rank())[first:]
}

// affine returns x·weight + bias. Each may be absent.
func affine(x, weight, bias tensor.Tensor) tensor.Tensor {
	if weight.IsValid() {
		x = x.Mul(weight)
	}
	if bias.IsValid() {
		x = x.Add(bias)
	}
	return x
}

// A BatchNorm subtracts each channel's mean and divides by its standard deviation,
// √(variance + Eps). In training these are the batch's, at inference their running
// averages.
//
// Source: Ioffe, Szegedy, "Batch Normalization", 2015.
type BatchNorm struct {
	Weight   tensor.Tensor // [channels], or absent
	Bias     tensor.Tensor `tensor:",optional"`          // [channels], or absent
	Mean     tensor.Tensor `tensor:"running_mean,state"` // [channels]
	Var      tensor.Tensor `tensor:"running_var,state"`  // [channels]
	Momentum float64       // the batch's share of the new averages; 0 is 0.1
	Eps      float64       // 0 is 1e-5
}

// NewBatchNorm returns a batch norm of weight one, bias zero, running mean
// zero and running variance one.
func NewBatchNorm(channels int) BatchNorm {
	checkShape("NewBatchNorm", []int{channels})
	return BatchNorm{
		Weight: tensor.OnesOf(tensor.Float32, channels), Bias: tensor.ZerosOf(tensor.Float32, channels),
		Mean: tensor.ZerosOf(tensor.Float32, channels), Var: tensor.OnesOf(tensor.Float32, channels),
	}
}

// Apply maps x of shape [batch channels ...] to the same shape.
func (l BatchNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("BatchNorm")
	l.check(x)
	mean, variance := widened(l.Mean), widened(l.Var)
	deviation, weight := variance.Add(atLeast(variance, l.eps())).Sqrt(), l.Weight
	scale := deviation.Reciprocal() // of a channel, because elements are many
	if weight.IsValid() && !isHalf(x) {
		scale, weight = weight.Div(deviation), tensor.Tensor{}
	}
	y := widened(x).Sub(perChannel(mean, x.Rank())).Mul(perChannel(scale, x.Rank()))
	return channelAffine(narrowed(y, x), weight, l.Bias)
}

// Train normalizes by the batch's statistics, and returns the layer with new running
// averages, computed in float32 or more. Their variance divides by n-1, as in PyTorch, so a
// batch has at least two elements a channel. Train draws nothing from rng; nil means inference.
func (l BatchNorm) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	if rng == nil {
		return l.Apply(x), l
	}
	defer named("BatchNorm")
	l.check(x)
	n, axes := x.Len()/max(x.Dim(1), 1), append([]int{0}, shape.All(x.Rank())[2:]...)
	if n < 2 {
		fail("BatchNorm", "training needs at least 2 elements a channel, the input %v has %d", x.Shape(), n)
	}
	mean := widened(x).Mean(axes...)
	centred := widened(x).Sub(mean)
	y := channelAffine(narrowed(centred.Mul(inverseRMS(centred, l.eps(), axes...)), x), l.Weight, l.Bias)

	m, unbiased := l.momentum(), float64(n)/float64(n-1)
	next := func(average, of tensor.Tensor, scale float64) tensor.Tensor {
		return narrowed(widened(average).Mul(1-m).Add(of.Reshape(x.Dim(1)).Mul(m*scale)), average)
	}
	l.Mean, l.Var = next(l.Mean, mean, 1), next(l.Var, centred.Square().Mean(axes...), unbiased)
	return y, l
}

func (l BatchNorm) eps() float64 { return epsilon("BatchNorm", l.Eps, 1e-5) }

func (l BatchNorm) momentum() float64 {
	return setting("BatchNorm", "Momentum", cmp.Or(l.Momentum, 0.1), limits.Share)
}

func (l BatchNorm) check(x tensor.Tensor) {
	checkPresent("BatchNorm", "Mean", l.Mean)
	checkPresent("BatchNorm", "Var", l.Var)
	l.momentum()
	if x.Rank() < 2 || x.Dim(1) != l.Mean.Len() {
		fail("BatchNorm", "the input %v does not have the layer's %d channels on axis 1", x.Shape(), l.Mean.Len())
	}
}

// A GroupNorm splits the channels of each example into groups, subtracts each
// group's mean and divides by its standard deviation, √(variance + Eps).
//
// Source: Wu, He, "Group Normalization", 2018.
type GroupNorm struct {
	Weight tensor.Tensor // [channels], or absent
	Bias   tensor.Tensor `tensor:",optional"` // [channels], or absent
	Groups int
	Eps    float64 // 0 is 1e-5
}

// NewGroupNorm returns a group norm of weight one and bias zero. The channels
// are a multiple of groups.
func NewGroupNorm(groups, channels int) GroupNorm {
	checkShape("NewGroupNorm", []int{channels})
	if groups < 1 || channels%groups != 0 {
		fail("NewGroupNorm", "%d groups do not divide %d channels", groups, channels)
	}
	return GroupNorm{Weight: tensor.OnesOf(tensor.Float32, channels), Bias: tensor.ZerosOf(tensor.Float32, channels), Groups: groups}
}

// Apply maps x of shape [batch channels ...] to the same shape.
func (l GroupNorm) Apply(x tensor.Tensor) tensor.Tensor {
	return groupNorm("GroupNorm", x, l.Groups, l.Eps, l.Weight, l.Bias)
}

// An InstanceNorm is a GroupNorm with one channel a group.
//
// Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization", 2016.
type InstanceNorm struct {
	Weight tensor.Tensor `tensor:",optional"` // [channels], or absent
	Bias   tensor.Tensor `tensor:",optional"` // [channels], or absent
	Eps    float64       // 0 is 1e-5
}

// NewInstanceNorm returns an instance norm of weight one and bias zero.
func NewInstanceNorm(channels int) InstanceNorm {
	checkShape("NewInstanceNorm", []int{channels})
	return InstanceNorm{Weight: tensor.OnesOf(tensor.Float32, channels), Bias: tensor.ZerosOf(tensor.Float32, channels)}
}

// Apply maps x of shape [batch channels ...] to the same shape.
func (l InstanceNorm) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("InstanceNorm")
	groups := 0
	if x.Rank() > 1 {
		groups = x.Dim(1)
	}
	return groupNorm("InstanceNorm", x, groups, l.Eps, l.Weight, l.Bias)
}

func groupNorm(layer string, x tensor.Tensor, groups int, eps float64, weight, bias tensor.Tensor) tensor.Tensor {
	defer named(layer)
	if x.Rank() < 2 {
		fail(layer, "the input %v has no channels on axis 1", x.Shape())
	}
	if weight.IsValid() && weight.Len() != x.Dim(1) {
		fail(layer, "the input %v does not have the layer's %d channels on axis 1", x.Shape(), weight.Len())
	}
	if groups < 1 || x.Dim(1)%groups != 0 {
		fail(layer, "%d groups do not divide the %d channels of the input %v", groups, x.Dim(1), x.Shape())
	}
	y := normalize(x.Reshape(x.Dim(0), groups, x.Len()/max(x.Dim(0)*groups, 1)), epsilon(layer, eps, 1e-5), 2)
	return channelAffine(y.Reshape(x.Shape()...), weight, bias)
}

// channelAffine returns affine with one element of weight and bias a channel.
func channelAffine(x, weight, bias tensor.Tensor) tensor.Tensor {
	return affine(x, perChannel(weight, x.Rank()), perChannel(bias, x.Rank()))
}
