package neural

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Norms has the functions that shift and scale by averages, and dropout.
var Norms = []op.Row{
	op.New("BatchNormalization", op.Many(batchNorm)),
	op.New("Dropout", op.Many(dropout)).Drawn(),
	op.New("GroupNormalization", op.One(groupNorm)),
	op.New("InstanceNormalization", op.One(instanceNorm)),
	op.New("LayerNormalization", op.Many(layerNorm)),
	op.New("LRN", op.One(lrn)),
	op.New("LpNormalization", op.One(lpNorm)),
	op.New("MeanVarianceNormalization", op.One(meanVariance)),
	op.New("RMSNormalization", op.One(rmsNorm)),
}

// batchNorm is y = x·a + b with numbers by channel. In training the batch has them, and the running averages are results
// too. Before version 14 more than one result says so, and the last two are the batch's.
func batchNorm(c *op.Call) []T {
	x, mean, variance := wide(c.Tensor(0)), wide(c.Tensor(3)), wide(c.Tensor(4))
	training := c.Bool("training_mode", c.Opset < 14 && !c.Bool("is_test", false) && (c.Wants(1) || c.Wants(2) || c.Wants(3) || c.Wants(4)))
	axes, shape, each := others(x, 1), []int{x.Dim(1)}, func(v T) T { return channels(v.Cast(x.DType()), x) }
	if c.Opset < 9 && !c.Bool("spatial", true) { // numbers for each element of an image
		axes, shape, each = []int{0}, x.Shape()[1:], func(v T) T { return v.Cast(x.DType()) }
	}
	runningMean, runningVar := mean, variance
	if training {
		batchMean := x.Mean(axes...)
		batchVar := x.Sub(batchMean).Square().Mean(axes...)
		keep := c.Float("momentum", 0.9)
		next := func(average, batch T) T {
			return average.Mul(keep).Add(batch.Reshape(shape...).Cast(average.DType()).Mul(1 - keep))
		}
		runningMean, runningVar = next(mean, batchMean), next(variance, batchVar)
		mean, variance = batchMean.Reshape(shape...), batchVar.Reshape(shape...)
	}
	scale := wide(c.Tensor(1))
	scale = scale.Div(variance.Add(c.Float("epsilon", 1e-5)).Sqrt().Cast(scale.DType()))
	shift := wide(c.Tensor(2)).Sub(mean.Cast(scale.DType()).Mul(scale))
	y := x.Mul(each(scale)).Add(each(shift)).Cast(c.Tensor(0).DType())
	if !training {
		return []T{y}
	}
	results := []T{y}
	for i, t := range []T{runningMean, runningVar, mean, variance} {
		results = append(results, t.Cast(c.Tensor(3+i%2).DType()))
	}
	return results
}

// others returns the axes of x but one.
func others(x T, axis int) (axes []int) {
	for a := range x.Rank() {
		if a != axis {
			axes = append(axes, a)
		}
	}
	return axes
}

// wide returns x in the type that kernels compute it in, so that sums of squares and small numbers are in
// range where a result is stored.
func wide(x T) T { return x.Cast(x.DType().ComputeType()) }

// normalized is (x - mean)/√(variance + eps) over axes, computed in a type of numbers.
func normalized(x T, eps float64, axes []int) (y, mean, deviation T) {
	mean = x.Mean(axes...)
	d := x.Sub(mean)
	deviation = d.Square().Mean(axes...).Add(eps).Rsqrt()
	return d.Mul(deviation), mean, deviation
}

// stash returns x in the type in which a norm is computed.
func stash(c *op.Call, x T) T { return x.Cast(c.DType(c.Elem("stash_type", op.Float))) }

// trailing returns the axes from attribute axis on.
func trailing(c *op.Call, x T) (axes []int) {
	for a := c.Axis(c.Int("axis", -1), x.Rank()); a < x.Rank(); a++ {
		axes = append(axes, a)
	}
	return axes
}

func layerNorm(c *op.Call) []T {
	x := c.Tensor(0)
	y, mean, deviation := normalized(stash(c, x), c.Float("epsilon", 1e-5), trailing(c, x))
	y = y.Cast(x.DType()).Mul(c.Tensor(1))
	if c.Has(2) {
		y = y.Add(c.Tensor(2))
	}
	return []T{y, mean, deviation}
}

func rmsNorm(c *op.Call) T {
	x := c.Tensor(0)
	wide := stash(c, x)
	y := wide.Mul(wide.Square().Mean(trailing(c, x)...).Add(c.Float("epsilon", 1e-5)).Rsqrt())
	scale := c.Tensor(1)
	return y.Cast(x.DType()).Cast(scale.DType()).Mul(scale) // of the scale's type
}

func instanceNorm(c *op.Call) T {
	x := c.Tensor(0)
	y, _, _ := normalized(wide(x), c.Float("epsilon", 1e-5), last(x, x.Rank()-2))
	return y.Cast(x.DType()).Mul(channels(c.Tensor(1), x)).Add(channels(c.Tensor(2), x))
}

// groupNorm has a scale and a bias for each channel, for each group before version 21.
func groupNorm(c *op.Call) T {
	x := c.Tensor(0)
	groups, n := c.Int("num_groups", 0), x.Dim(1)
	if groups < 1 || n%groups != 0 {
		c.Fail("num_groups is %d, for %d channels", groups, n)
	}
	g := stash(c, x).Reshape(x.Dim(0), groups, product(x.Shape()[1:])/groups)
	y, _, _ := normalized(g, c.Float("epsilon", 1e-5), []int{2})
	y = y.Reshape(x.Shape()...).Cast(x.DType())
	each := func(i int) T {
		v := c.Tensor(i)
		if c.Opset < 21 {
			v = v.Repeat(0, n/groups)
		}
		return channels(v, x)
	}
	return y.Mul(each(1)).Add(each(2))
}

// lrn divides by a function of the squares of the channels nearby.
func lrn(c *op.Call) T {
	x, size := wide(c.Tensor(0)), c.Int("size", 0)
	if size < 1 {
		c.Fail("size is %d", size)
	}
	sum := x.Square().Pad(1, (size-1)/2, size-1-(size-1)/2).Unfold(1, size, 1).Sum(-1).Squeeze(-1)
	y := x.Div(sum.Mul(c.Float("alpha", 1e-4) / float64(size)).Add(c.Float("bias", 1)).Pow(c.Float("beta", 0.75)))
	return y.Cast(c.Tensor(0).DType())
}

func lpNorm(c *op.Call) T {
	x := c.Tensor(0)
	n := x.NormP(float64(c.Int("p", 2)), c.Int("axis", -1))
	return x.Div(tensor.Where(n.Eq(0), tensor.OnesLike(n), n))
}

func meanVariance(c *op.Call) T {
	x := c.Tensor(0)
	axes := c.IntsAttr("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	d := wide(x)
	d = d.Sub(d.Mean(axes...))
	return d.Div(d.Square().Mean(axes...).Sqrt().Add(1e-9)).Cast(x.DType())
}
