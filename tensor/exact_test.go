package tensor_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func TestMeanOfOnes(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		for n := 1; n < 600; n++ {
			x := tensor.OnesOf(d, n)
			for name, y := range map[string]tensor.Tensor{"Mean": x.Mean(), "NanMean": x.NanMean()} {
				if got := values(t, y)[0]; n%7 == 0 && got != 1 {
					t.Errorf("%s of %d ones of %v is %v", name, n, d, got)
				}
			}
		}
	}
}

// TestLogarithmsOfPowers requires whole numbers.
func TestLogarithmsOfPowers(t *testing.T) {
	power := func(base float64) func(int) float64 {
		return func(k int) float64 {
			if base == 2 {
				return math.Ldexp(1, k)
			}
			return math.Pow10(k)
		}
	}
	for _, c := range []struct {
		name   string
		of     func(tensor.Tensor) tensor.Tensor
		power  func(int) float64
		d      tensor.DType
		lo, hi int
	}{
		{"Log2", tensor.Tensor.Log2, power(2), tensor.Float32, -149, 127},
		{"Log2", tensor.Tensor.Log2, power(2), tensor.Float64, -1074, 1023},
		{"Log2", tensor.Tensor.Log2, power(2), tensor.Float16, -24, 15},
		{"Log2", tensor.Tensor.Log2, power(2), tensor.BFloat16, -133, 127},
		{"Log10", tensor.Tensor.Log10, power(10), tensor.Float32, -37, 38},
		{"Log10", tensor.Tensor.Log10, power(10), tensor.Float64, -307, 308},
	} {
		var x, want []float64
		for k := c.lo; k <= c.hi; k++ {
			x, want = append(x, c.power(k)), append(want, float64(k))
		}
		got := values(t, c.of(tensor.New(x).Cast(c.d)))
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s(%v %v) is %v, want %v", c.name, c.d, x[i], got[i], want[i])
			}
		}
		if c.name == "Log2" {
			for i, y := range values(t, tensor.New(want).Cast(c.d).Exp2()) {
				if y != x[i] {
					t.Errorf("Exp2(%v %v) is %v, want %v", c.d, want[i], y, x[i])
				}
			}
		}
	}
	for _, f := range []function{{"Log2", tensor.Tensor.Log2}, {"Log10", tensor.Tensor.Log10}} {
		factor := map[string]float64{"Log2": math.Log2E, "Log10": math.Log10E}[f.name]
		x := tensor.New([]float64{1, 1.4, 1.5, 1e-320, 1e300})
		d1 := grad.Of(func(x tensor.Tensor) tensor.Tensor { return f.of(x).Sum() })
		d2 := grad.Of(func(x tensor.Tensor) tensor.Tensor { return d1(x).Sum() })
		for i, v := range values(t, x) {
			if got, want := values(t, d1(x))[i], factor/v; math.Abs(got-want) > 1e-14*want && got != want {
				t.Errorf("%s'(%v) is %v, want %v", f.name, v, got, want)
			}
			if got, want := values(t, d2(x))[i], -factor/v/v; math.Abs(got-want) > -1e-14*want && got != want {
				t.Errorf("%s''(%v) is %v, want %v", f.name, v, got, want)
			}
		}
		for i, y := range values(t, f.of(floats(0, inf, -1, nan))) {
			if want := []float64{-inf, inf, nan, nan}[i]; y != want && (y == y || want == want) {
				t.Errorf("%s of special number %d is %v, want %v", f.name, i, y, want)
			}
		}
	}
}

