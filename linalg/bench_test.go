package linalg_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

func BenchmarkFactor(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		f    func(a tensor.Tensor) any
	}{
		{"Cholesky", 1024, func(a tensor.Tensor) any { return linalg.Cholesky(a) }},
		{"LU", 1024, func(a tensor.Tensor) any { _, l, u := linalg.LU(a); return []tensor.Tensor{l, u} }},
		{"Solve", 1024, func(a tensor.Tensor) any { return linalg.Solve(a, a.Slice(-1, 0, 16)) }},
		{"Inv", 1024, func(a tensor.Tensor) any { return linalg.Inv(a) }},
		{"QR", 512, func(a tensor.Tensor) any { q, r := linalg.QR(a); return []tensor.Tensor{q, r} }},
		{"SVD", 256, func(a tensor.Tensor) any { u, s, vt := linalg.SVD(a); return []tensor.Tensor{u, s, vt} }},
		{"Eigh", 512, func(a tensor.Tensor) any { w, v := linalg.Eigh(a); return []tensor.Tensor{w, v} }},
		{"Expm", 512, func(a tensor.Tensor) any { return linalg.Expm(a) }},
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			b.Run(fmt.Sprint(c.name, c.n, d), func(b *testing.B) {
				a := tensor.NewRNG(1).Normal(c.n, c.n).Cast(tensor.Float64)
				if c.name == "Cholesky" {
					a = positive(a)
				}
				a = a.Cast(d)
				if err := tensor.Eval(a); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := tensor.Eval(c.f(a)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
