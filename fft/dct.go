package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// DCT returns the discrete cosine transform of type 2 along an axis,
//
//	X[k] = 2·Σ_j x[j]·cos(π·k·(2j+1)/(2n)).
//
// Ortho makes it orthogonal: X is scaled by √(1/(2n)), and X[0] also by √(1/2). Forward scales
// it by 1/(2n).
//
// Source: Makhoul, "A Fast Cosine Transform in One and Two Dimensions", 1980, by an [RFFT].
func DCT(x tensor.Tensor, axis int, o *Options) tensor.Tensor {
	const op = "DCT"
	checkReal(op, x)
	s := newSettings(op, x.Shape(), o, []int{axis}, nil)
	d, a, n := x.DType(), s.axes[0], s.n[0]
	x = resize(wide(x), a, n)
	z := RFFT(tensor.Cat(a, x.Slice(a, 0, n, 2), x.Slice(a, 1, n, 2).Flip(a)), a, nil).Mul(s.turns(x, -1)).Scale(2)
	// Its elements from n/2+1 on are the imaginary parts of those before.
	y := tensor.Cat(a, z.Re, z.Im.Slice(a, 1, (n-1)/2+1).Flip(a).Neg())
	return castTo(d)(y.Mul(s.cosineScale(x, -1)))
}

// IDCT returns the inverse of [DCT], the cosine transform of type 3 and a scale.
func IDCT(x tensor.Tensor, axis int, o *Options) tensor.Tensor {
	const op = "IDCT"
	checkReal(op, x)
	s := newSettings(op, x.Shape(), o, []int{axis}, nil)
	d, a, n := x.DType(), s.axes[0], s.n[0]
	x = resize(wide(x), a, n)
	x = x.Mul(s.cosineScale(x, 1))
	// X[n-k] for k = 0 … n/2, where X[n] is 0.
	mirrored := x.Pad(a, 0, 1).Slice(a, n-n/2, n+1).Flip(a)
	z := Complex{x.Slice(a, 0, n/2+1), mirrored.Neg()}.Mul(s.turns(x, 1))
	y := IRFFT(z, a, &Options{N: []int{n}, Norm: Forward})
	even, odd := y.Slice(a, 0, (n+1)/2), y.Slice(a, (n+1)/2, n).Flip(a)
	return castTo(d)(tensor.Interleave(a, even, resize(odd, a, (n+1)/2)).Slice(a, 0, n))
}

// turns returns exp(sign·iπk/(2n)) for k = 0 … n/2 along the axis of x.
func (s settings) turns(x tensor.Tensor, sign int) Complex {
	n := s.n[0]
	w := complexTable(x.DType(), n/2+1, 1, func(i, _ int) [2]float64 { return root(sign*i, 4*n) })
	return w.each(func(t tensor.Tensor) tensor.Tensor { return alongAxis(t, x, s.axes[0]) })
}

// cosineScale returns the factors on a cosine transform, or before its inverse those that
// also divide by 2n.
func (s settings) cosineScale(x tensor.Tensor, sign int) tensor.Tensor {
	n := s.n[0]
	factors := table(x.DType(), n, 1, func(k, _ int) float64 {
		f := math.Pow(2*float64(n), powers[s.norm][(sign+1)/2])
		if k == 0 && s.norm == Ortho {
			f *= math.Pow(2, 0.5*float64(sign))
		}
		return f
	})
	return alongAxis(factors, x, s.axes[0])
}

// alongAxis returns t with its elements along an axis of the rank of x.
func alongAxis(t, x tensor.Tensor, axis int) tensor.Tensor {
	shape := make([]int, x.Rank())
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = t.Len()
	return t.Reshape(shape...)
}
