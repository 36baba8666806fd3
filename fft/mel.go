package fft

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// A MelScale is a scale of frequencies by how high they sound.
type MelScale uint8

// The scales. HTK is 2595·log10(1+f/700); Slaney is linear up to 1000 Hz and logarithmic
// beyond. They are torchaudio's and librosa's default.
const (
	HTK MelScale = iota
	Slaney
)

// MelOptions are settings of [MelFilters]; nil has the defaults, which are torchaudio's.
type MelOptions struct {
	Scale MelScale
	Low   float64 // the lowest frequency in Hz
	High  float64 // the highest, by default half the rate

	// Normalized scales the filters to equal areas, Slaney's norm. By default their peaks
	// are 1.
	Normalized bool
}

// MelFilters returns triangular filters [mels n/2+1], which sum up the elements of a
// transform of n samples, rate a second, around frequencies that are evenly spaced on the
// mel scale. A filter narrower than the distance of two elements may be 0 everywhere: use
// fewer. It is an untyped constant of float32.
func MelFilters(n, mels int, rate float64, o *MelOptions) tensor.Tensor {
	return melFilters("MelFilters", n, mels, rate, o)
}

// MelSpectrogram returns the [Spectrogram] of x, through [MelFilters]: [… mels frames].
func MelSpectrogram(x tensor.Tensor, n, mels int, rate float64, o *STFTOptions, m *MelOptions) tensor.Tensor {
	filters := melFilters("MelSpectrogram", n, mels, rate, m)
	if o != nil && o.TwoSided {
		fail("MelSpectrogram", "the filters are for n/2+1 elements: leave TwoSided false")
	}
	return filters.MatMul(Spectrogram(x, n, o))
}

func melFilters(op string, n, mels int, rate float64, o *MelOptions) tensor.Tensor {
	if o == nil {
		o = &MelOptions{}
	}
	high := o.High
	if high == 0 {
		high = rate / 2
	}
	if n < 1 || n > math.MaxInt32 || mels < 1 || mels > math.MaxInt32-2 {
		fail(op, "%d filters for %d samples, want at least 1", mels, n)
	}
	const most = 1e18 // a square of which float32 has
	if !(rate > 0 && rate <= most) || !(o.Low >= 0) || !(o.Low < high && high <= most) {
		fail(op, "frequencies from %v to %v Hz at %v samples a second, want 0 ≤ Low < High, and at most %v", o.Low, high, rate, most)
	}
	if int(o.Scale) >= len(melScales) {
		fail(op, "there is no MelScale %d: want HTK or Slaney", o.Scale)
	}
	scale := melScales[o.Scale]
	edges := scale.hertz(tensor.Linspace(scale.mel(o.Low), scale.mel(high), mels+2)).Unsqueeze(1)
	low, centre, high2 := edges.Slice(0, 0, mels), edges.Slice(0, 1, mels+1), edges.Slice(0, 2, mels+2)
	f := float(tensor.Arange(n/2 + 1)).Mul(rate / float64(n))
	rise := f.Sub(low).Div(centre.Sub(low))
	fall := high2.Sub(f).Div(high2.Sub(centre))
	filters := rise.Minimum(fall).Maximum(0)
	if o.Normalized {
		filters = filters.Mul(2).Div(high2.Sub(low))
	}
	return filters
}

// melScales have each scale's function of a frequency and its inverse.
var melScales = []struct {
	mel   func(hertz float64) float64
	hertz func(mel tensor.Tensor) tensor.Tensor
}{
	HTK: {
		func(f float64) float64 { return 2595 * math.Log10(1+f/700) },
		func(m tensor.Tensor) tensor.Tensor { return m.Mul(math.Ln10 / 2595).Expm1().Mul(700) },
	},
	Slaney: {
		func(f float64) float64 {
			if f < 1000 {
				return f * 3 / 200
			}
			return 15 + math.Log(f/1000)*slaneyStep
		},
		func(m tensor.Tensor) tensor.Tensor {
			return tensor.Where(m.Lt(15), m.Mul(200).Div(3), m.Sub(15).Div(slaneyStep).Exp().Mul(1000))
		},
	},
}

// slaneyStep is the number of Slaney's mels that multiply a frequency by e: 27 by 6.4.
var slaneyStep = 27 / math.Log(6.4)
