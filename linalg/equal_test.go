package linalg_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// Derivatives along a turn and along a stretch of matrices whose singular values or eigenvalues are equal.
func TestDerivativesOfEqualValues(t *testing.T) {
	type T = tensor.Tensor
	f64 := func(v ...float64) T { return tensor.New(v, 2, 2) }
	turn, stretch := f64(0, 1, -1, 0), f64(1, 2, 2, 3)
	polar := func(a T) T {
		u, _, vt := linalg.SVD(a)
		return u.MatMul(vt)
	}
	nuclear := func(a T) T { return linalg.Norm(a, linalg.Nuclear) }
	for _, scale := range []float64{1e-150, 1e-9, 1, 1e9, 1e150} {
		a := f64(scale, 0, 0, scale)
		along := func(f func(T) T, v T) T {
			_, d := grad.JVP(f, a, v)
			return d.Mul(scale) // of order 0 in the scale
		}
		at := fmt.Sprintf(" at %v times the identity", scale)
		near(t, "u·vt along a turn"+at, along(polar, turn), turn, 1e-12)
		near(t, "u·vt along a stretch"+at, along(polar, stretch), f64(0, 0, 0, 0), 1e-12)
		for _, c := range []struct {
			name string
			v    T
			want float64 // of the trace of √aᵀa
		}{{"a turn", turn, 2}, {"a stretch", stretch, 0}} {
			second := along(func(a T) T { return grad.Of(nuclear)(a).Mul(c.v).Sum() }, c.v)
			near(t, "the nuclear norm twice along "+c.name+at, second, tensor.New([]float64{c.want}).Reshape(), 1e-12)
		}
	}
	// Of a matrix of rank 1 the values 0 differ by rounding.
	ones := tensor.OnesOf(tensor.Float64, 4, 4)
	vectors := func(a T) T { _, v := linalg.Eigh(a); return v.Abs().Sum() }
	left := func(a T) T { u, _, _ := linalg.SVD(a); return u.Abs().Sum() }
	for name, f := range map[string]func(T) T{"Eigh": vectors, "SVD": left} {
		if most := grad.Of(f)(ones).Abs().Max().Item(); !(most < 10) {
			t.Errorf("a gradient of vectors of %s is %v where values are equal", name, most)
		}
	}
}

// Singular values and vectors have first and second derivatives at all scales of float32.
func TestDerivativesAtAllScales(t *testing.T) {
	type T = tensor.Tensor
	base, weights := tensor.NewRNG(1).Normal(3, 4).Keep(), tensor.NewRNG(2).Normal(3, 4).Keep()
	for name, f := range map[string]func(T) T{
		"SVDVals": func(a T) T { return linalg.SVDVals(a).Mul(weights.At(0).Slice(0, 0, 3).Cast(a.DType())).Sum() },
		"SVD": func(a T) T {
			u, s, vt := linalg.SVD(a)
			return u.MatMul(s.Unsqueeze(-1).Mul(vt)).Mul(weights.Cast(a.DType())).Sum()
		},
		"u": func(a T) T { u, _, _ := linalg.SVD(a); return u.Mul(weights.Slice(1, 0, 3).Cast(a.DType())).Sum() },
	} {
		first := grad.Of(f)
		second := grad.Of(func(a T) T { return first(a).Mul(weights.Cast(a.DType())).Sum() })
		for order, g := range []func(T) T{first, second} {
			if name == "SVD" && order > 0 {
				continue // which is 0
			}
			for _, scale := range []float64{1e-25, 1e-12, 1, 1e12, 1e25} {
				a := base.Mul(scale)
				want := g(a.Cast(tensor.Float64))
				most := want.Abs().Max().Item()
				if most > math.MaxFloat32 || most < 1e-36 {
					continue
				}
				near(t, fmt.Sprintf("derivative %d of %s at %v", order+1, name, scale), g(a).Cast(tensor.Float64).Div(most), want.Div(most), 1e-3)
			}
		}
	}
}

// Values that differ by more than rounding have derivatives beside a far greater one.
func TestDerivativesBesideGreatValue(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
		a := tensor.New([]float64{1e8, 0, 0, 0, 1, 0, 0, 0, 2}, 3, 3).Cast(dtype)
		g := grad.Of(func(a tensor.Tensor) tensor.Tensor {
			_, v := linalg.Eigh(a)
			return v.At(1, 0).Mul(v.At(2, 0))
		})(a)
		near(t, "the product of an eigenvector's elements", g.Cast(tensor.Float64), tensor.New([]float64{0, 0, 0, 0, 0, -0.5, 0, -0.5, 0}, 3, 3), 1e-6)
	}
}
