package nn_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// ConvTranspose is the transpose of Conv: it equals Conv's pullback.
func TestConvTranspose(t *testing.T) {
	rng := tensor.NewRNG(3)
	o := &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}, Groups: 2, OutputPadding: []int{1}}
	l := nn.NewConvTranspose2D(rng, 4, 6, 3, o)
	x := rng.Normal(2, 4, 3, 3)
	y := l.Apply(x)
	_, pull := grad.VJP(func(v tensor.Tensor) tensor.Tensor { return v.Conv(l.Weight, o) }, tensor.Zeros(2, 6, 6, 6))
	if ok, err := tensor.AllClose(y.Sub(l.Bias.Reshape(6, 1, 1)), pull(x), 1e-5, 1e-5); !ok || err != nil {
		t.Errorf("ConvTranspose is not the pullback of Conv (%v)", err)
	}
	if bound := 1 / math.Sqrt(3*9); l.Bias.Abs().Max().Item() > bound || l.Weight.Abs().Max().Item() > bound {
		t.Errorf("parameters beyond %v", bound)
	}
}
