package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// An extreme has values and derivatives of the sum, in float32, at numbers that a formula
// by the book does not survive.
type extreme struct {
	name    string
	of      func(x tensor.Tensor) tensor.Tensor
	at      []float64
	value   []float64
	partial []float64 // nil: not checked
}

func runExtremes(t *testing.T, tests []extreme) {
	t.Helper()
	// There is no absolute tolerance but for subnormal numbers.
	close := func(got, want float64) bool {
		return got == want || got != got && want != want || math.Abs(got-want) <= 1e-5*math.Abs(want)+0x1p-126
	}
	for _, e := range tests {
		x := floats(e.at...)
		if got := values(t, e.of(x)); !slices.EqualFunc(got, e.value, close) {
			t.Errorf("%s of %v is %v, want %v", e.name, e.at, got, e.value)
		}
		d := grad.Of(func(x tensor.Tensor) tensor.Tensor { return e.of(x).Sum() })(x)
		if got := values(t, d); e.partial != nil && !slices.EqualFunc(got, e.partial, close) {
			t.Errorf("derivative of %s at %v is %v, want %v", e.name, e.at, got, e.partial)
		}
	}
}

func TestNormsAtExtremes(t *testing.T) {
	norm := func(p float64) func(tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor { return x.NormP(p) }
	}
	cdist := func(p float64) func(tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor { return x.Unsqueeze(1).Cdist(floats(0).Reshape(1, 1), p) }
	}
	hypot := func(y ...float64) func(tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor { return x.Hypot(floats(y...)) }
	}
	big, small, root := math.MaxFloat32, 0x1p-126, math.Sqrt2/2
	runExtremes(t, []extreme{
		{"NormP(2)", norm(2), []float64{3e30, -4e30}, []float64{5e30}, []float64{0.6, -0.8}},
		{"NormP(2)", norm(2), []float64{3e-30, -4e-30}, []float64{5e-30}, []float64{0.6, -0.8}},
		{"NormP(2)", norm(2), []float64{big, 0, 1}, []float64{big}, []float64{1, 0, 1 / big}},
		{"NormP(2)", norm(2), []float64{big, big}, []float64{inf}, nil},
		{"NormP(2)", norm(2), []float64{small, small}, []float64{small * math.Sqrt2}, []float64{root, root}},
		{"NormP(2)", norm(2), []float64{0, 0}, []float64{0}, []float64{0, 0}},
		{"NormP(2)", norm(2), []float64{inf, 1}, []float64{inf}, nil},
		{"NormP(2)", norm(2), []float64{nan, 1}, []float64{nan}, []float64{nan, nan}},
		{"NormP(3)", norm(3), []float64{small, small}, []float64{small * math.Cbrt(2)}, []float64{math.Pow(2, -2.0/3), math.Pow(2, -2.0/3)}},
		{"NormP(3)", norm(3), []float64{big / 2, big / 2}, []float64{big / 2 * math.Cbrt(2)}, []float64{math.Pow(2, -2.0/3), math.Pow(2, -2.0/3)}},
		{"NormP(½)", norm(0.5), []float64{0, 2}, []float64{2}, []float64{0, 1}},
		{"NormP(½)", norm(0.5), []float64{0, 0}, []float64{0}, []float64{0, 0}},
		{"NormP(-1)", norm(-1), []float64{1e30, 1}, []float64{1}, []float64{0, 1}},
		{"NormP(-1)", norm(-1), []float64{inf, 1}, []float64{1}, []float64{0, 1}},
		{"NormP(-1)", norm(-1), []float64{0, 1}, []float64{0}, []float64{0, 0}},
		{"NormP(-1)", norm(-1), []float64{inf, inf}, []float64{inf}, []float64{0, 0}},
		{"NormP(-2)", norm(-2), []float64{0, 1}, []float64{0}, []float64{0, 0}},
		{"NormP(-2)", norm(-2), []float64{inf, 2}, []float64{2}, []float64{0, 1}},
		{"NormP(-½)", norm(-0.5), []float64{0, 1}, []float64{0}, []float64{0, 0}},
		{"NormP(-½)", norm(-0.5), []float64{1e-30, 1e-30}, []float64{0.25e-30}, []float64{0.125, 0.125}},
		{"Cdist", cdist(2), []float64{-3e18, 2e-18, 0}, []float64{3e18, 2e-18, 0}, []float64{-1, 1, 0}},
		{"Cdist", cdist(0.5), []float64{-3e30, 0}, []float64{3e30, 0}, []float64{-1, 0}},
		{"Hypot", hypot(4e30, 4e-30, 0), []float64{3e30, 3e-30, 0}, []float64{5e30, 5e-30, 0}, []float64{0.6, 0.6, 0}},
		{"Hypot", hypot(small, 2e38, 1), []float64{small, 2e38, small}, []float64{small * math.Sqrt2, 2e38 * math.Sqrt2, 1}, []float64{root, root, small}},
		{"Hypot", hypot(1, nan, inf, -inf, 1), []float64{inf, -inf, nan, 1, nan}, []float64{inf, inf, inf, inf, nan}, []float64{1, -1, 0, 0, nan}},
	})
}

