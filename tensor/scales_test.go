package tensor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// scaledFunctions are functions of a matrix, which is scaled. Their squares, powers and products leave the
// range of float32 before the results do.
func scaledFunctions() []function {
	type T = tensor.Tensor
	fs := []function{
		{"CosineSimilarity", func(x T) T { return x.CosineSimilarity(x.Flip(0), 1) }},
		{"Hypot", func(x T) T { return x.Hypot(x.Flip(0)) }},
		{"Atan2", func(x T) T { return x.Atan2(x.Flip(0)) }},
		{"square of NormP(2)", func(x T) T { return x.NormP(2, 1).Square() }},
		{"square of Hypot", func(x T) T { return x.Hypot(x.Flip(0)).Square() }},
		{"Div", func(x T) T { return x.Div(x.Flip(0)) }},
		{"Lerp", func(x T) T { return x.Lerp(x.Flip(0), 0.3) }},
		{"LogSumExp", func(x T) T { return x.LogSumExp(1) }},
		{"Softmax", func(x T) T { return x.Softmax(1) }},
		{"LogAddExp", func(x T) T { return x.LogAddExp(x.Flip(0)) }},
		{"Log", func(x T) T { return x.Abs().Log() }},
		{"Log1p", func(x T) T { return x.Abs().Log1p() }},
		{"Log10", func(x T) T { return x.Abs().Log10() }},
		{"Lgamma", func(x T) T { return x.Abs().Lgamma() }},
		{"Digamma", func(x T) T { return x.Abs().Digamma() }},
		{"Atan", T.Atan}, {"Asinh", T.Asinh}, {"Softsign", T.Softsign}, {"Erf", T.Erf},
		{"Sinh", T.Sinh}, {"Cosh", T.Cosh}, {"Tanh", T.Tanh}, {"Rsqrt", func(x T) T { return x.Abs().Rsqrt() }},
	}
	for name, p := range map[string]float64{"-4": -4, "-3": -3, "-2": -2, "-1": -1, "-½": -0.5, "½": 0.5, "1½": 1.5, "2": 2, "3": 3} {
		fs = append(fs, function{"Pow(" + name + ")", func(x T) T { return x.Abs().Pow(p) }})
	}
	for name, p := range map[string]float64{"½": 0.5, "1": 1, "1½": 1.5, "2": 2, "3": 3, "-1": -1, "-2": -2} {
		fs = append(fs, function{"NormP(" + name + ")", func(x T) T { return x.NormP(p, 1) }})
		if p != 2 { // which is documented
			fs = append(fs, function{"Cdist(" + name + ")", func(x T) T { return x.Slice(0, 0, 1).Cdist(x.Slice(0, 1, 2), p) }})
		}
	}
	return fs
}

// Functions and their first and second derivatives in float32 equal those in float64 wherever float32
// has these and the functions.
func TestAllScales(t *testing.T) {
	base, weights, direction := tensor.NewRNG(1).Normal(2, 5), tensor.NewRNG(2).Normal(2, 5), tensor.NewRNG(3).Normal(2, 5)
	if err := tensor.Eval(base, weights, direction); err != nil {
		t.Fatal(err)
	}
	for _, f := range scaledFunctions() {
		total := func(x tensor.Tensor) tensor.Tensor {
			y := f.of(x)
			return y.Mul(weights.Slice(0, 0, y.Dim(0)).Slice(1, 0, y.Dim(1)).Cast(y.DType())).Sum()
		}
		first := grad.Of(total)
		second := grad.Of(func(x tensor.Tensor) tensor.Tensor { return first(x).Mul(direction.Cast(x.DType())).Sum() })
		for _, scale := range []float64{1e-30, 1e-25, 1e-13, 1e-8, 1, 1e5, 1e12, 1e13, 1e25, 1e30} {
			x := base.Mul(scale)
			for order, g := range []func(tensor.Tensor) tensor.Tensor{f.of, first, second} {
				got, want := values(t, g(x)), values(t, g(x.Cast(tensor.Float64)))
				most := 0.0
				for _, w := range want {
					most = max(most, math.Abs(w))
				}
				if most > 1e37 || most < 1e-36 {
					break
				}
				relative := []float64{1e-5, 1e-4, 1e-2}[order]
				for i, w := range want {
					const subnormal = 0x1p-126 // numbers below may be 0
					if !(math.Abs(got[i]-w) <= relative*math.Abs(w)+2e-6*most+subnormal) {
						t.Errorf("derivative %d of %s at scale %v: [%d] is %v, want %v", order, f.name, scale, i, got[i], w)
						break
					}
				}
			}
		}
	}
}

// TestUntypedScales requires untyped constants to have the derivatives of stored numbers.
func TestUntypedScales(t *testing.T) {
	type T = tensor.Tensor
	for name, f := range map[string]func(x T) T{
		"Log10": T.Log10, "Sinh": T.Sinh, "Softsign": T.Softsign, "Pow(-2)": func(x T) T { return x.Pow(-2) },
		"NormP": func(x T) T { return x.NormP(2) }, "Hypot": func(x T) T { return x.Hypot(1) },
	} {
		df := grad.Of(func(x T) T { return f(x).Sum() })
		for _, at := range []float64{1e-30, 0.1, 2, 1e19, math.Inf(1)} {
			x := tensor.Full(at, 2)
			if got, want := fmt.Sprint(df(x)), fmt.Sprint(df(x.Cast(tensor.Float32))); got != want {
				t.Errorf("the derivative of %s at an untyped %v is %s, want %s", name, at, got, want)
			}
		}
	}
}
