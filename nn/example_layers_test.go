package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// image is a channel of 1 to n² in rows, [1 1 n n].
func image(n int) tensor.Tensor {
	return tensor.Arange(1, n*n+1).Cast(tensor.Float32).Reshape(1, 1, n, n)
}

// scaled is a layer of one's own: any type with Apply.
type scaled struct{ Factor tensor.Tensor }

func (l scaled) Apply(x tensor.Tensor) tensor.Tensor { return x.Mul(l.Factor) }

func ExampleLayer() {
	layers := []nn.Layer{scaled{tensor.Scalar(2)}, nn.Identity{}, nn.Func(tensor.Tensor.Neg)}
	x := tensor.New([]float32{1, -2})
	for _, l := range layers {
		fmt.Println(l.Apply(x))
	}
	// Output:
	// [2 -4]
	// [1 -2]
	// [-1 2]
}

// A Stateful layer differs in training, and may change from step to step.
func ExampleStateful() {
	var l nn.Stateful = nn.NewBatchNorm(1)
	x := tensor.New([]float32{3, 5}, 2, 1)
	y, next := l.Train(x, tensor.NewRNG(1))
	fmt.Printf("%.2f %.2f\n", y.T(), next.(nn.BatchNorm).Mean)
	// Output: [[-1.00 1.00]] [0.40]
}

// Pools to a size of the result, whatever the size of the image.
func ExampleAdaptiveAvgPool() {
	x := image(4)
	fmt.Println(nn.AdaptiveAvgPool{Size: []int{2, 2}}.Apply(x).At(0).At(0))
	fmt.Println(nn.AdaptiveMaxPool{Size: []int{1, 1}}.Apply(x).At(0).At(0))
	// Output:
	// [[ 3.5  5.5]
	//  [11.5 13.5]]
	// [[16]]
}

// A transposed convolution doubles an image.
func ExampleConvTranspose() {
	l := nn.ConvTranspose{Weight: tensor.Ones(1, 1, 2, 2), Options: tensor.ConvOptions{Stride: []int{2, 2}}}
	fmt.Println(l.Apply(image(2)).At(0).At(0))
	// Output:
	// [[1 1 2 2]
	//  [1 1 2 2]
	//  [3 3 4 4]
	//  [3 3 4 4]]
}

// The windows of an image as columns, and their sum back.
func ExampleUnfold() {
	o := tensor.ConvOptions{Stride: []int{2, 2}}
	columns := nn.Unfold{Size: 2, Options: o}.Apply(image(4))
	fmt.Println(columns.Shape())
	fmt.Println(nn.Fold{Lengths: []int{4, 4}, Size: 2, Options: o}.Apply(columns).At(0).At(0))
	// Output:
	// [1 4 4]
	// [[ 1  2  3  4]
	//  [ 5  6  7  8]
	//  [ 9 10 11 12]
	//  [13 14 15 16]]
}

func ExampleUpsample() {
	fmt.Println(nn.Upsample{Factor: 2, Options: tensor.ResizeOptions{Mode: tensor.Nearest}}.Apply(image(2)).At(0).At(0))
	// Output:
	// [[1 1 2 2]
	//  [1 1 2 2]
	//  [3 3 4 4]
	//  [3 3 4 4]]
}

// Channels become pixels.
func ExamplePixelShuffle() {
	x := tensor.New([]float32{1, 2, 3, 4}, 1, 4, 1, 1)
	fmt.Println(nn.PixelShuffle{Factor: 2}.Apply(x).At(0).At(0))
	// Output:
	// [[1 2]
	//  [3 4]]
}

func ExamplePad() {
	l := nn.Pad{Before: []int{1, 1}, After: []int{0, 0}, Mode: tensor.Replicate}
	fmt.Println(l.Apply(image(2)).At(0).At(0))
	// Output:
	// [[1 1 2]
	//  [1 1 2]
	//  [3 3 4]]
}

// Each element of the result is a product of two inputs and a matrix.
func ExampleBilinear() {
	l := nn.Bilinear{Weight: tensor.Eye(2).Reshape(1, 2, 2)}
	fmt.Println(l.Apply(tensor.New([]float32{1, 2}, 1, 2), tensor.New([]float32{3, 4}, 1, 2)))
	// Output: [[11]]
}

// Whole channels are dropped; the others are divided by the share that is kept.
func ExampleChannelDropout() {
	y := nn.ChannelDropout{P: 0.5}.Drop(tensor.Ones(1, 6, 1, 2), tensor.NewRNG(1))
	fmt.Println(y.Reshape(6, 2).T())
	// Output:
	// [[0 0 2 0 2 2]
	//  [0 0 2 0 2 2]]
}

// The slope below 0 is learned.
func ExamplePReLU() {
	fmt.Println(nn.NewPReLU(1).Apply(tensor.New([]float32{-4, 8}, 2, 1)).T())
	// Output: [[-1 8]]
}

// Each channel is divided by a root of the squares of its neighbours.
func ExampleLocalResponseNorm() {
	l := nn.LocalResponseNorm{Size: 3, Alpha: 3, Beta: 0.5, K: 1}
	fmt.Printf("%.3f\n", l.Apply(tensor.New([]float32{1, 0, 0, 2}, 1, 4, 1)).Reshape(4))
	// Output: [0.707 0.000 0.000 0.894]
}

// A weight by length and direction, which are learned apart.
func ExampleWeightNorm() {
	l := nn.NewWeightNorm(tensor.New([]float32{3, 4}, 1, 2))
	fmt.Println(l.G, l.Weight())
	l.G = tensor.Full(10, 1, 1)
	fmt.Printf("%.2f\n", l.Weight())
	// Output:
	// [[5]] [[3 4]]
	// [[6.00 8.00]]
}

// A weight divided by its largest singular value, which a step of training refines.
func ExampleSpectralNorm() {
	l := nn.NewSpectralNorm(tensor.NewRNG(1), tensor.New([]float32{4, 0, 0, 2}, 2, 2))
	for range 20 {
		l = l.Next()
	}
	fmt.Printf("%.2f\n", l.Weight().Abs())
	// Output:
	// [[1.00 0.00]
	//  [0.00 0.50]]
}

// The network of a transformer's block, and the gated one of Llama.
func ExampleFeedForward() {
	rng := tensor.NewRNG(1)
	plain := nn.NewFeedForward(rng, 4, 16, tensor.Tensor.ReLU)
	gated := nn.GatedFeedForward{Gate: plain.Up, Up: plain.Up, Down: plain.Down, Act: tensor.Tensor.SiLU}
	x := tensor.Ones(3, 4)
	fmt.Println(plain.Apply(x).Shape(), gated.Apply(x).Shape())
	// Output: [3 4] [3 4]
}

// A report has the cost of each layer, and the steps between input and output.
func ExampleReport() {
	net := nn.Sequential{nn.NewLinear(tensor.NewRNG(1), 4, 8), nn.Func(tensor.Tensor.ReLU)}
	x := tensor.Zeros(5, 4)
	var r *nn.Report = nn.SummaryOf(net, func(net nn.Sequential) tensor.Tensor { return net.Apply(x) })
	var l nn.LayerReport = r.Layers[1]
	fmt.Println(l.Name, l.Type, l.Output, l.Params, l.FLOPs)
	for _, s := range r.Steps {
		var step nn.StepReport = s
		fmt.Println(step.What, step.Output, step.Inputs)
	}
	// Output:
	// 0 nn.Linear [5 8] 40 360
	// input [5 4] []
	// 0 [5 8] [0]
	// 1 [5 8] [1]
}
