package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestWinograd compares each transform with its twin in Go, and the whole with sums of windows, exactly: of small integers.
func TestWinograd(t *testing.T) {
	if Winograd.Input == nil {
		t.Skip("no transforms")
	}
	pointer := func(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
	for n := 1; n <= 70; n++ {
		row, column, plane := 4*n+rand.IntN(5), n+rand.IntN(2), n+rand.IntN(3)
		x, w := smallIntegers[float32](t, 3*row+3*column+n), smallIntegers[float32](t, 9*n)
		for i := range w {
			w[i] *= 4
		}
		image, weights := slices.Clone(x), slices.Clone(w)
		transform := func(name string, f, twin WinogradTransform, from []float32, elements, row, column int) []float32 {
			to, want := smallIntegers[float32](t, elements), make([]float32, elements)
			f(pointer(to), pointer(from), n, plane, row, column)
			copy(want, to)
			twin(pointer(want), pointer(from), n, plane, row, column)
			if !slices.Equal(to, want) {
				t.Fatalf("%s of %d:\n%v\nwant\n%v", name, n, to, want)
			}
			return to
		}
		v := transform("input", Winograd.Input, winogradInput, x, 15*plane+n, row, column)
		u := transform("weights", Winograd.Weights, winogradWeights, w, 15*plane+n, 3*n, n)
		for i := range v {
			v[i] *= u[i]
		}
		y := transform("output", Winograd.Output, winogradOutput, v, 4*n, 2*n, n)
		for i := range y {
			want := float32(0)
			for k := range 9 {
				want += weights[k*n+i%n] * image[(i/(2*n)+k/3)*row+(i/n%2+k%3)*column+i%n]
			}
			if y[i] != want {
				t.Fatalf("n %d: result %d is %v, want %v", n, i, y[i], want)
			}
		}
	}
}
