package gradtest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

// A recorder is a test that notes its failures.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// constant is x with no derivative.
func constant(x tensor.Tensor) tensor.Tensor {
	v, err := tensor.Data[float64](x)
	if err != nil {
		panic(err)
	}
	return tensor.New(v, x.Shape()...)
}

func TestCheck(t *testing.T) {
	type tree struct {
		A     tensor.Tensor
		B     map[string]tensor.Tensor
		Mean  tensor.Tensor `tensor:",state"`
		Count tensor.Tensor
		Bias  tensor.Tensor
	}
	at := tree{
		A: tensor.New([]float64{1, 2}), B: map[string]tensor.Tensor{"b": tensor.New([]float64{3})},
		Mean: tensor.New([]float64{5}), Count: tensor.New([]int32{2}),
	}
	right := func(p tree) tensor.Tensor {
		return p.A.Exp().Mul(p.B["b"]).Add(p.A.Div(p.Mean)).Mul(p.Count.Cast(tensor.Float64))
	}
	cube := func(p tree) tensor.Tensor { return p.A.Mul(p.A).Mul(p.A) }
	missing := func(p tree) tensor.Tensor { return right(p).Add(constant(cube(p))) }
	reverseOnly := grad.Custom(tensor.Tensor.Exp, func(_, exp, ct tensor.Tensor) tensor.Tensor { return ct.Mul(exp) })
	for _, tt := range []struct {
		name  string
		f     func(tree) tensor.Tensor
		order int
		want  string // a part of each failure
		count int
	}{
		{"right", right, 3, "", 0},
		{"a derivative is missing", missing, 1, "derivative of order 1", 1},
		{"the gradient is missing, then right", missing, 2, "by finite differences", 1},
		{"not a number", func(p tree) tensor.Tensor { return p.A.Sub(10).Log() }, 1, "got ", 1},
		{"misuse", func(p tree) tensor.Tensor { return p.A.MatMul(p.A.Add(p.Count)) }, 1, "the types differ", 1},
		{"nothing", func(p tree) tensor.Tensor { return tensor.Tensor{} }, 1, "absent", 1},
		{"integers", func(p tree) tensor.Tensor { return p.Count }, 1, "not floating-point", 1},
		{"no function", nil, 1, "the function is nil", 1},
		{"order 0", right, 0, "order 0, want 1 or more", 1},
		{"order -1", right, -1, "order -1, want 1 or more", 1},
		{"reverse mode only", func(p tree) tensor.Tensor { return reverseOnly(p.A) }, 2, "", 0},
	} {
		r := &recorder{TB: t}
		gradtest.Check(r, tt.f, at, tt.order)
		if len(r.failures) != tt.count || tt.count > 0 && !strings.Contains(r.failures[0], tt.want) {
			t.Errorf("%s: failures %q, want %d with %q", tt.name, r.failures, tt.count, tt.want)
		}
	}
}

// byMode is a function whose derivative is one thing in reverse mode and another
// in forward mode.
func byMode(f, reverse, forward func(tensor.Tensor) tensor.Tensor) func(tensor.Tensor) tensor.Tensor {
	return grad.CustomJVP(f, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		r := reverse(x)
		return f(x), v.Mul(r).Add(grad.StopGradient(v).Mul(forward(x).Sub(r)))
	})
}

func minusSin(x tensor.Tensor) tensor.Tensor { return x.Sin().Neg() }

// TestCheckModes has derivatives that are wrong by a thousandth, in one mode or
// in one mixture of modes.
func TestCheckModes(t *testing.T) {
	sin, cos := tensor.Tensor.Sin, tensor.Tensor.Cos
	wrong := func(x tensor.Tensor) tensor.Tensor { return minusSin(x).Mul(1.001) }
	above := func(x tensor.Tensor) tensor.Tensor { return x.Sin().Add(1e6) }
	slightly := func(x tensor.Tensor) tensor.Tensor { return x.Cos().Mul(1 + 1e-6) }
	third := func(x tensor.Tensor) tensor.Tensor { return x.Cos().Mul(-1.001) }
	second := byMode(minusSin, third, third)
	first := byMode(cos, second, second)
	for _, tt := range []struct {
		order int
		f     func(tensor.Tensor) tensor.Tensor
		want  string
	}{
		{1, byMode(cos, wrong, wrong), "order 1 along a random direction: by reverse mode got"},
		{1, byMode(cos, minusSin, wrong), "order 1 along a random direction: by forward mode got"},
		{1, byMode(above, cos, slightly), "order 1 along a random direction: by forward mode got"},
		{2, byMode(sin, byMode(cos, wrong, minusSin), cos), "order 2 along a random direction: by reverse mode got"},
		{2, byMode(sin, byMode(cos, minusSin, wrong), cos), "order 2 along a random direction: by forward mode over reverse got"},
		{2, byMode(sin, cos, byMode(cos, wrong, minusSin)), "order 2 along a random direction: by reverse mode over forward got"},
		{2, byMode(sin, cos, byMode(cos, minusSin, wrong)), "order 2 along a random direction: by forward mode got"},
		{3, byMode(sin, first, first), "order 3 along a random direction: by reverse mode got"},
	} {
		x := tensor.New([]float64{0.5, 1, 2})
		for order := 1; order <= tt.order; order++ {
			r := &recorder{TB: t}
			gradtest.Check(r, tt.f, x, order)
			switch {
			case order < tt.order && len(r.failures) > 0:
				t.Errorf("failures %q of order %d, want none before %q", r.failures, order, tt.want)
			case order == tt.order && (len(r.failures) != 1 || !strings.Contains(r.failures[0], tt.want)):
				t.Errorf("failures %q, want one with %q", r.failures, tt.want)
			}
		}
	}
}

