package main

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

func TestOutput(t *testing.T) {
	*draw = filepath.Join(t.TempDir(), "gaussian-process.png")
	exampletest.CheckWithin(t, main, 0.01)
	exampletest.CheckPicture(t, *draw, "gaussian-process.png", 0.01)
}

// TestSurprise compares derivatives, which flow through the factorization, with finite
// differences, and the surprise of one measurement with -log of the normal density.
func TestSurprise(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, y := rng.Uniform(5).Mul(4), rng.Normal(5)
	p := Prior{tensor.Scalar(0.1), tensor.Scalar(0.2), tensor.Scalar(-0.5)}
	gradtest.Check(t, func(p Prior) tensor.Tensor { return p.surprise(x, y) }, p, 2)

	one := tensor.New([]float32{0.7})
	variance := math.Exp(2*0.1)*(1+jitter) + math.Exp(2*-0.5)
	want := 0.7*0.7/(2*variance) + math.Log(2*math.Pi*variance)/2
	if got := p.surprise(one, one).Item(); math.Abs(got-want) > 1e-5 {
		t.Errorf("the surprise of one measurement is %v, want %v", got, want)
	}
}
