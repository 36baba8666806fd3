package nn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// smooth are layers and losses of x [3 5] and y [3 5], of any type of floats. Their values are
// compared with PyTorch's in internal/golden; here are types, and derivatives of second order.
var smooth = map[string]func(x, y tensor.Tensor) tensor.Tensor{
	"Bilinear": func(x, y tensor.Tensor) tensor.Tensor {
		return nn.Bilinear{Weight: tensor.Full(0.5, 2, 5, 5), Bias: tensor.Ones(2)}.Apply(x, y)
	},
	"PReLU":             func(x, _ tensor.Tensor) tensor.Tensor { return nn.NewPReLU(5).Apply(x) },
	"Identity":          func(x, _ tensor.Tensor) tensor.Tensor { return nn.Identity{}.Apply(x) },
	"LocalResponseNorm": func(x, _ tensor.Tensor) tensor.Tensor { return nn.LocalResponseNorm{Size: 3, Alpha: 1}.Apply(x) },
	"WeightNorm":        func(x, y tensor.Tensor) tensor.Tensor { return nn.WeightNorm{G: y.Slice(1, 0, 1), V: x}.Weight() },
	"Pad": func(x, _ tensor.Tensor) tensor.Tensor {
		return nn.Pad{Before: []int{2}, Value: 3}.Apply(x.Unsqueeze(0))
	},
	"Normalize":            func(x, _ tensor.Tensor) tensor.Tensor { return nn.Normalize(x, 1) },
	"Focal":                func(x, y tensor.Tensor) tensor.Tensor { return nn.Focal(x, y.Sigmoid(), nil) },
	"InfoNCE":              func(x, y tensor.Tensor) tensor.Tensor { return nn.InfoNCE(x, y, 0.5) },
	"GaussianNLL":          func(x, y tensor.Tensor) tensor.Tensor { return nn.GaussianNLL(x, y, x.Exp()) },
	"SmoothL1":             func(x, y tensor.Tensor) tensor.Tensor { return nn.SmoothL1(x, y, 0.5) },
	"SoftCrossEntropy":     func(x, y tensor.Tensor) tensor.Tensor { return nn.SoftCrossEntropy(x, y.Softmax(-1)) },
	"BCE":                  func(x, y tensor.Tensor) tensor.Tensor { return nn.BCE(x.Sigmoid(), y.Sigmoid()) },
	"BCE of targets":       func(x, y tensor.Tensor) tensor.Tensor { return nn.BCE(y.Sigmoid(), x.Sigmoid()) },
	"BCEWithPosWeight":     func(x, y tensor.Tensor) tensor.Tensor { return nn.BCEWithPosWeight(x, y.Sigmoid(), 3) },
	"MarginRanking":        func(x, y tensor.Tensor) tensor.Tensor { return nn.MarginRanking(x, y, tensor.OnesLike(x), 0.1) },
	"HingeEmbedding":       func(x, y tensor.Tensor) tensor.Tensor { return nn.HingeEmbedding(x, y.Sign(), 1) },
	"CosineEmbedding":      func(x, y tensor.Tensor) tensor.Tensor { return nn.CosineEmbedding(x, y, tensor.Ones(3), 0) },
	"SoftMargin":           func(x, y tensor.Tensor) tensor.Tensor { return nn.SoftMargin(x, y.Sign()) },
	"MultiLabelSoftMargin": func(x, y tensor.Tensor) tensor.Tensor { return nn.MultiLabelSoftMargin(x, y.Sigmoid()) },
	"MultiLabelMargin":     func(x, y tensor.Tensor) tensor.Tensor { return nn.MultiLabelMargin(x, y.Gt(0).Cast(y.DType())) },
	"MultiMargin":          func(x, _ tensor.Tensor) tensor.Tensor { return nn.MultiMargin(x, tensor.New([]int64{4, 0, 1}), 1, 2) },
	"focal CrossEntropy": func(x, _ tensor.Tensor) tensor.Tensor {
		l, _ := nn.CrossEntropyWith(x, tensor.New([]int32{4, 0, 1}), &nn.CrossEntropyOptions{Gamma: 2})
		return l
	},
}

func TestTypes(t *testing.T) {
	rng := tensor.NewRNG(3)
	x, y := rng.Normal(3, 5).Keep(), rng.Normal(3, 5).Keep()
	for name, f := range smooth {
		want := f(x, y)
		for _, d := range []tensor.DType{tensor.Float64, tensor.BFloat16, tensor.Float16} {
			a, b := x.Cast(d), y.Cast(d)
			if name == "PReLU" { // its weight is float32, as all that New functions make
				f = func(x, _ tensor.Tensor) tensor.Tensor {
					return nn.PReLU{Weight: tensor.FullOf(x.DType(), 0.25, 5)}.Apply(x)
				}
			}
			got := f(a, b)
			if got.DType() != d {
				t.Errorf("%s of %v is %v", name, d, got.DType())
			}
			if ok, err := tensor.AllClose(got.Cast(tensor.Float32), want, 0.05, 0.05); !ok || err != nil {
				t.Errorf("%s of %v = %v, want %v (%v)", name, d, got, want, err)
			}
		}
	}
}

func TestSecondOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles second derivatives")
	}
	rng := tensor.NewRNG(5)
	x, y := rng.Normal(3, 5).Cast(tensor.Float64).Keep(), rng.Normal(3, 5).Cast(tensor.Float64).Keep()
	for name, f := range smooth {
		if name == "PReLU" {
			continue // its weight is float32
		}
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { return f(x, y) }, x, 2)
		})
	}
}

func TestMoreMisuse(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, image := tensor.Ones(2, 3), tensor.Ones(1, 2, 4, 5)
	two := []int{2}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { nn.Bilinear{}.Apply(x, x) }, "nn.Bilinear: Weight is absent: make the layer with nn.NewBilinear"},
		{func() { nn.NewBilinear(rng, 3, 4, 2).Apply(x, x) }, "nn.Bilinear: the inputs [2 3] and [2 3] are not [... 3] and [... 4]"},
		{func() { nn.NewBilinear(rng, 3, 3, 2).Apply(x, tensor.Ones(4, 3)) }, "nn.Bilinear: the inputs [2 3] and [4 3]"},
		{func() { nn.NewBilinear(nil, 3, 3, 2) }, "nn.NewBilinear: the *RNG is nil"},
		{func() { nn.PReLU{}.Apply(x) }, "nn.PReLU: Weight is absent"},
		{func() { nn.NewPReLU(4).Apply(x) }, "nn.PReLU: the input [2 3] does not have the layer's 4 channels on axis 1"},
		{func() { nn.NewPReLU(-4) }, "nn.NewPReLU: the weight's shape would be [-4]"},
		{func() { nn.Upsample{}.Apply(image) }, "nn.Upsample: Factor is 0 and Size nil: set one"},
		{func() { nn.Upsample{Factor: 2}.Apply(x) }, "nn.Upsample: the input [2 3] is not [batch channels spatial...]"},
		{func() { nn.Upsample{Size: []int{1, 2, 3}}.Apply(image) }, "nn.Upsample: Size is [1 2 3]: want one number, or one for each of the 2 axes"},
		{func() { nn.AdaptiveAvgPool{}.Apply(image) }, "nn.AdaptiveAvgPool: Size is []: want one number"},
		{func() { nn.AdaptiveMaxPool{Size: two}.Apply(x) }, "nn.AdaptiveMaxPool: the input [2 3] is not"},
		{func() { nn.Pad{}.Apply(image) }, "nn.Pad: Before is []: want one number"},
		{func() { nn.Pad{Before: []int{-1}, Value: 1}.Apply(image) }, "nn.Pad: a padding of -1, want at least 0"},
		{func() { nn.Pad{Before: []int{-9}}.Apply(image) }, "nn.Pad"},
		{func() { nn.Pad{Before: two, Mode: tensor.Reflect, Value: 1}.Apply(image) }, "nn.Pad: Mode and Value are both set"},
		{func() { nn.PixelShuffle{Factor: 3}.Apply(image) }, "nn.PixelShuffle"},
		{func() { nn.Unfold{}.Apply(image) }, "nn.Unfold: Size is 0, want at least 1"},
		{func() { nn.Unfold{Size: 9}.Apply(image) }, "nn.Unfold"},
		{func() { nn.Unfold{Size: 2, Options: tensor.ConvOptions{Stride: []int{-1}}}.Apply(image) }, "nn.Unfold: Stride is [-1]: want at least 1"},
		{func() { nn.Fold{Lengths: []int{4, 5}, Size: 2}.Apply(image) }, "nn.Fold: the input [1 2 4 5] is not [batch channels·window windows]"},
		{func() { nn.Fold{Lengths: []int{4, 5}, Size: 2}.Apply(tensor.Ones(1, 8, 11)) }, "nn.Fold: the input [1 8 11] does not have 4·channels elements of each of 12 windows"},
		{func() { nn.LocalResponseNorm{}.Apply(image) }, "nn.LocalResponseNorm: Size is 0"},
		{func() { nn.LocalResponseNorm{Size: 1}.Apply(tensor.Ones(2)) }, "nn.LocalResponseNorm: the input [2] has no channels"},
		{func() { nn.WeightNorm{V: x}.Weight() }, "nn.WeightNorm: G is absent"},
		{func() { nn.WeightNorm{G: x, V: x}.Weight() }, "nn.WeightNorm: G is [2 3]: want length 1 along an axis"},
		{func() { nn.NewWeightNorm(tensor.Ones(2)) }, "nn.NewWeightNorm: the weight [2] has rank 1"},
		{func() { nn.SpectralNorm{Original: x, U: x}.Weight() }, "nn.SpectralNorm: V is absent"},
		{func() { nn.NewSpectralNorm(nil, x) }, "nn.NewSpectralNorm: the *RNG is nil"},
		{func() { nn.NewSpectralNorm(rng, tensor.Ones(3)) }, "nn.NewSpectralNorm: the shape [3] has rank 1"},
		{func() { nn.ChannelDropout{P: 2}.Drop(x, rng) }, "nn.ChannelDropout: P is 2, want a probability"},
		{func() { nn.ChannelDropout{}.Apply(tensor.Ones(3)) }, "nn.ChannelDropout: the input [3] has no channels"},
		{func() { nn.Orthogonal(rng, 3) }, "nn.Orthogonal: the shape [3] has rank 1"},
		{func() { nn.Orthogonal(nil, 3, 3) }, "nn.Orthogonal: the *RNG is nil"},
		{func() { nn.TruncNormal(nil, 1, 3) }, "nn.TruncNormal: the *RNG is nil"},
		{func() { nn.Fans(3) }, "nn.Fans: the shape [3] has rank 1"},
		{func() { nn.InfoNCE(x, tensor.Ones(1, 3), 1) }, "nn.InfoNCE: want queries [n width] and keys [m width] with m ≥ n"},
		{func() { nn.InfoNCE(x, x, 0) }, "nn.InfoNCE: the temperature is 0"},
		{func() { nn.Focal(x, x, &nn.FocalOptions{Gamma: 0.5}) }, "nn.Focal: Gamma is 0.5, want a number of at least 1"},
		{func() { nn.Focal(x, tensor.Ones(3), nil) }, "nn.Focal: predictions [2 3] and targets [3] differ in shape"},
		{func() { nn.SmoothL1(x, x, -1) }, "nn.SmoothL1: beta is -1, want a number of at least 0"},
		{func() { nn.GaussianNLL(x, x, tensor.Ones(3)) }, "nn.GaussianNLL: predictions [2 3] and targets [3] differ in shape"},
		{func() { nn.SoftCrossEntropy(tensor.Scalar(1), tensor.Scalar(1)) }, "nn.SoftCrossEntropy: predictions have rank 0"},
		{func() { nn.BCEWithPosWeight(x, x, tensor.Ones(4)) }, "nn.BCEWithPosWeight"},
		{func() { nn.MarginRanking(x, x, tensor.Tensor{}, 1) }, "nn.MarginRanking: the targets are absent"},
		{func() { nn.CosineEmbedding(x, x, x, 0) }, "nn.CosineEmbedding: want targets [2], one for each pair"},
		{func() { nn.MultiLabelMargin(tensor.Scalar(1), tensor.Scalar(1)) }, "nn.MultiLabelMargin: predictions have rank 0"},
		{func() { nn.MultiMargin(x, tensor.New([]int32{0, 1}), 1, 3) }, "nn.MultiMargin: p is 3, want 1 or 2"},
		{func() { nn.MultiMargin(x, x, 1, 1) }, "nn.MultiMargin: labels [2 3] do not fit predictions [2 3]"},
		{func() { nn.CrossEntropyWith(x, tensor.New([]int32{0, 1}), &nn.CrossEntropyOptions{Gamma: 0.5}) }, "nn.CrossEntropyWith: Gamma is 0.5"},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "more_test.go:") {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestOrthogonal(t *testing.T) {
	rng := tensor.NewRNG(7)
	for _, shape := range [][]int{{5, 5}, {3, 7}, {7, 3}, {4, 2, 3}, {64, 3, 3, 3}, {1, 1}, {0, 3}} {
		q := nn.Orthogonal(rng, shape...)
		if !slices.Equal(q.Shape(), shape) {
			t.Errorf("Orthogonal(%v) has shape %v", shape, q.Shape())
		}
		m := q.Reshape(shape[0], q.Len()/max(shape[0], 1))
		if m.Dim(0) > m.Dim(1) {
			m = m.T()
		}
		if ok, err := tensor.AllClose(m.MatMul(m.T()), tensor.Eye(m.Dim(0)), 0, 1e-6); !ok || err != nil {
			t.Errorf("Orthogonal(%v) is not: %v (%v)", shape, m.MatMul(m.T()), err)
		}
	}
	// Uniform: elements of many matrices have mean 0 and variance 1/n.
	var all []tensor.Tensor
	for range 300 {
		all = append(all, nn.Orthogonal(rng, 4, 4))
	}
	s := tensor.Stack(0, all...)
	if mean, variance := s.Mean(0).Abs().Max().Item(), s.Square().Mean(0).Sub(0.25).Abs().Max().Item(); mean > 0.12 || variance > 0.08 {
		t.Errorf("elements have means up to %v and variances up to %v from 1/4", mean, variance)
	}
}

func TestChannelDropout(t *testing.T) {
	l := nn.ChannelDropout{P: 0.25}
	x := tensor.Ones(40, 30, 2, 3)
	if got := l.Apply(x).Sum().Item(); got != 7200 {
		t.Errorf("Apply gives the sum %v", got)
	}
	y, _ := nn.Train(l, x, tensor.NewRNG(2))
	lowest, highest := y.Min(2, 3), y.Max(2, 3)
	if ok, err := tensor.AllClose(lowest, highest, 0, 0); !ok || err != nil {
		t.Errorf("elements of a channel differ (%v)", err)
	}
	if most, kept := y.Max().Item(), lowest.Gt(0).Sum().Item()/1200; math.Abs(most-4.0/3) > 1e-6 || math.Abs(kept-0.75) > 0.04 {
		t.Errorf("a part of %v is kept, times %v", kept, most)
	}
}

func TestSpectralNorm(t *testing.T) {
	rng := tensor.NewRNG(2)
	w := rng.Normal(5, 2, 3).Mul(3).Keep()
	l := nn.NewSpectralNorm(rng, w)
	for range 200 {
		l = l.Next()
		l.U, l.V = l.U.Keep(), l.V.Keep()
		if err := tensor.Eval(l); err != nil {
			t.Fatal(err)
		}
	}
	power := l.Weight().Flatten(1).Cast(tensor.Float64)
	power = power.MatMul(power.T()) // its norm's root is the largest singular value in the limit
	for range 20 {
		power = power.MatMul(power)
	}
	if got := math.Pow(power.Norm().Item(), 1.0/(1<<21)); math.Abs(got-1) > 1e-5 {
		t.Errorf("the largest singular value is %v", got)
	}
	if ok, err := tensor.AllClose(l.Weight().Div(l.Weight().Norm()), w.Div(w.Norm()), 1e-5, 1e-6); !ok || err != nil {
		t.Errorf("the weight is not a multiple of the original (%v)", err)
	}
	// No derivative flows through the vectors, also where a step is part of the loss.
	l.Original = l.Original.Cast(tensor.Float64)
	fixed := nn.SpectralNorm{U: l.U.Cast(tensor.Float64), V: l.V.Cast(tensor.Float64)}
	of := func(next bool) tensor.Tensor {
		return grad.Of(func(w tensor.Tensor) tensor.Tensor {
			l := fixed
			if l.Original = w; next {
				l = l.Next()
			}
			return l.Weight().Square().Sum()
		})(l.Original)
	}
	if ok, err := tensor.AllClose(of(true), of(false), 1e-4, 1e-4); !ok || err != nil {
		t.Errorf("gradients with a step %v, without %v (%v)", of(true), of(false), err)
	}
}

func TestGains(t *testing.T) {
	rng := tensor.NewRNG(7)
	if in, out := nn.Fans(8, 4, 3, 3); in != 36 || out != 72 {
		t.Errorf("Fans = %d, %d", in, out)
	}
	if nn.GainLeakyReLU(0) != nn.GainReLU || math.Abs(nn.GainLeakyReLU(math.Sqrt(5))-math.Sqrt(1.0/3)) > 1e-15 {
		t.Errorf("GainLeakyReLU(0) = %v, GainLeakyReLU(√5) = %v", nn.GainLeakyReLU(0), nn.GainLeakyReLU(math.Sqrt(5)))
	}
	w := nn.TruncNormal(rng, 0.02, 100, 100)
	// Cut at ±2, a standard normal has the standard deviation 0.8796.
	if top, sigma := w.Abs().Max().Item(), w.Std().Item(); top > 0.04 || top < 0.039 || math.Abs(sigma-0.01759) > 3e-4 {
		t.Errorf("TruncNormal reaches %v with deviation %v", top, sigma)
	}
	conv := nn.NewConv1D(rng, 2, 3, 4, nil)
	l := nn.NewWeightNorm(conv.Weight)
	if ok, err := tensor.AllClose(l.Weight(), conv.Weight, 1e-6, 1e-7); !ok || err != nil || !slices.Equal(l.G.Shape(), []int{3, 1, 1}) {
		t.Errorf("NewWeightNorm changes the weight, or its lengths are %v (%v)", l.G.Shape(), err)
	}
}
