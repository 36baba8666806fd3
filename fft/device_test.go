package fft_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestOnDevice transforms float32 on the device that TENSORKEN_DEVICE names, the CPU if none,
// and compares with float64 on the CPU.
func TestOnDevice(t *testing.T) {
	d := tensor.CPU()
	if name := os.Getenv("TENSORKEN_DEVICE"); name != "" && name != "cpu" {
		var err error
		if d, _, err = device.Open(name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	frames := &fft.STFTOptions{Window: fft.Hann(64, fft.Periodic)}
	for name, f := range map[string]func(z fft.Complex) fft.Complex{
		"FFT":         func(z fft.Complex) fft.Complex { return fft.FFT(z, 1, nil) },
		"IFFT":        func(z fft.Complex) fft.Complex { return fft.IFFT(z, 0, nil) },
		"of 131":      func(z fft.Complex) fft.Complex { return fft.FFT(z, 1, &fft.Options{N: []int{131}}) },
		"of 20000":    func(z fft.Complex) fft.Complex { return fft.FFT(z, 1, &fft.Options{N: []int{20000}}) },
		"RFFT2":       func(z fft.Complex) fft.Complex { return fft.RFFT2(z.Re, nil) },
		"IRFFT":       func(z fft.Complex) fft.Complex { return fft.Real(fft.IRFFT(z, 1, nil)) },
		"ISTFT":       func(z fft.Complex) fft.Complex { return fft.Real(fft.ISTFT(fft.STFT(z.Re, 64, frames), 64, frames)) },
		"Spectrogram": func(z fft.Complex) fft.Complex { return fft.Real(fft.Spectrogram(z.Re, 64, frames)) },
		"a gradient": func(z fft.Complex) fft.Complex {
			return grad.Of(func(z fft.Complex) tensor.Tensor { return fft.FFT(z, 1, nil).Abs().Sum() })(z)
		},
	} {
		z := randomComplex(tensor.Float32, 3, 400)
		want := numbers(t, f(tree.Cast(z, tensor.Float64)))
		got := f(tree.To(z, d))
		check(t, fmt.Sprintf("%s on %v", name, d), numbers(t, got), want, 1e-6)
	}
}
