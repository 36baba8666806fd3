package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// A Norm says how transforms of n elements are scaled. A transform and its inverse with one
// Norm give the numbers back.
type Norm uint8

// The norms, with the factors on the transform and on its inverse.
const (
	Backward Norm = iota // 1 and 1/n
	Ortho                // 1/√n and 1/√n
	Forward              // 1/n and 1
)

// powers has the powers of n by which the transform and its inverse are multiplied.
var powers = map[Norm][2]float64{Backward: {0, -1}, Ortho: {-0.5, -0.5}, Forward: {-1, 0}}

// Options are settings of transforms; nil has the defaults.
type Options struct {
	// N has the length of each transformed axis, by default the axis's own. A longer axis is
	// cut at its end, a shorter one padded there with zeros. For transforms between real and
	// complex numbers it is the length of the real axis, by default of an IRFFT an even one.
	N    []int
	Norm Norm
}

// FFT returns the discrete Fourier transform along an axis,
//
//	X[k] = Σ_j x[j]·exp(-2πi·j·k/n).
func FFT(z Complex, axis int, o *Options) Complex { return complexTransform("FFT", z, o, -1, axis) }

// IFFT returns the inverse of [FFT].
func IFFT(z Complex, axis int, o *Options) Complex { return complexTransform("IFFT", z, o, 1, axis) }

// FFT2 returns the discrete Fourier transform along the last two axes.
func FFT2(z Complex, o *Options) Complex { return complexTransform("FFT2", z, o, -1, -2, -1) }

// IFFT2 returns the inverse of [FFT2].
func IFFT2(z Complex, o *Options) Complex { return complexTransform("IFFT2", z, o, 1, -2, -1) }

// RFFT returns the elements 0 to n/2 of the transform of n real numbers along an axis; the
// others are conjugates: X[n-k] = conj(X[k]).
func RFFT(x tensor.Tensor, axis int, o *Options) Complex {
	return realTransform("RFFT", x, o, axis)
}

// IRFFT returns the inverse of [RFFT]: n real numbers, by default 2·(length-1), from the
// elements 0 to n/2 of their transform. The imaginary parts of the first element and, for
// even n, of the last count as 0.
func IRFFT(z Complex, axis int, o *Options) tensor.Tensor {
	return inverseReal("IRFFT", z, o, axis)
}

// RFFT2 returns the transform of real numbers along the last two axes, with the elements 0 to
// n/2 of the last.
func RFFT2(x tensor.Tensor, o *Options) Complex { return realTransform("RFFT2", x, o, -2, -1) }

// IRFFT2 returns the inverse of [RFFT2].
func IRFFT2(z Complex, o *Options) tensor.Tensor { return inverseReal("IRFFT2", z, o, -2, -1) }

// complexTransform transforms z along axes; sign is -1, or 1 for the inverse.
func complexTransform(op string, z Complex, o *Options, sign int, axes ...int) Complex {
	d := checkComplex(op, z)
	s := newSettings(op, z.Shape(), o, axes, nil)
	y := z.each(s.prepare(sign))
	for i, a := range s.axes {
		y = along(y, a, s.n[i], sign)
	}
	return y.each(castTo(d))
}

// realTransform transforms real x along axes, the last of which is halved.
func realTransform(op string, x tensor.Tensor, o *Options, axes ...int) Complex {
	checkReal(op, x)
	s := newSettings(op, x.Shape(), o, axes, nil)
	last := len(axes) - 1
	a, n := s.axes[last], s.n[last]
	y := resize(s.prepare(-1)(x), a, n)
	before, after, shape := around(y, a)
	shape[a] = n/2 + 1
	z := fromReal(y.Reshape(before, n, after)).each(reshape(shape...))
	for i, a := range s.axes[:last] {
		z = along(z, a, s.n[i], -1)
	}
	return z.each(castTo(x.DType()))
}

