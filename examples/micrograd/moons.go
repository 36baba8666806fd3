package main

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// moons returns n points of each of two half circles that lie in each other, [2n 2], and the
// circles, -1 or 1: [2n 1].
func moons(rng *tensor.RNG, n int) (x, y tensor.Tensor) {
	angle := tensor.Linspace(0, math.Pi, n).Cast(tensor.Float32)
	cos, sin := angle.Cos(), angle.Sin()
	upper := tensor.Stack(1, cos, sin)
	lower := tensor.Stack(1, cos.Neg().Add(1), sin.Neg().Add(0.5))
	x = tensor.Cat(0, upper, lower).Add(rng.Normal(2*n, 2).Mul(0.1)).Keep()
	one := tensor.OnesOf(tensor.Float32, n, 1)
	return x, tensor.Cat(0, one.Neg(), one).Keep()
}

// newModel returns micrograd's network, of two hidden layers of 16 units. The sign of its
// output is its decision.
func newModel(rng *tensor.RNG) nn.Sequential {
	relu := nn.Func(tensor.Tensor.ReLU)
	return nn.Sequential{nn.NewLinear(rng, 2, 16), relu, nn.NewLinear(rng, 16, 16), relu, nn.NewLinear(rng, 16, 1)}
}

// loss returns the mean hinge loss, which wants y·score of at least 1, as a support vector
// machine does, and a penalty on large weights.
func loss(m nn.Sequential, x, y tensor.Tensor) tensor.Tensor {
	sum := nn.Hinge(m.Apply(x), y).Mean()
	for _, w := range tree.All(m) {
		sum = sum.Add(w.Square().Sum().Mul(1e-4))
	}
	return sum
}

// train follows the gradient, with a rate that falls from 1 to 0.1.
func train(w io.Writer, rng *tensor.RNG, x, y tensor.Tensor, steps int) (nn.Sequential, error) {
	m := newModel(rng)
	o := optim.New(optim.SGD{}, 1)
	o.Schedule = optim.Linear(steps, 0.1)
	lossAndGradient := grad.ValueAndGrad(func(m nn.Sequential) tensor.Tensor { return loss(m, x, y) })
	for step := range steps {
		l, g := lossAndGradient(m)
		if err := o.Step(&m, g); err != nil {
			return nil, err
		}
		if step%10 == 0 {
			fmt.Fprintf(w, "step %3d, loss %.4f\n", step, l.Item())
		}
	}
	right := m.Apply(x).Mul(y).Gt(0).Sum()
	fmt.Fprintf(w, "step %3d, loss %.4f, %v of %d points right\n", steps, loss(m, x, y).Item(), right.Item(), x.Dim(0))
	return m, nil
}

// decisions draws the points over the scores that a model gives to the plane around them.
func decisions(m nn.Sequential, x, y tensor.Tensor) *plot.Figure {
	const columns, rows = 220, 140
	lowX, highX, lowY, highY := -1.6, 2.6, -1.2, 1.7
	at := tensor.Meshgrid(tensor.Linspace(lowX, highX, columns), tensor.Linspace(lowY, highY, rows))
	plane := tensor.Stack(1, at[0].Reshape(-1), at[1].Reshape(-1)).Cast(tensor.Float32)
	score := m.Apply(plane).Reshape(-1)

	// A series for each level of the score.
	levels := []struct {
		least float64
		color color.NRGBA
	}{
		{math.Inf(-1), color.NRGBA{0x92, 0xb8, 0xe0, 0xff}}, {-2, color.NRGBA{0xb4, 0xce, 0xea, 0xff}}, {-1, color.NRGBA{0xdc, 0xe8, 0xf5, 0xff}},
		{0, color.NRGBA{0xfb, 0xe2, 0xd8, 0xff}}, {1, color.NRGBA{0xf6, 0xc4, 0xb0, 0xff}}, {2, color.NRGBA{0xee, 0xa1, 0x86, 0xff}},
	}
	points := func(from, where, height tensor.Tensor, c color.Color, mark rune, name string) plot.Series {
		return plot.Series{Name: name, X: from, Y: tensor.Where(where, height, math.NaN()), Color: c, Mark: mark}
	}
	var series []plot.Series
	for i, l := range levels {
		in := score.Ge(l.least)
		if i+1 < len(levels) {
			in = in.And(score.Lt(levels[i+1].least))
		}
		series = append(series, points(plane.Index(tensor.All, 0), in, plane.Index(tensor.All, 1), l.color, 's', ""))
	}
	first, second, class := x.Index(tensor.All, 0), x.Index(tensor.All, 1), y.Reshape(-1)
	series = append(series,
		points(first, class.Lt(0), second, color.NRGBA{0x1f, 0x5f, 0xa8, 0xff}, 'o', "upper moon"),
		points(first, class.Gt(0), second, color.NRGBA{0xb5, 0x3a, 0x12, 0xff}, '^', "lower moon"))
	f := plot.Scatter(series...)
	f.Title = "Where the network decides"
	f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = lowX, highX, lowY, highY
	return f
}
