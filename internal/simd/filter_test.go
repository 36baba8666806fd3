package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestFilters compares sums of windows of each length with the definition.
func TestFilters(t *testing.T) {
	testFilter[float32](t, ir.Float32)
	testFilter[float64](t, ir.Float64)
}

// testFilter adds small integers, whose sums are exact. All memory ends where a page does that may
// not be read.
func testFilter[T float](t *testing.T, d ir.DType) {
	f := Filters[d]
	for n := 1; n <= f.Cols; n++ {
		for _, k := range []int{0, 1, 2, 3, 9, 25} {
			add, before, reach := rand.IntN(2), 16, 40
			at := make([]int, k+1)
			for p := range at {
				at[p] = rand.IntN(reach)
			}
			at[k/2] = reach
			a, w, c := smallIntegers[T](t, reach+n), smallIntegers[T](t, k+1)[1:], smallIntegers[T](t, before+n)
			want := slices.Clone(c)
			for j := range n {
				x := &want[before+j]
				*x *= T(add)
				for p := range k {
					*x += w[p] * a[at[p]+j]
				}
			}
			f.Tile(unsafe.Pointer(&c[before]), unsafe.Pointer(&a[0]), unsafe.Pointer(unsafe.SliceData(w)), unsafe.Pointer(&at[0]), n, k, add)
			if !slices.Equal(c, want) {
				t.Fatalf("%v, %d windows of %d, add %d:\n%v\nwant\n%v", d, n, k, add, c, want)
			}
		}
	}
}

// TestFilterAcross compares sums of windows of planes with the definition.
func TestFilterAcross(t *testing.T) {
	f := Filters[ir.Float32]
	if f.Across == nil {
		t.Skip("no routine")
	}
	for n := 1; n <= 3*f.Places; n++ {
		for _, k := range []int{1, 2, 9, 25} {
			step, apart, reach := f.Lanes*(1+rand.IntN(3)), f.Lanes-1+rand.IntN(3), 40*f.Lanes
			at := make([]int, k)
			for p := range at {
				at[p] = rand.IntN(40) * f.Lanes
			}
			at[k/2] = reach
			a, w, c := smallIntegers[float32](t, reach+(n-1)*step+f.Lanes), smallIntegers[float32](t, k*f.Lanes), smallIntegers[float32](t, n*apart+f.Lanes)
			want := slices.Clone(c)
			for j := range n { // positions may overlap
				for l := range f.Lanes {
					want[j*apart+l] = 0
					for p := range k {
						want[j*apart+l] += w[p*f.Lanes+l] * a[at[p]+j*step+l]
					}
				}
			}
			f.ApplyAcross(unsafe.Pointer(&c[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&at[0]), n, k, step*4, apart*4)
			if !slices.Equal(c, want) {
				t.Fatalf("%d positions of %d taps:\n%v\nwant\n%v", n, k, c, want)
			}
		}
	}
}
