package gpu

import (
	"math"
	"slices"
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
			return x.Add(x.Var(0).Sqrt()).Mul(x).Sum()
		}, []float32{1, 2, 3}},
		{"norms and deviations of rows", func(x tensor.Tensor) tensor.Tensor {
			x = x.Reshape(3, 2)
			return x.Norm(1).Add(x.Std(1)).Sum()
		}, []float32{0, 0, 2, 2, 3, 4}},
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

// Sums of many keep their last bits.
func TestLongSum(t *testing.T) {
	dev := tensor.NewDevice(real(t, wgpu.Options{Validate: true}))
	for _, c := range []struct {
		name string
		x    tensor.Tensor
		off  float64
	}{
		{"stored", tensor.New(slices.Repeat([]float32{0.3}, 8<<20)), 2e-6},
		{"repeated", tensor.New([]float32{0.3}).Expand(8 << 20), 2e-6},
	} {
		got := c.x.To(dev).Mean().Item()
		if off := math.Abs(got/float64(float32(0.3)) - 1); !(off < c.off) {
			t.Errorf("the mean of 8 Mi %s 0.3 is %v: off by %.2g of it", c.name, got, off)
		}
	}
}

// Kernels of more numbers than a device has room for are parted.
func TestManyNumbers(t *testing.T) {
	dev := tensor.NewDevice(real(t, wgpu.Options{Validate: true}))
	start := tensor.New([]float32{0.1, 0.2, 0.3})
	for name, f := range map[string]func(x tensor.Tensor) tensor.Tensor{
		"steps": func(x tensor.Tensor) tensor.Tensor {
			for i := range 70 {
				x = x.Mul(0.99 + float64(i)/1e4).Add(float64(i) / 1e3)
			}
			return x
		},
		"choices": func(x tensor.Tensor) tensor.Tensor {
			y := x
			for i := range 70 {
				y = tensor.Where(x.Gt(float64(i)/200), y.Mul(1+float64(i)/1e3), y)
			}
			return y
		},
		"both sides of a product": func(x tensor.Tensor) tensor.Tensor {
			side := func(x tensor.Tensor, by float64) tensor.Tensor {
				for i := range 20 {
					x = x.Mul(1 + by*float64(i+1)).Add(by / float64(i+1))
				}
				return x
			}
			a := x.Unsqueeze(1).Mul(x)
			return side(side(a, 1e-3).MatMul(side(a, 2e-3)), 3e-3)
		},
	} {
		want, err := tensor.Data[float32](f(start))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tensor.Data[float32](f(start.To(dev)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-5, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
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
