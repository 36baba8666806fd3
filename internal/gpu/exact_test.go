package gpu

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/tensor"
)

// Derivatives that count on how sums are rounded, or that are undefined, are
// those of the CPU.
func TestDerivatives(t *testing.T) {
	dev := tensor.NewDevice(real(t, wgpu.Options{Validate: true}))
	for _, c := range []struct {
		name string
		of   func(x tensor.Tensor) tensor.Tensor
		at   []float32
	}{
		{"greatest of tiny halves", func(x tensor.Tensor) tensor.Tensor {
			half := x.Mul(1.1).Cast(tensor.Float16)
			return half.ScatterMax(0, tensor.New([]int32{2}), tensor.New([]float32{0}).Cast(tensor.Float16)).Sum()
		}, []float32{1.1e-5, 2.3e-5, 1}},
		{"deviation of single numbers", func(x tensor.Tensor) tensor.Tensor {
			x = x.Reshape(1, 3)
			return x.Add(x.Std(0)).Mul(x).Sum()
		}, []float32{1, 2, 3}},
	} {
		x := tensor.New(c.at)
		want, err := tensor.Data[float32](grad.Of(c.of)(x))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tensor.Data[float32](grad.Of(c.of)(x.To(dev)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("the derivative of the %s at %v (-want +got):\n%s", c.name, c.at, diff)
		}
	}
}

// Sums of many products keep their last bits.
func TestLongProduct(t *testing.T) {
	dev := tensor.NewDevice(real(t, wgpu.Options{Validate: true}))
	const m, n, k = 3, 2, 1 << 20
	rng := tensor.NewRNG(1)
	x, w := rng.Uniform(m, k), rng.Uniform(k, n)
	want, err := tensor.Data[float64](x.Cast(tensor.Float64).MatMul(w.Cast(tensor.Float64)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tensor.Data[float32](x.To(dev).MatMul(w.To(dev)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if off := math.Abs(float64(got[i])/want[i] - 1); !(off < 2e-6) {
			t.Errorf("element %d of %d×%d×%d is %v, want %v: off by %.2g of it", i, m, k, n, got[i], want[i], off)
		}
	}
}