func TestInterpolationOfInfinities(t *testing.T) {
	big := math.MaxFloat64
	f64 := func(x ...float64) tensor.Tensor { return tensor.New(x) }
	lerp := func(x, end, w float64) tensor.Tensor { return f64(x).Lerp(end, w) }
	quantile := func(q float64, x ...float64) tensor.Tensor { return f64(x...).Quantile(0, q) }
	thirds := make([]float64, 23) // q·22 is not whole for all of them
	places := make([]float64, len(thirds))
	for i := range thirds {
		thirds[i], places[i] = float64(i)/22, math.Exp(1.7*float64(i))
	}
	run(t, []check{
		typed("Lerp(end, 1)", lerp(big, -big, 1), tensor.Float64, -big),
		typed("Lerp(end, 0)", lerp(big, -big, 0), tensor.Float64, big),
		typed("Lerp(end, ½)", lerp(big, -big, 0.5), tensor.Float64, 0),
		typed("Lerp(Inf, 1)", lerp(1, inf, 1), tensor.Float64, inf),
		typed("Lerp(Inf, 0)", lerp(1, inf, 0), tensor.Float64, 1),
		typed("Lerp(1, 1) of Inf", lerp(-inf, 1, 1), tensor.Float64, 1),
		typed("Lerp(Inf, 1) of -Inf", lerp(-inf, inf, 1), tensor.Float64, inf),
		typed("Lerp(Inf, ¼) of -Inf", lerp(-inf, inf, 0.25), tensor.Float64, nan),
		typed("Lerp(1, NaN)", lerp(0, 1, nan), tensor.Float64, nan),
		typed("Quantile(¼)", quantile(0.25, -inf, inf), tensor.Float64, -inf),
		typed("Quantile(½)", quantile(0.5, -inf, inf), tensor.Float64, 0),
		typed("Quantile(¾)", quantile(0.75, -inf, inf), tensor.Float64, inf),
		typed("Quantile(½)", quantile(0.5, 1, inf), tensor.Float64, inf),
		typed("Quantile(½)", quantile(0.5, -big, big), tensor.Float64, 0),
		typed("Quantile(½)", quantile(0.5, inf, inf), tensor.Float64, inf),
		typed("Quantile(½)", quantile(0.5, nan, inf), tensor.Float64, nan),
		typed("Quantile of whole places", f64(places...).Quantile(0, thirds...), tensor.Float64, places...),
	})
}

// TestIndexByScalars compares tensors without axes with ints, as in PyTorch.
func TestIndexByScalars(t *testing.T) {
	x, j := iota(2, 3, 4, 5), ints(0, 2)
	scalar := func(i int32) tensor.Tensor { return ints(i).Reshape() }
	for _, c := range []struct{ specs, ints []any }{
		{[]any{scalar(1)}, []any{1}},
		{[]any{scalar(1), all, all, j}, []any{1, all, all, j}},
		{[]any{j.Sub(1), all, scalar(-1), j}, []any{j.Sub(1), all, -1, j}},
		{[]any{all, scalar(2), j, scalar(3)}, []any{all, 2, j, 3}},
		{[]any{all, j, scalar(3), j}, []any{all, j, 3, j}},
		{[]any{scalar(0), scalar(1), scalar(2), scalar(3)}, []any{0, 1, 2, 3}},
		{[]any{scalar(0), tensor.NewAxis, span(1, 3), j}, []any{0, tensor.NewAxis, span(1, 3), j}},
	} {
		want := x.Index(c.ints...)
		run(t, []check{
			of("Index", x.Index(c.specs...), want.Shape(), values(t, want)...),
			of("Set", x.Set(-1, c.specs...), x.Shape(), values(t, x.Set(-1, c.ints...))...),
		})
	}
	if err := tensor.Eval(x.Index(scalar(2), all, all, j)); err == nil {
		t.Error("Index by a scalar 2 of an axis of length 2: no error")
	}
}

// TestCosineAtScales requires a result that does not depend on lengths.
func TestCosineAtScales(t *testing.T) {
	for _, scale := range []float64{1e-30, 1e-10, 1, 1e10, 1e20, 1e30} {
		x, y := floats(3*scale, 4*scale), floats(4, 3)
		run(t, []check{
			same("CosineSimilarity", x.CosineSimilarity(y, 0), 0.96),
			same("CosineSimilarity", y.CosineSimilarity(x, 0), 0.96),
		})
	}
	zero := grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.CosineSimilarity(floats(4, 3), 0).Sum() })
	run(t, []check{
		same("CosineSimilarity of 0", floats(0, 0).CosineSimilarity(floats(4, 3), 0), 0),
		same("its derivative", zero(floats(0, 0)), 0, 0),
	})
}
