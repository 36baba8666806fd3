package fft

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// root returns the real and the imaginary part of exp(2πi·k/n) for any k and n ≥ 1, correctly rounded at multiples of a
// quarter turn.
func root(k, n int) [2]float64 {
	k %= n
	if k < 0 {
		k += n
	}
	quarter := 4 * k / n
	s, c := math.Sincos(math.Pi / 2 * float64(4*k%n) / float64(n))
	return [4][2]float64{{c, s}, {-s, c}, {-c, -s}, {s, -c}}[quarter]
}

// roots returns root(sign·k, n) for k = 0 … n-1.
func roots(n, sign int) [][2]float64 {
	w := make([][2]float64, n)
	for k := range w {
		w[k] = root(sign*k, n)
	}
	return w
}

// table returns f of all indices, row-major, as a tensor of a floating-point type.
func table(d tensor.DType, rows, columns int, f func(i, j int) float64) tensor.Tensor {
	v := make([]float64, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			v = append(v, f(i, j))
		}
	}
	return newTable(d, v, rows, columns)
}

// complexTable returns tables of the real and the imaginary parts of f.
func complexTable(d tensor.DType, rows, columns int, f func(i, j int) [2]float64) Complex {
	re, im := make([]float64, 0, rows*columns), make([]float64, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			w := f(i, j)
			re, im = append(re, w[0]), append(im, w[1])
		}
	}
	return Complex{newTable(d, re, rows, columns), newTable(d, im, rows, columns)}
}

// newTable returns numbers as a tensor that combines with tensors of a floating-point type.
func newTable(d tensor.DType, v []float64, shape ...int) tensor.Tensor {
	if d == tensor.Float64 {
		return tensor.New(v, shape...)
	}
	return tensor.Internal.Table(graph.Token{}, v, shape...)
}
