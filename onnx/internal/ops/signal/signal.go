// Package signal has the Fourier transforms, and the windows and filters of sound.
package signal

import (
	"math"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// Rows has the operators.
var Rows = []op.Row{
	op.New("BlackmanWindow", op.One(window(0.42, 0.5, 0.08))),
	op.New("DFT", op.One(dft)),
	op.New("HammingWindow", op.One(window(25./46, 21./46, 0))),
	op.New("HannWindow", op.One(window(0.5, 0.5, 0))),
	op.New("MelWeightMatrix", op.One(melWeights)),
	op.New("STFT", op.One(stft)),
}

// window makes a function of a window a - b·cos(2πi/n) + d·cos(4πi/n).
func window(a, b, d float64) func(c *op.Call) T {
	return func(c *op.Call) T {
		n := c.Count("a window", c.ScalarInt(0))
		period := float64(n)
		if !c.Bool("periodic", true) {
			period--
		}
		w := make([]float64, n)
		for i := range w {
			x := 2 * math.Pi * float64(i) / period
			w[i] = a - b*math.Cos(x) + d*math.Cos(2*x)
		}
		return tensor.New(w, n).Cast(c.DType(c.Elem("output_datatype", op.Float)))
	}
}

// complexOf takes a last axis of 1 or 2 elements, real and imaginary parts, away.
func complexOf(c *op.Call, x T) fft.Complex {
	switch x.Dim(-1) {
	case 1:
		return fft.Real(x.Squeeze(-1))
	case 2:
		return fft.Complex{Re: x.Select(-1, 0), Im: x.Select(-1, 1)}
	}
	c.Fail("the last axis of %v has neither 1 nor 2 elements", x.Shape())
	return fft.Complex{}
}

// dft has its axis as an input since version 20, an attribute before.
func dft(c *op.Call) T {
	x := c.Tensor(0)
	axis := c.Int("axis", 1)
	if c.Opset >= 20 {
		if axis = -2; c.Has(2) {
			axis = c.ScalarInt(2)
		}
	}
	axis = c.Axis(axis, x.Rank())
	onesided, inverse := c.Bool("onesided", false), c.Bool("inverse", false)
	var n []int
	if c.Has(1) {
		n = []int{c.ScalarInt(1)}
	}
	if inverse && onesided { // half of the frequencies of a real signal
		return fft.IRFFT(complexOf(c, x), axis, &fft.Options{N: n}).Unsqueeze(-1)
	}
	z := complexOf(c, x)
	if inverse {
		z = fft.IFFT(z, axis, &fft.Options{N: n})
	} else {
		z = fft.FFT(z, axis, &fft.Options{N: n})
	}
	y := tensor.Stack(-1, z.Re, z.Im)
	if onesided {
		y = y.Slice(axis, 0, y.Dim(axis)/2+1)
	}
	return y
}

// stft is the transforms of frames of a signal, [batch length 1 or 2].
func stft(c *op.Call) T {
	x, step := c.Tensor(0), c.ScalarInt(1)
	if x.Rank() == 2 {
		x = x.Unsqueeze(-1)
	}
	n := x.Dim(-2)
	var w T
	if c.Has(2) {
		w = c.Tensor(2)
		n = w.Len()
	}
	if c.Has(3) {
		n = c.ScalarInt(3)
	}
	frames := x.Unfold(-2, n, step).Transpose(-1, -2) // [batch frames n parts]
	if w.IsValid() {
		frames = frames.Mul(w.Reshape(-1, 1))
	}
	z := fft.FFT(complexOf(c, frames), -1, nil)
	y := tensor.Stack(-1, z.Re, z.Im)
	if c.Bool("onesided", true) && x.Dim(-1) == 1 {
		y = y.Slice(-2, 0, n/2+1)
	}
	return y
}

// melWeights is a matrix of triangles, of bins of frequencies by bins of the mel scale.
func melWeights(c *op.Call) T {
	bins, length, rate := c.ScalarInt(0), c.ScalarInt(1), c.ScalarInt(2)
	mel := func(hertz float64) float64 { return 2595 * math.Log10(1+hertz/700) }
	low, high := mel(c.Scalar(3)), mel(c.Scalar(4))
	rows := c.Count("a spectrum", length)/2 + 1
	c.Count("a matrix", rows*c.Count("a scale", bins))
	edge := make([]int, bins+2)
	for i := range edge {
		hertz := 700 * (math.Pow(10, (float64(i)*(high-low)/float64(bins+2)+low)/2595) - 1)
		edge[i] = int(math.Floor(float64(length+1) * hertz / float64(rate)))
		if edge[i] < 0 || edge[i] > rows {
			c.Fail("an edge at %g Hz, and the rate is %d", hertz, rate)
		}
	}
	w := make([]float64, rows*bins)
	for i := range bins {
		lower, center, upper := edge[i], edge[i+1], edge[i+2]
		for j := lower; j <= center && j < rows; j++ {
			if w[j*bins+i] = 1; center > lower {
				w[j*bins+i] = float64(j-lower) / float64(center-lower)
			}
		}
		for j := center; j < upper && j < rows; j++ {
			w[j*bins+i] = float64(upper-j) / float64(upper-center)
		}
	}
	return tensor.New(w, rows, bins).Cast(c.DType(c.Elem("output_datatype", op.Float)))
}
