package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// iota returns a tensor of 0, 1, 2 … times scale.
func iota(scale float64, shape ...int) tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return tensor.Arange(n).Cast(tensor.Float32).Mul(scale).Reshape(shape...)
}

// check compares a tensor of float32 with the values expected, in order.
func check(t *testing.T, call string, got tensor.Tensor, shape []int, want ...float32) {
	t.Helper()
	if !slices.Equal(got.Shape(), shape) {
		t.Errorf("%s has shape %v, want %v", call, got.Shape(), shape)
		return
	}
	ok, err := tensor.AllClose(got, tensor.New(want, shape...), 1e-5, 1e-5)
	if err != nil {
		t.Errorf("%s: %v", call, err)
	} else if !ok {
		t.Errorf("%s =\n%v\nwant %v", call, got, want)
	}
}

func TestApply(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3, 4, 5, 7}, 2, 3)
	image := iota(1, 1, 1, 3, 3)
	for _, c := range []struct {
		name  string
		layer nn.Layer
		x     tensor.Tensor
		shape []int
		want  []float32
	}{
		{"Linear", nn.Linear{Weight: tensor.From([][]float32{{1, 0, 2}, {0, 1, 0}}), Bias: tensor.New([]float32{10, 20})}, x,
			[]int{2, 2}, []float32{17, 22, 28, 25}},
		{"Linear without bias", nn.Linear{Weight: tensor.From([][]float32{{1, 0, 2}})}, x, []int{2, 1}, []float32{7, 18}},
		{"Linear of one example", nn.Linear{Weight: tensor.From([][]float32{{1, 0, 2}})}, x.At(0), []int{1}, []float32{7}},
		{"Embedding", nn.Embedding{Weight: x}, tensor.New([]int32{1, 0, 1}, 3), []int{3, 3}, []float32{4, 5, 7, 1, 2, 3, 4, 5, 7}},
		{"Flatten", nn.Flatten{}, image, []int{1, 9}, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"Dropout", nn.Dropout{P: 0.5}, x, []int{2, 3}, []float32{1, 2, 3, 4, 5, 7}},
		{"Func", nn.Func(tensor.Tensor.Neg), x, []int{2, 3}, []float32{-1, -2, -3, -4, -5, -7}},
		{"Conv", nn.Conv{Weight: iota(1, 1, 1, 2, 2), Bias: tensor.New([]float32{100})}, image,
			[]int{1, 1, 2, 2}, []float32{119, 125, 137, 143}},
		{"Conv with padding", nn.Conv{Weight: tensor.Ones(1, 1, 3, 3), Options: tensor.ConvOptions{Padding: []int{1}}}, image,
			[]int{1, 1, 3, 3}, []float32{8, 15, 12, 21, 36, 27, 20, 33, 24}},
		{"MaxPool", nn.MaxPool{Size: 2, Options: tensor.ConvOptions{Stride: []int{1}}}, image, []int{1, 1, 2, 2}, []float32{4, 5, 7, 8}},
		{"AvgPool", nn.AvgPool{Size: 3}, image, []int{1, 1, 1, 1}, []float32{4}},
		{"LayerNorm", nn.NewLayerNorm(3), x, []int{2, 3}, []float32{-1.2247357, 0, 1.2247357, -1.0690403, -0.2672601, 1.3363004}},
		{"RMSNorm", nn.NewRMSNorm(3), x, []int{2, 3}, []float32{0.46291, 0.92582, 1.38873, 0.73029674, 0.9128709, 1.2780193}},
		{"BatchNorm", nn.BatchNorm{Mean: tensor.New([]float32{1, 2, 3}), Var: tensor.New([]float32{1, 4, 9}), Bias: tensor.Ones(3)}, x,
			[]int{2, 3}, []float32{1, 1, 1, 3.999985, 2.4999981, 2.3333326}},
		{"GroupNorm", nn.NewGroupNorm(2, 4), tensor.New([]float32{1, 3, 10, 30}, 1, 4), []int{1, 4}, []float32{-0.999995, 0.999995, -1, 1}},
		{"InstanceNorm", nn.NewInstanceNorm(2), tensor.New([]float32{1, 3, 10, 30}, 1, 2, 2), []int{1, 2, 2}, []float32{-0.999995, 0.999995, -1, 1}},
		{"Sequential", nn.Sequential{nn.Func(tensor.Tensor.Neg), nn.Func(tensor.Tensor.ReLU)}, x, []int{2, 3}, make([]float32, 6)},
	} {
		check(t, c.name+".Apply", c.layer.Apply(c.x), c.shape, c.want...)
	}
}

