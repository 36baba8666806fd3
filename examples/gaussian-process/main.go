// Command gaussian-process finds a curve through few noisy measurements, and how sure it is
// of it, by Gaussian process regression: Rasmussen, Williams, "Gaussian Processes for Machine
// Learning", 2006, chapters 2 and 5.
//
// The curve is a sum of unknown smooth functions. How far it swings, how fast it changes and
// how noisy the measurements are is learned from these, by following the gradient of their
// likelihood through a Cholesky factorization. The program prints the learned numbers, and
// draws the curve, its uncertainty, and other curves that are as likely, before and after, if
// the flag -plot names a file.
package main

import (
	"flag"
	"fmt"
	"image/color"
	"io"
	"log"
	"math"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on   = flag.String("device", "", device.Usage)
	seed = flag.Uint64("seed", 3, "seed of the measurements")
	draw = flag.String("plot", "", "draw the curves into this file, a .png or an .svg")
)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	figure, err := run(os.Stdout, tensor.NewRNG(*seed))
	if err == nil && *draw != "" {
		err = figure.Save(*draw)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const (
	measurements = 40
	end          = 10 // the greatest x
	noise        = 0.2
)

func truth(x tensor.Tensor) tensor.Tensor { return x.Sin().Add(x.Mul(0.5).Cos()) }

// measure returns x and y of measurements, [n] each, none of them between 4 and 7.
func measure(rng *tensor.RNG) (x, y tensor.Tensor) {
	const from, gap = 4, 3
	x = rng.Uniform(measurements).Mul(end - gap)
	x = tensor.Where(x.Gt(from), x.Add(gap), x)
	return x, truth(x).Add(rng.Normal(measurements).Mul(noise))
}

// A Prior has the logarithms of the learned numbers, scalars: the standard deviation of the
// curve, the distance over which it changes, the standard deviation of the noise.
type Prior struct{ Swing, Length, Noise tensor.Tensor }

// covariance returns the covariance of the curve at the places a [m] and b [n]: [m n], the
// squared exponential kernel.
func (p Prior) covariance(a, b tensor.Tensor) tensor.Tensor {
	distance := a.Unsqueeze(1).Sub(b).Div(p.Length.Exp())
	return distance.Square().Mul(-0.5).Add(p.Swing.Mul(2)).Exp()
}

// jitter is the least variance of noise, relative to the curve's: with less, the rounding of
// float32 leaves a covariance without a Cholesky factor.
const jitter = 1e-5

// factor returns the Cholesky factor of the covariance of measurements at x, [n n].
func (p Prior) factor(x tensor.Tensor) tensor.Tensor {
	variance := p.Noise.Mul(2).Exp().Add(p.Swing.Mul(2).Exp().Mul(jitter))
	return linalg.Cholesky(p.covariance(x, x).Add(tensor.Eye(x.Len()).Mul(variance)))
}

// surprise returns -log of the density of measurements, a scalar: the less, the better the
// prior explains them.
func (p Prior) surprise(x, y tensor.Tensor) tensor.Tensor {
	l := p.factor(x)
	fit := y.Dot(linalg.CholeskySolve(l, y)).Mul(0.5)
	halfLogDet := l.Diag(0).Log().Sum()
	return fit.Add(halfLogDet).Add(float64(x.Len()) / 2 * math.Log(2*math.Pi))
}

// posterior returns mean [m] and covariance [m m] of the curve at the places at, given the
// measurements.
func (p Prior) posterior(x, y, at tensor.Tensor) (mean, covariance tensor.Tensor) {
	l, between := p.factor(x), p.covariance(x, at)
	mean = between.T().MatMul(linalg.CholeskySolve(l, y))
	known := linalg.SolveTriangular(l, between, linalg.Triangle{})
	return mean, p.covariance(at, at).Sub(known.T().MatMul(known))
}

// run learns the prior, prints it and returns the figure.
func run(w io.Writer, rng *tensor.RNG) (f *plot.Figure, err error) {
	defer tensor.Catch(&err)
	x, y := measure(rng)
	if err := tensor.Eval(x, y); err != nil {
		return nil, err
	}
	p := Prior{tensor.Scalar(0), tensor.Scalar(-1), tensor.Scalar(0)}
	before := figure(p, x, y)
	before.Title = "before"

	fmt.Fprintln(w, "             swing  length   noise  -log likelihood")
	show := func(name string) {
		fmt.Fprintf(w, "%-9s  %7.4f %7.4f %7.4f  %.3f\n", name,
			p.Swing.Exp().Item(), p.Length.Exp().Item(), p.Noise.Exp().Item(), p.surprise(x, y).Item())
	}
	show("before")
	if _, err := optim.Minimize(&optim.LBFGS{MaxIter: 50}, &p, func(p Prior) tensor.Tensor { return p.surprise(x, y) }); err != nil {
		return nil, err
	}
	show("after")
	fmt.Fprintf(w, "\nthe noise is %v\n\n", noise)

	at := tensor.Linspace(0, end, 11)
	mean, covariance := p.posterior(x, y, at)
	deviation := covariance.Diag(0).Sqrt()
	fmt.Fprintln(w, "   x   truth    mean  deviation")
	for i := range at.Len() {
		fmt.Fprintf(w, "%4.0f %7.3f %7.3f  %.3f\n", at.At(i).Item(), truth(at).At(i).Item(), mean.At(i).Item(), deviation.At(i).Item())
	}
	after := figure(p, x, y)
	after.Title = "after"
	return plot.Grid(1, before, after), nil
}

// pale is the color of curves drawn from the posterior.
var pale = color.NRGBA{0x9c, 0xbe, 0xdc, 0xff}

// figure draws the measurements, the mean with two standard deviations, and curves drawn
// from the posterior.
func figure(p Prior, x, y tensor.Tensor) *plot.Figure {
	const places, curves = 100, 3
	at := tensor.Linspace(0, end, places)
	mean, covariance := p.posterior(x, y, at)
	twice := covariance.Diag(0).Sqrt().Mul(2)
	root := linalg.Cholesky(covariance.Add(tensor.Eye(places).Mul(10 * jitter)))
	drawn := root.MatMul(tensor.NewRNG(1).Normal(places, curves)).T().Add(mean) // [curves places]
	f := plot.Overlay(
		plot.Lines(
			plot.Series{X: at, Y: drawn, Color: pale},
			plot.Series{Name: "truth", X: at, Y: truth(at), Color: plot.Color(1), Dashed: true},
			plot.Series{Name: "mean ± 2 σ", X: at, Y: mean, Low: mean.Sub(twice), High: mean.Add(twice), Color: plot.Color(0)},
		),
		plot.Scatter(plot.Series{Name: "measurements", X: x, Y: y, Color: plot.Color(7)}))
	f.Y.Min, f.Y.Max = -3, 3
	f.Height = 320
	return f
}
