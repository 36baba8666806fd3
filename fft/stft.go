package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// STFTOptions are settings of [STFT] and [ISTFT]; nil has the defaults, which are PyTorch's.
type STFTOptions struct {
	Hop int // samples from one frame to the next, by default n/4

	// Window multiplies each frame, by default by 1. One of fewer than n elements is padded
	// with zeros on both sides.
	Window tensor.Tensor

	// The first frame is centred at the first sample, and PadMode, by default Reflect, says
	// which values lie beyond the ends. With NoCenter it begins there, and nothing is
	// padded.
	NoCenter bool
	PadMode  tensor.PadMode

	Normalized bool // the transforms are scaled by 1/√n
	TwoSided   bool // all n elements of each transform, not 0 to n/2 only

	// Length is the number of samples that ISTFT returns, by default from the centre of the
	// first frame to the centre of the last or, with NoCenter, over all frames.
	Length int
}

// STFT returns the short-time Fourier transform of real samples [… samples]: the transforms
// of overlapping frames of n samples, [… n/2+1 frames].
func STFT(x tensor.Tensor, n int, o *STFTOptions) Complex {
	const op = "STFT"
	checkReal(op, x)
	f := newFrames(op, n, o)
	f.checkWindow(op, x)
	if x.Rank() == 0 {
		fail(op, "want samples along an axis, not a scalar")
	}
	if !f.NoCenter {
		least := map[tensor.PadMode]int{tensor.Reflect: n/2 + 1, tensor.Replicate: 1, tensor.Circular: max(n/2, 1)}[f.PadMode]
		if x.Dim(-1) < least {
			fail(op, "%d samples, want at least %d to pad by n/2 = %d: or set NoCenter", x.Dim(-1), least, n/2)
		}
		x = x.PadMode(-1, n/2, n/2, f.PadMode)
	}
	if x.Dim(-1) < n {
		fail(op, "%d samples, want at least one frame of %d", x.Dim(-1), n)
	}
	x = x.Unfold(-1, n, f.Hop)
	if f.Window.IsValid() {
		x = x.Mul(f.Window)
	}
	var z Complex
	if f.TwoSided {
		z = complexTransform(op, Real(x), f.transform(), -1, -1)
	} else {
		z = realTransform(op, x, f.transform(), -1)
	}
	return z.each(tensor.Tensor.T)
}

// ISTFT returns the samples [… samples] whose [STFT] with the same options is z,
// [… n/2+1 frames] or, if they are TwoSided, [… n frames]: it adds up the inverse transforms of
// the frames, multiplied by the window, and divides by the sum of the squared windows. A
// sample that no window covers is 0.
func ISTFT(z Complex, n int, o *STFTOptions) tensor.Tensor {
	const op = "ISTFT"
	checkComplex(op, z)
	f := newFrames(op, n, o)
	f.checkWindow(op, z.Re)
	rows := n/2 + 1
	if f.TwoSided {
		rows = n
	}
	if s := z.Shape(); len(s) < 2 || s[len(s)-2] != rows || s[len(s)-1] < 1 {
		fail(op, "shape %v, want [… %d frames] with at least one frame", s, rows)
	}
	z = z.each(tensor.Tensor.T)
	var x tensor.Tensor
	if f.TwoSided {
		x = complexTransform(op, z, f.transform(), 1, -1).Re
	} else {
		x = inverseReal(op, z, f.transform(), -1)
	}
	frames := x.Dim(-2)
	total := (frames-1)*f.Hop + n
	weight := tensor.Ones(frames, n)
	if f.Window.IsValid() {
		x, weight = x.Mul(f.Window), weight.Mul(f.Window.Square())
	}
	x, weight = x.Fold(-2, total, f.Hop), weight.Fold(-2, total, f.Hop)
	covered := weight.Gt(1e-11)
	x = tensor.Where(covered, x.Div(tensor.Where(covered, weight, 1)), 0)
	start, end := 0, total
	if !f.NoCenter {
		start, end = n/2, total-n/2
	}
	if f.Length > 0 {
		end = start + f.Length
	}
	return resize(x, -1, max(end, total)).Slice(-1, start, end)
}

// frames are checked options.
type frames struct {
	STFTOptions
	n int
}

func newFrames(op string, n int, o *STFTOptions) frames {
	if n < 1 || n > math.MaxInt32 {
		fail(op, "frames of %d samples, want 1 to 2147483647", n)
	}
	f := frames{n: n}
	if o != nil {
		f.STFTOptions = *o
	}
	if f.Hop == 0 {
		f.Hop = max(n/4, 1)
	}
	if f.Hop < 1 || f.Length < 0 {
		fail(op, "Hop is %d and Length %d, want no negative numbers", f.Hop, f.Length)
	}
	if f.PadMode == 0 {
		f.PadMode = tensor.Reflect
	}
	if f.PadMode > tensor.Circular {
		fail(op, "there is no PadMode %d: want Reflect, Replicate or Circular", f.PadMode)
	}
	if f.Window.IsValid() {
		w := f.Window
		if w.Rank() != 1 || w.Len() < 1 || w.Len() > n {
			fail(op, "the window has shape %v, want one axis of 1 to n = %d elements", w.Shape(), n)
		}
		f.Window = w.Pad(0, (n-w.Len())/2, n-w.Len()-(n-w.Len())/2)
	}
	return f
}

// checkWindow panics unless the window has the type of x.
func (f frames) checkWindow(op string, x tensor.Tensor) {
	if w := f.Window; w.IsValid() && (!w.DType().IsFloat() || !sameType(w, x)) {
		fail(op, "the window has type %v, the argument %v: use Cast", w.DType(), x.DType())
	}
}

// transform returns the options of the transforms of frames.
func (f frames) transform() *Options {
	o := &Options{N: []int{f.n}}
	if f.Normalized {
		o.Norm = Ortho
	}
	return o
}

// Spectrogram returns the squared absolute values of the [STFT] of x. [Complex.Abs] of the
// STFT gives them unsquared.
func Spectrogram(x tensor.Tensor, n int, o *STFTOptions) tensor.Tensor {
	return STFT(x, n, o).AbsSquare()
}
