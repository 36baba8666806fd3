package golden

import (
	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

// fourier has transforms. Complex numbers have their parts along the last axis.
var fourier = map[string]opFunc{
	"fft":  func(in []tensor.Tensor, a args) tensor.Tensor { return joined(fft.FFT(parts(in[0]), -1, nil)) },
	"ifft": func(in []tensor.Tensor, a args) tensor.Tensor { return joined(fft.IFFT(parts(in[0]), -1, nil)) },
	"fft2": func(in []tensor.Tensor, a args) tensor.Tensor { return joined(fft.FFT2(parts(in[0]), nil)) },
	"rfft": func(in []tensor.Tensor, a args) tensor.Tensor { return joined(fft.RFFT(in[0], -1, nil)) },
	"irfft": func(in []tensor.Tensor, a args) tensor.Tensor {
		return fft.IRFFT(parts(in[0]), -1, &fft.Options{N: ints(a, "n")})
	},
	"stft": func(in []tensor.Tensor, a args) tensor.Tensor {
		n := arg(a, "n_fft", 0)
		window := map[string]func(int, fft.Symmetry) tensor.Tensor{"hann": fft.Hann}[arg(a, "window", "")]
		return joined(fft.STFT(in[0], n, &fft.STFTOptions{
			Hop: arg(a, "hop", 0), Window: window(n, fft.Periodic), NoCenter: !arg(a, "center", true),
		}))
	},
}

func parts(x tensor.Tensor) fft.Complex { return fft.Complex{Re: x.Select(-1, 0), Im: x.Select(-1, 1)} }

func joined(z fft.Complex) tensor.Tensor { return tensor.Stack(-1, z.Re, z.Im) }
