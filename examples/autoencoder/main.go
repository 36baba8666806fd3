// Command autoencoder compresses images of handwritten digits to two numbers and back, by a
// variational autoencoder (Kingma, Welling, "Auto-Encoding Variational Bayes", 2013), and
// draws the digits that pairs of numbers stand for.
//
// The encoder gives a normal distribution of the two numbers for an image, the decoder an
// image for two numbers. The loss is the negative of a lower bound of the log-likelihood of
// the images: it asks for a good reconstruction, and for distributions close to the standard
// normal one, so that all pairs near zero mean a digit.
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
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	on     = flag.String("device", "", device.Usage)
	epochs = flag.Int("epochs", 30, "how often the digits are seen")
	seed   = flag.Uint64("seed", 1, "seed of the weights")
	draw   = flag.String("plot", "", "draw the digits of a square of codes into this file, a .png or a .gif")
	codes  = flag.String("codes", "", "draw the codes of the digits into this file, a .png or an .svg")
)

func main() { flags.Run(on, run) }

const (
	pixels = 8 * 8
	hidden = 256
	code   = 2 // numbers that stand for an image
)

// An autoencoder maps images, [batch 64] with pixels from 0 to 1, to codes and back.
type autoencoder struct{ Encoder, Decoder nn.Sequential }

func newAutoencoder(rng *tensor.RNG) autoencoder {
	network := func(in, out int) nn.Sequential {
		act := nn.Func(tensor.Tensor.SiLU)
		return nn.Sequential{nn.NewLinear(rng, in, hidden), act, nn.NewLinear(rng, hidden, hidden), act, nn.NewLinear(rng, hidden, out)}
	}
	return autoencoder{Encoder: network(pixels, 2*code), Decoder: network(code, pixels)}
}

// encode returns the mean and the logarithm of the variance of the codes of images, both
// [batch 2].
func (m autoencoder) encode(x tensor.Tensor) (mean, logVar tensor.Tensor) {
	y := m.Encoder.Apply(x).Split(1, code, code)
	return y[0], y[1]
}

// decode returns the images of codes, [batch 64] with pixels from 0 to 1.
func (m autoencoder) decode(z tensor.Tensor) tensor.Tensor { return m.Decoder.Apply(z).Sigmoid() }

// loss returns the mean loss of images.
func (m autoencoder) loss(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	mean, logVar := m.encode(x)
	// A draw from the distribution that mean and variance have a derivative of.
	z := mean.Add(rng.Normal(mean.Shape()...).Mul(logVar.Div(2).Exp()))
	reconstruction := nn.BCEWithLogits(m.Decoder.Apply(z), x).Sum(1)
	divergence := mean.Square().Add(logVar.Exp()).Sub(logVar).Sub(1).Sum(1).Div(2) // from the standard normal
	return reconstruction.Add(divergence).Mean()
}

func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	images, labels, err := digits.Load()
	if err != nil {
		return err
	}
	training, rest := data.Split(data.Of(images.Flatten(1)), 0.8, 1)
	test, err := data.Whole(rest)
	if err != nil {
		return err
	}
	rng := tensor.NewRNG(*seed)
	l := train.Loop[autoencoder, tensor.Tensor]{
		Model:     newAutoencoder(rng),
		Data:      &data.Loader[tensor.Tensor]{Set: training, Batch: 64, Shuffle: true, DropLast: true},
		Optimizer: optim.New(optim.Adam{}, 2e-3),
		RNG:       rng, Epochs: *epochs, Monitor: "-test",
		Loss: func(m autoencoder, x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, autoencoder) {
			return m.loss(x, rng), m
		},
		Validate: func(m autoencoder) (train.Metrics, error) {
			return train.Metrics{"test": m.loss(test, tensor.NewRNG(*seed)).Item()}, nil
		},
	}
	l.Optimizer.Schedule = optim.Cosine(*epochs*l.Data.Steps(), 0)
	if err := l.Run(ctx); err != nil {
		return err
	}
	for i, m := range l.History {
		if (i+1)%max(*epochs/6, 1) == 0 {
			fmt.Fprintf(w, "epoch %d, loss %.2f, of digits it has not seen %.2f\n", i+1, m["loss"], m["test"])
		}
	}
	mean, _ := l.Best.encode(test)
	wrong := l.Best.decode(mean).Sub(test).Abs().Mean()
	fmt.Fprintf(w, "Of %d numbers instead of %d a decoded pixel, from 0 to 1, is wrong by %.3f on average.\n", code, pixels, wrong.Item())
	if *draw != "" {
		if err := grid.Save(*draw, atlas(l.Best, 14)); err != nil {
			return err
		}
	}
	if *codes == "" {
		return nil
	}
	const some = 1000 // so that the points do not hide each other
	return scatter(l.Best, images.Flatten(1).Slice(0, 0, some), labels.Slice(0, 0, some)).Save(*codes)
}

// atlas returns the images [side side 8 8] of a square of codes around zero, the first
// number to the right and the second one upwards.
func atlas(m autoencoder, side int) tensor.Tensor {
	const far = 2.2 // 97 % of a standard normal number are less
	up, right := tensor.Linspace(far, -far, side), tensor.Linspace(-far, far, side)
	yx := tensor.Meshgrid(up, right)
	return m.decode(tensor.Stack(-1, yx[1], yx[0]).Reshape(-1, code)).Reshape(side, side, 8, 8)
}

// scatter draws the codes of images in the colors of their digits.
func scatter(m autoencoder, x, labels tensor.Tensor) *plot.Figure {
	mean, _ := m.encode(x)
	var series []plot.Series
	for digit := range 10 {
		z := mean.Take(0, labels.Eq(digit).NonZero().Squeeze(1))
		series = append(series, plot.Series{Name: fmt.Sprint(digit), X: z.Index(tensor.All, 0), Y: z.Index(tensor.All, 1)})
	}
	f := plot.Scatter(series...)
	f.Width, f.Height = 480, 360
	return f
}
