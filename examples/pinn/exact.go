package main

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// exactSolution returns u for all times and places of the drawing, [side side].
func exactSolution() tensor.Tensor {
	u := make([]float32, 0, side*side)
	for t := range side {
		for x := range side {
			u = append(u, float32(exact(2*float64(x)/(side-1)-1, float64(t)/(side-1))))
		}
	}
	return tensor.New(u, side, side)
}

// exact returns u at a place and a time by the transformation of Cole and Hopf, which turns
// the equation into the heat equation:
//
//	u(x, t) = -∫ sin π(x-η)·w(η) dη / ∫ w(η) dη
//	log w(η) = -cos(π(x-η))/(2πν) - η²/(4νt)
//
// The integrals are sums over equidistant points, with weights relative to the largest one.
//
// Source: Basdevant et al., "Spectral and finite difference solutions of the Burgers
// equation", 1986.
func exact(x, t float64) float64 {
	if t == 0 {
		return -math.Sin(math.Pi * x)
	}
	const points, end = 400, 15. // weights beyond end·√(4νt) are less than exp(-100)
	scale := math.Sqrt(4 * viscosity * t)
	logWeight := func(z float64) float64 {
		return -math.Cos(math.Pi*(x-scale*z))/(2*math.Pi*viscosity) - z*z
	}
	z := func(i int) float64 { return end * (2*float64(i)/points - 1) }
	largest := math.Inf(-1)
	for i := range points + 1 {
		largest = max(largest, logWeight(z(i)))
	}
	var sum, total float64
	for i := range points + 1 {
		w := math.Exp(logWeight(z(i)) - largest)
		sum -= math.Sin(math.Pi*(x-scale*z(i))) * w
		total += w
	}
	return sum / total
}
