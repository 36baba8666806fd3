package fft_test

import (
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

// Transforms of untyped constants have the digits of float64 where they meet it.
func TestUntyped(t *testing.T) {
	double := func(x tensor.Tensor) tensor.Tensor { return x.Add(tensor.New([]float64{0})) }
	parts := func(z fft.Complex) []tensor.Tensor { return []tensor.Tensor{z.Re, z.Im} }
	one := func(x tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{x} }
	stft := &fft.STFTOptions{Window: fft.Hann(8, fft.Periodic)}
	for name, f := range map[string]func(x tensor.Tensor) []tensor.Tensor{
		"Real":           func(x tensor.Tensor) []tensor.Tensor { return parts(fft.Real(x)) },
		"FFT":            func(x tensor.Tensor) []tensor.Tensor { return parts(fft.FFT(fft.Complex{Re: x, Im: x.Sin()}, -1, nil)) },
		"IFFT":           func(x tensor.Tensor) []tensor.Tensor { return parts(fft.IFFT(fft.Real(x), -1, nil)) },
		"FFT of a prime": func(x tensor.Tensor) []tensor.Tensor { return parts(fft.FFT(fft.Real(x.Slice(-1, 0, 37)), -1, nil)) },
		"FFT, Bluestein": func(x tensor.Tensor) []tensor.Tensor {
			return parts(fft.FFT(fft.Real(x.Flatten(0).Slice(-1, 0, 131)), -1, nil))
		},
		"FFT2":            func(x tensor.Tensor) []tensor.Tensor { return parts(fft.FFT2(fft.Real(x), nil)) },
		"IFFT2":           func(x tensor.Tensor) []tensor.Tensor { return parts(fft.IFFT2(fft.Real(x), nil)) },
		"RFFT":            func(x tensor.Tensor) []tensor.Tensor { return parts(fft.RFFT(x, -1, nil)) },
		"RFFT2":           func(x tensor.Tensor) []tensor.Tensor { return parts(fft.RFFT2(x, nil)) },
		"IRFFT":           func(x tensor.Tensor) []tensor.Tensor { return one(fft.IRFFT(fft.Real(x), -1, nil)) },
		"IRFFT2":          func(x tensor.Tensor) []tensor.Tensor { return one(fft.IRFFT2(fft.Real(x), nil)) },
		"DCT":             func(x tensor.Tensor) []tensor.Tensor { return one(fft.DCT(x, -1, nil)) },
		"IDCT":            func(x tensor.Tensor) []tensor.Tensor { return one(fft.IDCT(x, -1, nil)) },
		"STFT":            func(x tensor.Tensor) []tensor.Tensor { return parts(fft.STFT(x, 8, stft)) },
		"ISTFT":           func(x tensor.Tensor) []tensor.Tensor { return one(fft.ISTFT(fft.STFT(x, 8, stft), 8, stft)) },
		"Spectrogram":     func(x tensor.Tensor) []tensor.Tensor { return one(fft.Spectrogram(x, 8, stft)) },
		"MelSpectrogram":  func(x tensor.Tensor) []tensor.Tensor { return one(fft.MelSpectrogram(x, 8, 3, 8000, stft, nil)) },
		"Polar, Abs, Exp": func(x tensor.Tensor) []tensor.Tensor { z := fft.Polar(x, x); return append(parts(z.Exp()), z.Abs()) },
	} {
		c := tensor.Linspace(0.1, 0.9, 160).Reshape(4, 40)
		err := tensor.Try(func() {
			want := f(double(c))
			for i, got := range f(c) {
				if got.DType() != tensor.Float32 {
					t.Errorf("%s: result %d is %v", name, i, got.DType())
				}
				if far := double(got).Sub(want[i]).Abs().Max().Item(); !(far <= 1e-12) {
					t.Errorf("%s: result %d is off by %v", name, i, far)
				}
			}
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
