package fft

import "github.com/tensorken/tensorken/tensor"

// The transform of real numbers has X[n-k] = conj(X[k]), and so have the steps of
// [transform]: of r elements the first product needs k1 = 0 … r/2 only, which halves the work
// of all steps.

// fromReal returns the elements 0 to n/2 of the transform of real x [before, n, after].
func fromReal(x tensor.Tensor) Complex {
	before, n, after := x.Dim(0), x.Dim(1), x.Dim(2)
	r := radix(n)
	if r == 0 {
		return fit(unstack(transform(tensor.Stack(1, x, tensor.ZerosLike(x)), -1)), 1, n/2+1)
	}
	m, half := n/r, r/2+1
	f := matrix(x.DType(), r, half, r, -1).Slice(1, 0, r)
	if m == 1 {
		return unstack(f.MatMul(x).Reshape(before, 2, half, after))
	}
	y := rotate(step(f, x.Reshape(before, r, m, after)), n, -1).Reshape(before, 2, m, half*after)
	z := unstack(transform(y, -1).Reshape(before, 2, m, half, after)) // X[k1+r·k2] at [k2 k1]
	rows := n/2/r + 1
	low := z.each(func(t tensor.Tensor) tensor.Tensor { return t.Slice(1, 0, rows) })
	high := z.Conj().each(func(t tensor.Tensor) tensor.Tensor { // k1 > r/2: of r-k1 and m-1-k2
		return t.Slice(2, 1, r-half+1).Flip(1, 2).Slice(1, 0, rows)
	})
	return cat(2, low, high).each(func(t tensor.Tensor) tensor.Tensor {
		return t.Reshape(before, rows*r, after).Slice(1, 0, n/2+1)
	})
}

// toReal returns the inverse, without a scale, of the elements 0 to n/2 of a transform,
// [before, n/2+1, after]. It takes the steps of fromReal in the opposite order: the last
// product gives real numbers.
func toReal(z Complex, n int) tensor.Tensor {
	before, after := z.Re.Dim(0), z.Re.Dim(2)
	rest := z.Conj().each(func(t tensor.Tensor) tensor.Tensor { return t.Slice(1, 1, (n-1)/2+1).Flip(1) })
	all := cat(1, z, rest)
	x := tensor.Stack(1, all.Re, all.Im)
	r := radix(n)
	if r == 0 {
		return unstack(transform(x, 1)).Re
	}
	m, half := n/r, r/2+1
	x = x.Reshape(before, 2, m, r, after).Slice(3, 0, half).Reshape(before, 2, m, half*after)
	y := transform(x, 1).Reshape(before, 2, m, half, after)
	if m > 1 {
		y = rotate(y, n, 1)
	}
	f := matrix(x.DType(), r, r, half, 1).Slice(0, 0, r).Mul(weights(x.DType(), r))
	y = y.Permute(0, 1, 3, 2, 4).Reshape(before, 2*half, m*after)
	return f.MatMul(y).Reshape(before, n, after)
}

// weights returns how often each of the elements 0 to r/2 counts in a real inverse, for
// the real and the imaginary parts.
func weights(d tensor.DType, r int) tensor.Tensor {
	half := r/2 + 1
	return table(d, 1, 2*half, func(_, j int) float64 {
		if k := j % half; k == 0 || 2*k == r {
			return 1
		}
		return 2
	})
}