func TestTrainBatchNorm(t *testing.T) {
	x := tensor.New([]float32{1, 10, 3, 20, 5, 60}, 3, 2)
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewBatchNorm(2), nn.Func(tensor.Tensor.Neg)}
	y, next := nn.Train(net, x, rng)
	check(t, "y", y, []int{3, 2}, 1.2247425, 0.92582, 0, 0.46291, -1.2247425, -1.38873)
	bn := next[0].(nn.BatchNorm)
	check(t, "running mean", bn.Mean, []int{2}, 0.3, 3)
	check(t, "running variance", bn.Var, []int{2}, 0.9+0.4, 0.9+70)
	check(t, "old running mean", net[0].(nn.BatchNorm).Mean, []int{2}, 0, 0)

	y, next = nn.Train(net, x, nil)
	check(t, "y without RNG", y, []int{3, 2}, -0.999995, -9.99995, -2.999985, -19.9999, -4.999975, -59.9997)
	check(t, "running mean without RNG", next[0].(nn.BatchNorm).Mean, []int{2}, 0, 0)
}

// Training keeps the type of each layer, pointers included, and so the type of a tree.
func TestTrainKeepsTypes(t *testing.T) {
	x, rng := tensor.New([]float32{1, 10, 3, 20, 5, 60}, 3, 2), tensor.NewRNG(1)
	bn, lin := nn.NewBatchNorm(2), nn.NewLinear(rng, 2, 2)
	_, p := nn.Train(&bn, x, rng)
	check(t, "running mean of a pointer", p.Mean, []int{2}, 0.3, 3)
	check(t, "running mean of what it pointed to", bn.Mean, []int{2}, 0, 0)

	net := nn.Sequential{&lin, &bn, bn, &nn.Sequential{&bn}}
	_, next := nn.Train(net, x, rng)
	for i, layer := range next {
		if got, want := fmt.Sprintf("%T", layer), fmt.Sprintf("%T", net[i]); got != want {
			t.Errorf("layer %d is a %s after training, want a %s", i, got, want)
		}
	}
	_, next = nn.Train(nn.Sequential{&bn, nn.Func(tensor.Tensor.Neg), &bn, nn.Func(tensor.Tensor.Neg)}, x, rng)
	if next[0] != next[2] {
		t.Error("one layer in two places is two after training")
	}
	check(t, "running mean of one layer in two places", next[0].(*nn.BatchNorm).Mean, []int{2}, 0.3*0.9, 3*0.9)

	if next[0] == nn.Layer(&bn) {
		t.Error("training gave back the pointer to the old statistics")
	}
	if _, p := nn.Train(&bn, x, nil); p != &bn {
		t.Error("Train without RNG made another layer")
	}
}

// A nil RNG means inference, in the function Train and in the method.
func TestTrainWithoutRNG(t *testing.T) {
	x := tensor.New([]float32{1, 10, 3, 20}, 2, 2)
	for _, l := range []nn.Stateful{nn.NewBatchNorm(2), nn.Dropout{P: 0.5}, nn.Sequential{nn.NewBatchNorm(2), nn.Dropout{P: 0.5}}} {
		y, next := l.Train(x, nil)
		if ok, err := tensor.AllClose(y, l.Apply(x), 0, 0); !ok || err != nil {
			t.Errorf("%T.Train(x, nil) = %v, want Apply's %v; error %v", l, y, l.Apply(x), err)
		}
		for name, s := range tree.All(next) {
			if name == "running_mean" || name == "0.running_mean" {
				check(t, fmt.Sprintf("%s of %T after Train(x, nil)", name, l), s, []int{2}, 0, 0)
			}
		}
	}
}

// A forgetful layer embeds a BatchNorm, and so its Train method returns a BatchNorm.
type forgetful struct{ nn.BatchNorm }

