package fft_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

// corners have frequency i of n in Hz, at equal steps on a scale from low to high.
var corners = map[fft.MelScale]func(i, n int, low, high float64) float64{
	fft.HTK: func(i, n int, low, high float64) float64 {
		a, b := math.Log(700+low), math.Log(700+high)
		return math.Exp(a+(b-a)*float64(i)/float64(n-1)) - 700
	},
	fft.Slaney: func(i, n int, low, high float64) float64 {
		mel := func(f float64) float64 {
			if f < 1000 {
				return f / 1000 * 15
			}
			return 15 + 27*math.Log(f/1000)/math.Log(6.4)
		}
		m := mel(low) + (mel(high)-mel(low))*float64(i)/float64(n-1)
		if m < 15 {
			return m * 1000 / 15
		}
		return 1000 * math.Pow(6.4, (m-15)/27)
	},
}

func TestMelFilters(t *testing.T) {
	const n, mels, rate = 200, 9, 16000
	for scale, corner := range corners {
		for _, o := range []fft.MelOptions{{}, {Low: 60, High: 7000}, {Low: 1200, Normalized: true}} {
			o.Scale = scale
			high := o.High
			if high == 0 {
				high = rate / 2
			}
			got := values(t, tensor.OnesOf(tensor.Float64, mels, n/2+1).Mul(fft.MelFilters(n, mels, rate, &o)))
			for m := range mels {
				a, b, c := corner(m, mels+2, o.Low, high), corner(m+1, mels+2, o.Low, high), corner(m+2, mels+2, o.Low, high)
				for k := range n/2 + 1 {
					f := float64(k) * rate / n
					want := 0.0
					switch {
					case a < f && f <= b:
						want = (f - a) / (b - a)
					case b < f && f < c:
						want = (c - f) / (c - b)
					}
					if o.Normalized {
						want *= 2 / (c - a)
					}
					if g := got[m*(n/2+1)+k]; math.Abs(g-want) > 1e-12 {
						t.Fatalf("scale %d, %+v: filter %d at %v Hz is %v, want %v", scale, o, m, f, g, want)
					}
				}
			}
		}
	}
}

// The reference above gives the numbers that librosa documents for mel_frequencies(40).
func TestCorners(t *testing.T) {
	for i, want := range map[int]float64{1: 85.317, 11: 938.49, 12: 1024.856, 15: 1334.436, 39: 11025} {
		if got := corners[fft.Slaney](i, 40, 0, 11025); math.Abs(got-want) > 1e-3 {
			t.Errorf("mel %d of 40 is %v Hz, want %v", i, got, want)
		}
	}
}

// A tone falls into the filter around its frequency.
func TestMelSpectrogram(t *testing.T) {
	const n, mels, rate = 256, 12, 8000
	tone := tensor.Arange(4000).Add(tensor.Scalar(0)).Mul(2 * math.Pi * 1000 / rate).Sin()
	for _, scale := range []fft.MelScale{fft.HTK, fft.Slaney} {
		o := &fft.STFTOptions{Window: fft.Hann(n, fft.Periodic)}
		y := fft.MelSpectrogram(tensor.Stack(0, tone, tone), n, mels, rate, o, &fft.MelOptions{Scale: scale})
		if got, want := fmt.Sprint(y.Shape()), fmt.Sprint([]int{2, mels, 4000/(n/4) + 1}); got != want {
			t.Fatalf("MelSpectrogram has shape %s, want %s", got, want)
		}
		best, distance := 0, math.Inf(1)
		for m := range mels {
			if d := math.Abs(corners[scale](m+1, mels+2, 0, rate/2) - 1000); d < distance {
				best, distance = m, d
			}
		}
		for frame := 5; frame < 50; frame++ {
			if got := y.Select(0, 1).Select(1, frame).ArgMax(0).Item(); got != float64(best) {
				t.Errorf("scale %d, frame %d: filter %v is the greatest, want %d", scale, frame, got, best)
			}
		}
	}
}
