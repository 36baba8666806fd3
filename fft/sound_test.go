package fft_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

// ISTFT is the inverse of STFT.
func TestSTFTInverse(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		for name, o := range map[string]*fft.STFTOptions{
			"defaults":     nil,
			"Hann":         {Window: fft.Hann(16, fft.Periodic)},
			"short window": {Window: fft.Hamming(11, fft.Symmetric), Hop: 3},
			"Replicate":    {Window: fft.Blackman(16, fft.Periodic), PadMode: tensor.Replicate},
			"NoCenter":     {NoCenter: true},
			"Normalized":   {Window: fft.Kaiser(16, 5, fft.Periodic), Normalized: true},
			"TwoSided":     {Window: fft.Bartlett(16, fft.Symmetric), TwoSided: true},
		} {
			for _, n := range []int{16, 17} {
				x := random(d, 2, 3, 96)
				y := fft.ISTFT(fft.STFT(x, n, o), n, o)
				length := y.Dim(-1)
				if length < 80 || length > 96 {
					t.Errorf("%s, n = %d: %d samples, want nearly 96", name, n, length)
					continue
				}
				check(t, fmt.Sprintf("%s, n = %d, %v", name, n, d), toComplex(values(t, y)),
					toComplex(values(t, x.Slice(-1, 0, length))), 10*tolerance(d, n))
			}
		}
	}
}

// Without padding, a Hann window has no part in the first sample, which is lost, and little in
// the next. Beyond the frames ISTFT gives zeros.
func TestISTFTEnds(t *testing.T) {
	o := &fft.STFTOptions{Window: fft.Hann(64, fft.Periodic), NoCenter: true, Length: 130}
	x := random(tensor.Float64, 128)
	got := values(t, fft.ISTFT(fft.STFT(x, 64, o), 64, o))
	want := values(t, x)
	want[0] = 0
	check(t, "ISTFT without padding", toComplex(got), toComplex(append(want, 0, 0)), 1e-10)
}

// STFT is the transform of each frame, times the window.
func TestSTFTDefinition(t *testing.T) {
	const n, hop = 12, 5
	x := random(tensor.Float64, 40)
	window := values(t, tensor.OnesOf(tensor.Float64, n).Mul(fft.Hann(n, fft.Periodic)))
	z := fft.STFT(x, n, &fft.STFTOptions{Window: fft.Hann(n, fft.Periodic), Hop: hop, PadMode: tensor.Circular})
	if got := z.Shape(); !slices.Equal(got, []int{7, 9}) {
		t.Fatalf("STFT has shape %v, want [7 9]", got)
	}
	samples := values(t, x)
	for frame := range 9 {
		in := make([]complex128, n)
		for i := range in {
			in[i] = complex(samples[(frame*hop+i-n/2+40)%40]*window[i], 0)
		}
		got := numbers(t, fft.Complex{Re: z.Re.Select(1, frame), Im: z.Im.Select(1, frame)})
		check(t, fmt.Sprint("frame ", frame), got, dft(in, 1, n, 1, -1)[:7], 1e-14)
	}
}

// IDCT is the inverse of DCT, which is its sum of cosines.
func TestDCT(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 13, 40, 37} {
		for norm, factor := range map[fft.Norm]float64{fft.Backward: 1, fft.Ortho: math.Sqrt(0.5 / float64(n)), fft.Forward: 0.5 / float64(n)} {
			x := random(tensor.Float64, 2, n, 3)
			o := &fft.Options{Norm: norm}
			in := values(t, x)
			want := make([]complex128, len(in))
			for i := range want {
				b, k, a := i/(3*n), i/3%n, i%3
				for j := range n {
					want[i] += complex(2*factor*in[(b*n+j)*3+a]*math.Cos(math.Pi*float64(k*(2*j+1))/float64(2*n)), 0)
				}
				if norm == fft.Ortho && k == 0 {
					want[i] *= math.Sqrt2 / 2
				}
			}
			y := fft.DCT(x, 1, o)
			check(t, fmt.Sprintf("DCT of %d, norm %d", n, norm), toComplex(values(t, y)), want, 1e-14)
			check(t, fmt.Sprintf("IDCT of %d, norm %d", n, norm), toComplex(values(t, fft.IDCT(y, 1, o))), toComplex(in), 1e-14)
		}
	}
}
