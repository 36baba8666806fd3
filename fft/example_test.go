package fft_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

func Example() {
	x := tensor.New([]float32{1, 2, 3, 4})
	z := fft.RFFT(x, 0, nil)
	fmt.Println(z.Re, z.Im)
	fmt.Println(fft.RFFTFreq(4, 0.5), fft.IRFFT(z, 0, nil))
	// Output:
	// [10 -2 -2] [0 2 0]
	// [0.0 0.5 1.0] [1 2 3 4]
}

// A WAV file to a log-mel spectrogram, [channels mels frames], as models of speech take it.
func ExampleMelSpectrogram() {
	const rate = 16000
	tone := tensor.Arange(rate).Add(tensor.Scalar(0)).Mul(2 * math.Pi * 440 / rate).Sin()
	var file bytes.Buffer
	if err := wav.Encode(&file, tone, rate, nil); err != nil {
		panic(err)
	}

	x, hz, err := wav.Decode(&file) // or wav.Load("speech.wav")
	if err != nil {
		panic(err)
	}
	frames := &fft.STFTOptions{Hop: hz / 100, Window: fft.Hann(400, fft.Periodic)} // 10 ms, 25 ms
	mel := fft.MelSpectrogram(x, 400, 80, float64(hz), frames, &fft.MelOptions{Scale: fft.Slaney, Normalized: true})
	log := mel.Maximum(1e-10).Log10()
	fmt.Println(log.Shape(), "the tone is in filter", log.Select(-1, 50).ArgMax(-1))
	// Output: [1 80 101] the tone is in filter [11]
}

// A filter is learned in the frequency domain: the gradient is complex as the parameter is.
func ExampleComplex() {
	type Filter struct{ Response fft.Complex }
	x := tensor.New([]float32{1, 0, 0, 0})
	loss := func(f Filter) tensor.Tensor {
		y := fft.IRFFT(fft.RFFT(x, 0, nil).Mul(f.Response), 0, nil)
		return y.Sub(tensor.New([]float32{0, 1, 0, 0})).Square().Sum()
	}
	f := Filter{fft.Complex{Re: tensor.New([]float32{1, 1, 1}), Im: tensor.New([]float32{0, 0, 0})}}
	g := grad.Of(loss)(f)
	fmt.Println(g.Response.Re, g.Response.Im)
	// Output: [0 1 1] [0 1 0]
}
