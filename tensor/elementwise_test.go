package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// apply returns a check of f at points against the same function of package math.
func apply(name string, f func(tensor.Tensor) tensor.Tensor, want func(float64) float64, points ...float64) check {
	results := make([]float64, len(points))
	for i, x := range points {
		results[i] = want(float64(float32(x)))
	}
	return same(name, f(floats(points...)), results...)
}

func TestUnary(t *testing.T) {
	type T = tensor.Tensor
	everywhere := []float64{-inf, -3.7, -1, -0.5, -1e-6, 0, 1e-6, 0.5, 1, 2.5, 7, inf, nan}
	run(t, []check{
		apply("Neg", T.Neg, func(x float64) float64 { return -x }, everywhere...),
		apply("Abs", T.Abs, math.Abs, everywhere...),
		apply("Exp", T.Exp, math.Exp, everywhere...),
		apply("Expm1", T.Expm1, math.Expm1, everywhere...),
		apply("Exp2", T.Exp2, math.Exp2, everywhere...),
		apply("Log", T.Log, math.Log, everywhere...),
		apply("Log1p", T.Log1p, math.Log1p, -1, -1e-6, 0, 1e-6, 3, inf, nan),
		apply("Log2", T.Log2, math.Log2, 0.5, 1, 8, 10, inf, nan, 0),
		apply("Sqrt", T.Sqrt, math.Sqrt, everywhere...),
		apply("Rsqrt", T.Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, everywhere...),
		apply("Square", T.Square, func(x float64) float64 { return x * x }, everywhere...),
		apply("Reciprocal", T.Reciprocal, func(x float64) float64 { return 1 / x }, everywhere...),
		apply("Sin", T.Sin, math.Sin, everywhere...),
		apply("Cos", T.Cos, math.Cos, everywhere...),
		apply("Tan", T.Tan, math.Tan, everywhere...),
		apply("Sinh", T.Sinh, math.Sinh, everywhere...),
		apply("Cosh", T.Cosh, math.Cosh, everywhere...),
		apply("Tanh", T.Tanh, math.Tanh, everywhere...),
		apply("Atan", T.Atan, math.Atan, everywhere...),
		apply("Erf", T.Erf, math.Erf, everywhere...),
		apply("Floor", T.Floor, math.Floor, everywhere...),
		apply("Ceil", T.Ceil, math.Ceil, everywhere...),
		apply("Trunc", T.Trunc, math.Trunc, everywhere...),
		apply("Round", T.Round, math.RoundToEven, append(everywhere, -2.5, -1.5, 1.5, 3.5, 0.49999997, 1<<23+1, 1<<25)...),
		same("Sign", floats(-inf, -2, 0, 3, inf, nan).Sign(), -1, -1, 0, 1, 1, nan),
		same("the derivative of Sign", grad.Of(func(x T) T { return x.Sign().Sum() })(floats(-inf, -2, 0, 3, nan)), 0, 0, 0, 0, 0),
		typed("Sign of int32", ints(-2, 0, 7).Sign(), tensor.Int32, -1, 0, 1),
		typed("Sign of uint8", tensor.New([]uint8{0, 200}).Sign(), tensor.Uint8, 0, 1),
		typed("Abs of int32", ints(-2, 0, math.MinInt32).Abs(), tensor.Int32, 2, 0, math.MinInt32),
		typed("Abs of uint32", tensor.New([]uint32{3}).Abs(), tensor.Uint32, 3),
		typed("Neg of uint8", tensor.New([]uint8{1, 0}).Neg(), tensor.Uint8, 255, 0),
		typed("Not of int32", ints(0, 5).Not(), tensor.Int32, -1, -6),
		typed("Not of bool", bools(true, false).Not(), tensor.Bool, 0, 1),
		typed("IsNaN", floats(nan, inf, 0).IsNaN(), tensor.Bool, 1, 0, 0),
		typed("IsInf", floats(nan, inf, -inf, 0).IsInf(), tensor.Bool, 0, 1, 1, 0),
		typed("IsNaN of int32", ints(1).IsNaN(), tensor.Bool, 0),
		typed("IsInf of int32", ints(1).IsInf(), tensor.Bool, 0),
		typed("Exp of float64", tensor.New([]float64{1}).Exp(), tensor.Float64, math.E),
	})
}

