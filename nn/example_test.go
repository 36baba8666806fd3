package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A model is a struct of layers with a method of its own.
type MLP struct {
	Hidden, Out nn.Linear
	Dropout     nn.Dropout
}

func (m MLP) Apply(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return m.Out.Apply(m.Dropout.Drop(m.Hidden.Apply(x).ReLU(), rng))
}

func Example() {
	rng := tensor.NewRNG(1)
	m := MLP{nn.NewLinear(rng, 64, 128), nn.NewLinear(rng, 128, 10), nn.Dropout{P: 0.2}}
	fmt.Println(m.Apply(tensor.Zeros(5, 64), rng).Shape())
	fmt.Println(nn.Summary(m))
	// Output:
	// [5 10]
	// hidden.weight  float32 [128 64]  8192
	// hidden.bias    float32 [128]     128
	// out.weight     float32 [10 128]  1280
	// out.bias       float32 [10]      10
	// total                            9610
}

func ExampleSequential() {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{
		nn.NewConv2D(rng, 1, 8, 3, &tensor.ConvOptions{Padding: []int{1}}), nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2},
		nn.Flatten{}, nn.NewLinear(rng, 8*4*4, 10),
	}
	fmt.Println(net.Apply(tensor.Zeros(2, 1, 8, 8)).Shape())
	// Output: [2 10]
}

func ExampleTrain() {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewBatchNorm(1)}
	x := tensor.New([]float32{10, 20}, 2, 1)
	y, next := nn.Train(net, x, rng)
	fmt.Printf("%.1f %.1f\n", y.Reshape(2), next[0].(nn.BatchNorm).Mean)
	// Output: [-1.0 1.0] [1.5]
}

func ExampleLinear() {
	l := nn.Linear{Weight: tensor.From([][]float32{{1, 2}, {3, 4}, {5, 6}}), Bias: tensor.New([]float32{0, 0, 100})}
	fmt.Println(l.Apply(tensor.New([]float32{1, 10})))
	// Output: [21 43 165]
}

func ExampleDropout() {
	l := nn.Dropout{P: 0.5}
	fmt.Println(l.Drop(tensor.Ones(3), nil)) // inference
	// Output: [1 1 1]
}

func ExampleCrossEntropy() {
	logits := tensor.From([][]float32{{2, 0, 0}, {0, 0, 0}})
	loss := nn.CrossEntropy(logits, tensor.New([]int32{0, 2}))
	fmt.Printf("%.4f %.4f\n", loss, loss.Mean())
	// Output: [0.2395 1.0986] 0.6691
}

func ExampleFunc() {
	square := nn.Func(tensor.Tensor.Square)
	fmt.Println(square.Apply(tensor.New([]float32{1, 2, 3})))
	// Output: [1 4 9]
}

func ExampleConv() {
	// Differences of neighbours.
	l := nn.Conv{Weight: tensor.New([]float32{-1, 1}, 1, 1, 2)}
	fmt.Println(l.Apply(tensor.New([]float32{1, 4, 9, 16}, 1, 1, 4)).Reshape(3))
	// Output: [3 5 7]
}

func ExampleNewConv2D() {
	l := nn.NewConv2D(tensor.NewRNG(1), 3, 16, 5, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{2}})
	fmt.Println(l.Apply(tensor.Zeros(1, 3, 32, 32)).Shape())
	// Output: [1 16 16 16]
}

func ExampleMaxPool() {
	x := tensor.New([]float32{1, 5, 2, 3}, 1, 1, 4)
	fmt.Println(nn.MaxPool{Size: 2}.Apply(x).Reshape(2), nn.AvgPool{Size: 2}.Apply(x).Reshape(2))
	// Output: [5 3] [3.0 2.5]
}

func ExampleEmbedding() {
	l := nn.Embedding{Weight: tensor.From([][]float32{{0, 0}, {1, 10}, {2, 20}})}
	fmt.Println(l.Apply(tensor.New([]int32{2, 0, 2})))
	// Output:
	// [[ 2 20]
	//  [ 0  0]
	//  [ 2 20]]
}

func ExampleFlatten() {
	fmt.Println(nn.Flatten{}.Apply(tensor.Zeros(32, 8, 4, 4)).Shape())
	// Output: [32 128]
}

func ExampleLayerNorm() {
	fmt.Printf("%.2f\n", nn.NewLayerNorm(3).Apply(tensor.New([]float32{10, 20, 30})))
	// Output: [-1.22 0.00 1.22]
}

