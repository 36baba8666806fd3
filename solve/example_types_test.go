package solve_test

import (
	"fmt"

	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
)

func fall(_ struct{}, _, y tensor.Tensor) tensor.Tensor { return y.Neg() }

// Looser tolerances take fewer steps.
func ExampleOptions() {
	one := tensor.New([]float64{1})
	for _, tol := range []float64{1e-3, 1e-9} {
		s := solve.Dense(fall, struct{}{}, one, 0, 5, &solve.Options{RTol: tol, ATol: tol})
		fmt.Println(len(s.Steps())-1, "steps")
	}
	// Output:
	// 6 steps
	// 54 steps
}

// A Solution has values at all times.
func ExampleSolution() {
	var s *solve.Solution[tensor.Tensor] = solve.Dense(fall, struct{}{}, tensor.New([]float64{1}), 0, 2, nil)
	fmt.Printf("%.4f %.4f\n", s.At(0.5), s.At(2))
	// Output: [0.6065] [0.1353]
}

// Halving the step halves Euler's error.
func ExampleEuler() {
	for _, steps := range []int{10, 20} {
		y := solve.Euler(func(_, y tensor.Tensor) tensor.Tensor { return y.Neg() }, tensor.New([]float64{1}), []float64{0, 1}, steps)
		fmt.Printf("%.4f\n", y[1]) // 1/e is 0.3679
	}
	// Output:
	// [0.3487]
	// [0.3585]
}

// A circle through three points: its center and its radius.
func ExampleGaussNewton() {
	type Circle struct{ Center, Radius tensor.Tensor }
	points := tensor.From([][]float64{{2, 0}, {0, 2}, {-2, 0}})
	distances := func(c Circle) tensor.Tensor {
		return points.Sub(c.Center).Norm(1).Sub(c.Radius).Reshape(-1)
	}
	start := Circle{tensor.New([]float64{0.5, 0.5}), tensor.New([]float64{1})}
	var fit solve.Fit
	c, fit, err := solve.GaussNewton(distances, start, &solve.FitOptions{MaxIter: 50})
	fmt.Printf("%.3f %.3f\n", c.Center.Abs(), c.Radius)
	fmt.Println(fit.Converged, err)
	// Output:
	// [0.000 0.000] [2.000]
	// true <nil>
}
