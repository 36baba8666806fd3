package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestDot compares sums of products with the definition, for small integers, whose sums are
// exact.
func TestDot(t *testing.T) {
	testDot[float32](t, ir.Float32)
	testDot[float64](t, ir.Float64)
}

func testDot[T float](t *testing.T, d ir.DType) {
	sets := [][2]int{{2, 1000}, {1, 5000}, {1000, 3}, {23, 100}, {0, 5}, {5, 0}}
	for n := range 4*4*64/d.Size() + 2 {
		sets = append(sets, [2]int{1, n}, [2]int{2, n}, [2]int{n % 19, n}, [2]int{n, n % 19})
	}
	for _, set := range sets {
		rows, n := set[0], set[1]
		for _, ldy := range []int{0, n, n + 3} {
			x, y := smallIntegers[T](t, rows*n), smallIntegers[T](t, max(0, rows-1)*ldy+n)
			checkSums(t, rows, func(acc unsafe.Pointer) {
				Dots[d].Along(acc, unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), rows, n, ldy)
			}, func(r, i int) float64 { return float64(x[r*n+i] * y[r*ldy+i]) }, n)
		}
		x, y := smallIntegers[T](t, rows*n), smallIntegers[T](t, rows)
		checkSums(t, n, func(acc unsafe.Pointer) {
			Dots[d].Across(acc, unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), rows, n)
		}, func(i, r int) float64 { return float64(x[r*n+i] * y[r]) }, rows)
	}
}

// smallIntegers returns n elements that end where a page does that may not be read.
func smallIntegers[T float](t *testing.T, n int) []T {
	v := endOfPage[T](t, n)
	for i := range v {
		v[i] = T(rand.IntN(9) - 4)
	}
	return v
}

// checkSums adds products to n accumulators, each the sum of term(i, 0), …, term(i, terms-1).
// The numbers before them stay as they are.
func checkSums(t *testing.T, n int, add func(acc unsafe.Pointer), term func(i, j int) float64, terms int) {
	t.Helper()
	const before = 4
	acc := smallIntegers[float64](t, before+n)
	want := slices.Clone(acc)
	for i := range n {
		for j := range terms {
			want[before+i] += term(i, j)
		}
	}
	add(unsafe.Add(unsafe.Pointer(&acc[0]), before*8))
	if !slices.Equal(acc, want) {
		t.Fatalf("%d sums of %d products:\n%v\nwant\n%v", n, terms, acc, want)
	}
}

// A number that is not finite reaches the sums that it is in, and no others.
func TestDotOfSpecialValues(t *testing.T) {
	const rows, n = 9, 37
	x, y := make([]float32, rows*n), make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	for i := range y {
		y[i] = 2
	}
	x[4*n+36] = float32(math.NaN())
	along, across := make([]float64, rows), make([]float64, n)
	Dots[ir.Float32].Along(unsafe.Pointer(&along[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), rows, n, 0)
	Dots[ir.Float32].Across(unsafe.Pointer(&across[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), rows, n)
	for i, v := range along {
		if math.IsNaN(v) != (i == 4) {
			t.Errorf("row %d: %v", i, v)
		}
	}
	for i, v := range across {
		if math.IsNaN(v) != (i == 36) {
			t.Errorf("column %d: %v", i, v)
		}
	}
}
