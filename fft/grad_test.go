package fft_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

// joined puts the parts into one tensor.
func joined(z fft.Complex) tensor.Tensor { return tensor.Stack(-1, z.Re, z.Im) }

func TestGradients(t *testing.T) {
	window := &fft.STFTOptions{Window: fft.Hann(6, fft.Periodic), Hop: 2}
	for name, f := range map[string]func(fft.Complex) tensor.Tensor{
		"FFT":    func(z fft.Complex) tensor.Tensor { return joined(fft.FFT(z, 0, nil)) },
		"IFFT":   func(z fft.Complex) tensor.Tensor { return joined(fft.IFFT(z, 1, nil)) },
		"FFT2":   func(z fft.Complex) tensor.Tensor { return joined(fft.FFT2(z, nil)) },
		"RFFT":   func(z fft.Complex) tensor.Tensor { return joined(fft.RFFT(z.Re, 0, nil)) },
		"IRFFT":  func(z fft.Complex) tensor.Tensor { return fft.IRFFT(z, 0, &fft.Options{N: []int{36}}) },
		"DCT":    func(z fft.Complex) tensor.Tensor { return fft.DCT(z.Re, 0, nil) },
		"STFT":   func(z fft.Complex) tensor.Tensor { return joined(fft.STFT(z.Re.T(), 6, window)) },
		"ISTFT":  func(z fft.Complex) tensor.Tensor { return fft.ISTFT(fft.STFT(z.Re.T(), 6, window), 6, window) },
		"of 131": func(z fft.Complex) tensor.Tensor { return joined(fft.FFT(z, 0, &fft.Options{N: []int{131}})) },
		"Mul":    func(z fft.Complex) tensor.Tensor { return joined(z.Mul(z)) },
		"Div":    func(z fft.Complex) tensor.Tensor { return joined(z.Conj().Div(z)) },
		"Abs":    func(z fft.Complex) tensor.Tensor { return z.Abs() },
		"Angle":  func(z fft.Complex) tensor.Tensor { return z.Angle() },
		"Exp":    func(z fft.Complex) tensor.Tensor { return joined(z.Exp()) },
	} {
		t.Run(name, func(t *testing.T) {
			z := randomComplex(tensor.Float64, 34, 2)
			// A linear function has no second derivative, so that its square is checked.
			gradtest.Check(t, func(z fft.Complex) tensor.Tensor { return f(z).Square() }, z, 2)
		})
	}
}

// Vmap of a transform transforms each example.
func TestVmap(t *testing.T) {
	z := randomComplex(tensor.Float64, 3, 48, 2)
	for name, f := range map[string]func(fft.Complex) fft.Complex{
		"FFT":        func(z fft.Complex) fft.Complex { return fft.FFT(z, 0, nil) },
		"RFFT":       func(z fft.Complex) fft.Complex { return fft.RFFT(z.Re, 0, nil) },
		"IRFFT":      func(z fft.Complex) fft.Complex { return fft.Real(fft.IRFFT(z, 0, nil)) },
		"STFT":       func(z fft.Complex) fft.Complex { return fft.STFT(z.Re.T(), 8, nil) },
		"FFT of 131": func(z fft.Complex) fft.Complex { return fft.FFT(z, 0, &fft.Options{N: []int{131}}) },
	} {
		got := grad.Vmap(f)(z)
		for i := range 3 {
			want := f(fft.Complex{Re: z.Re.At(i), Im: z.Im.At(i)})
			check(t, fmt.Sprintf("%s of example %d", name, i), numbers(t, fft.Complex{Re: got.Re.At(i), Im: got.Im.At(i)}), numbers(t, want), 1e-14)
		}
	}
}