func TestDropout(t *testing.T) {
	x := tensor.Ones(4000)
	got, err := tensor.Data[float32](nn.Dropout{P: 0.25}.Drop(x, tensor.NewRNG(3)))
	if err != nil {
		t.Fatal(err)
	}
	dropped := 0
	for _, v := range got {
		if v == 0 {
			dropped++
		} else if v < 1.3333 || v > 1.3334 {
			t.Fatalf("Drop gave %v, want 0 or 4/3", v)
		}
	}
	if dropped < 900 || dropped > 1100 {
		t.Errorf("Drop dropped %d of 4000, want about 1000", dropped)
	}
	check(t, "Dropout{P: 1}.Drop", nn.Dropout{P: 1}.Drop(tensor.Ones(2), tensor.NewRNG(1)), []int{2}, 0, 0)
}

func TestNames(t *testing.T) {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{
		nn.NewConv2D(rng, 1, 4, 3, nil), nn.NewBatchNorm(4), nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2}, nn.Flatten{},
		nn.NewLinear(rng, 16, 2), nn.NewLayerNorm(2), nn.NewRMSNorm(2), nn.NewEmbedding(rng, 3, 4),
	}
	var got []string
	for name := range tree.All(net) {
		got = append(got, name)
	}
	want := []string{
		"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
		"5.weight", "5.bias", "6.weight", "6.bias", "7.weight", "8.weight",
	}
	if !slices.Equal(got, want) {
		t.Errorf("names are %v, want %v", got, want)
	}
}

func TestInit(t *testing.T) {
	shape := []int{40, 30, 3, 3}
	const in, out = 30 * 9, 40 * 9
	for _, c := range []struct {
		name     string
		f        func(*tensor.RNG, ...int) tensor.Tensor
		variance float64
		bound    float64
	}{
		{"XavierUniform", nn.XavierUniform, 2.0 / (in + out), 0.0975901},
		{"XavierNormal", nn.XavierNormal, 2.0 / (in + out), 1},
		{"KaimingUniform", nn.KaimingUniform, 2.0 / in, 0.1490713},
		{"KaimingNormal", nn.KaimingNormal, 2.0 / in, 1},
	} {
		w := c.f(tensor.NewRNG(7), shape...)
		if !slices.Equal(w.Shape(), shape) {
			t.Errorf("%s(%v) has shape %v", c.name, shape, w.Shape())
		}
		if got := w.Var().Item(); got < 0.95*c.variance || got > 1.05*c.variance {
			t.Errorf("%s(%v) has variance %v, want about %v", c.name, shape, got, c.variance)
		}
		if got := w.Abs().Max().Item(); got > c.bound {
			t.Errorf("%s(%v) reaches %v, want at most %v", c.name, shape, got, c.bound)
		}
	}
	l := nn.NewLinear(tensor.NewRNG(1), 100, 50)
	if got := l.Weight.Abs().Max().Item(); got > 0.1 || got < 0.09 {
		t.Errorf("the weight of NewLinear(100, 50) reaches %v, want nearly 0.1", got)
	}
	c := nn.NewConv2D(tensor.NewRNG(1), 8, 6, 3, &tensor.ConvOptions{Groups: 2})
	if got, want := c.Weight.Shape(), []int{6, 4, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("the weight of NewConv2D in 2 groups has shape %v, want %v", got, want)
	}
}

