package grad_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// TestLooks differentiates a function that looks at values, in every way that
// has values.
func TestLooks(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor {
		y := x.Mul(x)
		if err := tensor.Eval(y); err != nil {
			t.Fatal(err)
		}
		if y.Sum().Item() > 5 {
			y = y.Mul(x)
		}
		return y
	}
	for _, s := range steps {
		for _, again := range steps {
			p := pipeline{s, again}
			if strings.Contains(p.String(), "Vmap") || p.reverseOnly() {
				continue
			}
			for _, at := range [][]float64{{1, 0.5}, {1, 3}} {
				power := 2.0
				if at[1] > 2 {
					power = 3
				}
				want := mapped(at, func(x float64) float64 {
					c, e := 1.0, power
					for range p.order() {
						c, e = c*e, e-1
					}
					return c * math.Pow(x, e)
				})
				checkClose(t, p.String()+" of a function that looks", p.of(f)(f64(at...)), want)
			}
		}
	}
	h := grad.Hessian(func(x tensor.Tensor) tensor.Tensor { return f(x).Sum() })
	check(t, "Hessian of a function that looks", h(f64(1, 3)), 6, 0, 0, 18)
	check(t, "Hessian of a function that looks", h(f64(1, 0.5)), 2, 0, 0, 2)
}

// TestLoops updates a tensor by every transformation many times: nothing of
// the turns before may be left.
func TestLoops(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Sin() }
	for _, s := range steps {
		x := f64(1, 2)
		for range 20 {
			x = x.Sub(s.function(f)(x).Mul(0.01))
			if err := tensor.Eval(x); err != nil {
				t.Fatal(err)
			}
			if n := node(x); n.Src().Len() != 0 || n.Traced() || n.IsLeftOver() {
				t.Fatalf("%s: an updated tensor has operands: %v, is traced: %v, is left over: %v", s.name, n.Src().Len() != 0, n.Traced(), n.IsLeftOver())
			}
		}
	}
}

// TestPanics lets the function panic: nothing it made may stay under
// differentiation.
func TestPanics(t *testing.T) {
	for _, s := range steps {
		var y tensor.Tensor
		func() {
			defer func() {
				if r := recover(); r != "stop" {
					t.Errorf("%s of a function that panics: got %v, want its panic", s.name, r)
				}
			}()
			s.function(func(x tensor.Tensor) tensor.Tensor {
				y = x.Exp()
				panic("stop")
			})(f64(1, 2))
		}()
		if node(y).Traced() {
			t.Errorf("%s: the function panicked and its scope is still open", s.name)
		}
	}
}
