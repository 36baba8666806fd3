package gpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/tensor"
)

// Derivatives that depend on how sums are rounded, or that are undefined, equal the CPU's.
func TestDerivatives(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	inf := float32(math.Inf(1))
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
		{"windows of which there is one, far apart", func(x tensor.Tensor) tensor.Tensor {
			return x.Unfold(0, 2, 1<<62).Square().Sum().Add(x.Reshape(1, 1, 3).MaxPool(3, &tensor.ConvOptions{Stride: []int{math.MaxInt32}}).Sum())
		}, []float32{1, 2, 3}},
		{"arc sine at its ends", func(x tensor.Tensor) tensor.Tensor { return x.Asin().Sum() }, []float32{-1, 0, 1, 2}},
		{"logarithm of Gamma at its poles", func(x tensor.Tensor) tensor.Tensor { return x.Lgamma().Sum() }, []float32{0, -1, -2}},
		{"sums of powers of -Inf", func(x tensor.Tensor) tensor.Tensor { return x.LogSumExp().Add(x.LogCumSumExp(0).Sum()) }, []float32{-inf, -inf}},
		{"norm of huge and tiny numbers", func(x tensor.Tensor) tensor.Tensor { return x.Reshape(3, 2).NormP(2, 1).Sum() }, []float32{0x3p100, 0x4p100, 0x3p-100, 0x4p-100, 0, 0}},
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
		if !slices.EqualFunc(got, want, func(a, b float32) bool { return a == b || a != a && b != b }) {
			t.Errorf("the derivative of the %s at %v is %v, want %v", c.name, c.at, got, want)
		}
	}
}

// Functions at the edges of their ranges equal the CPU's, but for a few units in the last
// place; a zero has the same sign.
func TestEdges(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	type T = tensor.Tensor
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	zeros := []float32{0, float32(math.Copysign(0, -1)), -0.3, 0.3, -0.5, 0.5, -0.7, 0.7, -1.5, 1.5, 2.5, -2.5, 1e9, inf, -inf, nan}
	large := []float32{0, 1e-6, -0.3, 11.5, -80, 81, 88.73, -89, 89.41, -89.42, 90, inf, -inf, nan}
	for _, c := range []struct {
		name string
		of   func(T) T
		at   []float32
		off  float64 // of the result
	}{
		{"Round", T.Round, zeros, 0},
		{"Trunc", T.Trunc, zeros, 0},
		{"Ceil", T.Ceil, zeros, 0},
		{"Floor", T.Floor, zeros, 0},
		{"Abs", T.Abs, zeros, 0},
		{"SiLU", T.SiLU, zeros, 1e-6},
		{"GELU", T.GELU, zeros, 1e-6},
		{"Mish", T.Mish, zeros, 1e-6},
		{"Sinc", T.Sinc, zeros, 1e-5},
		{"Cosh", T.Cosh, large, 1e-5},
		{"Sinh", T.Sinh, large, 1e-5},
		{"derivative of Cosh", grad.Of(func(x T) T { return x.Cosh().Sum() }), large[2:], 1e-5},
		{"Log1p", T.Log1p, []float32{-1, -0.5, 1e-7, 1 << 24, 1 << 52, 1 << 53, 1 << 54, math.MaxFloat32, inf, nan}, 1e-6},
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16} {
			if testing.Short() && d == tensor.BFloat16 {
				continue
			}
			x := tensor.New(c.at).Cast(d)
			if err := tensor.Eval(x); err != nil {
				t.Fatal(err)
			}
			want, err := tensor.Data[float32](c.of(x).Cast(tensor.Float32))
			if err != nil {
				t.Fatal(err)
			}
			got, err := tensor.Data[float32](c.of(x.To(dev)).Cast(tensor.Float32))
			if err != nil {
				t.Fatal(err)
			}
			off := c.off
			if c.name == "GELU" && d == tensor.BFloat16 {
				off = 0x1p-12 // of the Erfc in it
			}
			for i, w := range want {
				g := got[i]
				same := g == w && math.Signbit(float64(g)) == math.Signbit(float64(w)) || g != g && w != w
				if !same && !(w != 0 && math.Abs(float64(g)/float64(w)-1) <= off) {
					t.Errorf("%s(%v) of %v is %v, want %v", c.name, c.at[i], d, g, w)
				}
			}
		}
	}
}

// Remainders are exact, for the bits of any two numbers.
func TestRemainders(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	const n = 1 << 16
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], y[i] = math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()>>(i%16)) // down to subnormal ones
	}
	got, err := tensor.Data[float32](tensor.New(x).To(dev).Rem(tensor.New(y)))
	if err != nil {
		t.Fatal(err)
	}
	subnormal := func(v float32) bool { return math.Abs(float64(v)) < 0x1p-126 } // or 0, which they may be taken for
	for i, g := range got {
		want := float32(math.Mod(float64(x[i]), float64(y[i])))
		switch {
		case g == want, g != g && (want != want || subnormal(y[i])), g == 0 && subnormal(want):
		default:
			t.Errorf("the remainder of %v divided by %v is %v, want %v", x[i], y[i], g, want)
		}
	}
}

// Sums of many keep their last bits.
func TestLongSum(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
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
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
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
		} else if !slices.EqualFunc(got, want, func(a, b float32) bool { return a == b || math.Abs(float64(a-b)) <= 1e-5*math.Abs(float64(b)) }) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// Sums of many products keep their last bits.
func TestLongProduct(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	m, n, k := 3, 2, 1<<20
	if testing.Short() {
		k >>= 2
	}
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
