package tensor_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

// spread returns n numbers from lo to hi, and each once more in steps that are equal in
// the logarithm of the distance from lo.
func spread(lo, hi float64, n int) []float64 {
	var x []float64
	for i := range n {
		part := float64(i) / float64(n-1)
		x = append(x, lo+(hi-lo)*part, lo+(hi-lo)*math.Pow(10, -30*part))
	}
	return x
}

func negated(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -v
	}
	return y
}

// package math's lose digits near 1.
func asin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }
func acos(x float64) float64 { return math.Atan2(math.Sqrt((1-x)*(1+x)), x) }

// lgamma is math.Lgamma, which loses digits around 1.2 and is -Inf at -Inf.
func lgamma(x float64) float64 {
	if x == math.Inf(-1) {
		return inf
	}
	if 1 < x && x < 1.5 {
		y := x + 1
		return lgamma(y) + (x-(y-1))*0.4227843351 - math.Log1p(x-1) // the derivative at 2, times the distance from it
	}
	y, _ := math.Lgamma(x)
	return y
}

// digamma is the derivative of the logarithm of Gamma: by its recurrence far up, then by
// Stirling's series.
func digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(inf, -x)
	case x < 0 && x == math.Floor(x):
		return nan
	case x < 0:
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*(x-math.RoundToEven(x)))
	}
	sum := 0.0
	for ; x < 30; x++ {
		sum -= 1 / x
	}
	z := 1 / (x * x)
	return sum + math.Log(x) - 0.5/x - z*(1.0/12-z*(1.0/120-z*(1.0/252-z/240)))
}

func logAddExp(x, y float64) float64 {
	if x == y {
		return x + math.Ln2
	}
	return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
}

// sinc reduces its argument exactly.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	n := math.RoundToEven(x)
	return math.Cos(math.Pi*math.Mod(n, 2)) * math.Sin(math.Pi*(x-n)) / (math.Pi * x)
}

// The functions are as accurate as their comments say, in every type: the error is at
// most some units in the last place of the result, or where that is said of 1.
func TestAccuracy(t *testing.T) {
	type T = tensor.Tensor
	unit := append(spread(0, 1, 300), spread(1, 0, 300)...)
	unit = append(unit, negated(unit)...)
	line := append(spread(0, 30, 300), 1e3, 1e4, 60000, 1e6, 1e10, 1e19, 3e30, math.MaxFloat32, 1e150, 1e300, inf)
	line = append(line, negated(line)...)
	above := append(spread(1, 30, 300), 1e4, 1e19, math.MaxFloat32, 1e300, inf, 0.5, -1, -4, -1e10, -inf)
	gamma := append(spread(0, 3, 300), append(spread(1+1e-9, 1.5, 100), spread(2, 20, 300)...)...)
	gamma = append(gamma, 1e2, 1e4, 1e10, 1e30, 1e36)
	for _, f := range []struct {
		name   string
		of     func(T) T
		want   func(float64) float64
		points []float64
		ulps   float64 // of the result
		atOne  float64 // on top: of 1
	}{
		{"Asin", T.Asin, asin, unit, 4, 0},
		{"Acos", T.Acos, acos, unit, 4, 0},
		{"Atanh", T.Atanh, math.Atanh, unit, 4, 0},
		{"Logit", T.Logit, func(x float64) float64 { return math.Log(x) - math.Log1p(-x) }, unit, 4, 2},
		{"ErfInv", T.ErfInv, math.Erfinv, unit, 8, 0},
		{"Asinh", T.Asinh, math.Asinh, line, 4, 0},
		{"Acosh", T.Acosh, math.Acosh, above, 4, 0},
		{"Log10", T.Log10, math.Log10, above, 4, 2},
		{"Sinc", T.Sinc, sinc, line[:700], 8, 0},
		{"Erfc", T.Erfc, math.Erfc, line, 10, 0},
		{"Lgamma", T.Lgamma, lgamma, gamma, 12, 0},
		{"Lgamma below 0", T.Lgamma, lgamma, append(negated(spread(0, 20, 300)), -1000.5, -1e10), 12, 12},
		{"Digamma", T.Digamma, digamma, gamma, 12, 12},
		{"Digamma below 0", T.Digamma, digamma, []float64{-0.3, -0.999, -1, -1.5, -7.25, -40.5, -2, -1e9}, 40, 12},
		{"Sin", T.Sin, math.Sin, line, 4, 1},
		{"Cos", T.Cos, math.Cos, line, 4, 1},
		{"LogSigmoid", T.LogSigmoid, func(x float64) float64 { return -logAddExp(0, -x) }, line, 4, 0},
	} {
		for _, c := range precisions {
			x := tensor.New(f.points).Cast(c.d)
			at := values(t, x) // rounded to the type
			got := values(t, f.of(x))
			worst, where := 0.0, 0
			for i, x := range at {
				want := f.want(x)
				if math.Abs(want) > c.max {
					want = math.Copysign(inf, want)
				}
				if got[i] == want || math.IsNaN(got[i]) && math.IsNaN(want) {
					continue
				}
				off := math.Abs(got[i]-want) / (2 * c.eps * (f.ulps*math.Abs(want) + f.atOne + f.ulps*c.low))
				if !(off <= worst) {
					worst, where = off, i
				}
			}
			if !(worst <= 1) {
				t.Errorf("%s(%v) of %v = %v, want %v: %.3g times the error allowed", f.name, at[where], c.d, got[where], f.want(at[where]), worst)
			}
		}
	}
}

