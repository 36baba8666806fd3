package linalg_test

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// TestJit has functions that compute on the host. They are recorded, and so are their gradients.
func TestJit(t *testing.T) {
	regular := func(x tensor.Tensor) tensor.Tensor { return x.MatMul(x.T()).Add(tensor.Eye(3)) }
	for name, f := range map[string]func(x tensor.Tensor) tensor.Tensor{
		"Solve":    func(x tensor.Tensor) tensor.Tensor { return linalg.Solve(regular(x), x).Square().Sum() },
		"Cholesky": func(x tensor.Tensor) tensor.Tensor { return linalg.Cholesky(regular(x)).Diag(0).Log().Sum() },
		"Eigh in turn": func(x tensor.Tensor) tensor.Tensor {
			w, v := linalg.Eigh(regular(x))
			w, _ = linalg.Eigh(v.MatMul(v.Mul(w.Sqrt()).T()).Add(x))
			return w.Sum()
		},
		"a constant":             func(x tensor.Tensor) tensor.Tensor { return x.Add(linalg.Det(tensor.Eye(2).Mul(3))).Sum() },
		"a step of a recurrence": func(x tensor.Tensor) tensor.Tensor { return powers(regular(x), x) },
	} {
		for _, of := range []string{"value", "gradient"} {
			t.Run(name+"/"+of, func(t *testing.T) {
				g := f
				if of == "gradient" {
					g = func(x tensor.Tensor) tensor.Tensor { return grad.Of(f)(x) }
				}
				runs := 0
				jitted := grad.Jit(func(x tensor.Tensor) tensor.Tensor { runs++; return g(x) })
				rng := tensor.NewRNG(5)
				for range 4 {
					x := rng.Normal(3, 3).Keep()
					if ok, err := tensor.AllClose(jitted(x), g(x), 0, 0); !ok || err != nil {
						t.Errorf("recorded it is %v, not %v (%v)", jitted(x), g(x), err)
					}
				}
				if runs != 2 {
					t.Errorf("f ran %d times, want 2", runs)
				}
			})
		}
	}
}

// powers solves with the rows of x in turn.
func powers(a, x tensor.Tensor) tensor.Tensor {
	c, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		c = linalg.Solve(a, c.Add(x))
		return c, c.Mul(2)
	}, tensor.Zeros(3), x, nil)
	return c.Sum().Add(y.Square().Mean())
}