// In every type, functions are accurate as long as the result is in range.
func TestRange(t *testing.T) {
	type T = tensor.Tensor
	tiny := []float64{1e-30, 1e-7, 1e-3, 0.3, 1, 9, 11.5, 11.78}
	single := []float64{88.7, 88.73, 89, 89.4, 89.41, 89.42, 90, inf, nan}
	double := []float64{709.4, 709.5, 709.78, 709.79, 710, 710.47, 710.48, 711, 1000}
	mirror := func(lists ...[]float64) []float64 {
		var both []float64
		for _, v := range slices.Concat(lists...) {
			both = append(both, v, -v)
		}
		return both
	}
	// math.Sinh and math.Cosh overflow earlier.
	half := func(x float64) float64 { return math.Exp(x-2) * (math.Exp(2) / 2) }
	cosh := func(x float64) float64 { return half(x) + half(-x) }
	sinh := func(x float64) float64 {
		if math.Abs(x) < 20 {
			return math.Sinh(x)
		}
		return half(x) - half(-x)
	}
	types := []struct {
		d   tensor.DType
		eps float64 // half the distance from 1 to the next number
		low float64 // the smallest normal number
		max float64
	}{
		{tensor.Float16, 0x1p-11, 0x1p-14, 65504},
		{tensor.BFloat16, 0x1p-8, 0x1p-126, 0x1.FEp127},
		{tensor.Float32, 0x1p-24, 0x1p-126, math.MaxFloat32},
		{tensor.Float64, 0x1p-53, 0x1p-1022, math.MaxFloat64},
	}
	for _, f := range []struct {
		name   string
		of     func(T) T
		want   func(float64) float64
		points []float64
	}{
		{"Log1p", T.Log1p, math.Log1p, []float64{-0.5, 1e-30, 1e-7, 1e-3, 0x1p-29, 1 << 11, 1 << 24, 1<<24 + 2, 1 << 52, 1<<53 - 1, 1 << 53, 1<<53 + 2, 1 << 54, math.MaxFloat32, math.MaxFloat64}},
		{"Exp", T.Exp, func(x float64) float64 { return 2 * half(x) }, mirror(tiny, single, double)},
		{"Cosh", T.Cosh, cosh, mirror(tiny, single, double)},
		{"Sinh", T.Sinh, sinh, mirror(tiny, single, double)},
	} {
		for _, c := range types {
			x := tensor.New(f.points).Cast(c.d)
			at := values(t, x) // rounded to the type
			got := values(t, f.of(x))
			for i, v := range at {
				want := f.want(v)
				if math.Abs(want) > c.max*(1+c.eps) {
					want = math.Copysign(inf, want)
				}
				ok := got[i] == want || math.IsNaN(got[i]) && math.IsNaN(want)
				if !math.IsInf(want, 0) {
					ok = ok || math.Abs(got[i]-want) <= 5*c.eps*(math.Abs(want)+c.low)
				}
				if !ok {
					t.Errorf("%s(%v) of %v = %v, want %v", f.name, v, c.d, got[i], want)
				}
			}
		}
	}
	if got := values(t, tensor.Zeros(1).Cosh())[0]; got != 1 {
		t.Errorf("Cosh(0) = %v, want 1", got)
	}
}

// Rounding to 0 keeps the sign.
func TestRounding(t *testing.T) {
	type T = tensor.Tensor
	points := []float64{0, math.Copysign(0, -1), -0.3, 0.3, -0.5, 0.5, -0.7, 0.7, -1, -1.5, 1.5, -2.5, 2.5, 3.5, -3.5, -1023.5, 1e4, -1e4, inf, -inf, nan}
	for _, f := range []struct {
		name string
		of   func(T) T
		want func(float64) float64
	}{
		{"Round", T.Round, math.RoundToEven}, {"Trunc", T.Trunc, math.Trunc}, {"Ceil", T.Ceil, math.Ceil}, {"Floor", T.Floor, math.Floor},
	} {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
			x := tensor.New(points).Cast(d)
			at := values(t, x) // rounded to the type
			got := values(t, f.of(x))
			for i, v := range at {
				want := f.want(v)
				if math.Float64bits(got[i]) != math.Float64bits(want) && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
					t.Errorf("%s(%v) of %v = %v, want %v", f.name, v, d, got[i], want)
				}
			}
		}
	}
}

