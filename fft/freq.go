package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// FFTFreq returns the frequencies of the elements of a transform of n samples, spacing apart:
// 0, 1, …, (n-1)/2, -(n/2), …, -1 over n·spacing, in cycles per unit of the spacing. It is an
// untyped constant of float32.
func FFTFreq(n int, spacing float64) tensor.Tensor {
	checkFreq("FFTFreq", n, spacing)
	return frequencies(tensor.Cat(0, tensor.Arange((n+1)/2), tensor.Arange(-(n/2), 0)), n, spacing)
}

// RFFTFreq returns the frequencies of the elements of an [RFFT], 0, 1, …, n/2 over n·spacing,
// an untyped constant of float32.
func RFFTFreq(n int, spacing float64) tensor.Tensor {
	checkFreq("RFFTFreq", n, spacing)
	return frequencies(tensor.Arange(n/2+1), n, spacing)
}

func checkFreq(op string, n int, spacing float64) {
	if n < 1 || n > math.MaxInt32 {
		fail(op, "%d samples, want 1 to 2147483647", n)
	}
	if spacing == 0 || math.IsNaN(spacing) || math.IsInf(spacing, 0) {
		fail(op, "the spacing is %v, want a finite number other than 0", spacing)
	}
}

func frequencies(k tensor.Tensor, n int, spacing float64) tensor.Tensor {
	return float(k).Div(float64(n) * spacing)
}

// float returns untyped integers as untyped float32.
func float(k tensor.Tensor) tensor.Tensor { return k.Add(tensor.Scalar(0)) }

// FFTShift moves the frequency 0 of transforms from the start of axes to their middle, n/2.
// Without axes it is all. The transforms are a tree, such as a Tensor or a [Complex].
func FFTShift[T any](v T, axes ...int) T { return shift("FFTShift", v, axes, 1) }

// IFFTShift is the inverse of [FFTShift].
func IFFTShift[T any](v T, axes ...int) T { return shift("IFFTShift", v, axes, -1) }

func shift[T any](op string, v T, axes []int, sign int) T {
	return tree.Map(v, func(_ string, t tensor.Tensor) tensor.Tensor {
		all := axes
		if len(all) == 0 {
			for a := range t.Rank() {
				all = append(all, a)
			}
		}
		for _, a := range all {
			a = axisOf(op, t.Shape(), a)
			t = t.Roll(a, sign*(t.Dim(a)/2))
		}
		return t
	})
}
