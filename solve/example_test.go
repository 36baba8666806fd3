package solve_test

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
)

// Foxes eat rabbits. The state is a tree, and so may be the parameters.
func ExampleODE() {
	type State struct{ Rabbits, Foxes tensor.Tensor }
	change := func(rate tensor.Tensor, _ tensor.Tensor, s State) State {
		eaten := s.Rabbits.Mul(s.Foxes)
		return State{s.Rabbits.Mul(rate).Sub(eaten), eaten.Sub(s.Foxes)}
	}
	start := State{tensor.New([]float64{2}), tensor.New([]float64{1})}
	for _, s := range solve.ODE(change, tensor.New([]float64{1.5}), start, []float64{0, 2, 4}, nil) {
		fmt.Printf("%.3f %.3f\n", s.Rabbits, s.Foxes)
	}
	// Output:
	// [2.000] [1.000]
	// [0.433] [2.261]
	// [0.653] [0.706]
}

// A loss of the solution has a gradient by the parameters of the equation.
func ExampleODE_gradient() {
	loss := func(k tensor.Tensor) tensor.Tensor { // of e^-2k
		fall := func(k, _, y tensor.Tensor) tensor.Tensor { return y.Mul(k).Neg() }
		return solve.ODE(fall, k, tensor.New([]float64{1}), []float64{0, 2}, nil)[1].Sum()
	}
	fmt.Printf("%.4f\n", grad.Of(loss)(tensor.New([]float64{0.5}))) // -2·e^-1
	// Output: [-0.7358]
}

func ExampleDense() {
	turn := func(_ struct{}, _, y tensor.Tensor) tensor.Tensor { // (cos t, sin t)
		return tensor.Stack(0, y.At(1).Neg(), y.At(0))
	}
	s := solve.Dense(turn, struct{}{}, tensor.New([]float64{1, 0}), 0, 6, nil)
	fmt.Printf("%.3f %.3f\n", s.At(1.25), s.At(5))
	// Output: [0.315 0.949] [0.284 -0.959]
}

// A pendulum, in 20 steps.
func ExampleRK4() {
	type Pendulum struct{ Angle, Speed tensor.Tensor }
	swing := func(_ tensor.Tensor, p Pendulum) Pendulum { return Pendulum{p.Speed, p.Angle.Sin().Neg()} }
	start := Pendulum{tensor.Scalar(1), tensor.Scalar(0)}
	for _, p := range solve.RK4(swing, start, []float64{0, 1, 2}, 10) {
		fmt.Printf("%.3f %.3f\n", p.Angle, p.Speed)
	}
	// Output:
	// 1.000 0.000
	// 0.600 -0.755
	// -0.306 -0.909
}

func ExampleLevenbergMarquardt() {
	type Line struct{ Slope, Offset tensor.Tensor }
	x := tensor.New([]float64{0, 1, 2, 3})
	y := tensor.New([]float64{1.1, 2.9, 5.1, 6.9})
	line, fit, err := solve.LevenbergMarquardt(func(l Line) tensor.Tensor {
		return x.Mul(l.Slope).Add(l.Offset).Sub(y)
	}, Line{tensor.New([]float64{0}), tensor.New([]float64{0})}, nil)
	fmt.Printf("%.2f %.2f %.3f %v\n", line.Slope, line.Offset, fit.SumSquares, err)
	// Output: [1.96] [1.06] 0.032 <nil>
}