func TestMisuse(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, label := tensor.Ones(2, 3), tensor.New([]int32{0, 1})
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { nn.Linear{}.Apply(x) }, "nn.Linear: Weight is absent"},
		{func() { nn.NewLinear(rng, 4, 2).Apply(x) }, "nn.Linear: the input [2 3] does not end in the 4"},
		{func() { nn.NewConv2D(rng, 4, 2, 3, nil).Apply(x) }, "nn.Conv: the input [2 3] has rank 2"},
		{func() { nn.NewConv1D(rng, 4, 2, 3, nil).Apply(tensor.Ones(2, 3, 9)) }, "nn.Conv: the input [2 3 9] has 3 channels"},
		{func() { nn.NewConv1D(rng, 4, 2, 3, &tensor.ConvOptions{Groups: 3}) }, "nn.NewConv1D: 3 groups do not divide"},
		{func() { nn.NewLinear(rng, -1, 3) }, "nn.NewLinear: the weight's shape would be [3 -1], with a length of -1"},
		{func() { nn.NewLinear(nil, 2, 3) }, "nn.NewLinear: the *RNG is nil: make one with tensor.NewRNG"},
		{func() { nn.NewEmbedding(rng, -1, 3) }, "nn.NewEmbedding: the weight's shape would be [-1 3]"},
		{func() { nn.NewEmbedding(nil, 2, 3) }, "nn.NewEmbedding: the *RNG is nil"},
		{func() { nn.NewConv2D(rng, 1, 2, 0, nil) }, "nn.NewConv2D: the kernel's length is 0, want at least 1"},
		{func() { nn.NewConv3D(rng, 1, -2, 3, nil) }, "nn.NewConv3D: the weight's shape would be [-2 1 3 3 3]"},
		{func() { nn.NewConv1D(nil, 1, 2, 3, nil) }, "nn.NewConv1D: the *RNG is nil"},
		{func() { nn.NewLayerNorm(-1) }, "nn.NewLayerNorm: the weight's shape would be [-1]"},
		{func() { nn.NewBatchNorm(-1) }, "nn.NewBatchNorm: the weight's shape would be [-1]"},
		{func() { nn.KaimingUniform(nil, 2, 3) }, "nn.KaimingUniform: the *RNG is nil"},
		{func() { nn.KaimingNormal(rng, 2, -3) }, "nn.KaimingNormal: the weight's shape would be [2 -3]"},
		{func() { nn.NewLayerNorm(4).Apply(x) }, "nn.LayerNorm: the input [2 3]"},
		{func() { nn.NewRMSNorm(4).Apply(x) }, "nn.RMSNorm: the input [2 3]"},
		{func() { nn.NewBatchNorm(4).Apply(x) }, "nn.BatchNorm: the input [2 3]"},
		{func() { nn.NewBatchNorm(3).Train(tensor.Ones(1, 3), rng) }, "nn.BatchNorm: training needs at least 2 elements a channel, the input [1 3] has 1"},
		{func() { nn.NewGroupNorm(2, 3) }, "nn.NewGroupNorm: 2 groups do not divide 3 channels"},
		{func() { nn.NewGroupNorm(0, 3) }, "nn.NewGroupNorm: 0 groups do not divide 3 channels"},
		{func() { nn.GroupNorm{Groups: 2}.Apply(x) }, "nn.GroupNorm: 2 groups do not divide the 3 channels"},
		{func() { nn.Linear{Weight: tensor.Ones(4, 3), Bias: tensor.Ones(3)}.Apply(x) }, "nn.Linear: Bias is [3], want [4]"},
		{func() { nn.Conv{Weight: tensor.Ones(4, 3, 1), Bias: tensor.Ones(3)}.Apply(tensor.Ones(2, 3, 5)) }, "nn.Conv: Bias is [3], want [4]"},
		{func() { nn.LayerNorm{Weight: tensor.Ones(3), Bias: tensor.Ones(4)}.Apply(x) }, "nn.LayerNorm: Add of [2 3] and [4]: "},
		{func() { nn.BatchNorm{Mean: tensor.Ones(3), Var: tensor.Ones(4)}.Apply(x) }, "nn.BatchNorm: Mul of [2 3] and [4]: "},
		{func() { nn.NewEmbedding(rng, 3, 2).Apply(x) }, "nn.Embedding: positions are float32, want integers other than uint64"},
		{func() { nn.MaxPool{Size: 2}.Apply(x) }, "nn.MaxPool of [2 3]: the input is [batch"},
		{func() { nn.AvgPool{Size: 2}.Apply(x) }, "nn.AvgPool of [2 3]: the input is [batch"},
		{func() { nn.AvgPool{Size: 2}.Apply(label) }, "nn.AvgPool of int32 [2]: "},
		{func() { nn.Flatten{From: 2}.Apply(x) }, "nn.Flatten of [2 3]: "},
		{func() { nn.NewConv1D(rng, 3, 2, 4, nil).Apply(tensor.Ones(2, 3, 1)) }, "nn.Conv of [2 3 1] and [2 3 4]: "},
		{func() { nn.Dropout{P: 0.25}.Drop(label, rng) }, "nn.Dropout: Mul of int32 [2]"},
		{func() { nn.Linear{Weight: tensor.Ones(4, 3)}.Apply(tensor.Tensor{}) }, "nn.Linear: Rank: the tensor is absent"},
		{func() { nn.Train(forgetful{nn.NewBatchNorm(3)}, x, rng) }, "nn.Train: the Train method of a nn_test.forgetful returned a nn.BatchNorm, want the same type"},
		{func() { nn.Train(nn.Sequential{forgetful{nn.NewBatchNorm(3)}}, x, rng) }, "nn.Train: the Train method of a nn_test.forgetful"},
		{func() { nn.NewInstanceNorm(4).Apply(x) }, "nn.InstanceNorm: the input [2 3]"},
		{func() { nn.Dropout{P: 2}.Drop(x, rng) }, "nn.Dropout: P is 2, want a probability from 0 to 1"},
		{func() { nn.Dropout{P: -0.1}.Train(x, rng) }, "nn.Dropout: P is -0.1"},
		{func() { nn.Dropout{P: math.NaN()}.Drop(x, rng) }, "nn.Dropout: P is NaN"},
		{func() { nn.Dropout{P: math.NaN()}.Drop(x, nil) }, "nn.Dropout: P is NaN"},
		{func() { nn.Dropout{P: math.NaN()}.Apply(x) }, "nn.Dropout: P is NaN"},
		{func() { nn.Sequential{nil}.Apply(x) }, "nn.Sequential: layer 0 is nil: "},
		{func() { nn.Sequential{nn.Flatten{}, nil}.Train(x, rng) }, "nn.Sequential: layer 1 is nil: "},
		{func() { nn.Sequential{nn.Flatten{}, nil}.Train(x, nil) }, "nn.Sequential: layer 1 is nil: "},
		{func() { nn.Sequential{nn.Sequential{nn.Flatten{}, nil}}.Apply(x) }, "nn.Sequential: layer 1 is nil: "},
		{func() { nn.Sequential{(*nn.Linear)(nil)}.Apply(x) }, "nn.Sequential: layer 0 is a nil *nn.Linear: "},
		{func() { nn.Sequential{(*nn.BatchNorm)(nil)}.Train(x, rng) }, "nn.Sequential: layer 0 is a nil *nn.BatchNorm: "},
		{func() { nn.Sequential{nn.Func(nil)}.Apply(x) }, "nn.Sequential: layer 0 is a nil nn.Func: "},
		{func() { nn.Train[nn.Layer](nil, x, rng) }, "nn.Train: the layer is nil: "},
		{func() { nn.Train((*nn.BatchNorm)(nil), x, rng) }, "nn.Train: the layer is a nil *nn.BatchNorm: "},
		{func() { nn.XavierNormal(rng, 3) }, "nn.XavierNormal: the shape [3]"},
		{func() { nn.CrossEntropy(x, x) }, "nn.CrossEntropy: labels [2 3] do not fit predictions [2 3]"},
		{func() { nn.CrossEntropy(x, label.Cast(tensor.Float32)) }, "nn.CrossEntropy: labels are float32"},
		{func() { nn.CrossEntropy(tensor.Tensor{}, label) }, "nn.CrossEntropy: the predictions are absent"},
		{func() { nn.NLL(x, tensor.Tensor{}) }, "nn.NLL: the labels are absent"},
		{func() { nn.NLL(tensor.Ones(2, 3).Cast(tensor.Int32), label) }, "nn.NLL: predictions are int32, want a floating-point type"},
		{func() { nn.MSE(x, tensor.Ones(2)) }, "nn.MSE: predictions [2 3] and targets [2]"},
		{func() { nn.MSE(x, tensor.Tensor{}) }, "nn.MSE: the targets are absent"},
		{func() { nn.BCEWithLogits(x.Sum(1), label.Unsqueeze(1)) }, "nn.BCEWithLogits: targets are int32, want float32, the type of the predictions"},
		{func() { nn.L1(label, label) }, "nn.L1: predictions are int32, want a floating-point type"},
	} {
		err := tensor.Try(c.f)
		if err == nil {
			t.Errorf("no error, want %q", c.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), "layer_test.go:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %q, want layer_test.go:N: %s…", err, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	if got, want := nn.Summary(nil), "no tensors"; got != want {
		t.Errorf("Summary(nil) = %q, want %q", got, want)
	}
	got := nn.Summary(nn.Sequential{nn.NewLinear(tensor.NewRNG(1), 64, 128), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(tensor.NewRNG(1), 128, 10)})
	want := strings.Join([]string{
		"0.weight  float32 [128 64]  8192",
		"0.bias    float32 [128]     128",
		"2.weight  float32 [10 128]  1280",
		"2.bias    float32 [10]      10",
		"total                       9610",
	}, "\n")
	if got != want {
		t.Errorf("Summary =\n%s\nwant\n%s", got, want)
	}
}
