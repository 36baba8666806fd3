// Command regression fits curves to noisy measurements of a damped oscillation in three
// ways, by how much is known of it:
//
//   - nothing but that it is smooth: a polynomial, by linear least squares,
//   - its formula: four parameters, by the method of Levenberg and Marquardt,
//   - nothing, and the noise is wanted too: a network with two outputs, the mean and the
//     variance, trained to make the measurements likely.
//
// It prints the error of each on measurements that were held out, and draws the curves if the
// flag -plot names a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	on     = flag.String("device", "", device.Usage)
	seed   = flag.Uint64("seed", 1, "seed of the noise and of the network's first weights")
	epochs = flag.Int("epochs", 600, "epochs of the network's training")
	draw   = flag.String("plot", "", "draw the curves into this file, a .png or an .svg")
)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	figure, err := regression(os.Stdout, tensor.NewRNG(*seed))
	if err == nil && *draw != "" {
		err = figure.Save(*draw)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// A Sample has measurements Y [n] at the times X [n].
type Sample struct{ X, Y tensor.Tensor }

const (
	measurements = 400
	end          = 6 // the last time
)

// oscillation has the parameters of the oscillation, four scalars.
type oscillation struct{ Amplitude, Decay, Frequency, Phase tensor.Tensor }

func newOscillation(amplitude, decay, frequency, phase float64) oscillation {
	return oscillation{tensor.Scalar(amplitude), tensor.Scalar(decay), tensor.Scalar(frequency), tensor.Scalar(phase)}
}

var truth = newOscillation(2, 0.4, 2.5, 0.3)

// at returns the oscillation at times x.
func (o oscillation) at(x tensor.Tensor) tensor.Tensor {
	return x.Mul(o.Decay).Neg().Exp().Mul(o.Amplitude).Mul(x.Mul(o.Frequency).Add(o.Phase).Sin())
}

// deviation returns the standard deviation of the noise at times x: it grows.
func deviation(x tensor.Tensor) tensor.Tensor { return x.Mul(0.06).Add(0.05) }

// measure returns measurements at random times.
func measure(rng *tensor.RNG, n int) Sample {
	x := rng.Uniform(n).Mul(end)
	return Sample{x, truth.at(x).Add(deviation(x).Mul(rng.Normal(n)))}
}

// degree is the degree of the polynomial.
const degree = 9

// powers returns the powers 0 to degree of x, which is first scaled to -1 to 1, since higher
// powers of larger ranges differ too little from each other: [n degree+1].
func powers(x tensor.Tensor) tensor.Tensor {
	return x.Mul(2. / end).Sub(1).Unsqueeze(1).Pow(tensor.Arange(degree + 1).Cast(tensor.Float32))
}

// A Network predicts a normal distribution for each time.
type Network struct{ Layers nn.Sequential }

func newNetwork(rng *tensor.RNG) Network {
	tanh := nn.Func(tensor.Tensor.Tanh)
	return Network{nn.Sequential{nn.NewLinear(rng, 1, 32), tanh, nn.NewLinear(rng, 32, 32), tanh, nn.NewLinear(rng, 32, 2)}}
}

// predict returns mean and variance at times x, [n] each.
func (n Network) predict(x tensor.Tensor) (mean, variance tensor.Tensor) {
	out := n.Layers.Apply(x.Sub(end / 2.).Unsqueeze(1)) // [n 2]
	return out.Index(tensor.All, 0), out.Index(tensor.All, 1).Softplus()
}

// trainNetwork maximizes the likelihood of measurements.
func trainNetwork(rng *tensor.RNG, s Sample) (Network, error) {
	l := train.Loop[Network, Sample]{
		Model:     newNetwork(rng),
		Data:      &data.Loader[Sample]{Set: data.Of(s), Batch: 100, Shuffle: true},
		Optimizer: optim.New(optim.Adam{}, 0.01),
		Epochs:    *epochs, Every: *epochs,
		Loss: func(n Network, s Sample, _ *tensor.RNG) (tensor.Tensor, Network) {
			mean, variance := n.predict(s.X)
			return nn.GaussianNLL(mean, s.Y, variance).Mean(), n
		},
	}
	l.Optimizer.Schedule = optim.Cosine(*epochs*l.Data.Steps(), 0)
	err := l.Run(context.Background())
	return l.Model, err
}

// regression fits the three curves, prints their errors, and returns their figure.
func regression(w io.Writer, rng *tensor.RNG) (f *plot.Figure, err error) {
	defer tensor.Catch(&err)
	known, held := measure(rng, measurements), measure(rng, measurements)
	coefficients := linalg.LstSq(powers(known.X), known.Y)
	polynomial := func(x tensor.Tensor) tensor.Tensor { return powers(x).MatMul(coefficients) }

	formula, fit, err := solve.LevenbergMarquardt(func(o oscillation) tensor.Tensor {
		return o.at(known.X).Sub(known.Y)
	}, newOscillation(1, 0.2, 2, 0), nil)
	if err != nil {
		return nil, err
	}
	network, err := trainNetwork(rng, known)
	if err != nil {
		return nil, err
	}
	mean := func(x tensor.Tensor) tensor.Tensor { m, _ := network.predict(x); return m }

	fmt.Fprintf(w, "%d iterations found %.3f exp(-%.3f x) sin(%.3f x + %.3f)\n", fit.Iterations,
		formula.Amplitude.Item(), formula.Decay.Item(), formula.Frequency.Item(), formula.Phase.Item())
	fmt.Fprintf(w, "the truth is       %.3f exp(-%.3f x) sin(%.3f x + %.3f)\n\n",
		truth.Amplitude.Item(), truth.Decay.Item(), truth.Frequency.Item(), truth.Phase.Item())

	fmt.Fprintf(w, "share of the variance of %d new measurements that is explained, and distance from the truth:\n", measurements)
	for _, c := range []struct {
		name  string
		curve func(tensor.Tensor) tensor.Tensor
	}{{"polynomial", polynomial}, {"formula", formula.at}, {"network", mean}, {"truth", truth.at}} {
		y := c.curve(held.X)
		away := y.Sub(truth.at(held.X)).Square().Mean().Sqrt()
		fmt.Fprintf(w, "  %-10s %.4f %.4f\n", c.name, train.R2(y, held.Y).Item(), away.Item())
	}

	fmt.Fprint(w, "\nstandard deviation of the noise by the network, and the true one:\n")
	for x := range end + 1 {
		at := tensor.Scalar(float64(x)).Reshape(1)
		_, variance := network.predict(at)
		fmt.Fprintf(w, "  at %d: %.3f %.3f\n", x, variance.Sqrt().Item(), deviation(at).Item())
	}
	return figure(known, polynomial, formula, network), nil
}

// figure draws the measurements, the curves, and two standard deviations around the network's.
func figure(s Sample, polynomial func(tensor.Tensor) tensor.Tensor, formula oscillation, n Network) *plot.Figure {
	x := tensor.Linspace(0, end, 300)
	mean, variance := n.predict(x)
	twice := variance.Sqrt().Mul(2)
	f := plot.Overlay(
		plot.Scatter(plot.Series{Name: "measurements", X: s.X, Y: s.Y, Color: plot.Color(7)}),
		plot.Lines(
			plot.Series{Name: "polynomial", X: x, Y: polynomial(x), Color: plot.Color(2)},
			plot.Series{Name: "formula", X: x, Y: formula.at(x), Color: plot.Color(1)},
			plot.Series{Name: "network ± 2 σ", X: x, Y: mean, Low: mean.Sub(twice), High: mean.Add(twice), Color: plot.Color(0)},
		))
	f.X.Label, f.Y.Label = "time", "displacement"
	return f
}