// precisions has the floating-point types, with half the distance from 1 to the next
// number, the smallest normal number and the greatest.
var precisions = []struct {
	d             tensor.DType
	eps, low, max float64
}{
	{tensor.Float16, 0x1p-11, 0x1p-14, 65504},
	{tensor.BFloat16, 0x1p-8, 0x1p-126, 0x1.FEp127},
	{tensor.Float32, 0x1p-24, 0x1p-126, math.MaxFloat32},
	{tensor.Float64, 0x1p-53, 0x1p-1022, math.MaxFloat64},
}

func TestArithmetic(t *testing.T) {
	a, b := floats(7, -7, 7, -7, 6, 1), floats(2, 2, -2, -2, 3, 0)
	i, j := ints(7, -7, 7, -7, 6, 5, math.MinInt32), ints(2, 2, -2, -2, -3, 0, -1)
	zero := math.Copysign(0, -1)
	run(t, []check{
		same("FloorDiv", a.FloorDiv(b), 3, -4, -4, 3, 2, inf),
		same("Mod", a.Mod(b), 1, 1, -1, -1, 0, nan),
		same("FloorDiv of tenths", floats(1, 0.3, -0.3, 1e30).FloorDiv(floats(0.1, 0.1, 0.1, 1)), 9, 3, -4, 1e30),
		same("FloorDiv of odd integers", floats(8388609, 16777215).FloorDiv(1), 8388609, 16777215),
		same("signs of zeros of Asinh", tensor.Ones().Copysign(floats(zero, 0).Asinh()), -1, 1),
		same("signs of zeros of FloorDiv", tensor.Ones().Copysign(floats(zero, zero, 0, 0, 1).FloorDiv(floats(2, -2, 2, -2, inf))), -1, 1, 1, -1, 1),
		same("FloorDiv by infinity", floats(1, -1).FloorDiv(inf), 0, -1),
		typed("FloorDiv of int32", i.FloorDiv(j), tensor.Int32, 3, -4, -4, 3, -2, 0, math.MinInt32),
		typed("Mod of int32", i.Mod(j), tensor.Int32, 1, 1, -1, -1, 0, 0, 0),
		typed("FloorDiv of uint8", tensor.New([]uint8{200, 7}).FloorDiv(3), tensor.Uint8, 66, 2),
		same("Hypot", floats(3, 3e30, 1e-30, 0, inf, 0).Hypot(floats(4, 4e30, 0, 0, 1, -2)), 5, 5e30, 1e-30, 0, inf, 2),
		same("LogAddExp", floats(0, 1000, -1e8, -inf, inf, -inf, nan).LogAddExp(floats(0, 1000, 1, -inf, inf, 3, 0)),
			math.Ln2, 1000+math.Ln2, 1, -inf, inf, 3, nan),
		same("Copysign", floats(1, -2, 3, -4, 0.5).Copysign(floats(-1, 0, zero, 5, -inf)), -1, 2, -3, 4, -0.5),
		same("Copysign of halves", floats(1, -2).Cast(tensor.BFloat16).Copysign(floats(-3, 3).Cast(tensor.BFloat16)).Cast(tensor.Float32), -1, 2),
		typed("SignBit", floats(-1, 0, zero, 2, -inf).SignBit(), tensor.Bool, 1, 0, 1, 0, 1),
		same("Lerp", floats(1, 1, 1, 1e8).Lerp(floats(3, 3, 3, 1), floats(0, 0.5, 1, 1)), 1, 2, 3, 1),
		of("Lerp broadcasts", floats(0, 1).Lerp(2, floats(0.25, 1).Reshape(2, 1)), []int{2, 2}, 0.5, 1.25, 2, 2),
		typed("IsFinite", floats(1, inf, -inf, nan).IsFinite(), tensor.Bool, 1, 0, 0, 0),
		typed("IsFinite of int32", ints(1).IsFinite(), tensor.Bool, 1),
		same("NanToNum", floats(nan, inf, -inf, 2).NanToNum(), 0, math.MaxFloat32, -math.MaxFloat32, 2),
		same("derivative of NanToNum", grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.NanToNum().Sum() })(floats(nan, inf, 2)), 0, 0, 1),
		same("derivative of Hypot", grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Hypot(floats(0, 4, 1e-30)).Sum() })(floats(0, 3, 1e-30)), 0, 0.6, math.Sqrt2/2),
		same("derivative of Mod", grad.Of(func(x tensor.Tensor) tensor.Tensor { return floats(7, -7).Mod(x).Sum() })(floats(2, 2)), -3, 4),
	})
}

