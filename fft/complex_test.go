package fft_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/tensor"
)

func TestComplex(t *testing.T) {
	z, w := randomComplex(tensor.Float64, 4, 1), randomComplex(tensor.Float64, 3)
	zs, ws := numbers(t, z), numbers(t, w)
	for name, c := range map[string]struct {
		got  fft.Complex
		want func(z, w complex128) complex128
	}{
		"Add": {z.Add(w), func(z, w complex128) complex128 { return z + w }},
		"Sub": {z.Sub(w), func(z, w complex128) complex128 { return z - w }},
		"Mul": {z.Mul(w), func(z, w complex128) complex128 { return z * w }},
		"Div": {z.Div(w), func(z, w complex128) complex128 { return z / w }},
	} {
		var want []complex128
		for _, x := range zs {
			for _, y := range ws {
				want = append(want, c.want(x, y))
			}
		}
		check(t, name, numbers(t, c.got), want, 1e-15)
	}
	real := func(f func(complex128) float64) func(complex128) complex128 {
		return func(z complex128) complex128 { return complex(f(z), 0) }
	}
	for name, c := range map[string]struct {
		got  fft.Complex
		want func(z complex128) complex128
	}{
		"Neg":       {z.Neg(), func(z complex128) complex128 { return -z }},
		"Conj":      {z.Conj(), cmplx.Conj},
		"Exp":       {z.Exp(), cmplx.Exp},
		"Scale":     {z.Scale(3), func(z complex128) complex128 { return 3 * z }},
		"Abs":       {fft.Real(z.Abs()), real(cmplx.Abs)},
		"AbsSquare": {fft.Real(z.AbsSquare()), real(square)},
		"Angle":     {fft.Real(z.Angle()), real(cmplx.Phase)},
		"Polar":     {fft.Polar(z.Abs(), z.Angle()), func(z complex128) complex128 { return z }},
	} {
		var want []complex128
		for _, x := range zs {
			want = append(want, c.want(x))
		}
		check(t, name, numbers(t, c.got), want, 1e-15)
	}
	// Squares of large and small numbers would leave the range of float32.
	for _, size := range []float64{1e30, 1e-30} {
		z := fft.Complex{Re: tensor.Full(3*size, 1), Im: tensor.Full(-4*size, 1)}
		check(t, "Div of extremes", numbers(t, z.Div(z)), []complex128{1}, 1e-6)
		check(t, "Abs of extremes", numbers(t, fft.Real(z.Abs())), []complex128{complex(5*size, 0)}, 1e-6)
	}
	if got := numbers(t, fft.Real(tensor.Ones(1)).Div(fft.Real(tensor.Zeros(1)))); !cmplx.IsNaN(got[0]) {
		t.Errorf("1/0 is %v, want NaN", got)
	}
}

// Transforms of 16 bits are rounded once; untyped constants take the type of a window or
// are float32; no examples give none.
func TestTypes(t *testing.T) {
	for d, unit := range map[tensor.DType]float64{tensor.Float16: 1.0 / 2048, tensor.BFloat16: 1.0 / 256} {
		z := randomComplex(tensor.Float32, 300)
		z = fft.Complex{Re: z.Re.Cast(d), Im: z.Im.Cast(d)}
		y := fft.FFT(z, 0, nil)
		if y.Re.DType() != d || y.Im.DType() != d {
			t.Errorf("FFT of %v has types %v and %v", d, y.Re.DType(), y.Im.DType())
		}
		want := dft(numbers(t, z), 1, 300, 1, -1)
		check(t, fmt.Sprint("FFT of ", d), numbers(t, y), want, unit)
		half := fft.RFFT(z.Re, 0, nil)
		back := fft.IRFFT(half, 0, nil)
		if half.Re.DType() != d || back.DType() != d {
			t.Errorf("RFFT and IRFFT of %v have types %v and %v", d, half.Re.DType(), back.DType())
		}
		check(t, fmt.Sprint("IRFFT of RFFT of ", d), numbers(t, fft.Real(back)), numbers(t, fft.Real(z.Re)), 2*unit)
	}
	check(t, "FFT of ones", numbers(t, fft.FFT(fft.Complex{Re: tensor.Ones(4), Im: tensor.Zeros(4)}, 0, nil)), []complex128{4, 0, 0, 0}, 0)
	for _, z := range []fft.Complex{
		{Re: tensor.Ones(4), Im: tensor.ZerosOf(tensor.Float64, 4)},
		{Re: tensor.OnesOf(tensor.Float64, 4), Im: tensor.Zeros(4)},
	} {
		if got := fft.FFT(z, 0, nil).Re.DType(); got != tensor.Float64 {
			t.Errorf("FFT of %v and %v has type %v, want float64", z.Re.DType(), z.Im.DType(), got)
		}
	}
	none := randomComplex(tensor.Float32, 0, 40)
	for name, shape := range map[string][]int{
		"[0 40]": fft.FFT(none, 1, nil).Shape(),
		"[0 21]": fft.RFFT(none.Re, 1, nil).Shape(),
		"[0 78]": fft.IRFFT(none, 1, nil).Shape(),
	} {
		if got := fmt.Sprint(shape); got != name {
			t.Errorf("a transform of no examples has shape %s, want %s", got, name)
		}
	}
	if got := fft.ISTFT(fft.STFT(none.Re, 8, nil), 8, nil).Shape(); fmt.Sprint(got) != "[0 40]" {
		t.Errorf("ISTFT of no examples has shape %v, want [0 40]", got)
	}
	if got := numbers(t, fft.FFT(none, 1, nil)); len(got) != 0 {
		t.Errorf("a transform of no examples has elements %v", got)
	}
}

func TestFrequencies(t *testing.T) {
	for _, c := range []struct {
		got  tensor.Tensor
		want []float64
	}{
		{fft.FFTFreq(1, 1), []float64{0}},
		{fft.FFTFreq(5, 0.5), []float64{0, 0.4, 0.8, -0.8, -0.4}},
		{fft.FFTFreq(4, 1), []float64{0, 0.25, -0.5, -0.25}},
		{fft.RFFTFreq(4, 0.1), []float64{0, 2.5, 5}},
		{fft.RFFTFreq(5, 1), []float64{0, 0.2, 0.4}},
		{fft.FFTShift(fft.FFTFreq(5, 0.2)), []float64{-2, -1, 0, 1, 2}},
		{fft.FFTShift(fft.FFTFreq(4, 0.25)), []float64{-2, -1, 0, 1}},
		{fft.IFFTShift(fft.FFTShift(tensor.Arange(5).Mul(tensor.Scalar(1)))), []float64{0, 1, 2, 3, 4}},
		{fft.FFTShift(tensor.From([][]float64{{1, 2}, {3, 4}, {5, 6}}), 0), []float64{5, 6, 1, 2, 3, 4}},
		{fft.FFTShift(tensor.From([][]float64{{1, 2}, {3, 4}, {5, 6}})), []float64{6, 5, 2, 1, 4, 3}},
		{fft.FFTShift(fft.Real(fft.FFTFreq(4, 0.25))).Re, []float64{-2, -1, 0, 1}},
	} {
		got := values(t, tensor.OnesOf(tensor.Float64, c.got.Shape()...).Mul(c.got))
		if len(got) != len(c.want) {
			t.Errorf("%v, want %v", got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("%v, want %v", got, c.want)
				break
			}
		}
	}
}
