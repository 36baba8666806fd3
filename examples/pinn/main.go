// Command pinn solves a partial differential equation with a network: Burgers' equation,
// in which a wave steepens into a shock, by the method of Raissi, Perdikaris and Karniadakis,
// "Physics-informed neural networks", 2019:
//
//	∂u/∂t + u·∂u/∂x = ν·∂²u/∂x²,  u(x, 0) = -sin πx,  u(±1, t) = 0,  ν = 0.01/π
//
// The network is a function u of place and time. Its loss is how far it is from satisfying
// the equation at random points: forward derivatives by x and t, of one point, inside of
// Vmap for many, inside of the gradient by the weights. No solution is shown to it.
//
// The program prints the distance from the exact solution while it trains, and draws both
// if the flag -plot names a file.
package main

import (
	"flag"
	"fmt"
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
)

var (
	on         = flag.String("device", "", device.Usage)
	seed       = flag.Uint64("seed", 1, "seed of the points and of the first weights")
	count      = flag.Int("points", 5000, "points at which the equation is to hold")
	rounds     = flag.Int("rounds", 7, "how often new points are chosen")
	iterations = flag.Int("iterations", 300, "iterations of L-BFGS in each round")
	draw       = flag.String("plot", "", "draw the solution into this file, a .png or an .svg")
)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	net, err := solve(os.Stdout, tensor.NewRNG(*seed))
	if err == nil && *draw != "" {
		err = figure(net).Save(*draw)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const viscosity = 0.01 / math.Pi

// A Point is a place from -1 to 1 and a time from 0 to 1, scalars, or many of them, [n].
type Point struct{ X, T tensor.Tensor }

// at returns -sin πx + t·(1-x²)·net(x, t), the scalar u at one point: a function that has the
// given values at the start and at the ends, whatever the network is.
func at(net nn.Sequential, p Point) tensor.Tensor {
	free := net.Apply(tensor.Stack(0, p.X, p.T)).At(0)
	start := p.X.Mul(math.Pi).Sin().Neg()
	return p.T.Mul(p.X.Square().Neg().Add(1)).Mul(free).Add(start)
}

// residual returns by how much u misses the equation at one point, a scalar.
func residual(net nn.Sequential, p Point) tensor.Tensor {
	byX := grad.Diff(func(x tensor.Tensor) tensor.Tensor { return at(net, Point{x, p.T}) })
	byT := grad.Diff(func(t tensor.Tensor) tensor.Tensor { return at(net, Point{p.X, t}) })
	return byT(p.T).Add(at(net, p).Mul(byX(p.X))).Sub(grad.Diff(byX)(p.X).Mul(viscosity))
}

// loss returns the mean of the squared residuals at points, a scalar.
func loss(net nn.Sequential, points Point) tensor.Tensor {
	one := func(p Point) tensor.Tensor { return residual(net, p) }
	return grad.Vmap(one)(points).Square().Mean()
}

func newNetwork(rng *tensor.RNG) nn.Sequential {
	const width, depth = 32, 4
	var net nn.Sequential
	for in := 2; len(net) < 2*depth; in = width {
		net = append(net, nn.NewLinear(rng, in, width), nn.Func(tensor.Tensor.Tanh))
	}
	return append(net, nn.NewLinear(rng, width, 1))
}

// solve trains a network and prints its loss and its distance from the solution.
func solve(w io.Writer, rng *tensor.RNG) (net nn.Sequential, err error) {
	defer tensor.Catch(&err)
	net = newNetwork(rng)
	want := exactSolution()
	fmt.Fprintln(w, "iterations       loss  relative distance from the solution")
	for round := range *rounds {
		// New points, since at old ones the equation would soon hold better than between them.
		points := Point{rng.Uniform(*count).Mul(2).Sub(1), rng.Uniform(*count)}
		if err := tensor.Eval(points); err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "%10d %10.3g  %.4f\n", *iterations*round, loss(net, points).Item(), distance(net, want))
		_, err := optim.Minimize(&optim.LBFGS{MaxIter: *iterations, TolChange: 1e-12}, &net, func(net nn.Sequential) tensor.Tensor { return loss(net, points) })
		if err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(w, "%10d             %.4f\n", *iterations**rounds, distance(net, want))
	return net, nil
}

const side = 101 // places, and times, of the drawing

// solution returns u by the network, for all times and places of the drawing: [side side].
func solution(net nn.Sequential) tensor.Tensor {
	grid := tensor.Meshgrid(tensor.Linspace(0, 1, side), tensor.Linspace(-1, 1, side))
	one := func(p Point) tensor.Tensor { return at(net, p) }
	return grad.Vmap(one)(Point{grid[1].Flatten(0), grid[0].Flatten(0)}).Reshape(side, side)
}

// distance returns ‖u - exact‖/‖exact‖ over the places and times of the drawing.
func distance(net nn.Sequential, want tensor.Tensor) float64 {
	return solution(net).Sub(want).Norm().Div(want.Norm()).Item()
}

// figure draws u by time and place, and by place at four times beside the exact one.
func figure(net nn.Sequential) *plot.Figure {
	u, exact := solution(net), exactSolution()
	all := plot.Heatmap(u.T())
	all.Title, all.X.Label, all.Y.Label = "u", "time", "place"
	all.X.Max, all.Y.Min, all.Y.Max, all.OriginBelow = 1, -1, 1, true
	x := tensor.Linspace(-1, 1, side)
	var series []plot.Series
	for i, t := range []int{0, 25, 50, 99} {
		series = append(series,
			plot.Series{Name: fmt.Sprintf("t = %.2f", float64(t)/100), X: x, Y: u.At(t), Color: plot.Color(i)},
			plot.Series{X: x, Y: exact.At(t), Color: plot.Color(7), Dashed: true})
	}
	lines := plot.Lines(series...)
	lines.Title, lines.X.Label, lines.Y.Label = "network, and exact (dashed)", "place", "u"
	all.Width, all.Height, lines.Width, lines.Height = 480, 400, 480, 400
	return plot.Grid(2, all, lines)
}