func TestFunctionsAtExtremes(t *testing.T) {
	type T = tensor.Tensor
	big := math.MaxFloat32
	logAddExp := func(y ...float64) func(T) T { return func(x T) T { return x.LogAddExp(floats(y...)) } }
	lse, cum := func(x T) T { return x.LogSumExp() }, func(x T) T { return x.LogCumSumExp(0) }
	e, d := math.E, 1/(1+math.E)
	runExtremes(t, []extreme{
		{"Asin", T.Asin, []float64{-1, 1, 2, inf, 0}, []float64{-math.Pi / 2, math.Pi / 2, nan, nan, 0}, []float64{inf, inf, nan, nan, 1}},
		{"Acos", T.Acos, []float64{-1, 1, 2, -inf, 0}, []float64{math.Pi, 0, nan, nan, math.Pi / 2}, []float64{-inf, -inf, nan, nan, -1}},
		{"Acosh", T.Acosh, []float64{1, 0.5, big, inf}, []float64{0, nan, math.Acosh(big), inf}, []float64{inf, nan, 1 / big, 0}},
		{"Asinh", T.Asinh, []float64{-big, -inf, 0}, []float64{-math.Acosh(big), -inf, 0}, []float64{1 / big, 0, 1}},
		{"Atanh", T.Atanh, []float64{-1, 1, 0}, []float64{-inf, inf, 0}, []float64{inf, inf, 1}},
		{"Logit", T.Logit, []float64{0, 1, 0.5}, []float64{-inf, inf, 0}, []float64{inf, inf, 4}},
		{"ErfInv", T.ErfInv, []float64{-1, 1, 2}, []float64{-inf, inf, nan}, []float64{inf, inf, nan}},
		{"Lgamma", T.Lgamma, []float64{0, -1, -2, -1e10, -inf, inf, 1e36, 1e38},
			[]float64{inf, inf, inf, inf, inf, inf, lgamma(1e36), inf}, []float64{-inf, nan, nan, nan, nan, inf, math.Log(1e36), math.Log(1e38)}},
		{"Digamma", T.Digamma, []float64{0, -1, -2, -1e10, inf, 1e38, 1e-30},
			[]float64{-inf, nan, nan, nan, inf, math.Log(1e38), -1e30}, []float64{inf, nan, nan, nan, 0, 1e-38, inf}},
		{"Softsign", T.Softsign, []float64{big, -inf, inf, nan}, []float64{1, -1, 1, nan}, []float64{0, 0, 0, nan}},
		{"Erfc", T.Erfc, []float64{9, 20, inf, -inf}, []float64{math.Erfc(9), 0, 0, 2}, []float64{-2 / math.Sqrt(math.Pi) * math.Exp(-81), 0, 0, 0}},
		{"Log1p", T.Log1p, []float64{-1, big, inf, 1e-30}, []float64{-inf, math.Log(big), inf, 1e-30}, []float64{inf, 1 / big, 0, 1}},
		{"Expm1", T.Expm1, []float64{-100, -inf, 1e-30, 89}, []float64{-1, -1, 1e-30, inf}, []float64{0, 0, 1, inf}},
		{"Sinc", T.Sinc, []float64{0, 1e-30, 1e30, inf, -inf, nan}, []float64{1, 1, 0, 0, 0, nan}, []float64{0, -math.Pi * math.Pi / 3 * 1e-30, 1e-30, 0, 0, nan}},
		{"LogAddExp", logAddExp(inf, -inf, inf, -inf, big, 0), []float64{0, 1, inf, -inf, big, -big}, []float64{inf, 1, inf, -inf, big, 0}, []float64{0, 1, 1, 1, 0.5, 0}},
		{"LogSumExp", lse, []float64{-inf, -inf}, []float64{-inf}, []float64{0, 0}},
		{"LogSumExp", lse, []float64{-inf, big, -big}, []float64{big}, []float64{0, 1, 0}},
		{"LogSumExp", lse, []float64{inf, 1}, []float64{inf}, nil},
		{"LogCumSumExp", cum, []float64{-inf, 1, 2, -inf, inf, 3}, []float64{-inf, 1, 2 + math.Log1p(1/e), 2 + math.Log1p(1/e), inf, inf}, []float64{1, 1 + 2*d, 2 - 2*d, 0, 1, 0}},
		{"Softmax", func(x T) T { return x.Softmax(0) }, []float64{-inf, -inf}, []float64{nan, nan}, nil},
		{"Softmax", func(x T) T { return x.Softmax(0) }, []float64{-inf, big, -big}, []float64{0, 1, 0}, []float64{0, 0, 0}},
		{"LogSoftmax", func(x T) T { return x.LogSoftmax(0) }, []float64{-inf, 1}, []float64{-inf, 0}, []float64{1, -1}},
		{"CosineSimilarity", func(x T) T { return x.CosineSimilarity(floats(3, 4), 0) }, []float64{0, 0}, []float64{0}, []float64{0, 0}},
		{"CosineSimilarity", func(x T) T { return x.CosineSimilarity(x, 0) }, []float64{0, 0}, []float64{0}, []float64{0, 0}},
	})
}

