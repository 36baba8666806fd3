package linalg_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// LstSq solves matrices of full rank without the rounding errors of a pseudoinverse, and takes
// the same singular values for 0 as PInv.
func TestLstSqRank(t *testing.T) {
	rng := tensor.NewRNG(1)
	normal := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).Cast(tensor.Float64) }
	for _, s := range [][2]int{{40, 10}, {10, 40}, {30, 30}} {
		m, n := s[0], s[1]
		k := min(m, n)
		u, _ := linalg.QR(normal(m, k))
		v, _ := linalg.QR(normal(n, k))
		of := func(least float64) tensor.Tensor { // singular values from 1 down to least
			sv := tensor.Logspace(0, least, k).Cast(tensor.Float64)
			return u.Mul(sv).MatMul(v.T())
		}
		for _, c := range []struct {
			least, rtol float64
		}{{-2, 1e-4}, {-2, 0.1}, {-7, 1e-4}, {-1, 0}} {
			a, b := of(c.least), normal(m, 3)
			near(t, fmt.Sprint("LstSq of ", s, c), linalg.LstSq(a, b, c.rtol), linalg.PInv(a, c.rtol).MatMul(b), 1e-7)
		}
		// The solution is known: errors grow with the condition number, not with its square
		// or the size of the pseudoinverse.
		a := of(-9)
		x := v.MatMul(normal(k, 2))
		near(t, fmt.Sprint("the solution of ", s), a.MatMul(linalg.LstSq(a, a.MatMul(x))), a.MatMul(x), 1e-14)
	}
	zero := tensor.ZerosOf(tensor.Float64, 3, 2)
	near(t, "zeros", linalg.LstSq(zero, tensor.Ones(3, 1).Cast(tensor.Float64)), tensor.ZerosOf(tensor.Float64, 2, 1), 0)
}
