package main

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// TestOutput trains for a short time.
func TestOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a second")
	}
	*count, *rounds, *iterations = 300, 3, 10
	*draw = filepath.Join(t.TempDir(), "pinn.svg")
	exampletest.CheckWithin(t, main, 0.02)
}

// TestExact compares the steepest slope at x = 0 with the published one: -152.00516 at
// t = 1.6037/π, from the source of exact.
func TestExact(t *testing.T) {
	const h = 1e-7
	slope := func(t float64) float64 { return exact(h, t) / h } // exact(0, t) is 0
	const steepest = 1.6037 / math.Pi
	if got := slope(steepest); math.Abs(got+152.00516) > 1e-3 {
		t.Errorf("the slope is %v, want -152.00516", got)
	}
	for _, other := range []float64{steepest - 0.01, steepest + 0.01} {
		if slope(other) < slope(steepest) {
			t.Errorf("the slope at t = %v is %v, at t = %v only %v", other, slope(other), steepest, slope(steepest))
		}
	}
	for _, x := range []float64{-1, 1} {
		if u := exact(x, 0.5); math.Abs(u) > 1e-9 {
			t.Errorf("u(%v, 0.5) = %v, want 0", x, u)
		}
	}
}

// TestResidual compares u and the residual of a constant network with closed forms.
func TestResidual(t *testing.T) {
	const c = 0.7
	net := nn.Sequential{nn.Linear{Weight: tensor.Zeros(1, 2), Bias: tensor.New([]float32{c})}}
	for _, p := range [][2]float64{{-0.9, 0}, {-0.3, 0.4}, {0, 1}, {0.55, 0.8}} {
		x, time := p[0], p[1]
		sin, cos := math.Sincos(math.Pi * x)
		u := -sin + time*(1-x*x)*c
		byT, byX, byXX := (1-x*x)*c, -math.Pi*cos-2*x*time*c, math.Pi*math.Pi*sin-2*time*c
		point := Point{tensor.Scalar(x), tensor.Scalar(time)}
		if got := at(net, point).Item(); math.Abs(got-u) > 1e-6 {
			t.Errorf("u(%v, %v) = %v, want %v", x, time, got, u)
		}
		want := byT + u*byX - viscosity*byXX
		if got := residual(net, point).Item(); math.Abs(got-want) > 1e-5 {
			t.Errorf("the residual at %v is %v, want %v", p, got, want)
		}
		all := Point{tensor.Full(x, 3), tensor.Full(time, 3)}
		if got := loss(net, all).Item(); math.Abs(got-want*want) > 1e-4 {
			t.Errorf("the loss at %v is %v, want %v", p, got, want*want)
		}
	}
}