// Variances are accurate where the mean is large, of one element, of equal ones and of none.
func TestVarianceAtExtremes(t *testing.T) {
	type T = tensor.Tensor
	variance, deviation := func(x T) T { return x.Var() }, func(x T) T { return x.Std() }
	without := func(x T) T { return tensor.Cat(0, x, floats(nan)).NanVar() }
	x := []float64{1e7, 1e7 + 1, 1e7 + 2}
	runExtremes(t, []extreme{
		{"Var", variance, x, []float64{2.0 / 3}, []float64{-2.0 / 3, 0, 2.0 / 3}},
		{"NanVar", without, x, []float64{2.0 / 3}, []float64{-2.0 / 3, 0, 2.0 / 3}},
		{"Std", deviation, x, []float64{math.Sqrt(2.0 / 3)}, []float64{-math.Sqrt(1.0 / 6), 0, math.Sqrt(1.0 / 6)}},
		{"Var", variance, []float64{3}, []float64{0}, []float64{0}},
		{"Std", deviation, []float64{3}, []float64{0}, []float64{0}},
		{"Std", deviation, []float64{-7, -7, -7}, []float64{0}, []float64{0, 0, 0}},
		{"Var", func(x T) T { return x.Slice(0, 0, 0).Var() }, []float64{3}, []float64{nan}, []float64{0}},
		{"Var", variance, []float64{inf, 1}, []float64{nan}, nil},
		{"Var", variance, []float64{1e30, -3e30, 2e30}, []float64{inf}, nil},
		{"NanVar", without, []float64{1e30, -3e30, 2e30}, []float64{inf}, nil},
		{"NanVar", func(x T) T { return x.NanVar() }, []float64{nan, nan}, []float64{nan}, nil},
	})
	// A thousand numbers around 4096, of which the sum is rounded.
	var points []float64
	want := 0.0
	for i := range 1000 {
		d := float64(i%7-3) / 1024
		points, want = append(points, 4096+d), want+d*d
	}
	mean := 0.0
	for _, v := range points {
		mean += (v - 4096) / 1000
	}
	want = want/1000 - mean*mean
	runExtremes(t, []extreme{{"Var", variance, points, []float64{want}, nil}})
}