func TestActivations(t *testing.T) {
	type T = tensor.Tensor
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	softplus := func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
	points := []float64{-200, -20, -3, -1, -1e-3, 0, 1e-3, 0.5, 1, 3, 20, 200, nan}
	elu := func(x float64) float64 {
		if x > 0 || x != x {
			return x
		}
		return 0.5 * math.Expm1(x)
	}
	leaky := func(x float64) float64 {
		if x > 0 {
			return x
		}
		return 0.1 * x
	}
	run(t, []check{
		apply("Sigmoid", T.Sigmoid, sigmoid, append(points, inf, -inf)...),
		apply("Softplus", T.Softplus, softplus, append(points, inf, -inf)...),
		apply("SiLU", T.SiLU, func(x float64) float64 { return x * sigmoid(x) }, points...),
		apply("Mish", T.Mish, func(x float64) float64 { return x * math.Tanh(softplus(x)) }, points...),
		apply("GELU", T.GELU, func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }, points...),
		apply("GELUTanh", T.GELUTanh, func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}, points...),
		apply("HardSwish", T.HardSwish, func(x float64) float64 { return x * math.Min(math.Max(x+3, 0), 6) / 6 }, points...),
		apply("ELU", func(x T) T { return x.ELU(0.5) }, elu, append(points, inf, -inf)...),
		apply("LeakyReLU", func(x T) T { return x.LeakyReLU(0.1) }, leaky, append(points, inf, -inf)...),
		same("ReLU", floats(-inf, -1, 0, 1e-30, 2, inf, nan).ReLU(), 0, 0, 0, 1e-30, 2, inf, nan),
		typed("ReLU of float16", floats(-1, 0, 0x1p-24, 1).Cast(tensor.Float16).ReLU(), tensor.Float16, 0, 0, 0x1p-24, 1),
		typed("ReLU of int32", ints(-1, 0, 2).ReLU(), tensor.Int32, 0, 0, 2),
	})
	// Sigmoid is accurate far below 0.
	if got, want := floats(-40).Sigmoid().Item(), math.Exp(-40); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("Sigmoid(-40) = %g, want %g", got, want)
	}
}

func TestBinary(t *testing.T) {
	a, b := floats(1, -2, 7, nan), floats(2, 2, -2, 1)
	i, j := ints(7, -7, 5, math.MinInt32), ints(2, 2, 0, -1)
	p, q := bools(true, true, false, false), bools(true, false, true, false)
	u8 := func(x ...uint8) tensor.Tensor { return tensor.New(x) }
	i8 := func(x ...int8) tensor.Tensor { return tensor.New(x) }
	run(t, []check{
		same("Add", a.Add(b), 3, 0, 5, nan),
		same("Sub", a.Sub(b), -1, -4, 9, nan),
		same("Mul", a.Mul(b), 2, -4, -14, nan),
		same("Div", a.Div(b), 0.5, -1, -3.5, nan),
		same("Rem", a.Rem(b), 1, 0, 1, nan),
		same("Maximum", a.Maximum(b), 2, 2, 7, nan),
		same("Minimum", b.Minimum(a), 1, -2, -2, nan),
		same("Pow", floats(2, 4, -2, 0).Pow(floats(3, 0.5, 2, 0)), 8, 2, 4, 1),
		typed("Div of int32", i.Div(j), tensor.Int32, 3, -3, 0, math.MinInt32),
		typed("Rem of int32", i.Rem(j), tensor.Int32, 1, -1, 0, 0),
		typed("Shl", ints(1, -1, 1, 3).Shl(ints(4, 1, 32, 31)), tensor.Int32, 16, -2, 0, math.MinInt32),
		typed("Shr", ints(16, -16, -1, 5).Shr(ints(2, 2, 40, 32)), tensor.Int32, 4, -4, -1, 0),
		typed("Add of uint8", u8(250).Add(u8(10)), tensor.Uint8, 4),
		typed("Add of int8", i8(127, -128).Add(1), tensor.Int8, -128, -127),
		typed("Mul of int8", i8(64, -128).Mul(i8(2, -1)), tensor.Int8, -128, -128),
		typed("Div of int8", i8(-128, -7, 5).Div(i8(-1, 2, 0)), tensor.Int8, -128, -3, 0),
		typed("Shl of int8", i8(1, 3, 1).Shl(i8(7, 7, 8)), tensor.Int8, -128, -128, 0),
		typed("Shr of int8", i8(-128, -1, 64).Shr(i8(7, 9, 3)), tensor.Int8, -1, -1, 8),
		typed("Lt of int8", i8(-1, 1).Lt(0), tensor.Bool, 1, 0),
		typed("Abs of int8", i8(-128, -5).Abs(), tensor.Int8, -128, 5),
		typed("And", p.And(q), tensor.Bool, 1, 0, 0, 0),
		typed("Or", p.Or(q), tensor.Bool, 1, 1, 1, 0),
		typed("Xor", p.Xor(q), tensor.Bool, 0, 1, 1, 0),
		typed("And true", p.And(true), tensor.Bool, 1, 1, 0, 0),
		typed("And of int32", ints(12, 10).And(6), tensor.Int32, 4, 2),
		typed("Eq", a.Eq(b), tensor.Bool, 0, 0, 0, 0),
		typed("Eq 7", a.Eq(7), tensor.Bool, 0, 0, 1, 0),
		typed("Ne", a.Ne(b), tensor.Bool, 1, 1, 1, 1),
		typed("Lt", a.Lt(b), tensor.Bool, 1, 1, 0, 0),
		typed("Le", a.Le(floats(1, -3, 8, nan)), tensor.Bool, 1, 0, 1, 0),
		typed("Gt", a.Gt(b), tensor.Bool, 0, 0, 1, 0),
		typed("Ge", a.Ge(floats(1, -3, 8, nan)), tensor.Bool, 1, 1, 0, 0),
		typed("Le of int32", i.Le(7), tensor.Bool, 1, 1, 1, 1),
		typed("Ge of int32", i.Ge(5), tensor.Bool, 1, 0, 1, 0),
		typed("Lt of bool", q.Lt(p), tensor.Bool, 0, 1, 0, 0),
		same("Clamp", floats(-1, 2, 3, 6, nan).Clamp(2, 5), 2, 2, 3, 5, nan),
		same("Clamp, lo over hi", floats(-1, 9).Clamp(5, 2), 2, 2),
		same("Clamp by tensors", floats(-1, 9).Clamp(floats(0, 1), floats(4, 5)), 0, 5),
		of("Clamp broadcasts", floats(-1, 9).Clamp(floats(0, 1).Reshape(2, 1), 4), []int{2, 2}, 0, 4, 1, 4),
	})
}

