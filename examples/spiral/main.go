// Command spiral separates the arms of a spiral, after a case study of Stanford's course
// CS231n: three classes of points in the plane that no straight lines separate.
//
// It trains a linear classifier and a network with a hidden layer in the same way, prints how
// many points each gets right, and draws the regions of the classes if the flag -plot names
// a file.
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
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	on    = flag.String("device", "", device.Usage)
	seed  = flag.Uint64("seed", 1, "seed of the points and of the first weights")
	steps = flag.Int("steps", 300, "training steps")
	draw  = flag.String("plot", "", "draw the regions into this file, a .png or an .svg")
)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	figure, err := spiral(os.Stdout, tensor.NewRNG(*seed))
	if err == nil && *draw != "" {
		err = figure.Save(*draw)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const (
	arms   = 3
	perArm = 100 // points
)

// points have coordinates x [n 2] and arms y, int32 [n].
type points struct{ x, y tensor.Tensor }

// newPoints returns points on each arm, from the center outwards, with noise in the angle.
func newPoints(rng *tensor.RNG) points {
	arm := tensor.Arange(arms).Repeat(0, perArm) // 0 0 … 1 1 … 2 2 …
	radius := tensor.Linspace(0, 1, perArm).Tile(arms)
	angle := radius.Add(arm).Mul(4).Add(rng.Normal(arms * perArm).Mul(0.2))
	return points{tensor.Stack(1, radius.Mul(angle.Sin()), radius.Mul(angle.Cos())), arm}
}

// fit trains a classifier on all points at once, and prints the loss.
func fit(w io.Writer, net nn.Sequential, p points) (nn.Sequential, error) {
	opt := optim.New(optim.AdamW{WeightDecay: 0.01}, 0.03)
	lossAndGradient := grad.ValueAndGrad(func(net nn.Sequential) tensor.Tensor {
		return nn.CrossEntropy(net.Apply(p.x), p.y).Mean()
	})
	for step := range *steps {
		loss, gradient := lossAndGradient(net)
		if err := opt.Step(&net, gradient); err != nil {
			return nil, err
		}
		if step%100 == 0 {
			fmt.Fprintf(w, "  step %3d, loss %.4f\n", step, loss.Item())
		}
	}
	return net, nil
}

// spiral trains both classifiers and returns the figure of their regions.
func spiral(w io.Writer, rng *tensor.RNG) (f *plot.Figure, err error) {
	defer tensor.Catch(&err)
	known, held := newPoints(rng), newPoints(rng)
	if err := tensor.Eval(known.x, held.x); err != nil {
		return nil, err
	}
	var figures []*plot.Figure
	for _, c := range []struct {
		name string
		net  nn.Sequential
	}{
		{"linear", nn.Sequential{nn.NewLinear(rng, 2, arms)}},
		{"a hidden layer of 64", nn.Sequential{nn.NewLinear(rng, 2, 64), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(rng, 64, arms)}},
	} {
		fmt.Fprintf(w, "%s:\n", c.name)
		net, err := fit(w, c.net, known)
		if err != nil {
			return nil, err
		}
		right := train.Accuracy(net.Apply(held.x), held.y).Mul(100).Item()
		fmt.Fprintf(w, "  %.1f %% of %d new points are right\n\n", right, held.y.Len())
		figure := regions(net, known)
		figure.Title = fmt.Sprintf("%s: %.1f %%", c.name, right)
		figures = append(figures, figure)
	}
	return plot.Grid(len(figures), figures...), nil
}

// regions draws a classifier's class for each place of the plane, in pale colors, and the
// points over it.
func regions(net nn.Sequential, p points) *plot.Figure {
	const side, most = 100, 1.2
	line := tensor.Linspace(-most, most, side)
	grid := tensor.Meshgrid(line, line)
	x, y := grid[0].Flatten(0), grid[1].Flatten(0) // [side²] each
	class := net.Apply(tensor.Stack(1, x, y)).ArgMax(-1)

	px, py := p.x.Index(tensor.All, 0), p.x.Index(tensor.All, 1)
	var places, dots []plot.Series
	for arm := range arms {
		// A point with a NaN is not drawn.
		only := func(y, class tensor.Tensor) tensor.Tensor { return tensor.Where(class.Eq(arm), y, math.NaN()) }
		dark := plot.Color(arm)
		places = append(places, plot.Series{X: x, Y: only(y, class), Color: pale(dark), Mark: 's'})
		dots = append(dots, plot.Series{X: px, Y: only(py, p.y), Color: dark, Mark: 'o'})
	}
	f := plot.Scatter(append(places, dots...)...)
	f.Width, f.Height = 400, 400
	f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = -most, most, -most, most
	return f
}

// pale returns a color mixed with white.
func pale(c color.NRGBA) color.NRGBA {
	mix := func(x uint8) uint8 { return 255 - (255-x)/3 }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}
