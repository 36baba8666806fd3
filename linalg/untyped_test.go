package linalg_test

import (
	"testing"

	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// Results of untyped constants have the digits of float64 where they meet it, and constants
// take the type of the other operand.
func TestUntyped(t *testing.T) {
	double := func(x tensor.Tensor) tensor.Tensor { return x.Add(tensor.New([]float64{0})) }
	constant := func() tensor.Tensor { // symmetric and positive
		x := tensor.Linspace(0.1, 0.7, 9).Reshape(3, 3)
		return x.Add(x.T()).Add(tensor.Eye(3).Mul(3))
	}
	right := func() tensor.Tensor { return tensor.Linspace(0.3, 1.1, 3) }
	list := func(ts ...tensor.Tensor) []tensor.Tensor { return ts }
	for name, f := range map[string]func(a, b tensor.Tensor) []tensor.Tensor{
		"Solve":           func(a, b tensor.Tensor) []tensor.Tensor { return list(linalg.Solve(a, b)) },
		"SolveTriangular": func(a, b tensor.Tensor) []tensor.Tensor { return list(linalg.SolveTriangular(a, b, linalg.Triangle{})) },
		"CholeskySolve":   func(a, b tensor.Tensor) []tensor.Tensor { return list(linalg.CholeskySolve(linalg.Cholesky(a), b)) },
		"LstSq":           func(a, b tensor.Tensor) []tensor.Tensor { return list(linalg.LstSq(a, b)) },
		"Cholesky":        func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Cholesky(a)) },
		"Cond":            func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Cond(a)) },
		"Det":             func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Det(a)) },
		"Eig": func(a, _ tensor.Tensor) []tensor.Tensor {
			w, v := linalg.Eig(a)
			return list(w.Re, w.Im, v.Re, v.Im)
		},
		"Eigh": func(a, _ tensor.Tensor) []tensor.Tensor {
			w, v := linalg.Eigh(a)
			return list(w, v)
		},
		"Eigvalsh": func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Eigvalsh(a)) },
		"Expm":     func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Expm(a)) },
		"Inv":      func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Inv(a)) },
		"LU": func(a, _ tensor.Tensor) []tensor.Tensor {
			p, l, u := linalg.LU(a)
			return list(p, l, u)
		},
		"MatrixPower": func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.MatrixPower(a, -3)) },
		"Norm":        func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.Norm(a, linalg.Nuclear)) },
		"PInv":        func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.PInv(a)) },
		"QR": func(a, _ tensor.Tensor) []tensor.Tensor {
			q, r := linalg.QR(a)
			return list(q, r)
		},
		"SVD": func(a, _ tensor.Tensor) []tensor.Tensor {
			u, s, vt := linalg.SVD(a)
			return list(u, s, vt)
		},
		"SVDVals": func(a, _ tensor.Tensor) []tensor.Tensor { return list(linalg.SVDVals(a)) },
		"SlogDet": func(a, _ tensor.Tensor) []tensor.Tensor {
			sign, log := linalg.SlogDet(a)
			return list(sign, log)
		},
	} {
		a, b := double(constant()), double(right())
		for who, in := range map[string][2]tensor.Tensor{"both": {constant(), right()}, "a": {constant(), b}, "b": {a, right()}} {
			err := tensor.Try(func() {
				want := f(a, b)
				for i, got := range f(in[0], in[1]) {
					far := double(got).Sub(want[i]).Abs().Max().Item()
					if !(far <= 1e-13) {
						t.Errorf("%s, %s untyped: result %d is off by %v", name, who, i, far)
					}
				}
			})
			if err != nil {
				t.Errorf("%s, %s untyped: %v", name, who, err)
			}
		}
	}
}
