package tensor_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// limits are the values and the derivatives of functions at -Inf and Inf.
var limits = []struct {
	function
	below, above           float64
	slopeBelow, slopeAbove float64
}{
	{function{"ReLU", tensor.Tensor.ReLU}, 0, inf, 0, 1},
	{function{"LeakyReLU(½)", func(x tensor.Tensor) tensor.Tensor { return x.LeakyReLU(0.5) }}, -inf, inf, 0.5, 1},
	{function{"ELU(2)", func(x tensor.Tensor) tensor.Tensor { return x.ELU(2) }}, -2, inf, 0, 1},
	{function{"CELU(2)", func(x tensor.Tensor) tensor.Tensor { return x.CELU(2) }}, -2, inf, 0, 1},
	{function{"SELU", tensor.Tensor.SELU}, -1.6732632423543772 * 1.0507009873554804, inf, 0, 1.0507009873554804},
	{function{"Sigmoid", tensor.Tensor.Sigmoid}, 0, 1, 0, 0},
	{function{"LogSigmoid", tensor.Tensor.LogSigmoid}, -inf, 0, 1, 0},
	{function{"Softplus", tensor.Tensor.Softplus}, 0, inf, 0, 1},
	{function{"Softsign", tensor.Tensor.Softsign}, -1, 1, 0, 0},
	{function{"HardSigmoid", tensor.Tensor.HardSigmoid}, 0, 1, 0, 0},
	{function{"HardTanh", func(x tensor.Tensor) tensor.Tensor { return x.Clamp(-1, 1) }}, -1, 1, 0, 0},
	{function{"Tanh", tensor.Tensor.Tanh}, -1, 1, 0, 0},
	{function{"Erf", tensor.Tensor.Erf}, -1, 1, 0, 0},
	{function{"Erfc", tensor.Tensor.Erfc}, 2, 0, 0, 0},
	{function{"Atan", tensor.Tensor.Atan}, -math.Pi / 2, math.Pi / 2, 0, 0},
	{function{"SiLU", tensor.Tensor.SiLU}, 0, inf, 0, 1},
	{function{"Mish", tensor.Tensor.Mish}, 0, inf, 0, 1},
	{function{"GELU", tensor.Tensor.GELU}, 0, inf, 0, 1},
	{function{"GELUTanh", tensor.Tensor.GELUTanh}, 0, inf, 0, 1},
	{function{"HardSwish", tensor.Tensor.HardSwish}, 0, inf, 0, 1},
	{function{"LeakyReLU(0)", func(x tensor.Tensor) tensor.Tensor { return x.LeakyReLU(0) }}, 0, inf, 0, 1},
	{function{"ELU(0)", func(x tensor.Tensor) tensor.Tensor { return x.ELU(0) }}, 0, inf, 0, 1},
}

