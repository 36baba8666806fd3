package fft_test

import (
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

// BenchmarkTransforms times transforms from stored elements to stored elements.
func BenchmarkTransforms(b *testing.B) {
	long, rows := randomComplex(tensor.Float32, 1<<20), randomComplex(tensor.Float32, 2048, 512)
	prime := randomComplex(tensor.Float32, 1000003)
	sound := random(tensor.Float32, 60*16000)
	frames := &fft.STFTOptions{Hop: 160, Window: fft.Hann(400, fft.Periodic)}
	if err := tensor.Eval(long, rows, prime, sound); err != nil {
		b.Fatal(err)
	}
	half := fft.RFFT(long.Re, 0, nil)
	if err := tensor.Eval(half); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    func() any
	}{
		{"FFT of 1 M", func() any { return fft.FFT(long, 0, nil) }},
		{"RFFT of 1 M", func() any { return fft.RFFT(long.Re, 0, nil) }},
		{"IRFFT of 1 M", func() any { return fft.IRFFT(half, 0, nil) }},
		{"FFT of 1000003", func() any { return fft.FFT(prime, 0, nil) }},
		{"FFT of 2048 rows of 512", func() any { return fft.FFT(rows, 1, nil) }},
		{"RFFT of 2048 rows of 512", func() any { return fft.RFFT(rows.Re, 1, nil) }},
		{"FFT2 of 2048 × 512", func() any { return fft.FFT2(rows, nil) }},
		{"STFT of a minute", func() any { return fft.STFT(sound, 400, frames) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := tensor.Eval(c.f()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
