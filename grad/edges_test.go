package grad_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

var inf, nan = math.Inf(1), math.NaN()

func f64(x ...float64) tensor.Tensor { return tensor.New(x) }

func i32(x ...int32) tensor.Tensor { return tensor.New(x) }

func data(t *testing.T, x tensor.Tensor) []float64 {
	t.Helper()
	v, err := tensor.Data[float64](x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// same reports whether numbers are equal but for rounding.
func same(got, want []float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if math.IsNaN(got[i]) && math.IsNaN(want[i]) {
			continue
		}
		if got[i] != want[i] && (math.IsInf(want[i], 0) || !(math.Abs(got[i]-want[i]) <= 1e-12*math.Abs(want[i]))) {
			return false
		}
	}
	return true
}

// derivative differentiates the sum of f's elements, order times.
func derivative(f func(tensor.Tensor) tensor.Tensor, order int) func(tensor.Tensor) tensor.Tensor {
	for range order {
		g := f
		f = grad.Of(func(x tensor.Tensor) tensor.Tensor { return g(x).Sum() })
	}
	return f
}

// pushed is derivative by forward mode: along each element of a vector, or
// of a function of each element by itself along all of them at once.
func pushed(f func(tensor.Tensor) tensor.Tensor, order int, itself bool) func(tensor.Tensor) tensor.Tensor {
	along := func(f func(tensor.Tensor) tensor.Tensor, x, v tensor.Tensor) tensor.Tensor {
		_, d := grad.JVP(f, x, v)
		return d
	}
	for range order {
		g := f
		f = func(x tensor.Tensor) tensor.Tensor {
			if itself {
				return along(g, x, tensor.OnesLike(x))
			}
			ds := make([]tensor.Tensor, x.Len())
			for i := range ds {
				unit := tensor.Arange(x.Len()).Eq(i).Cast(x.DType())
				ds[i] = along(func(x tensor.Tensor) tensor.Tensor { return g(x).Sum() }, x, unit)
			}
			return tensor.Stack(0, ds...)
		}
	}
	return f
}

// TestEdges holds derivatives where finite differences cannot be taken.
func TestEdges(t *testing.T) {
	type fn = func(x tensor.Tensor) tensor.Tensor
	pow := func(b ...float64) fn { return func(x tensor.Tensor) tensor.Tensor { return x.Pow(f64(b...)) } }
	powOf := func(a ...float64) fn { return func(x tensor.Tensor) tensor.Tensor { return f64(a...).Pow(x) } }
	prod := func(x tensor.Tensor) tensor.Tensor { return x.Prod() }
	mulAt := func(base float64, at ...int32) fn {
		return func(x tensor.Tensor) tensor.Tensor { return f64(base).ScatterMul(0, i32(at...), x) }
	}
	norm := func(x tensor.Tensor) tensor.Tensor { return x.Norm() }
	std := func(x tensor.Tensor) tensor.Tensor { return x.Std() }
	rows := func(f func(x tensor.Tensor, axes ...int) tensor.Tensor) fn {
		return func(x tensor.Tensor) tensor.Tensor { return f(x.Reshape(2, 2), 1) }
	}
	large := []float64{710, -710.4, 81, 79, 0}
	half := func(x float64) float64 { return math.Exp(x-2) * (math.Exp(2) / 2) } // of e^x; math.Cosh overflows as e^x does
	cosh := func(x float64) float64 { return half(x) + half(-x) }
	sinh := func(x float64) float64 { return half(x) - half(-x) }
	// In forward mode an infinite derivative is multiplied by the tangent, which is 0 where
	// another element is moved: NaN, as in JAX.
	forward := map[string][]float64{
		"Where":            {nan, nan},
		"Where, otherwise": {nan, nan},
		"Prod of much":     {nan, nan, inf},
		// Here the tangent that is not a number is left out, but a cotangent of
		// 0 is multiplied by it.
		"Log where it is infinite": {0, 0.25},
		"Sqrt where it is NaN":     {0, 0.25},
	}
	for _, tt := range []struct {
		name  string
		f     fn
		at    []float64
		order int
		want  []float64
	}{
		{"Maximum", func(x tensor.Tensor) tensor.Tensor { return x.Maximum(f64(1, 3, 2)) }, []float64{1, 2, 3}, 1, []float64{0.5, 0, 1}},
		{"Maximum of a number", func(x tensor.Tensor) tensor.Tensor { return x.Maximum(1) }, []float64{1, 2, -3}, 1, []float64{0.5, 1, 0}},
		{"Maximum of itself", func(x tensor.Tensor) tensor.Tensor { return x.Maximum(x) }, []float64{1, 2}, 1, []float64{1, 1}},
		{"Minimum", func(x tensor.Tensor) tensor.Tensor { return x.Minimum(f64(1, 3, 2)) }, []float64{1, 2, 3}, 1, []float64{0.5, 1, 0}},
		{"Max", func(x tensor.Tensor) tensor.Tensor { return x.Max() }, []float64{3, 1, 3}, 1, []float64{0.5, 0, 0.5}},
		{"Max of infinities", func(x tensor.Tensor) tensor.Tensor { return x.Max() }, []float64{-inf, -inf}, 1, []float64{0.5, 0.5}},
		{"Min", func(x tensor.Tensor) tensor.Tensor { return x.Min() }, []float64{3, 1, 3, 1, 1}, 1, []float64{0, 1. / 3, 0, 1. / 3, 1. / 3}},
		{"ScatterMax", func(x tensor.Tensor) tensor.Tensor { return f64(1, 5).ScatterMax(0, i32(0, 0, 1), x) }, []float64{1, 1, 4}, 1, []float64{1. / 3, 1. / 3, 0}},
		{"ScatterMin", func(x tensor.Tensor) tensor.Tensor { return x.ScatterMin(0, i32(0, 0, 1), f64(1, 2, 4)) }, []float64{1, 5}, 1, []float64{0.5, 0}},

		{"ReLU", tensor.Tensor.ReLU, []float64{-1, 0, 2}, 1, []float64{0, 0, 1}},
		{"Abs", tensor.Tensor.Abs, []float64{-1, 0, 2}, 1, []float64{-1, 0, 1}},
		{"Sign", tensor.Tensor.Sign, []float64{-1, 0, 2}, 1, []float64{0, 0, 0}},
		{"LeakyReLU", func(x tensor.Tensor) tensor.Tensor { return x.LeakyReLU(0.25) }, []float64{-1, 0, 2}, 1, []float64{0.25, 0.25, 1}},
		{"Clamp", func(x tensor.Tensor) tensor.Tensor { return x.Clamp(0, 1) }, []float64{-1, 0, 0.5, 1, 2}, 1, []float64{0, 1, 1, 1, 0}},

		{"Sqrt", tensor.Tensor.Sqrt, []float64{0, 4}, 1, []float64{inf, 0.25}},
		{"Log", tensor.Tensor.Log, []float64{0, 4}, 1, []float64{inf, 0.25}},
		{"Pow by base 0", pow(0, 0.5, 1, 2, 3), []float64{0, 0, 0, 0, 0}, 1, []float64{0, inf, 1, 0, 0}},
		{"Pow twice by base 0", pow(0, 1, 2, 3), []float64{0, 0, 0, 0}, 2, []float64{0, 0, 2, 0}},
		{"Pow by negative base", pow(2, 3, -1, 0), []float64{-2, -2, -2, -2}, 1, []float64{-4, 12, -0.25, 0}},
		{"Pow by base to 0", pow(0, 0, 0), []float64{inf, -inf, 3}, 1, []float64{0, 0, 0}},
		{"Pow by a number", func(x tensor.Tensor) tensor.Tensor { return x.Pow(2.5) }, []float64{0, 4}, 1, []float64{0, 20}},
		{"Pow by the number 1", func(x tensor.Tensor) tensor.Tensor { return x.Pow(1) }, []float64{0, -4}, 1, []float64{1, 1}},
		{"Pow by the number 0", func(x tensor.Tensor) tensor.Tensor { return x.Pow(0) }, []float64{0, -4}, 1, []float64{0, 0}},
		{"Pow by exponent", powOf(0, 0, 0, 2), []float64{0, 1, 0.5, 3}, 1, []float64{0, 0, 0, 8 * math.Ln2}},
		{"Pow by negative exponent of base 0", powOf(0, 0), []float64{-1, -0.5}, 1, []float64{-inf, -inf}},
		{"Pow twice by exponent", powOf(0, 0, 2), []float64{0, 1, 3}, 2, []float64{0, 0, 8 * math.Ln2 * math.Ln2}},
		{"Pow by both", func(x tensor.Tensor) tensor.Tensor { return x.Pow(x) }, []float64{2}, 1, []float64{4 * (1 + math.Ln2)}},

		{"Prod", prod, []float64{2, 3, 4}, 1, []float64{12, 8, 6}},
		{"Prod of one zero", prod, []float64{0, 2, 3}, 1, []float64{6, 0, 0}},
		{"Prod of two zeros", prod, []float64{0, 2, 0}, 1, []float64{0, 0, 0}},
		{"Prod of one zero twice", prod, []float64{0, 2, 3}, 2, []float64{5, 3, 2}},
		{"Prod of two zeros twice", prod, []float64{0, 0, 3}, 2, []float64{3, 3, 0}},
		{"Prod of three zeros thrice", prod, []float64{0, 0, 0}, 3, []float64{2, 2, 2}},
		{"Prod of much", prod, []float64{1e200, 1e200, 1e-300}, 1, []float64{1e-100, 1e-100, inf}},
		{"ScatterMul", mulAt(2, 0, 0), []float64{3, 4}, 1, []float64{8, 6}},
		{"ScatterMul of one zero", mulAt(2, 0, 0), []float64{0, 4}, 1, []float64{8, 0}},
		{"ScatterMul of two zeros", mulAt(2, 0, 0, 0), []float64{0, 0, 4}, 1, []float64{0, 0, 0}},
		{"ScatterMul of base 0", mulAt(0, 0, 0), []float64{3, 4}, 1, []float64{0, 0}},
		{"ScatterMul of one zero twice", mulAt(2, 0, 0, 0), []float64{0, 2, 3}, 2, []float64{10, 6, 4}},
		{"ScatterMul of two zeros twice", mulAt(2, 0, 0, 0), []float64{0, 0, 3}, 2, []float64{6, 6, 0}},
		{"ScatterMul by base", func(x tensor.Tensor) tensor.Tensor { return x.ScatterMul(0, i32(0, 0), f64(3, 4)) }, []float64{0, 1}, 1, []float64{12, 1}},

		{"Rem by dividend", func(x tensor.Tensor) tensor.Tensor { return x.Rem(2) }, []float64{5.5, -5.5}, 1, []float64{1, 1}},
		{"Rem by divisor", func(x tensor.Tensor) tensor.Tensor { return f64(5.5, -5.5, 5.5, 0.5, 0.9).Rem(x) }, []float64{2, 2, -2, 2, 0.1}, 1, []float64{-2, 2, 2, 0, -8}},
		// 2.1 is a little more than 3·0.7, but (2.1 - Rem(2.1, 0.7))/0.7 is
		// 2.9999999999999996.
		{"Rem by divisor, quotient rounded down", func(x tensor.Tensor) tensor.Tensor { return f64(2.1, -2.1, 0.3).Rem(x) }, []float64{0.7, 0.7, 0.01}, 1, []float64{-3, 3, -29}},
		{"Floor", tensor.Tensor.Floor, []float64{0.5, 1}, 1, []float64{0, 0}},
		{"Cast to integers", func(x tensor.Tensor) tensor.Tensor { return x.Cast(tensor.Int32).Cast(tensor.Float64).Mul(x) }, []float64{2.5, 3}, 1, []float64{2, 3}},
		{"a comparison", func(x tensor.Tensor) tensor.Tensor { return x.Gt(1).Cast(tensor.Float64) }, []float64{2.5, 1}, 1, []float64{0, 0}},
		{"Where", func(x tensor.Tensor) tensor.Tensor {
			return tensor.Where(tensor.New([]bool{false, true}), x, 3).Mul(f64(nan, 2))
		}, []float64{1, 1}, 1, []float64{0, 2}},
		{"Where, otherwise", func(x tensor.Tensor) tensor.Tensor {
			return tensor.Where(tensor.New([]bool{false, true}), 3, x).Mul(f64(2, inf))
		}, []float64{1, 1}, 1, []float64{2, 0}},
		{"Take", func(x tensor.Tensor) tensor.Tensor { return x.Take(0, i32(2, 0, 2)).Mul(f64(1, 2, 4)) }, []float64{7, 7, 7}, 1, []float64{2, 0, 5}},
		{"ReLU twice", tensor.Tensor.ReLU, []float64{-1, 0, 2}, 2, []float64{0, 0, 0}},
		{"Abs twice", tensor.Tensor.Abs, []float64{-1, 0, 2}, 2, []float64{0, 0, 0}},
		{"ELU", func(x tensor.Tensor) tensor.Tensor { return x.ELU(1) }, []float64{-1000, 0, 1000}, 1, []float64{0, 1, 1}},
		{"Sigmoid of much", tensor.Tensor.Sigmoid, []float64{-1000, 0, 1000}, 1, []float64{0, 0.25, 0}},
		{"Softplus of much", tensor.Tensor.Softplus, []float64{-1000, 0, 1000}, 1, []float64{0, 0.5, 1}},
		{"Tanh of much", tensor.Tensor.Tanh, []float64{-1000, 0, 1000}, 1, []float64{0, 1, 0}},
		{"GELU of much", tensor.Tensor.GELU, []float64{-1000, 0, 1000}, 1, []float64{0, 0.5, 1}},
		{"GELU of infinities twice", tensor.Tensor.GELU, []float64{-inf, inf}, 2, []float64{0, 0}},
		{"GELU of infinities thrice", tensor.Tensor.GELU, []float64{-inf, inf}, 3, []float64{0, 0}},
		{"SiLU of much", tensor.Tensor.SiLU, []float64{-1000, 0, 1000}, 1, []float64{0, 0.5, 1}},
		{"Softmax of huge logits", func(x tensor.Tensor) tensor.Tensor { return x.Softmax(0).Mul(f64(1, 2, 4)) }, []float64{1e300, 1e300, -1e300}, 1, []float64{-0.25, 0.25, 0}},
		{"Softmax twice of huge logits", func(x tensor.Tensor) tensor.Tensor { return x.Softmax(0).Mul(f64(1, 2, 4)) }, []float64{1e5, 1e5, -1e5}, 2, []float64{0, 0, 0}},
		{"Softmax under a mask", func(x tensor.Tensor) tensor.Tensor {
			return tensor.Where(tensor.New([]bool{true, true, false}), x, -inf).Softmax(0).Mul(f64(1, 2, 4))
		}, []float64{3, 3, 9}, 1, []float64{-0.25, 0.25, 0}},
		{"LogSoftmax of huge logits", func(x tensor.Tensor) tensor.Tensor { return x.LogSoftmax(0).Mul(f64(1, 2, 4)) }, []float64{1e5, 1e5, -1e5}, 1, []float64{-2.5, -1.5, 4}},
		{"LogSumExp of huge logits", func(x tensor.Tensor) tensor.Tensor { return x.LogSumExp() }, []float64{1e5, 1e5, -1e5}, 1, []float64{0.5, 0.5, 0}},
		{"LogSumExp of nothing", func(x tensor.Tensor) tensor.Tensor { return x.LogSumExp() }, []float64{-inf, 0}, 1, []float64{0, 1}},
		{"Log where it is defined", func(x tensor.Tensor) tensor.Tensor {
			positive := x.Gt(0)
			return tensor.Where(positive, tensor.Where(positive, x, 1).Log(), 0)
		}, []float64{-1, 0, 4}, 1, []float64{0, 0, 0.25}},
		{"Log where it is infinite", func(x tensor.Tensor) tensor.Tensor { return tensor.Where(x.Gt(0), x.Log(), 0) }, []float64{0, 4}, 1, []float64{nan, 0.25}},
		{"Sqrt where it is NaN", func(x tensor.Tensor) tensor.Tensor { return tensor.Where(x.Gt(0), x.Sqrt(), 0) }, []float64{-4, 4}, 1, []float64{nan, 0.25}},
		{"Take of repeated positions twice", func(x tensor.Tensor) tensor.Tensor { return x.Take(0, i32(2, 0, 2, -1)).Pow(3) }, []float64{1, 2, 3}, 2, []float64{6, 0, 54}},
		{"TakeAlong of repeated positions", func(x tensor.Tensor) tensor.Tensor { return x.TakeAlong(0, i32(1, 1, 0, 1)).Square() }, []float64{3, 5}, 1, []float64{6, 30}},
		{"ScatterAdd at repeated positions", func(x tensor.Tensor) tensor.Tensor { return f64(1, 2).ScatterAdd(0, i32(1, 1, 0), x).Square() }, []float64{1, 2, 3}, 1, []float64{10, 10, 8}},
		{"MaxPool", func(x tensor.Tensor) tensor.Tensor { return x.Reshape(1, 1, 4).MaxPool(2, nil) }, []float64{1, 1, 2, 3}, 1, []float64{0.5, 0.5, 0, 1}},
		{"Pow of 0 near 0", func(x tensor.Tensor) tensor.Tensor { return x.Pow(tensor.ZerosLike(x)) }, []float64{1e-200, 0, inf}, 2, []float64{0, 0, 0}},
		{"Pow by base, by the exponent 0", func(x tensor.Tensor) tensor.Tensor {
			return grad.Of(func(a tensor.Tensor) tensor.Tensor { return a.Pow(x).Sum() })(f64(4, 0.5))
		}, []float64{0, 0}, 1, []float64{0.25, 2}},
		{"Pow of infinity", func(x tensor.Tensor) tensor.Tensor { return tensor.FullLike(x, inf).Pow(x) }, []float64{-1, -0.5}, 1, []float64{0, 0}},
		{"Pow of infinity twice", func(x tensor.Tensor) tensor.Tensor { return tensor.FullLike(x, inf).Pow(x) }, []float64{-1, -0.5}, 2, []float64{0, 0}},
		{"Pow(-2) twice", func(x tensor.Tensor) tensor.Tensor { return x.Pow(-2) }, []float64{inf, -inf, 1e-70, 2}, 2, []float64{0, 0, 6e280, 0.375}},
		{"Atan2 of infinities", func(x tensor.Tensor) tensor.Tensor { return x.Atan2(tensor.FullLike(x, inf)) }, []float64{-1, inf}, 1, []float64{0, 0}},
		{"Atan2 of infinities twice", func(x tensor.Tensor) tensor.Tensor { return x.Atan2(tensor.FullLike(x, 3)) }, []float64{inf, 4e200}, 2, []float64{0, 0}},
		{"Norm", norm, []float64{3, 4}, 1, []float64{0.6, 0.8}},
		{"Norm twice", norm, []float64{3, 4}, 2, []float64{0.032, -0.024}},
		{"Norm of zeros", norm, []float64{0, math.Copysign(0, -1)}, 1, []float64{0, 0}},
		{"Norm of zeros twice", norm, []float64{0, 0}, 2, []float64{0, 0}},
		{"Norm of one zero", norm, []float64{0}, 1, []float64{0}},
		{"Norm of nothing known", norm, []float64{nan, 0}, 1, []float64{nan, nan}},
		{"Norms of rows", rows(tensor.Tensor.Norm), []float64{0, 0, 3, 4}, 1, []float64{0, 0, 0.6, 0.8}},
		{"Norms of rows twice", rows(tensor.Tensor.Norm), []float64{0, 0, 3, 4}, 2, []float64{0, 0, 0.032, -0.024}},
		{"square of Norm of zeros", func(x tensor.Tensor) tensor.Tensor { return x.Norm().Square() }, []float64{0, 0}, 1, []float64{0, 0}},
		{"Std", std, []float64{1, 3}, 1, []float64{-0.5, 0.5}},
		{"Std of equals", std, []float64{2, 2}, 1, []float64{0, 0}},
		{"Std of equals twice", std, []float64{2, 2}, 2, []float64{0, 0}},
		{"Std of equals thrice", std, []float64{2, 2}, 3, []float64{0, 0}},
		{"Std of one", std, []float64{2}, 1, []float64{0}},
		{"Stds of rows", rows(tensor.Tensor.Std), []float64{2, 2, 1, 3}, 1, []float64{0, 0, -0.5, 0.5}},
		{"Stds of rows twice", rows(tensor.Tensor.Std), []float64{2, 2, 1, 3}, 2, []float64{0, 0, 0, 0}},
		{"Cosh of much", tensor.Tensor.Cosh, large, 1, mapped(large, sinh)},
		{"Cosh of much twice", tensor.Tensor.Cosh, large, 2, mapped(large, cosh)},
		{"Sinh of much", tensor.Tensor.Sinh, large, 1, mapped(large, cosh)},
		{"Sinh of much thrice", tensor.Tensor.Sinh, large, 3, mapped(large, cosh)},
		{"Expm1 far below", tensor.Tensor.Expm1, []float64{-40}, 1, []float64{math.Exp(-40)}},
	} {
		got := data(t, derivative(tt.f, tt.order)(f64(tt.at...)))
		if !same(got, tt.want) {
			t.Errorf("derivative of order %d of %s at %v = %v, want %v", tt.order, tt.name, tt.at, got, tt.want)
		}
		want, special := forward[tt.name]
		if !special {
			want = tt.want
		}
		itself := !special && slices.ContainsFunc(want, func(v float64) bool { return math.IsInf(v, 0) })
		got = data(t, pushed(tt.f, tt.order, itself)(f64(tt.at...)))
		if !same(got, want) {
			t.Errorf("derivative of order %d of %s at %v, by forward mode = %v, want %v", tt.order, tt.name, tt.at, got, want)
		}
	}
}

// At edges the second derivative of a square is 0, as the documentation says; of the functions
// that it recommends instead it is right.
func TestSquaresAtEdges(t *testing.T) {
	type T = tensor.Tensor
	row := f64(1, 1).Reshape(1, 2)
	distance := func(p float64) func(T) T {
		return func(x T) T { return x.Reshape(1, 2).Cdist(row, p).Square() }
	}
	zeros, ones := f64(0, 0), f64(1, 1)
	none, twice, half := []float64{0, 0, 0, 0}, []float64{2, 0, 0, 2}, []float64{0.5, -0.5, -0.5, 0.5}
	for _, c := range []struct {
		name string
		f    func(T) T
		at   T
		want []float64
	}{
		{"Norm", func(x T) T { return x.Norm().Square() }, zeros, none},
		{"NormP(2)", func(x T) T { return x.NormP(2).Square() }, zeros, none},
		{"Hypot", func(x T) T { return x.At(0).Hypot(x.At(1)).Square() }, zeros, none},
		{"Cdist(2)", distance(2), ones, none},
		{"Cdist(1.5)", distance(1.5), ones, none},
		{"Abs", func(x T) T { return x.Abs().Square() }, zeros, none},
		{"Std", func(x T) T { return x.Std().Square() }, ones, none},
		{"NanStd", func(x T) T { return x.NanStd().Square() }, ones, none},
		{"Square", func(x T) T { return x.Square() }, zeros, twice},
		{"the sum of squared differences", func(x T) T { return x.Reshape(1, 2).Sub(row).Square() }, ones, twice},
		{"Var", func(x T) T { return x.Var() }, ones, half},
	} {
		f := func(x T) T { return c.f(x).Sum() }
		for mode, h := range map[string]T{
			"Hessian": grad.Hessian(f)(c.at),
			"JacRev":  grad.JacRev(grad.Of(f))(c.at),
		} {
			if got := data(t, h); !same(got, c.want) {
				t.Errorf("%s of the square of %s: %v, want %v", mode, c.name, got, c.want)
			}
		}
	}
}

// Functions that end at infinities have the same derivatives there at untyped constants as at float64 tensors.
func TestUntypedInfinities(t *testing.T) {
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{"Atan": tensor.Tensor.Atan, "Erf": tensor.Tensor.Erf, "Erfc": tensor.Tensor.Erfc, "Tanh": tensor.Tensor.Tanh} {
		for _, v := range []float64{math.Inf(1), math.Inf(-1), 1e200, 0.5, math.NaN()} {
			u, x := tensor.Full(v, 1), tensor.New([]float64{v})
			for order := range 3 {
				at := func(x tensor.Tensor) float64 {
					g := f
					for range order {
						last := g
						g = func(x tensor.Tensor) tensor.Tensor {
							return grad.Of(func(x tensor.Tensor) tensor.Tensor { return last(x).Sum() })(x)
						}
					}
					return data(t, g(x).Cast(tensor.Float64).Reshape(1))[0]
				}
				if got, want := at(u), at(x); math.Abs(got-want) > 1e-12 || (got != got) != (want != want) {
					t.Errorf("%s at %v, order %d: %v of an untyped constant, %v of float64", name, v, order, got, want)
				}
			}
		}
	}
}