// Atan2 is math.Atan2 in every quadrant, with the sign of zeros, and broadcasts.
func TestAtan2(t *testing.T) {
	zero := math.Copysign(0, -1)
	points := []float64{0, zero, 1, -1, 2.5, -0.3, 1e-30, -1e-30, 1e30, -1e30, inf, -inf, nan}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		x := tensor.New(points).Cast(d)
		got, err := tensor.Data[float64](x.Unsqueeze(1).Atan2(x).Cast(tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		tolerance, least := 1e-15, 0.0
		if d == tensor.Float32 {
			tolerance, least = 1e-7, 1e-38
		}
		for i, g := range got {
			y, x := points[i/len(points)], points[i%len(points)]
			want := math.Atan2(y, x)
			if math.Abs(g-want) > tolerance*math.Abs(want)+least || math.IsNaN(g) != math.IsNaN(want) || math.Signbit(g) != math.Signbit(want) && want == want {
				t.Errorf("Atan2(%v, %v) of %v = %v, want %v", y, x, d, g, want)
			}
		}
	}
	run(t, []check{
		same("Atan2 of a number", floats(1, -1).Atan2(-1), 3*math.Pi/4, -3*math.Pi/4),
		same("gradient by y", grad.Of(func(y tensor.Tensor) tensor.Tensor { return y.Atan2(2).Sum() })(floats(1, -4)), 0.4, 0.1),
		same("gradient by x", grad.Of(func(x tensor.Tensor) tensor.Tensor { return tensor.Scalar(1).Atan2(x).Sum() })(floats(2, -3)), -0.2, -0.1),
	})
}

func TestBroadcasting(t *testing.T) {
	a := floats(1, 2, 3, 4, 5, 6).Reshape(2, 3)
	run(t, []check{
		of("column", a.Add(floats(10, 20).Reshape(2, 1)), []int{2, 3}, 11, 12, 13, 24, 25, 26),
		of("row", floats(10, 20, 30).Sub(a), []int{2, 3}, 9, 18, 27, 6, 15, 24),
		of("scalar", tensor.Scalar(1).Sub(a), []int{2, 3}, 0, -1, -2, -3, -4, -5),
		of("both", floats(1, 2).Reshape(2, 1).Mul(floats(3, 4)), []int{2, 2}, 3, 4, 6, 8),
		of("empty", tensor.Zeros(0, 3).Add(floats(1, 2, 3)), []int{0, 3}),
		of("one and none", tensor.Zeros(1).Add(tensor.Zeros(0)), []int{0}),
	})
}

// A Go number takes the type of the tensor it is combined with.
func TestNumbers(t *testing.T) {
	type celsius float64
	type level int8
	f16 := floats(1).Cast(tensor.Float16)
	run(t, []check{
		same("int", floats(1).Add(2), 3),
		same("float64", floats(1).Add(0.5), 1.5),
		same("float32", floats(1).Add(float32(0.5)), 1.5),
		same("uint64", floats(1).Add(uint64(math.MaxUint64)), float64(float32(math.MaxUint64))),
		same("named float", floats(1).Add(celsius(0.5)), 1.5),
		same("named int", floats(1).Add(level(-1)), 0),
		same("infinity", floats(1).Add(inf), inf),
		same("half", floats(1).Add(tensor.ToF16(0.5)), 1.5),
		same("bfloat16", floats(1).Add(tensor.ToBF16(0.5)), 1.5),
		typed("float16 and 0.5", f16.Add(0.5), tensor.Float16, 1.5),
		typed("int32 and a whole float", ints(1).Add(2.0), tensor.Int32, 3),
		typed("uint32 and its maximum", tensor.New([]uint32{0}).Add(uint32(maxU)), tensor.Uint32, maxU),
		typed("int64", tensor.New([]int64{1}).Add(int64(1)<<40), tensor.Int64, 1<<40+1),
		typed("bool", bools(true).Xor(true), tensor.Bool, 0),
	})
}

func TestPow(t *testing.T) {
	for _, p := range []float64{-9, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 5, 8, 11} {
		points := []float64{0.5, 1, 2, 3}
		if p == math.Trunc(p) {
			points = append(points, -2)
		}
		f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(p) }
		run(t, []check{apply("Pow", f, func(x float64) float64 { return math.Pow(x, p) }, points...)})
	}
	run(t, []check{
		typed("int32 squared", ints(-3, 4).Pow(2), tensor.Int32, 9, 16),
		typed("int32 to the 9th", ints(-2).Pow(9), tensor.Int32, -512),
		same("0 to the 0", floats(0).Pow(0), 1),
		typed("3, 5 and 10 to the -2, to the last digit", floats(3, 5, 10).Pow(-2).Eq(floats(1./9, 1./25, 1./100)), tensor.Bool, 1, 1, 1),
	})
}

