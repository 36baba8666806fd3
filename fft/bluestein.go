package fft

import "github.com/tensorken/tensorken/tensor"

// bluestein returns the transform of x [before, 2, n, after] for any n, by a convolution of a
// length that has only small factors: with j·k = (j² + k² - (k-j)²)/2 and w[j] =
// exp(∓πi·j²/n),
//
//	X[k] = w[k] · Σ_j (x[j]·w[j]) · conj(w[k-j]).
//
// Source: Bluestein, "A Linear Filtering Approach to the Computation of the Discrete Fourier
// Transform", 1970.
func bluestein(x tensor.Tensor, sign int) tensor.Tensor {
	n := x.Dim(2)
	size := smooth(2*n - 1)
	chirp := make([][2]float64, n)
	for j := range chirp {
		chirp[j] = root(sign*(j*j%(2*n)), 2*n)
	}
	w := complexTable(x.DType(), n, 1, func(j, _ int) [2]float64 { return chirp[j] })
	// The factors conj(w[j]) for j > -n and j < n; negative j are at the end.
	filter := w.Conj().each(func(t tensor.Tensor) tensor.Tensor {
		return tensor.Cat(0, t.Pad(0, 0, size-2*n+1), t.Slice(0, 1, n).Flip(0)).Div(float64(size))
	})
	f := transform(tensor.Stack(0, filter.Re, filter.Im).Unsqueeze(0), -1).At(0)
	y := transform(times(x, w).Pad(2, 0, size-n), -1)
	y = transform(times(y, Complex{f.At(0), f.At(1)}), 1)
	return times(y.Slice(2, 0, n), w)
}

// smooth returns the least number from n on that is a power of 2 times 1, 3, 5, 9 or 15.
func smooth(n int) int {
	best := 0
	for _, odd := range []int{1, 3, 5, 9, 15} {
		m := odd
		for m < n {
			m *= 2
		}
		if best == 0 || m < best {
			best = m
		}
	}
	return best
}
