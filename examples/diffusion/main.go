// Command diffusion draws handwritten digits out of noise, by a denoising diffusion model
// (Ho et al., "Denoising Diffusion Probabilistic Models", 2020).
//
// Images are mixed with more and more noise, up to noise alone. A small U-Net learns to tell
// the noise from a noisy image, its level, and the digit. To draw a digit the program starts
// with noise and takes off, level by level, the noise that the network finds, by the steps
// of Song et al., "Denoising Diffusion Implicit Models", 2021.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/grid"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	on         = flag.String("device", "", device.Usage)
	epochs     = flag.Int("epochs", 150, "how often the digits are seen")
	levels     = flag.Int("levels", 40, "levels of noise when digits are drawn")
	seed       = flag.Uint64("seed", 1, "seed of the weights and of the noise")
	checkpoint = flag.String("checkpoint", "", "file to save the run in, and to go on from")
	draw       = flag.String("plot", "", "draw digits, a row each, into this file, a .png or a .gif")
	path       = flag.String("path", "", "draw how they come out of noise into this file, a .png or a .gif")
)

func main() { flags.Run(on, run) }

// An example is an image, float32 [1 8 8], and its digit, int32. A batch has one more axis.
type example struct{ X, Y tensor.Tensor }

// newLoop returns a loop that trains a model, and the average of the models after each step,
// which draws better.
func newLoop(images, labels tensor.Tensor) (l *train.Loop[unet, example], average *optim.Averaged[unet]) {
	rng := tensor.NewRNG(*seed)
	average = &optim.Averaged[unet]{Decay: 0.995}
	l = &train.Loop[unet, example]{
		Model:     newUNet(rng),
		Data:      &data.Loader[example]{Set: data.Of(example{images, labels}), Batch: 64, Shuffle: true, DropLast: true},
		Optimizer: optim.New(optim.AdamW{}, 2e-3),
		RNG:       rng, Epochs: *epochs, Every: 280,
		Checkpoint: *checkpoint, Resume: *checkpoint != "", Extra: average,
		Loss: func(m unet, b example, rng *tensor.RNG) (tensor.Tensor, unet) { return loss(m, b, rng), m },
		AfterStep: func(l *train.Loop[unet, example], _ tensor.Tensor) error {
			return average.Add(l.Model)
		},
	}
	l.Optimizer.ClipNorm, l.Optimizer.Schedule = 1, optim.Warmup(100, optim.Cosine(*epochs*l.Data.Steps(), 0))
	return l, average
}

// mix returns the parts of the image and of the noise at times from 0, the image, to 1,
// noise: cos and sin, so that the sum of their squares is 1.
func mix(time tensor.Tensor) (image, noise tensor.Tensor) {
	angle := time.Mul(math.Pi / 2)
	return angle.Cos(), angle.Sin()
}

// loss returns how far the model is from the noise in the images of a batch, each with noise
// of a random level.
func loss(m unet, b example, rng *tensor.RNG) tensor.Tensor {
	x := b.X.Mul(2).Sub(1) // from -1 to 1
	time, noise := rng.Uniform(x.Dim(0), 1, 1, 1), rng.Normal(x.Shape()...)
	p, q := mix(time)
	return nn.MSE(m.apply(x.Mul(p).Add(noise.Mul(q)), time, b.Y), noise).Mean()
}

// sample draws n images. noise returns the noise in x, [n 1 8 8], at times [n 1 1 1]. The
// result has the images after each level, [1+levels n 8 8] from 0 to 1.
func sample(noise func(x, time tensor.Tensor) tensor.Tensor, n, levels int, rng *tensor.RNG) (steps tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	x := rng.Normal(n, 1, 8, 8)
	all := []tensor.Tensor{x}
	for i := levels; i > 0; i-- {
		// At time 1 no image is left in x to be found, so the first time is a little less.
		now, next := tensor.Full(0.99*float64(i)/float64(levels), n, 1, 1, 1), tensor.Full(0.99*float64(i-1)/float64(levels), n, 1, 1, 1)
		e := noise(x, now)
		p, q := mix(now)
		image := x.Sub(e.Mul(q)).Div(p).Clamp(-1, 1)
		p, q = mix(next)
		x = image.Mul(p).Add(e.Mul(q))
		if err := tensor.Eval(x); err != nil {
			return x, err
		}
		all = append(all, x)
	}
	return tensor.Stack(0, all...).Squeeze(2).Add(1).Div(2).Clamp(0, 1), nil
}

// columns is the number of images of each digit in the picture.
const columns = 12

func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	images, labels, err := digits.Load()
	if err != nil {
		return err
	}
	l, average := newLoop(images, labels)
	if err := l.Run(ctx); err != nil {
		return err
	}
	for i, m := range l.History {
		fmt.Fprintf(w, "step %d, loss %.3f\n", min((i+1)*l.Every, l.Step), m["loss"])
	}
	y := tensor.Arange(10).Repeat(0, columns)
	noise := func(x, time tensor.Tensor) tensor.Tensor { return average.Model.apply(x, time, y) }
	steps, err := sample(noise, y.Len(), *levels, tensor.NewRNG(*seed))
	if err != nil {
		return err
	}
	drawn := steps.At(-1) // [10·columns 8 8]
	fmt.Fprintf(w, "%d digits drawn: the mean of their pixels is %.3f, of real ones %.3f\n", y.Len(), drawn.Mean().Item(), images.Mean().Item())
	if *draw != "" {
		if err := grid.Save(*draw, drawn.Reshape(10, columns, 8, 8)); err != nil {
			return err
		}
	}
	if *path == "" {
		return nil
	}
	some := tensor.Linspace(0, float64(*levels), columns).Round().Cast(tensor.Int32) // of the levels
	first := steps.Take(0, some).Slice(1, 0, 10*columns, columns)
	return grid.Save(*path, first.Transpose(0, 1))
}