func TestActivationsAtLimits(t *testing.T) {
	type types struct {
		d                            tensor.DType
		most, least, tolerance, tiny float64
	}
	for _, k := range []types{
		{tensor.Float16, 65504, 0x1p-24, 2e-3, 0x1p-14},
		{tensor.BFloat16, 0x1.FEp127, 0x1p-133, 2e-2, 0x1p-126},
		{tensor.Float32, math.MaxFloat32, 0x1p-149, 1e-6, 0x1p-126},
		{tensor.Float64, math.MaxFloat64, 0x1p-1074, 1e-14, 0x1p-1022},
	} {
		at := []float64{-inf, -k.most, inf, k.most, nan, 0, math.Copysign(0, -1), k.least, -k.least, k.tiny, -k.tiny}
		x := tensor.New(at).Cast(k.d)
		close := func(got, want float64) bool {
			return got == want || math.Abs(got-want) <= k.tolerance*(1+math.Abs(want))
		}
		for _, c := range limits {
			total := func(x tensor.Tensor) tensor.Tensor { return c.of(x).Sum() }
			d1 := grad.Of(total)
			_, forward := grad.JVP(c.of, x, tensor.OnesLike(x))
			d2 := values(t, grad.Of(func(x tensor.Tensor) tensor.Tensor { return d1(x).Sum() })(x))
			y := values(t, c.of(x))
			for name, d := range map[string][]float64{"derivative": values(t, d1(x)), "tangent": values(t, forward)} {
				for i, want := range []float64{c.slopeBelow, c.slopeBelow, c.slopeAbove, c.slopeAbove} {
					if !close(d[i], want) || d2[i] != 0 {
						t.Errorf("%v: %s of %s at %v is %v, the second derivative %v, want %v, 0", k.d, name, c.name, at[i], d[i], d2[i], want)
					}
				}
				for i := 5; i < len(at); i++ {
					if !(math.Abs(d[i]) <= 2.1) || !(math.Abs(d2[i]) <= 2.1) || math.Abs(y[i]-y[5]) > k.tiny*2.1 {
						t.Errorf("%v: %s of %s at %v is %v, the second derivative %v, and the value %v", k.d, name, c.name, at[i], d[i], d2[i], y[i])
					}
				}
			}
			for i, want := range []float64{c.below, c.below, c.above, c.above, nan} {
				if math.IsInf(want, 0) && i%2 == 1 { // of a finite number
					want = at[i] * []float64{0, c.slopeBelow, 0, c.slopeAbove}[i]
					if math.Abs(want) > k.most {
						want = math.Inf(int(math.Copysign(1, want)))
					}
				}
				if !close(y[i], want) && !(want != want && y[i] != y[i]) {
					t.Errorf("%v: %s(%v) is %v, want %v", k.d, c.name, at[i], y[i], want)
				}
			}
		}
	}
	// Untyped constants have a formula of their own.
	for _, c := range limits {
		for _, v := range []float64{-inf, inf} {
			want := map[float64]float64{-inf: c.slopeBelow, inf: c.slopeAbove}[v]
			if got := grad.Of(func(x tensor.Tensor) tensor.Tensor { return c.of(x).Sum() })(tensor.Full(v)).Item(); math.Abs(got-want) > 1e-6 {
				t.Errorf("derivative of %s at the constant %v is %v, want %v", c.name, v, got, want)
			}
		}
	}
}

// Numbers without a meaning are errors with the line.
func TestSettings(t *testing.T) {
	x := tensor.Ones(2)
	for name, f := range map[string]func(v float64){
		"LeakyReLU": func(v float64) { x.LeakyReLU(v) },
		"ELU":       func(v float64) { x.ELU(v) },
		"CELU":      func(v float64) { x.CELU(v) },
		"AllClose":  func(v float64) { tensor.AllClose(x, x, v, 0) },
		"AllClose ": func(v float64) { tensor.AllClose(x, x, 0, v) },
		"Clamp":     func(v float64) { x.Clamp(v, 1) },
		"Clamp ":    func(v float64) { x.Clamp(0, v) },
		"Quantile":  func(v float64) { x.Quantile(0, v) },
		"NormP":     func(v float64) { x.NormP(v) },
	} {
		values := []float64{nan, inf, -inf}
		if strings.HasPrefix(name, "Clamp") || name == "NormP" {
			values = values[:1]
		}
		for _, v := range values {
			err := tensor.Try(func() { f(v) })
			if err == nil || !strings.Contains(err.Error(), "limits_test.go") || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
				t.Errorf("%s of %v: %v, want an error with the line", name, v, err)
			}
		}
	}
}

// TestTails compares gated functions with formulas in float64 where they are near 0.
func TestTails(t *testing.T) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	tanh := func(x float64) float64 { return 1 / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) }
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	type T = tensor.Tensor
	for _, c := range []struct {
		name     string
		f        func(T) T
		gate     func(x float64) float64
		relative float64 // error
	}{
		{"GELU", T.GELU, phi, 1e-5},
		{"GELUTanh", T.GELUTanh, tanh, 3e-5},
		{"SiLU", T.SiLU, sigmoid, 1e-6},
		{"Mish", T.Mish, func(x float64) float64 { return math.Tanh(math.Log1p(math.Exp(x))) }, 1e-6},
	} {
		for x := -12.5; x <= 9; x += 0.25 {
			want := x * c.gate(x)
			for d, tiny := range map[tensor.DType]float64{tensor.Float32: 1, tensor.Float64: 0x1p-28} {
				got := c.f(tensor.New([]float64{x}).Cast(d)).Item()
				if most := tiny*c.relative*math.Abs(want) + 0x1p-126; !(math.Abs(got-want) <= most) {
					t.Errorf("%v: %s of %v is %v, want %v", d, c.name, x, got, want)
				}
			}
		}
	}
}
