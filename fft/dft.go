package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// This file computes discrete Fourier transforms of complex tensors [before, 2, n, after],
// which have the real and the imaginary parts along axis 1, along the axis of n elements.
//
// With n = r·m, j = m·j1 + j2 and k = k1 + r·k2, the transform is
//
//	X[k1+r·k2] = Σ_j2 W_m^(j2·k2) · W_n^(j2·k1) · Σ_j1 W_r^(j1·k1) · x[m·j1+j2]
//
// for W_n = exp(∓2πi/n): the sum over j1 is a product by a matrix of r × r, the factor
// before it is the twiddle, and the sum over j2 is a transform of m elements, with k1 moved
// behind it so that the order of the result is natural.
//
// Source: Cooley and Tukey, "An Algorithm for the Machine Calculation of Complex Fourier
// Series", 1965; Stockham's order of the axes.

// Lengths of products. Up to maxWhole a transform is one product; longer ones are split by
// factors up to maxRadix or, where they have no such factors, by prime ones up to maxPrime.
// Lengths without such factors are for Bluestein's algorithm.
const (
	maxWhole = 32
	maxRadix = 16
	maxPrime = 128
)

// transform returns the transform of x without a scale; sign is -1, or 1 for the inverse.
func transform(x tensor.Tensor, sign int) tensor.Tensor {
	before, n, after := x.Dim(0), x.Dim(2), x.Dim(3)
	r := radix(n)
	switch r {
	case 0:
		return bluestein(x, sign)
	case 1:
		return x
	}
	m := n / r
	f := matrix(x.DType(), r, r, r, sign)
	if m == 1 {
		return f.MatMul(x.Reshape(before, 2*r, after)).Reshape(before, 2, n, after)
	}
	y := rotate(step(f, x.Reshape(before, 2*r, m, after)), n, sign).Reshape(before, 2, m, r*after)
	return transform(y, sign).Reshape(before, 2, n, after)
}

// step multiplies x [before, j, m, after] by a matrix [2·r j] and returns [before, 2, m, r,
// after].
func step(f, x tensor.Tensor) tensor.Tensor {
	before, m, after, r := x.Dim(0), x.Dim(2), x.Dim(3), f.Dim(0)/2
	x = x.Reshape(before, x.Dim(1), m*after)
	if after == 1 { // the product writes the axes in the order of the result
		return x.T().MatMul(f.T()).Reshape(before, m, 2, r, 1).Permute(0, 2, 1, 3, 4)
	}
	return f.MatMul(x).Reshape(before, 2, r, m, after).Permute(0, 1, 3, 2, 4)
}

// radix returns the factor of n that the next step transforms, or 0.
func radix(n int) int {
	if n <= maxWhole {
		return n
	}
	for r := maxRadix; r > 1; r-- {
		if n%r == 0 {
			return r
		}
	}
	for r := maxRadix + 1; r <= maxPrime; r++ {
		if n%r == 0 {
			return r
		}
	}
	return 0
}

// unstack returns the parts of stacked complex numbers [before, 2, …] as [before, …].
func unstack(x tensor.Tensor) Complex { return Complex{x.Select(1, 0), x.Select(1, 1)} }

// matrix returns the first rows and columns of the transform of n elements as a real
// matrix [2·rows 2·columns] for stacked real and imaginary parts.
func matrix(d tensor.DType, n, rows, columns, sign int) tensor.Tensor {
	w := roots(n, sign)
	return table(d, 2*rows, 2*columns, func(i, j int) float64 {
		v := w[i%rows*(j%columns)%n]
		switch {
		case i < rows && j < columns, i >= rows && j >= columns:
			return v[0]
		case i < rows:
			return -v[1]
		default:
			return v[1]
		}
	})
}

// rotate multiplies elements [b, 2, j, i, a] by W_n^(i·j).
func rotate(x tensor.Tensor, n, sign int) tensor.Tensor {
	d, m, rows := x.DType(), x.Dim(2), x.Dim(3)
	low := divisor(m)
	w := twiddles(d, low, rows, 1, n, sign)
	if high := m / low; high > 1 { // j = low·j1 + j2: few numbers are made here, and the device multiplies them
		w = twiddles(d, high, rows, low, n, sign).each(reshape(high, 1, rows)).Mul(w)
	}
	return times(x, w.each(reshape(m, rows, 1)))
}

// times multiplies stacked complex numbers [before, 2, …] by others, […]. The stacked
// factors are stored, so that the factors are computed once and not for each element of x.
func times(x tensor.Tensor, w Complex) tensor.Tensor {
	factors := tensor.Stack(0, w.Re, w.Im.Neg(), w.Im)
	return x.Mul(factors.At(0)).Add(x.Flip(1).Mul(factors.Slice(0, 1, 3)))
}

// twiddles returns W_n^(i·j·step) [rows columns].
func twiddles(d tensor.DType, rows, columns, step, n, sign int) Complex {
	return complexTable(d, rows, columns, func(i, j int) [2]float64 { return root(sign*i*j*step, n) })
}

// divisor returns m if it is small, or else the divisor of m nearest to its root.
func divisor(m int) int {
	if m <= 64 {
		return m
	}
	d := int(math.Sqrt(float64(m)))
	for m%d != 0 {
		d--
	}
	return m / d
}
