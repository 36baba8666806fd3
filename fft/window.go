package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// A Symmetry says which period a window of n elements has.
type Symmetry bool

// The two symmetries. PyTorch's windows are Periodic by default, for transforms; NumPy's and
// SciPy's are Symmetric, for filters. So windows have no default here.
const (
	Periodic  Symmetry = false // n: the first n elements of a symmetric window of n+1
	Symmetric Symmetry = true  // n-1: the last element is equal to the first
)

// Hann returns the Hann window 0.5 - 0.5·cos(2πk/N) of n elements, where N is the period. A
// window is an untyped constant of float32, and a single element is 1.
func Hann(n int, s Symmetry) tensor.Tensor { return cosines("Hann", n, s, 0.5, -0.5) }

// Hamming returns the Hamming window 0.54 - 0.46·cos(2πk/N) of n elements.
func Hamming(n int, s Symmetry) tensor.Tensor { return cosines("Hamming", n, s, 0.54, -0.46) }

// Blackman returns the Blackman window 0.42 - 0.5·cos(2πk/N) + 0.08·cos(4πk/N) of n elements.
func Blackman(n int, s Symmetry) tensor.Tensor { return cosines("Blackman", n, s, 0.42, -0.5, 0.08) }

// Bartlett returns the triangular window 1 - |2k/N - 1| of n elements.
func Bartlett(n int, s Symmetry) tensor.Tensor {
	return window("Bartlett", n, s, func(x tensor.Tensor) tensor.Tensor {
		return x.Abs().Neg().Add(1)
	})
}

// Kaiser returns the Kaiser window I0(beta·√(1-(2k/N-1)²))/I0(beta) of n elements, where I0 is
// the modified Bessel function. beta is from 0 to 80.
func Kaiser(n int, beta float64, s Symmetry) tensor.Tensor {
	if !(beta >= 0 && beta <= 80) {
		fail("Kaiser", "beta is %v, want 0 to 80", beta)
	}
	return window("Kaiser", n, s, func(x tensor.Tensor) tensor.Tensor {
		return bessel(x.Square().Neg().Add(1).Maximum(0).Mul(beta*beta/4), beta).
			Div(bessel(tensor.Scalar(beta*beta/4), beta))
	})
}

// bessel returns I0(2·√q) = Σ_k q^k/(k!)² for 0 ≤ q ≤ (beta/2)². All terms are positive; those
// beyond the last are less than 1e-17 of the sum.
func bessel(q tensor.Tensor, beta float64) tensor.Tensor {
	y := tensor.Ones(q.Shape()...)
	for k := int(beta) + 20; k > 0; k-- {
		y = y.Mul(q.Div(float64(k * k))).Add(1)
	}
	return y
}

// cosines returns Σ_i a[i]·cos(2πik/N).
func cosines(op string, n int, s Symmetry, a ...float64) tensor.Tensor {
	return window(op, n, s, func(x tensor.Tensor) tensor.Tensor {
		y := tensor.Full(a[0], n)
		for i, f := range a[1:] {
			y = y.Add(x.Add(1).Mul(math.Pi * float64(i+1)).Cos().Mul(f))
		}
		return y
	})
}

// window returns f of x = 2k/N - 1 for k = 0 … n-1.
func window(op string, n int, s Symmetry, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	if n < 1 || n > math.MaxInt32 {
		fail(op, "%d elements, want 1 to 2147483647", n)
	}
	if n == 1 {
		return tensor.Ones(1)
	}
	period := n
	if s == Symmetric {
		period--
	}
	return f(float(tensor.Arange(n)).Mul(2).Sub(float64(period)).Div(float64(period)))
}
