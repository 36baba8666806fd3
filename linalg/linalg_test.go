package linalg_test

import (
	"fmt"

	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// random returns float64s of a shape, from -1 to 1, the same for the same seed.
func random(seed uint64, shape ...int) tensor.Tensor {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*rng.Float64() - 1
	}
	return tensor.New(x).Reshape(shape...)
}

// randomLike is random numbers in the type of a.
func randomLike(a tensor.Tensor, seed uint64, shape ...int) tensor.Tensor {
	x := random(seed, shape...).Cast(a.DType())
	if err := tensor.Eval(x); err != nil { // on the CPU: a GPU has no float64 to cast
		panic(err)
	}
	return x
}

func t(a tensor.Tensor) tensor.Tensor { return a.Transpose(-2, -1) }

// positive is symmetric positive definite.
func positive(a tensor.Tensor) tensor.Tensor {
	return a.MatMul(t(a)).Add(tensor.Eye(a.Dim(-2)))
}

// regular is far from singular.
func regular(a tensor.Tensor) tensor.Tensor {
	return a.Add(tensor.Eye(max(a.Dim(-2), a.Dim(-1))).Mul(3).Slice(0, 0, a.Dim(-2)).Slice(1, 0, a.Dim(-1)))
}

func identity(a tensor.Tensor) tensor.Tensor { return a }

// near fails the test unless got and want are equal, up to rounding.
func near(tb testing.TB, what string, got, want tensor.Tensor, tol float64) {
	tb.Helper()
	if err := tensor.Try(func() {
		if !slices.Equal(got.Shape(), want.Shape()) {
			tb.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
			return
		}
		if got.Len() == 0 {
			return
		}
		if diff := got.Sub(want).Abs().Max(); !(diff.Item() <= tol) {
			tb.Errorf("%s: got %v, want %v", what, got, want)
		}
	}); err != nil {
		tb.Errorf("%s: %v", what, err)
	}
}

// A function is one of the package, of one matrix, with the matrices that it is for.
type function struct {
	name  string
	of    func(a tensor.Tensor) tensor.Tensor // makes the matrices of random ones
	shape [][2]int
	f     func(a tensor.Tensor) []tensor.Tensor
	order int // up to which derivatives are checked
}

func one(f func(a tensor.Tensor) tensor.Tensor) func(a tensor.Tensor) []tensor.Tensor {
	return func(a tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{f(a)} }
}

var (
	squares = [][2]int{{4, 4}, {1, 1}}
	all     = [][2]int{{4, 4}, {5, 3}, {3, 5}, {1, 1}, {3, 1}}
)

// rhs is the right side of equations of a.
func rhs(a tensor.Tensor, k int) tensor.Tensor { return randomLike(a, 77, a.Dim(-2), k) }

var functions = []function{
	{"Solve", regular, squares, func(a tensor.Tensor) []tensor.Tensor {
		b := rhs(a, 2).Mul(a.Slice(-1, 0, 1))
		return []tensor.Tensor{linalg.Solve(a, b), linalg.Solve(a, rhs(a, 1).Squeeze(-1))}
	}, 3},
	{"Inv", regular, squares, one(linalg.Inv), 3},
	{"Lower", regular, squares, func(a tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{linalg.SolveTriangular(a, rhs(a, 2).Mul(a.Slice(-1, 0, 1)), linalg.Triangle{})}
	}, 3},
	{"UpperUnit", regular, squares, func(a tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{linalg.SolveTriangular(a, rhs(a, 2), linalg.Triangle{Upper: true, Unit: true})}
	}, 3},
	{"Cholesky", positive, squares, one(linalg.Cholesky), 3},
	{"CholeskySolve", positive, squares, func(a tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{linalg.CholeskySolve(linalg.Cholesky(a), rhs(a, 3))}
	}, 2},
	{"LU", regular, all, func(a tensor.Tensor) []tensor.Tensor {
		_, l, u := linalg.LU(a)
		return []tensor.Tensor{l, u}
	}, 3},
	{"Det", identity, squares, one(linalg.Det), 3},
	{"SlogDet", regular, squares, func(a tensor.Tensor) []tensor.Tensor {
		_, l := linalg.SlogDet(a)
		return []tensor.Tensor{l}
	}, 3},
	{"QR", regular, all, func(a tensor.Tensor) []tensor.Tensor {
		q, r := linalg.QR(a)
		return []tensor.Tensor{q, r}
	}, 3},
	{"SVD", identity, all, func(a tensor.Tensor) []tensor.Tensor {
		u, s, vt := linalg.SVD(a)
		return []tensor.Tensor{u, s, vt}
	}, 3},
	{"SVDVals", identity, all, one(linalg.SVDVals), 2},
	{"Eigh", identity, squares, func(a tensor.Tensor) []tensor.Tensor {
		w, v := linalg.Eigh(a)
		return []tensor.Tensor{w, v}
	}, 3},
	{"Eigvalsh", identity, squares, one(linalg.Eigvalsh), 2},
	{"PInv", identity, all, func(a tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{linalg.PInv(a)} }, 3},
	{"LstSq", identity, all, func(a tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{linalg.LstSq(a, rhs(a, 2).Mul(a.Slice(-1, 0, 1)))}
	}, 2},
	{"MatrixPower", regular, squares, func(a tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{linalg.MatrixPower(a, 5), linalg.MatrixPower(a, -2)}
	}, 2},
	{"Expm", identity, squares, one(linalg.Expm), 3},
	{"Cond", regular, all, one(linalg.Cond), 2},
	{"Norm", identity, all, func(a tensor.Tensor) []tensor.Tensor {
		var list []tensor.Tensor
		for order := linalg.Frobenius; order <= linalg.MinusInf; order++ {
			list = append(list, linalg.Norm(a, order))
		}
		return list
	}, 2},
}

