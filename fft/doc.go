// Package fft provides complex numbers as pairs of tensors, discrete Fourier transforms, and
// tools for sound: short-time transforms, windows, mel filters and cosine transforms. Read
// fft.go first, then dft.go.
//
// # Complex numbers
//
// [Complex] is a tree of two tensors, so that derivatives, batches, devices and files treat
// it as any tree. [tree.Map] applies a function to both parts, such as one that reshapes.
//
// # Transforms
//
// [FFT] and [IFFT] transform complex numbers along an axis, [RFFT] and [IRFFT] real ones;
// names with a 2 transform the last two axes. [Options] give lengths other than the axis
// has, and the scale. Any length is fast: products by matrices of at most 128 rows and
// Cooley and Tukey's algorithm, for lengths with larger prime factors Bluestein's. The
// relative error grows as the logarithm of the length. float16 and bfloat16 are computed in
// float32.
//
// Transforms are linear compositions of operations of package tensor: they run on all
// devices and have derivatives of all orders, in both modes.
//
// # Sound
//
// [STFT] and [ISTFT] follow PyTorch's conventions, and [MelFilters] torchaudio's; with Slaney's
// scale and norm it follows librosa's. The coefficients called MFCC are
//
//	mel := fft.MelSpectrogram(x, 400, 40, 16000, &fft.STFTOptions{Window: fft.Hann(400, fft.Periodic)}, nil)
//	db := mel.Maximum(1e-10).Log10().Mul(10)
//	mfcc := fft.DCT(db, -2, &fft.Options{Norm: fft.Ortho}).Slice(-2, 0, 13)
package fft