func TestNanReductions(t *testing.T) {
	x := floats(1, nan, 3, nan, nan, nan, -2, -4, 0).Reshape(3, 3)
	run(t, []check{
		of("NanSum", x.NanSum(1), []int{3, 1}, 4, 0, -6),
		of("NanSum of all", x.NanSum(), []int{}, -2),
		of("NanProd", x.NanProd(1), []int{3, 1}, 3, 1, 0),
		of("NanMean", x.NanMean(1), []int{3, 1}, 2, nan, -2),
		of("NanVar", x.NanVar(1), []int{3, 1}, 1, nan, 8.0/3),
		of("NanStd", x.NanStd(1), []int{3, 1}, 1, nan, math.Sqrt(8.0/3)),
		of("NanMax", x.NanMax(1), []int{3, 1}, 3, nan, 0),
		of("NanMin", x.NanMin(1), []int{3, 1}, 1, nan, -4),
		{"CountNonZero", x.CountNonZero(1), tensor.Int64, []int{3, 1}, []float64{3, 3, 2}},
		of("derivative of NanMean", grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.NanMean() })(floats(1, nan, 3)), []int{3}, 0.5, 0, 0.5),
		of("derivative of NanStd", grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.NanStd() })(floats(1, nan, 3)), []int{3}, -0.5, 0, 0.5),
	})
}

func TestNormsAndDistances(t *testing.T) {
	x := floats(3, -4, 0, 1, 0, 0).Reshape(2, 3)
	zero := grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.NormP(3).Sum() })
	a, b := floats(0, 0, 3, 4).Reshape(2, 2), floats(3, 4, 0, 0, 1, 1).Reshape(3, 2)
	run(t, []check{
		of("NormP 2", x.NormP(2, 1), []int{2, 1}, 5, 1),
		of("NormP 1", x.NormP(1, 1), []int{2, 1}, 7, 1),
		of("NormP 3", x.NormP(3, 1), []int{2, 1}, math.Cbrt(27+64), 1),
		of("NormP Inf", x.NormP(inf, 1), []int{2, 1}, 4, 1),
		of("NormP -Inf", x.NormP(-inf, 1), []int{2, 1}, 0, 0),
		of("NormP 0", x.NormP(0, 1), []int{2, 1}, 2, 1),
		of("NormP of all", x.NormP(1), []int{}, 8),
		of("NormP does not overflow", floats(3e30, 4e30).NormP(2.5), []int{}, 1e30*math.Pow(math.Pow(3, 2.5)+math.Pow(4, 2.5), 0.4)),
		same("derivative of NormP at 0", zero(floats(0, 0)), 0, 0),
		of("Cdist", a.Cdist(b, 2), []int{2, 3}, 5, 0, math.Sqrt2, 0, 5, math.Sqrt(13)),
		of("Cdist 1", a.Cdist(b, 1), []int{2, 3}, 7, 0, 2, 0, 7, 5),
		of("CosineSimilarity", floats(1, 0, 1, 1, 0, 0).Reshape(3, 2).CosineSimilarity(floats(0, 2, 2, 2, 1, 0).Reshape(3, 2), 1), []int{3, 1}, 0, 1, 0),
		of("CosineSimilarity broadcasts", floats(1, 0).CosineSimilarity(floats(0, 2, 2, 0).Reshape(2, 2), -1), []int{2, 1}, 0, 1),
	})
}