// An element of weight 0 does not matter, though it is infinite, nor does one beyond an edge.
func TestSamplesAtExtremes(t *testing.T) {
	type T = tensor.Tensor
	resize := func(n int, o tensor.ResizeOptions) func(T) T {
		return func(x T) T { return x.Reshape(1, 1, x.Len()).Resize([]int{n}, &o) }
	}
	linear, cubic := tensor.ResizeOptions{Mode: tensor.Linear}, tensor.ResizeOptions{Mode: tensor.Cubic}
	corners := tensor.ResizeOptions{Mode: tensor.Linear, AlignCorners: true}
	tests := []extreme{
		{"linear", resize(8, linear), []float64{1, inf, 2, 3}, []float64{1, inf, inf, inf, inf, 2.25, 2.75, 3}, []float64{2, 2, 2, 2}},
		{"linear", resize(6, linear), []float64{-inf, 1, 2}, []float64{-inf, -inf, -inf, 1.25, 1.75, 2}, []float64{2, 2, 2}},
		{"linear, corners", resize(7, corners), []float64{1, inf, 2, 3}, []float64{1, inf, inf, inf, 2, 2.5, 3}, []float64{1.5, 2, 2, 1.5}},
		{"cubic of odd steps", resize(1, cubic), []float64{inf, 1, inf}, []float64{1}, []float64{0, 1, 0}},
		{"linear of odd steps", resize(1, linear), []float64{inf, 1, inf}, []float64{1}, []float64{0, 1, 0}},
	}
	line := floats(1, 2, 3).Reshape(1, 1, 3)
	far := []float64{inf, -inf, nan, 1e20, -1e20, math.MaxFloat32, 0}
	for _, c := range []struct {
		padding tensor.PadMode
		want    []float64
	}{
		{0, []float64{0, 0, 0, 0, 0, 0, 2}},
		{tensor.Replicate, []float64{3, 1, 0, 3, 1, 3, 2}},
	} {
		for _, mode := range []tensor.Interpolation{tensor.Linear, tensor.Nearest} {
			o := &tensor.GridOptions{Mode: mode, Padding: c.padding}
			d := []float64{0, 0, 0, 0, 0, 0, 1.5}
			if mode == tensor.Nearest {
				d[6] = 0
			}
			tests = append(tests,
				extreme{fmt.Sprintf("grid %+v", o), func(g T) T { return line.GridSample(g.Reshape(1, len(far), 1), o) }, far, c.want, d},
				extreme{fmt.Sprintf("sample %+v", o), func(x T) T {
					return x.Reshape(1, 1, 3).GridSample(floats(0, 2.0/3).Reshape(1, 2, 1), o)
				}, []float64{inf, 2, -inf}, []float64{2, -inf}, []float64{0, 1, 1}})
		}
	}
	reflect := &tensor.GridOptions{Padding: tensor.Reflect}
	tests = append(tests, extreme{"grid by Reflect", func(g T) T { return line.GridSample(g.Reshape(1, 3, 1), reflect) },
		[]float64{inf, -inf, nan}, []float64{0, 0, 0}, []float64{0, 0, 0}})
	runExtremes(t, tests)
	run(t, []check{of("beyond an infinite edge", floats(inf, 1).Reshape(1, 1, 2).GridSample(floats(3, -3).Reshape(1, 2, 1), nil), []int{1, 1, 2}, 0, 0)})
}

// Quantiles do not decrease where q grows, lie between elements, and are elements at them.
func TestQuantileIsMonotone(t *testing.T) {
	quantile := func(q float64) func(tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor { return x.Quantile(0, q) }
	}
	runExtremes(t, []extreme{
		{"Quantile(0.9)", quantile(0.9), []float64{3, inf, 1}, []float64{inf}, nil},
		{"Quantile(0.1)", quantile(0.1), []float64{3, -inf, 1}, []float64{-inf}, nil},
		{"Quantile(0.5)", quantile(0.5), []float64{inf, 1, inf, inf}, []float64{inf}, nil},
		{"Quantile(0.75)", quantile(0.75), []float64{-3e38, 3e38}, []float64{1.5e38}, []float64{0.25, 0.75}},
	})
	rng := rand.New(rand.NewPCG(1, 2))
	const steps = 60
	for _, spread := range []float64{0, 1e-7, 1e-6, 1, 1e6} {
		x := make([]float64, 4)
		for i := range x {
			x[i] = 0.1 + spread*rng.Float64()
		}
		rows := make([]tensor.Tensor, steps+1)
		for i := range rows {
			rows[i] = floats(x...).Quantile(0, float64(i)/steps)
		}
		got := values(t, tensor.Cat(0, rows...))
		sorted := values(t, floats(x...).Sort(0))
		if !slices.IsSorted(got) {
			t.Errorf("quantiles of %v are not sorted: %v", x, got)
		}
		for i, v := range sorted {
			if q := got[i*steps/3]; q != v {
				t.Errorf("quantile %d/3 of %v is %v, want %v", i, x, q, v)
			}
		}
	}
}