func ExampleRMSNorm() {
	fmt.Printf("%.2f\n", nn.NewRMSNorm(2).Apply(tensor.New([]float32{3, 4})))
	// Output: [0.85 1.13]
}

func ExampleBatchNorm() {
	l := nn.NewBatchNorm(1)
	x := tensor.New([]float32{10, 20}, 2, 1)
	fmt.Printf("%.1f\n", l.Apply(x).Reshape(2)) // nothing seen yet: mean 0, variance 1
	y, next := l.Train(x, tensor.NewRNG(1))
	fmt.Printf("%.1f %.1f\n", y.Reshape(2), next.(nn.BatchNorm).Mean)
	// Output:
	// [10.0 20.0]
	// [-1.0 1.0] [1.5]
}

func ExampleGroupNorm() {
	x := tensor.New([]float32{1, 3, 10, 30}, 1, 4)
	fmt.Printf("%.1f\n", nn.NewGroupNorm(2, 4).Apply(x).Reshape(4))
	// Output: [-1.0 1.0 -1.0 1.0]
}

func ExampleInstanceNorm() {
	x := tensor.New([]float32{1, 3, 10, 30}, 1, 2, 2)
	fmt.Printf("%.1f\n", nn.NewInstanceNorm(2).Apply(x).Reshape(4))
	// Output: [-1.0 1.0 -1.0 1.0]
}

func ExampleNLL() {
	logp := tensor.From([][]float32{{0.9, 0.1}, {0.5, 0.5}}).Log()
	fmt.Printf("%.4f\n", nn.NLL(logp, tensor.New([]int32{0, 1})))
	// Output: [0.1054 0.6931]
}

func ExampleMSE() {
	pred, target := tensor.New([]float32{1, 2, 5}), tensor.New([]float32{1, 3, 3})
	fmt.Println(nn.MSE(pred, target), nn.L1(pred, target), nn.Huber(pred, target))
	// Output: [0 1 4] [0 1 2] [0.0 0.5 1.5]
}

func ExampleBCEWithLogits() {
	logits := tensor.New([]float32{0, 3, 3})
	fmt.Printf("%.4f\n", nn.BCEWithLogits(logits, tensor.New([]float32{1, 1, 0})))
	// Output: [0.6931 0.0486 3.0486]
}

func ExampleKLDiv() {
	p, q := tensor.New([]float32{0.5, 0.5}, 1, 2), tensor.New([]float32{0.25, 0.75}, 1, 2)
	fmt.Printf("%.4f\n", nn.KLDiv(q.Log(), p))
	// Output: [0.1438]
}

func ExampleHinge() {
	fmt.Println(nn.Hinge(tensor.New([]float32{2, 0.5, 0.5}), tensor.New([]float32{1, 1, -1})))
	// Output: [0.0 0.5 1.5]
}

func ExampleCosineDistance() {
	fmt.Println(nn.CosineDistance(tensor.From([][]float32{{1, 0}, {1, 0}}), tensor.From([][]float32{{2, 0}, {0, 3}})))
	// Output: [0 1]
}

func ExampleKaimingNormal() {
	l := nn.Linear{Weight: nn.KaimingNormal(tensor.NewRNG(1), 256, 200), Bias: tensor.Zeros(256)}
	fmt.Printf("%.2f\n", l.Weight.Std().Item()) // √(2/200)
	// Output: 0.10
}

func ExampleXavierUniform() {
	w := nn.XavierUniform(tensor.NewRNG(1), 250, 350)
	fmt.Printf("%.1f\n", w.Abs().Max().Item()) // √(6/600)
	// Output: 0.1
}

func ExampleSummary() {
	fmt.Println(nn.Summary(map[string]nn.Linear{"head": nn.NewLinear(tensor.NewRNG(1), 4, 2)}))
	// Output:
	// head.weight  float32 [2 4]  8
	// head.bias    float32 [2]    2
	// total                       10
}

// The function applies the model to an input, which needs no values.
func ExampleSummaryOf() {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewLinear(rng, 64, 128), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(rng, 128, 10)}
	x := tensor.Zeros(32, 64)
	fmt.Println(nn.SummaryOf(net, func(net nn.Sequential) tensor.Tensor { return net.Apply(x) }))
	// Output:
	// layer    type           output    parameters  FLOPs
	// (model)  nn.Sequential  [32 10]   9,610       618,816
	//   0      nn.Linear      [32 128]  8,320       528,384
	//   1      nn.Func        [32 128]  -           8,192
	//   2      nn.Linear      [32 10]   1,290       82,240
	// 9,610 parameters of 38,440 bytes, results of layers of 34,048 bytes, 618,816 FLOPs
}
