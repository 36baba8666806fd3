package fft_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// values returns the elements of x.
func values(t testing.TB, x tensor.Tensor) []float64 {
	t.Helper()
	if x.DType() == tensor.Float64 {
		v, err := tensor.Data[float64](x)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v, err := tensor.Data[float32](x.Cast(tensor.Float32))
	if err != nil {
		t.Fatal(err)
	}
	wide := make([]float64, len(v))
	for i, e := range v {
		wide[i] = float64(e)
	}
	return wide
}

// numbers returns the elements of z.
func numbers(t testing.TB, z fft.Complex) []complex128 {
	t.Helper()
	re, im := values(t, z.Re), values(t, z.Im)
	out := make([]complex128, len(re))
	for i := range out {
		out[i] = complex(re[i], im[i])
	}
	return out
}

// random returns normally distributed numbers, which float32 has exactly.
func random(d tensor.DType, shape ...int) tensor.Tensor {
	n := 1
	for _, l := range shape {
		n *= l
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return tensor.New(x, shape...).Cast(d)
}

func randomComplex(d tensor.DType, shape ...int) fft.Complex {
	both := random(d, append([]int{2}, shape...)...)
	return fft.Complex{Re: both.At(0), Im: both.At(1)}
}

// dft is the definition of a transform of x, [before n after], along its second axis. Powers
// of the root are taken modulo n, so that it is accurate.
func dft(x []complex128, before, n, after, sign int) []complex128 {
	roots := make([]complex128, n)
	for i := range roots {
		roots[i] = cmplx.Rect(1, float64(sign)*2*math.Pi*float64(i)/float64(n))
	}
	y := make([]complex128, len(x))
	for b := range before {
		for a := range after {
			at := func(i int) int { return (b*n+i)*after + a }
			for k := range n {
				for j := range n {
					y[at(k)] += x[at(j)] * roots[j*k%n]
				}
			}
		}
	}
	return y
}

// check compares numbers by the root mean square of differences, relative to want's.
func check(t testing.TB, what string, got, want []complex128, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	var difference, size float64
	for i := range got {
		difference += square(got[i] - want[i])
		size += square(want[i])
	}
	if !(difference <= tolerance*tolerance*size) {
		t.Errorf("%s: relative error %.2g, want at most %.2g", what, math.Sqrt(difference/size), tolerance)
	}
}

func square(z complex128) float64 { return real(z)*real(z) + imag(z)*imag(z) }

func toComplex(x []float64) []complex128 {
	z := make([]complex128, len(x))
	for i, v := range x {
		z[i] = complex(v, 0)
	}
	return z
}

// tolerance is the bound on the relative error of a transform of n elements.
func tolerance(d tensor.DType, n int) float64 {
	unit := map[tensor.DType]float64{tensor.Float32: 1e-7, tensor.Float64: 2e-16}[d]
	return unit * (1 + math.Log2(float64(n)))
}

func lengths() []int {
	ns := []int{96, 127, 128, 131, 243, 257, 262, 360, 400, 512, 1000, 1009, 1024, 2018, 2401, 4093, 4096, 15 << 6}
	for n := 1; n <= 70; n++ {
		ns = append(ns, n)
	}
	return ns
}

func TestDefinition(t *testing.T) {
	for _, n := range lengths() {
		if testing.Short() && n > 1100 {
			continue
		}
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			if testing.Short() && n > 100 && d == tensor.Float64 {
				continue
			}
			z := randomComplex(d, n)
			in := numbers(t, z)
			want := dft(in, 1, n, 1, -1)
			name := fmt.Sprintf("of %d %v", n, d)
			tol := tolerance(d, n)
			y := fft.FFT(z, 0, nil)
			check(t, "FFT "+name, numbers(t, y), want, tol)
			check(t, "IFFT of FFT "+name, numbers(t, fft.IFFT(y, 0, nil)), in, 2*tol)

			x := values(t, z.Re)
			half := fft.RFFT(z.Re, 0, nil)
			want = dft(toComplex(x), 1, n, 1, -1)[:n/2+1]
			check(t, "RFFT "+name, numbers(t, half), want, tol)
			back := fft.IRFFT(half, 0, &fft.Options{N: []int{n}})
			check(t, "IRFFT of RFFT "+name, toComplex(values(t, back)), toComplex(x), 2*tol)
		}
	}
}

// Transforms along each axis, with a longer and a shorter length and each norm.
func TestAxes(t *testing.T) {
	norms := map[fft.Norm][2]float64{fft.Backward: {0, -1}, fft.Ortho: {-.5, -.5}, fft.Forward: {-1, 0}}
	for _, shape := range [][]int{{5}, {3, 36}, {36, 3}, {2, 40, 3}, {2, 3, 4, 1}} {
		for axis := range shape {
			for _, change := range []int{0, 3, -2} {
				n := shape[axis] + change
				if n < 1 {
					continue
				}
				for norm, powers := range norms {
					z := randomComplex(tensor.Float32, shape...)
					in, before, after := fitted(numbers(t, z), shape, axis, n)
					o := &fft.Options{N: []int{n}, Norm: norm}
					name := fmt.Sprintf("%v along %d of %d, norm %d", shape, axis-len(shape), n, norm)
					for i, f := range []func(fft.Complex, int, *fft.Options) fft.Complex{fft.FFT, fft.IFFT} {
						want := dft(in, before, n, after, 2*i-1)
						scale(want, math.Pow(float64(n), powers[i]))
						check(t, fmt.Sprint("transform ", i, name), numbers(t, f(z, axis-len(shape), o)), want, tolerance(tensor.Float32, n))
					}
					x, _, _ := fitted(toComplex(values(t, z.Re)), shape, axis, n)
					want := dft(x, before, n, after, -1)
					scale(want, math.Pow(float64(n), powers[0]))
					half := fft.RFFT(z.Re, axis, o)
					want, _, _ = fitted(want, with(shape, axis, n), axis, n/2+1)
					check(t, "RFFT of "+name, numbers(t, half), want, tolerance(tensor.Float32, n))
					check(t, "IRFFT of "+name, toComplex(values(t, fft.IRFFT(half, axis, o))), x, 2*tolerance(tensor.Float32, n))
				}
			}
		}
	}
}

func with(shape []int, axis, n int) []int {
	s := slices.Clone(shape)
	s[axis] = n
	return s
}

// fitted cuts or pads x of a shape to n elements along an axis.
func fitted(x []complex128, shape []int, axis, n int) (y []complex128, before, after int) {
	before, after = 1, 1
	for _, l := range shape[:axis] {
		before *= l
	}
	for _, l := range shape[axis+1:] {
		after *= l
	}
	y = make([]complex128, before*n*after)
	for b := range before {
		for i := range min(n, shape[axis]) {
			copy(y[(b*n+i)*after:][:after], x[(b*shape[axis]+i)*after:][:after])
		}
	}
	return y, before, after
}

func scale(z []complex128, f float64) {
	for i := range z {
		z[i] *= complex(f, 0)
	}
}

func TestTwo(t *testing.T) {
	for _, s := range [][3]int{{1, 4, 6}, {2, 9, 5}, {3, 40, 33}} {
		z := randomComplex(tensor.Float32, s[:]...)
		tol := tolerance(tensor.Float32, s[1]*s[2])
		two := func(x []complex128, sign int) []complex128 {
			return dft(dft(x, s[0]*s[1], s[2], 1, sign), s[0], s[1], s[2], sign)
		}
		check(t, fmt.Sprint("FFT2 of ", s), numbers(t, fft.FFT2(z, nil)), two(numbers(t, z), -1), tol)
		inverse := two(numbers(t, z), 1)
		scale(inverse, 1/float64(s[1]*s[2]))
		check(t, fmt.Sprint("IFFT2 of ", s), numbers(t, fft.IFFT2(z, nil)), inverse, tol)

		half := fft.RFFT2(z.Re, nil)
		want, _, _ := fitted(two(toComplex(values(t, z.Re)), -1), s[:], 2, s[2]/2+1)
		check(t, fmt.Sprint("RFFT2 of ", s), numbers(t, half), want, tol)
		back := fft.IRFFT2(half, &fft.Options{N: []int{s[1], s[2]}})
		check(t, fmt.Sprint("IRFFT2 of ", s), toComplex(values(t, back)), toComplex(values(t, z.Re)), 2*tol)
	}
	z := randomComplex(tensor.Float64, 5, 7)
	o := &fft.Options{N: []int{6, 3}, Norm: fft.Ortho}
	y := fft.FFT2(z, o)
	if got := fmt.Sprint(y.Shape()); got != "[6 3]" {
		t.Errorf("FFT2 of [5 7] with N %v is %s", o.N, got)
	}
	check(t, "IFFT2 of FFT2, cut and padded", numbers(t, fft.IFFT2(y, &fft.Options{Norm: fft.Ortho})),
		numbers(t, fft.Complex{Re: z.Re.Pad(0, 0, 1).Slice(1, 0, 3), Im: z.Im.Pad(0, 0, 1).Slice(1, 0, 3)}), 1e-14)
}

// Parseval's theorem, that transforms are linear, and that long ones are as accurate as
// those that TestDefinition computes.
func TestProperties(t *testing.T) {
	for _, n := range []int{33, 1 << 14, 3 * 5 * 7 * 11 * 13, 65537, 1 << 20} {
		if testing.Short() && n > 1<<15 {
			continue
		}
		z, w := randomComplex(tensor.Float32, n), randomComplex(tensor.Float32, n).Conj()
		tol := tolerance(tensor.Float32, n)
		y := fft.FFT(z, 0, &fft.Options{Norm: fft.Ortho})
		before, after := sum(z), sum(y)
		if math.Abs(before-after) > tol*before {
			t.Errorf("%d elements: the squares of the transform's sum to %g, want %g", n, after, before)
		}
		exact := fft.FFT(tree.Cast(z, tensor.Float64), 0, &fft.Options{Norm: fft.Ortho})
		check(t, fmt.Sprintf("FFT of %d in float32", n), numbers(t, y), numbers(t, exact), tol)
		u := fft.Complex{Re: tensor.Full(0.6, 1), Im: tensor.Full(-0.8, 1)}
		left := fft.FFT(z.Mul(u).Add(w), 0, nil)
		right := fft.FFT(z, 0, nil).Mul(u).Add(fft.FFT(w, 0, nil))
		check(t, fmt.Sprintf("the transform of a sum of %d elements", n), numbers(t, left), numbers(t, right), 2*tol)
	}
}

func sum(z fft.Complex) float64 { return z.AbsSquare().Cast(tensor.Float64).Sum().Item() }