// total is a number that depends on all results.
func (f function) total(a tensor.Tensor) tensor.Tensor {
	var sum tensor.Tensor
	for i, r := range f.f(f.of(a)) {
		w := randomLike(r, uint64(100+i), r.Shape()...)
		if part := r.Mul(w).Sum(); i == 0 {
			sum = part
		} else {
			sum = sum.Add(part)
		}
	}
	return sum
}

func TestDerivatives(t *testing.T) {
	for _, f := range functions {
		for i, s := range f.shape {
			t.Run(fmt.Sprint(f.name, s), func(t *testing.T) {
				order := f.order
				switch {
				case i > 0 && testing.Short():
					order = 1
				case i > 0 || testing.Short():
					order = 2
				}
				gradtest.Check(t, f.total, random(5, s[0], s[1]), order)
			})
		}
	}
}

// A batch equals its matrices one by one; so do Vmap, the gradient of Vmap and Vmap of the
// gradient.
func TestBatch(t *testing.T) {
	for n, f := range functions {
		for _, s := range f.shape {
			if testing.Short() && n%3 != 0 {
				continue
			}
			t.Run(fmt.Sprint(f.name, s), func(t *testing.T) {
				a := random(6, 2, 3, s[0], s[1])
				g := func(a tensor.Tensor) []tensor.Tensor { return f.f(f.of(a)) }
				batched := g(a)
				mapped := grad.Vmap(grad.Vmap(g))(a)
				gradients := grad.Vmap(grad.Vmap(grad.Of(f.total)))(a)
				ofMapped := grad.Of(func(a tensor.Tensor) tensor.Tensor { return grad.Vmap(grad.Vmap(f.total))(a).Sum() })(a)
				for i := range 2 {
					for j := range 3 {
						for k, want := range g(a.At(i, j)) {
							near(t, fmt.Sprint("batch ", i, j, k), batched[k].At(i, j), want, 1e-9)
							near(t, fmt.Sprint("Vmap ", i, j, k), mapped[k].At(i, j), want, 1e-9)
						}
						want := grad.Of(f.total)(a.At(i, j))
						near(t, "Vmap of Of", gradients.At(i, j), want, 1e-6)
						near(t, "Of of Vmap", ofMapped.At(i, j), want, 1e-6)
					}
				}
			})
		}
	}
}

// Steps of a loop take their plans from the cache.
func TestPlans(t *testing.T) {
	step := grad.ValueAndGrad(func(a tensor.Tensor) tensor.Tensor {
		_, logAbs := linalg.SlogDet(positive(a))
		return logAbs.Add(linalg.Solve(positive(a), rhs(a, 1)).Square().Sum())
	})
	a := random(1, 4, 4)
	var plans int
	for i := range 6 {
		value, gradient := step(a)
		a = a.Sub(gradient.Mul(0.01))
		if err := tensor.Eval(value, a); err != nil {
			t.Fatal(err)
		}
		if n := tensor.Info().Plans; i == 2 {
			plans = n
		} else if i > 2 && n != plans {
			t.Errorf("step %d: %d plans, want %d", i, n, plans)
		}
	}
}
