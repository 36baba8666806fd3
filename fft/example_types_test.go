package fft_test

import (
	"fmt"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

// A complex transform and its inverse, along axis 0.
func ExampleFFT() {
	z := fft.Real(tensor.New([]float32{1, 0, 0, 0}))
	y := fft.FFT(z, 0, nil)
	fmt.Printf("%.2f %.2f\n", y.Re, y.Im.Abs())
	fmt.Printf("%.2f\n", fft.IFFT(y, 0, nil).Re.Abs())
	// Output:
	// [1.00 1.00 1.00 1.00] [0.00 0.00 0.00 0.00]
	// [1.00 0.00 0.00 0.00]
}

// The frequencies of a transform, and the same with 0 in the middle.
func ExampleFFTFreq() {
	f := fft.FFTFreq(6, 1)
	fmt.Printf("%.2f\n", f)
	fmt.Printf("%.2f\n", fft.FFTShift(f))
	// Output:
	// [0.00 0.17 0.33 -0.50 -0.33 -0.17]
	// [-0.50 -0.33 -0.17 0.00 0.17 0.33]
}

// A blur of an image is a product of transforms of two axes.
func ExampleFFT2() {
	image := fft.Real(tensor.Eye(3))
	blur := fft.Real(tensor.New([]float32{1, 0, 0, 1, 0, 0, 1, 0, 0}, 3, 3).Div(3))
	y := fft.IFFT2(fft.FFT2(image, nil).Mul(fft.FFT2(blur, nil)), nil)
	fmt.Printf("%.2f\n", y.Re)
	fmt.Println(fft.RFFT2(image.Re, nil).Shape())
	// Output:
	// [[0.33 0.33 0.33]
	//  [0.33 0.33 0.33]
	//  [0.33 0.33 0.33]]
	// [3 2]
}

// With Ortho a transform keeps the sum of squares.
func ExampleNorm() {
	x := tensor.New([]float32{3, 4})
	for _, n := range []fft.Norm{fft.Backward, fft.Ortho} {
		fmt.Printf("%.3f\n", fft.RFFT(x, 0, &fft.Options{Norm: n}).AbsSquare().Sum())
	}
	// Output:
	// 50.000
	// 25.000
}

// Options.N pads with zeros, or cuts.
func ExampleOptions() {
	x := tensor.New([]float32{1, 2})
	fmt.Println(fft.RFFT(x, 0, &fft.Options{N: []int{8}}).Shape())
	fmt.Printf("%.3f\n", fft.DCT(x, 0, &fft.Options{Norm: fft.Ortho}))
	// Output:
	// [5]
	// [2.121 -0.707]
}

// Frames of 4 samples, 2 apart, and the sound that they came from.
func ExampleSTFT() {
	x := tensor.New([]float32{1, 2, 3, 4, 4, 3, 2, 1})
	o := &fft.STFTOptions{Hop: 2, Window: fft.Hamming(4, fft.Periodic)}
	z := fft.STFT(x, 4, o)
	fmt.Println(z.Shape())
	fmt.Printf("%.1f\n", fft.ISTFT(z, 4, o))
	fmt.Println(fft.Spectrogram(x, 4, o).Shape())
	// Output:
	// [3 5]
	// [1.0 2.0 3.0 4.0 4.0 3.0 2.0 1.0]
	// [3 5]
}

// Windows for transforms are periodic, windows for filters symmetric.
func ExampleSymmetry() {
	for _, s := range []fft.Symmetry{fft.Periodic, fft.Symmetric} {
		fmt.Printf("%.2f %.2f\n", fft.Hann(4, s), fft.Kaiser(4, 5, s))
	}
	// Output:
	// [0.00 0.50 1.00 0.50] [0.04 0.55 1.00 0.55]
	// [0.00 0.75 0.75 0.00] [0.04 0.78 0.78 0.04]
}

// The two scales of mel filters differ: here by the frequencies that the last filters pass.
func ExampleMelScale() {
	for _, scale := range []fft.MelScale{fft.HTK, fft.Slaney} {
		f := fft.MelFilters(400, 40, 16000, &fft.MelOptions{Scale: scale})
		fmt.Println(f.Shape(), f.Gt(0).Cast(tensor.Int32).Sum(1).Reshape(-1).Slice(0, 34, 40))
	}
	// Output:
	// [40 201] [19 20 21 22 24 25]
	// [40 201] [19 21 23 24 26 28]
}
