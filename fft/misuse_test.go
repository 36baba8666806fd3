package fft_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

func TestMisuse(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3, 4})
	z := fft.Real(x)
	ints := tensor.New([]int32{1, 2})
	n := func(n ...int) *fft.Options { return &fft.Options{N: n} }
	matrix := fft.Real(tensor.Ones(3, 2))
	for want, f := range map[string]func(){
		"fft.FFT: Re has shape [4] and Im [3], want one shape": func() { fft.FFT(fft.Complex{Re: x, Im: x.Slice(0, 0, 3)}, 0, nil) },
		"fft.FFT: Re has type float32 and Im float64: use Cast": func() {
			fft.FFT(fft.Complex{Re: x, Im: x.Cast(tensor.Float64)}, 0, nil)
		},
		"fft.FFT: a part is absent: fft.Real makes complex numbers of real ones":       func() { fft.FFT(fft.Complex{Re: x}, 0, nil) },
		"fft.FFT: int32 [2] are no floating-point numbers: use Cast":                   func() { fft.FFT(fft.Complex{Re: ints, Im: ints}, 0, nil) },
		"fft.RFFT: int32 [2] are no floating-point numbers: use Cast":                  func() { fft.RFFT(ints, 0, nil) },
		"fft.RFFT: the tensor is absent":                                               func() { fft.RFFT(tensor.Tensor{}, 0, nil) },
		"fft.IFFT: shape [4] has no axis 1":                                            func() { fft.IFFT(z, 1, nil) },
		"fft.RFFT: shape [] has fewer than the 1 axes to transform":                    func() { fft.RFFT(tensor.Scalar(1), 0, nil) },
		"fft.FFT2: shape [4] has fewer than the 2 axes to transform":                   func() { fft.FFT2(z, nil) },
		"fft.FFT: the transform of shape [4] along axis 0 has 0 elements":              func() { fft.FFT(z, 0, n(0)) },
		"fft.RFFT: the transform of shape [4] along axis -1 has -3 elements":           func() { fft.RFFT(x, -1, n(-3)) },
		"fft.IRFFT: the transform of shape [1] along axis 0 has 0 elements":            func() { fft.IRFFT(fft.Real(x.Slice(0, 0, 1)), 0, nil) },
		"fft.RFFT: the transform of shape [0] along axis 0 has 0 elements":             func() { fft.RFFT(tensor.Zeros(0), 0, nil) },
		"fft.FFT2: N is [4], want a length for each transformed axis: 2":               func() { fft.FFT2(matrix, n(4)) },
		"fft.FFT: there is no Norm 3: want Backward, Ortho or Forward":                 func() { fft.FFT(z, 0, &fft.Options{Norm: 3}) },
		"fft.DCT: shape [4] has no axis 2":                                             func() { fft.DCT(x, 2, nil) },
		"fft.FFTFreq: 0 samples":                                                       func() { fft.FFTFreq(0, 1) },
		"fft.RFFTFreq: the spacing is 0":                                               func() { fft.RFFTFreq(3, 0) },
		"fft.FFTShift: shape [4] has no axis 1":                                        func() { fft.FFTShift(x, 1) },
		"fft.Hann: 0 elements":                                                         func() { fft.Hann(0, fft.Periodic) },
		"fft.Kaiser: beta is -1, want 0 to 80":                                         func() { fft.Kaiser(3, -1, fft.Periodic) },
		"fft.Kaiser: beta is NaN, want 0 to 80":                                        func() { fft.Kaiser(3, math.NaN(), fft.Periodic) },
		"fft.STFT: frames of 0 samples":                                                func() { fft.STFT(x, 0, nil) },
		"fft.STFT: Hop is -1 and Length 0":                                             func() { fft.STFT(x, 4, &fft.STFTOptions{Hop: -1}) },
		"fft.STFT: the window has shape [5], want one axis of 1 to n = 4 elements":     func() { fft.STFT(x, 4, &fft.STFTOptions{Window: tensor.Ones(5)}) },
		"fft.STFT: the window has type float64, the argument float32: use Cast":        func() { fft.STFT(x, 4, &fft.STFTOptions{Window: tensor.OnesOf(tensor.Float64, 4)}) },
		"fft.STFT: 4 samples, want at least 5 to pad by n/2 = 4: or set NoCenter":      func() { fft.STFT(x, 8, nil) },
		"fft.STFT: 4 samples, want at least one frame of 5":                            func() { fft.STFT(x, 5, &fft.STFTOptions{NoCenter: true}) },
		"fft.STFT: want samples along an axis, not a scalar":                           func() { fft.STFT(tensor.Scalar(1), 5, nil) },
		"fft.STFT: there is no PadMode 9":                                              func() { fft.STFT(x, 4, &fft.STFTOptions{PadMode: 9}) },
		"fft.STFT: int32 [2] are no floating-point numbers: use Cast":                  func() { fft.STFT(ints, 2, nil) },
		"fft.ISTFT: shape [3 2], want [… 5 frames] with at least one frame":            func() { fft.ISTFT(matrix, 8, nil) },
		"fft.MelFilters: 0 filters for 8 samples":                                      func() { fft.MelFilters(8, 0, 100, nil) },
		"fft.MelFilters: frequencies from 60 to 50 Hz at 100":                          func() { fft.MelFilters(8, 2, 100, &fft.MelOptions{Low: 60}) },
		"fft.MelFilters: frequencies from 0 to 1e+300 Hz at 100":                       func() { fft.MelFilters(8, 2, 100, &fft.MelOptions{High: 1e300}) },
		"fft.MelFilters: frequencies from 0 to 5e+299 Hz at 1e+300":                    func() { fft.MelFilters(8, 2, 1e300, nil) },
		"fft.MelFilters: there is no MelScale 2":                                       func() { fft.MelFilters(8, 2, 100, &fft.MelOptions{Scale: 2}) },
		"fft.MelSpectrogram: the filters are for n/2+1 elements: leave TwoSided false": func() { fft.MelSpectrogram(x, 4, 2, 100, &fft.STFTOptions{TwoSided: true}, nil) },
	} {
		err := tensor.Try(f)
		if err == nil {
			t.Errorf("no error, want %q", want)
			continue
		}
		if !strings.HasPrefix(err.Error(), "misuse_test.go:") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want misuse_test.go:…: %s", err, want)
		}
	}
}
