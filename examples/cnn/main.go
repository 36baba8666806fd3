// Command cnn trains a convolutional network on 1,797 handwritten digits, in some seconds,
// and draws its view of them: for one digit of each kind the pixels that its score depends
// on, which are a derivative too, and the results of the first convolution.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/grid"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	on     = flag.String("device", "", device.Usage)
	epochs = flag.Int("epochs", 5, "how often the digits are seen")
	seed   = flag.Uint64("seed", 1, "seed of the weights")
	draw   = flag.String("plot", "", "draw what the network looks at into this file, a .png or a .gif")
)

func main() { flags.Run(on, run) }

// An example is an image, float32 [1 8 8], and its digit, int32. A batch has one more axis.
type example struct{ X, Y tensor.Tensor }

// newCNN returns a network for images [batch 1 8 8], whose results are a score for each
// digit, [batch 10].
func newCNN(rng *tensor.RNG) nn.Sequential {
	padded, relu := &tensor.ConvOptions{Padding: []int{1}}, nn.Func(tensor.Tensor.ReLU)
	return nn.Sequential{
		nn.NewConv2D(rng, 1, 16, 3, padded), nn.NewBatchNorm(16), relu, nn.MaxPool{Size: 2}, // [batch 16 4 4]
		nn.NewConv2D(rng, 16, 32, 3, padded), nn.NewBatchNorm(32), relu, // [batch 32 4 4]
		nn.Flatten{}, nn.Dropout{P: 0.3}, nn.NewLinear(rng, 32*4*4, 10),
	}
}

// run trains on four fifths of the digits, and prints which of the others it gets wrong.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	x, y, err := digits.Load()
	if err != nil {
		return err
	}
	training, rest := data.Split(data.Of(example{x, y}), 0.8, 1)
	test, err := data.Whole(rest)
	if err != nil {
		return err
	}
	rng := tensor.NewRNG(*seed)
	l := train.Loop[nn.Sequential, example]{
		Model:     newCNN(rng),
		Data:      &data.Loader[example]{Set: training, Batch: 64, Shuffle: true, DropLast: true},
		Optimizer: optim.New(optim.AdamW{WeightDecay: 0.01}, 3e-3),
		RNG:       rng, Epochs: *epochs, Monitor: "accuracy",
		// Dropout draws, and batch norms use the batch's statistics, only in nn.Train. Its
		// second result is the network with the new averages.
		Loss: func(m nn.Sequential, b example, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
			scores, next := nn.Train(m, b.X, rng)
			return nn.CrossEntropy(scores, b.Y).Mean(), next
		},
		Validate: func(m nn.Sequential) (train.Metrics, error) {
			return train.Metrics{"accuracy": train.Accuracy(m.Apply(test.X), test.Y).Item()}, nil
		},
	}
	l.Optimizer.Schedule = optim.Cosine(*epochs*l.Data.Steps(), 0)
	if err := l.Run(ctx); err != nil {
		return err
	}
	for i, m := range l.History {
		fmt.Fprintf(w, "epoch %2d, loss %.4f, accuracy %.3f\n", i+1, m["loss"], m["accuracy"])
	}
	fmt.Fprintf(w, "\nOf %d digits it has not seen, in rows, these were taken for those in columns:\n%v\n",
		test.Y.Len(), train.Confusion(l.Best.Apply(test.X), test.Y))
	if *draw == "" {
		return nil
	}
	return grid.Save(*draw, attention(l.Best, oneOfEach(test)))
}

// oneOfEach returns the first image of each digit, [10 1 8 8].
func oneOfEach(b example) tensor.Tensor {
	return b.X.Take(0, b.Y.OneHot(10).Cast(tensor.Int32).ArgMax(0))
}

// attention returns rows of images, [rows n 8 8]: the images x themselves, [n 1 8 8], how
// much each pixel changes the score of the digit that is seen, and the first channels of the
// first convolution, after their activation.
func attention(m nn.Sequential, x tensor.Tensor) tensor.Tensor {
	best := func(x tensor.Tensor) tensor.Tensor { return m.Apply(x).Max(1).Sum() }
	rows := []tensor.Tensor{x, grad.Of(best)(x).Abs()}
	rows = append(rows, m[:3].Apply(x).Slice(1, 0, 4).Split(1, 1, 1, 1, 1)...)
	for i, r := range rows {
		rows[i] = r.Div(r.Max(1, 2, 3).Maximum(1e-6)).Squeeze(1) // each image to the range from 0 to 1
	}
	return tensor.Stack(0, rows...)
}
