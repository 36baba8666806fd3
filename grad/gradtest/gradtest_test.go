package gradtest_test

import (
	"fmt"
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
	// The rule is not linear in v: what is made of it for reverse mode is right.
	notLinear := grad.CustomJVP(func(a tensor.Tensor) tensor.Tensor { return a.Mul(3) },
		func(a, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return a.Mul(3), v.Mul(v.Add(3)) })
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
		{"forward mode is wrong", func(p tree) tensor.Tensor { return notLinear(p.A) }, 1, "by forward mode got ", 1},
		{"reverse mode only", func(p tree) tensor.Tensor { return reverseOnly(p.A) }, 2, "", 0},
	} {
		r := &recorder{TB: t}
		gradtest.Check(r, tt.f, at, tt.order)
		if len(r.failures) != tt.count || tt.count > 0 && !strings.Contains(r.failures[0], tt.want) {
			t.Errorf("%s: failures %q, want %d with %q", tt.name, r.failures, tt.count, tt.want)
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