func TestWhere(t *testing.T) {
	c := bools(true, false)
	run(t, []check{
		same("tensors", tensor.Where(c, floats(1, 2), floats(3, 4)), 1, 4),
		same("tensor and number", tensor.Where(c, floats(1, 2), 0), 1, 0),
		same("number and tensor", tensor.Where(c, 9, floats(1, 2)), 9, 2),
		same("numbers", tensor.Where(c, 1, 2.5), 1, 2.5),
		typed("bools", tensor.Where(c, false, true), tensor.Bool, 0, 1),
		of("all three broadcast", tensor.Where(c, floats(1, 2).Reshape(2, 1), tensor.Scalar(0)), []int{2, 2}, 1, 0, 2, 0),
		of("the condition is wider", tensor.Where(c.Reshape(2, 1), floats(1, 2), 0), []int{2, 2}, 1, 2, 0, 0),
		of("scalar condition", tensor.Where(c.At(0), floats(1, 2), 0), []int{2}, 1, 2),
	})
}

func TestCast(t *testing.T) {
	run(t, []check{
		typed("float32 to int32", floats(-1.9, 1.9, 3e9, -inf, nan).Cast(tensor.Int32), tensor.Int32, -1, 1, math.MaxInt32, math.MinInt32, 0),
		typed("float32 to uint8", floats(-1, 255.9, 300).Cast(tensor.Uint8), tensor.Uint8, 0, 255, 255),
		typed("float32 to bool", floats(0, -0.5, nan).Cast(tensor.Bool), tensor.Bool, 0, 1, 1),
		typed("bool to float32", bools(true, false).Cast(tensor.Float32), tensor.Float32, 1, 0),
		typed("float32 to int8", floats(-129, -1.9, 127.9, 300, nan).Cast(tensor.Int8), tensor.Int8, -128, -1, 127, 127, 0),
		typed("int8 to uint8", tensor.New([]int8{-1}).Cast(tensor.Uint8), tensor.Uint8, 255),
		typed("int32 to uint8", ints(-1, 256).Cast(tensor.Uint8), tensor.Uint8, 255, 0),
		typed("float32 to float16", floats(1.0/3).Cast(tensor.Float16), tensor.Float16, 0.33325195),
		typed("float32 to bfloat16", floats(1.0/3).Cast(tensor.BFloat16), tensor.BFloat16, 0.33398438),
	})
}