// Derivatives of order 2, away from kinks, at 0 where a series takes over, and in
// batches.
func TestSpecialDerivatives(t *testing.T) {
	type T = tensor.Tensor
	for _, f := range []struct {
		name   string
		of     func(T) T
		points []float64
	}{
		{"Asin", T.Asin, []float64{-0.7, 0, 0.5}}, {"Acos", T.Acos, []float64{-0.7, 0, 0.5}},
		{"Asinh", T.Asinh, []float64{-3, 0, 0.5, 100}}, {"Acosh", T.Acosh, []float64{1.5, 3, 100}},
		{"Atanh", T.Atanh, []float64{-0.7, 0, 0.5}}, {"Logit", T.Logit, []float64{0.2, 0.7}},
		{"Sinc", T.Sinc, []float64{-2.3, 0, 0.05, 0.7}}, {"Erfc", T.Erfc, []float64{-1, 0, 0.7, 2}},
		{"ErfInv", T.ErfInv, []float64{-0.95, 0, 0.5}}, {"Lgamma", T.Lgamma, []float64{-1.5, 0.3, 1, 2, 4.3, 20}},
		{"Digamma", T.Digamma, []float64{-1.5, 0.3, 1, 2, 4.3, 20}}, {"Log10", T.Log10, []float64{0.5, 10}},
		{"Hypot", func(x T) T { return x.Hypot(x.Flip()) }, []float64{3, -4, 2, 1}},
		{"LogAddExp", func(x T) T { return x.LogAddExp(x.Flip()) }, []float64{3, -4, 2, 3}},
		{"Lerp", func(x T) T { return x.Lerp(2, x.Square()) }, []float64{0.3, -0.9, 2}},
		{"Copysign", func(x T) T { return x.Square().Copysign(x) }, []float64{0.3, -0.9, 2}},
		{"NormP", func(x T) T { return x.NormP(3) }, []float64{0.3, -0.9, 2}},
		{"Cdist", func(x T) T { return x.Reshape(2, 2).Cdist(x.Reshape(2, 2).Flip(0).Mul(2), 2) }, []float64{0.3, -0.9, 2, 1}},
		{"CosineSimilarity", func(x T) T { return x.CosineSimilarity(floats(1, 2, 0.5).Cast(tensor.Float64), 0) }, []float64{0.3, -0.9, 2}},
		{"NanVar", func(x T) T { return tensor.Where(x.Gt(0), x, nan).NanVar() }, []float64{0.3, -0.9, 2}},
		{"LogSigmoid", T.LogSigmoid, []float64{-3, 0, 2}}, {"CELU", func(x T) T { return x.CELU(1.5) }, []float64{-3, 2}},
		{"SELU", T.SELU, []float64{-3, 2}}, {"Softsign", T.Softsign, []float64{-3, 2}}, {"HardSigmoid", T.HardSigmoid, []float64{-4, 0, 2}},
	} {
		t.Run(f.name, func(t *testing.T) {
			x := tensor.New(f.points)
			order := 2
			if testing.Short() {
				order = 1
			}
			gradtest.Check(t, f.of, x, order)
			batch := tensor.Stack(0, x, x.Mul(0.99))
			rows := tensor.Stack(0, f.of(x), f.of(x.Mul(0.99)))
			if ok, err := tensor.AllClose(grad.Vmap(f.of)(batch), rows, 1e-12, 1e-12); err != nil || !ok {
				t.Errorf("Vmap: %v, want %v (%v)", grad.Vmap(f.of)(batch), rows, err)
			}
		})
	}
	// The derivative of Lgamma is Digamma.
	x := tensor.New(spread(0.1, 30, 50))
	want := x.Digamma()
	if ok, err := tensor.AllClose(grad.Of(func(x T) T { return x.Lgamma().Sum() })(x), want, 1e-11, 1e-12); err != nil || !ok {
		t.Errorf("the derivative of Lgamma is not Digamma (%v)", err)
	}
}