// inverseReal is the inverse of realTransform.
func inverseReal(op string, z Complex, o *Options, axes ...int) tensor.Tensor {
	d := checkComplex(op, z)
	s := newSettings(op, z.Shape(), o, axes, func(length int) int { return 2 * (length - 1) })
	last := len(axes) - 1
	y := z.each(s.prepare(1))
	for i, a := range s.axes[:last] {
		y = along(y, a, s.n[i], 1)
	}
	a, n := s.axes[last], s.n[last]
	y = fit(y, a, n/2+1)
	before, after, shape := around(y.Re, a)
	shape[a] = n
	x := toReal(y.each(reshape(before, n/2+1, after)), n)
	return castTo(d)(x.Reshape(shape...))
}

// settings are checked options: the axes, their lengths and the norm.
type settings struct {
	axes, n []int
	norm    Norm
}

// newSettings checks axes of a shape and options. By default the last axis has realLength of
// its length, where that is not nil.
func newSettings(op string, shape []int, o *Options, axes []int, realLength func(int) int) settings {
	if o == nil {
		o = &Options{}
	}
	if len(shape) < len(axes) {
		fail(op, "shape %v has fewer than the %d axes to transform", shape, len(axes))
	}
	s := settings{norm: o.Norm}
	for i, axis := range axes {
		a := axisOf(op, shape, axis)
		n := shape[a]
		if i == len(axes)-1 && realLength != nil {
			n = realLength(n)
		}
		s.axes, s.n = append(s.axes, a), append(s.n, n)
	}
	if o.N != nil {
		if len(o.N) != len(axes) {
			fail(op, "N is %v, want a length for each transformed axis: %d", o.N, len(axes))
		}
		s.n = o.N
	}
	for i, n := range s.n {
		if n < 1 || n > math.MaxInt32 {
			fail(op, "the transform of shape %v along axis %d has %d elements, want 1 to 2147483647: set N", shape, axes[i], n)
		}
	}
	if _, ok := powers[o.Norm]; !ok {
		fail(op, "there is no Norm %d: want Backward, Ortho or Forward", o.Norm)
	}
	return s
}

// prepare returns a function that scales the argument of a transform, or of its inverse for
// sign 1, and casts 16-bit floats to float32. The argument is copied anyway, so that this takes
// no time; the result is not.
func (s settings) prepare(sign int) func(tensor.Tensor) tensor.Tensor {
	scale := 1.0
	for _, n := range s.n {
		scale *= math.Pow(float64(n), powers[s.norm][(sign+1)/2])
	}
	return func(t tensor.Tensor) tensor.Tensor {
		if t = wide(t); scale == 1 {
			return t
		}
		return t.Mul(scale)
	}
}

// wide casts 16-bit floats to float32, in which they are transformed.
func wide(t tensor.Tensor) tensor.Tensor {
	if d := t.DType(); d == tensor.Float16 || d == tensor.BFloat16 {
		return t.Cast(tensor.Float32)
	}
	return t
}

// castTo undoes wide. A tensor of type d stays as it is: a cast would fix the type of a constant.
func castTo(d tensor.DType) func(tensor.Tensor) tensor.Tensor {
	return func(t tensor.Tensor) tensor.Tensor {
		if t.DType() == d {
			return t
		}
		return t.Cast(d)
	}
}

func reshape(shape ...int) func(tensor.Tensor) tensor.Tensor {
	return func(t tensor.Tensor) tensor.Tensor { return t.Reshape(shape...) }
}

// along transforms n elements of z along an axis.
func along(z Complex, axis, n, sign int) Complex {
	z = fit(z, axis, n)
	before, after, shape := around(z.Re, axis)
	z = z.each(reshape(before, n, after))
	return unstack(transform(tensor.Stack(1, z.Re, z.Im), sign)).each(reshape(shape...))
}

// around returns the number of elements before and after an axis, and the shape.
func around(x tensor.Tensor, axis int) (before, after int, shape []int) {
	before, after, shape = 1, 1, x.Shape()
	for i, n := range shape {
		switch {
		case i < axis:
			before *= n
		case i > axis:
			after *= n
		}
	}
	return before, after, shape
}

// fit cuts or pads z along an axis to n elements.
func fit(z Complex, axis, n int) Complex {
	return z.each(func(t tensor.Tensor) tensor.Tensor { return resize(t, axis, n) })
}

func resize(x tensor.Tensor, axis, n int) tensor.Tensor {
	if length := x.Dim(axis); length < n {
		return x.Pad(axis, 0, n-length)
	}
	return x.Slice(axis, 0, n)
}