// TestCheckCanceled has derivatives whose terms cancel but for rounding.
func TestCheckCanceled(t *testing.T) {
	x := tensor.New([]float64{0.3, 0.7})
	for _, f := range []func(tensor.Tensor) tensor.Tensor{
		func(x tensor.Tensor) tensor.Tensor { return x.Sin().Square().Add(x.Cos().Square()) },
		func(x tensor.Tensor) tensor.Tensor { return x.Softmax(0).Sum() },
		func(x tensor.Tensor) tensor.Tensor { return x.Exp().Log() },
		func(x tensor.Tensor) tensor.Tensor { return x.Sum().LogSumExp() },
		func(x tensor.Tensor) tensor.Tensor { return x.Std(0) },
	} {
		gradtest.Check(t, f, x, 3)
	}
}

// TestCheckPrecision has derivatives that are wrong by a factor.
func TestCheckPrecision(t *testing.T) {
	exp := tensor.Tensor.Exp
	far := func(x tensor.Tensor) tensor.Tensor { return x.Exp().Mul(1e-5).Add(100) }
	square := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	above := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x).Add(1000) }
	zero := func(x tensor.Tensor) tensor.Tensor { return tensor.ZerosLike(x) }
	small, large := []float64{-0.5, 1, 2}, []float64{1e4, 2e4}
	for _, tt := range []struct {
		name   string
		dtype  tensor.DType
		f      func(tensor.Tensor) tensor.Tensor
		at     []float64
		factor float64 // of a derivative that fails
	}{
		{"exp", tensor.Float64, exp, small, 1 + 1e-6},
		{"exp", tensor.Float32, exp, small, 1.01},
		{"exp", tensor.Float16, exp, small, 1.5},
		{"exp", tensor.BFloat16, exp, small, 3},
		{"exp/1e5 + 100", tensor.Float64, far, small, 0},
		{"x²", tensor.Float64, square, large, 1 + 1e-6},
		{"x²", tensor.Float32, square, large, 1.01},
		{"x² + 1000", tensor.Float32, above, small, -1},
		{"exp", tensor.Float64, exp, small, math.Inf(1)},
		{"exp", tensor.Float64, exp, small, math.Inf(-1)},
		{"exp", tensor.Float64, exp, small, math.NaN()},
		{"0", tensor.Float64, zero, small, math.NaN()},
	} {
		x := tensor.New(tt.at).Cast(tt.dtype)
		gradtest.Check(t, tt.f, x, 2)
		wrong := grad.Custom(tt.f, func(x, _, ct tensor.Tensor) tensor.Tensor {
			_, pull := grad.VJP(tt.f, x)
			return pull(ct).Mul(tt.factor)
		})
		r := &recorder{TB: t}
		if gradtest.Check(r, wrong, x, 1); len(r.failures) != 1 {
			t.Errorf("%s in %v with a derivative %v times as large: failures %q, want one", tt.name, tt.dtype, tt.factor, r.failures)
		}
	}
}

func TestCheckMisuse(t *testing.T) {
	count := func(x []tensor.Tensor) tensor.Tensor { return tensor.Scalar(float64(len(x))) }
	for _, tt := range []struct {
		at   []tensor.Tensor
		want string
	}{
		{nil, "nothing to differentiate by"},
		{[]tensor.Tensor{tensor.New([]int32{1})}, "nothing to differentiate by"},
		{[]tensor.Tensor{tensor.Zeros(0)}, ""},
	} {
		r := &recorder{TB: t}
		gradtest.Check(r, count, tt.at, 1)
		if got := strings.Join(r.failures, "\n"); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("Check of %v: failures %q, want %q", tt.at, got, tt.want)
		}
	}
}

// TestCheckPrivate has a function that changes its argument.
func TestCheckPrivate(t *testing.T) {
	at := []tensor.Tensor{tensor.New([]float64{1, 2})}
	gradtest.Check(t, func(p []tensor.Tensor) tensor.Tensor {
		y := p[0].Square()
		p[0] = tensor.Tensor{}
		return y
	}, at, 2)
	if !at[0].IsValid() {
		t.Error("the tree was changed")
	}
}

// TestCheckMixed has trees and results of more than one type.
func TestCheckMixed(t *testing.T) {
	narrow, wide := tensor.New([]float32{0.5, 1}), tensor.New([]float64{2, 3})
	for _, at := range [][]tensor.Tensor{{narrow, wide}, {wide, narrow}, {wide}} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			gradtest.Check(t, func(p []tensor.Tensor) tensor.Tensor {
				y := tensor.Scalar(1).Cast(d)
				for _, x := range p {
					y = y.Mul(x.Cast(d).Sin().Exp())
				}
				return y
			}, at, 2)
		}
	}
}

func TestCheckFloat32(t *testing.T) {
	gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor {
		return x.Tanh().Softmax(0).Mul(x).Sum()
	}, tensor.New([]float32{0.5, -1, 2}), 2)
}

func ExampleCheck() {
	_ = func(t *testing.T) { // as TestSoftplus, in a test file
		softplus := func(x tensor.Tensor) tensor.Tensor { return x.Exp().Add(1).Log() }
		gradtest.Check(t, softplus, tensor.New([]float64{-1, 0, 2}), 2)
	}
}
