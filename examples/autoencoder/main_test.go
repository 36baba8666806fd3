package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestOutput trains, and compares the output and pictures with README.md.
func TestOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a second")
	}
	dir := t.TempDir()
	atlas, codes := filepath.Join(dir, "digits.png"), filepath.Join(dir, "codes.png")
	exampletest.SetFlags(t, map[string]string{"device": "cpu", "plot": atlas, "codes": codes})
	exampletest.CheckWithin(t, main, 0.02)
	exampletest.CheckPicture(t, atlas, "digits.png", 0.5)
	exampletest.CheckPicture(t, codes, "codes.png", 0.2)
}

// TestLoss compares the loss with its closed form, for weights of zero.
func TestLoss(t *testing.T) {
	exampletest.OpenDevice(t)
	// With weights of zero the code is standard normal, and all pixels are 1/2.
	zero := tree.Map(newAutoencoder(tensor.NewRNG(1)), func(_ string, x tensor.Tensor) tensor.Tensor { return tensor.ZerosLike(x) })
	x := tensor.NewRNG(2).Uniform(5, pixels)
	want := tensor.Scalar(2).Log().Mul(pixels)
	if ok, err := tensor.AllClose(zero.loss(x, tensor.NewRNG(3)), want, 1e-5, 0); !ok || err != nil {
		t.Errorf("the loss is %v, want 64 log 2 = %v: %v", zero.loss(x, tensor.NewRNG(3)), want, err)
	}
	// The divergence of means 1 and 2 with variances of 1 is (1² + 2²)/2.
	bias := tensor.New([]float32{1, 2, 0, 0})
	shifted := tree.Map(zero, func(name string, x tensor.Tensor) tensor.Tensor {
		if name == "encoder.4.bias" {
			return bias
		}
		return x
	})
	if ok, err := tensor.AllClose(shifted.loss(x, tensor.NewRNG(3)), want.Add(2.5), 1e-5, 0); !ok || err != nil {
		t.Errorf("the loss is %v, want %v: %v", shifted.loss(x, tensor.NewRNG(3)), want.Add(2.5), err)
	}
}

// TestGradient compares the gradient of the loss by the encoder's last bias, which flows
// through the draw, with finite differences.
func TestGradient(t *testing.T) {
	m, x := newAutoencoder(tensor.NewRNG(1)), tensor.NewRNG(2).Uniform(5, pixels)
	loss := func(bias tensor.Tensor) tensor.Tensor {
		return tree.Map(m, func(name string, w tensor.Tensor) tensor.Tensor {
			if name == "encoder.4.bias" {
				return w.Add(bias)
			}
			return w
		}).loss(x, tensor.NewRNG(3))
	}
	gradtest.Check(t, loss, tensor.Zeros(4), 1)
	if g := grad.Of(loss)(tensor.Zeros(4)); g.Abs().Min().Item() == 0 {
		t.Errorf("the gradient is %v", g)
	}
}

func TestAtlas(t *testing.T) {
	x := atlas(newAutoencoder(tensor.NewRNG(1)), 3)
	if fmt.Sprint(x.Shape()) != "[3 3 8 8]" || x.Min().Item() <= 0 || x.Max().Item() >= 1 {
		t.Errorf("atlas returns %v from %v to %v", x.Shape(), x.Min(), x.Max())
	}
}
