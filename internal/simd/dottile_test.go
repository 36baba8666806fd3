package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestDotTiles compares products of every number of rows, at many depths, with the definition.
func TestDotTiles(t *testing.T) {
	testDotTile(t, ir.Float32, func(x float32) float32 { return x })
	testDotTile(t, ir.Float64, func(x float64) float64 { return x })
	testDotTile(t, ir.Float16, ir.ToF16)
	testDotTile(t, ir.BFloat16, ir.ToBF16)
}

// testDotTile multiplies small integers, whose sums are exact. The factors and the result end
// where a page does that may not be read, and begin at any element. The elements before the result
// and between its rows stay as they are.
func testDotTile[W any, T float](t *testing.T, d ir.DType, narrow func(T) W) {
	for m := 1; m <= DotTiles[d].Rows; m++ {
		for n := range 10 {
			for k := range 70 {
				const before = 16
				add, ldc, lda, ldb := rand.IntN(2), n+rand.IntN(3), k*rand.IntN(2)+rand.IntN(3), k*rand.IntN(2)+rand.IntN(3)
				a, b, c := smallIntegers[T](t, (m-1)*lda+k), endOfPage[W](t, max(0, n-1)*ldb+k), smallIntegers[T](t, before+(m-1)*ldc+n)
				numbers := make([]T, len(b))
				for i := range b {
					numbers[i] = T(rand.IntN(9) - 4)
					b[i] = narrow(numbers[i])
				}
				want := slices.Clone(c)
				for i := range m {
					for j := range n {
						x := &want[before+i*ldc+j]
						*x *= T(add)
						for p := range k {
							*x += a[i*lda+p] * numbers[j*ldb+p]
						}
					}
				}
				DotTiles[d].Dots(unsafe.Add(unsafe.Pointer(&c[0]), before*unsafe.Sizeof(c[0])), unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), m, n, k, ldc, lda, ldb, add)
				if !slices.Equal(c, want) {
					t.Fatalf("%v, %d × %d × %d, add %d, strides %d, %d, %d:\n%v\nwant\n%v", d, m, n, k, add, ldc, lda, ldb, c, want)
				}
			}
		}
	}
}

// TestDotTilesOfPairs is TestDotTiles for pairs of bfloat16.
func TestDotTilesOfPairs(t *testing.T) {
	tile := DotTiles[ir.Int32]
	if tile.Dots == nil {
		t.Skip("the level has none")
	}
	numbers := func(n int) []ir.BF16 {
		x := endOfPage[ir.BF16](t, n)
		for i := range x {
			x[i] = ir.ToBF16(float32(rand.IntN(9) - 4))
		}
		return x
	}
	for m := 1; m <= tile.Rows; m++ {
		for n := range 10 {
			for k := range 40 {
				add, ldc, lda, ldb := rand.IntN(2), n+rand.IntN(3), k*rand.IntN(2)+rand.IntN(3), k*rand.IntN(2)+rand.IntN(3)
				a, b, c := numbers(2*((m-1)*lda+k)), numbers(2*(max(0, n-1)*ldb+k)), smallIntegers[float32](t, (m-1)*ldc+n)
				want := slices.Clone(c)
				for i := range m {
					for j := range n {
						x := &want[i*ldc+j]
						*x *= float32(add)
						for p := range 2 * k {
							*x += a[2*i*lda+p].Float32() * b[2*j*ldb+p].Float32()
						}
					}
				}
				tile.Dots(unsafe.Pointer(unsafe.SliceData(c)), unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), m, n, k, ldc, lda, ldb, add)
				if !slices.Equal(c, want) {
					t.Fatalf("%d × %d × %d, add %d, strides %d, %d, %d:\n%v\nwant\n%v", m, n, k, add, ldc, lda, ldb, c, want)
				}
			}
		}
	}
}

// Every half is multiplied as the number that it is, at each place of a vector.
func TestDotTilesOfHalves(t *testing.T) {
	const k = 37
	for _, d := range []ir.DType{ir.Float16, ir.BFloat16} {
		wide := make([]float32, 1<<16)
		all := make([]uint16, 1<<16)
		for i := range all {
			all[i] = uint16(i)
		}
		Casts[d][ir.Float32](unsafe.Pointer(&wide[0]), unsafe.Pointer(&all[0]), len(all))
		x := make([]float32, k)
		for i, w := range wide {
			var b [k]uint16
			var c float32
			at := i % k
			clear(x)
			x[at], b[at] = 1, uint16(i)
			DotTiles[d].Dots(unsafe.Pointer(&c), unsafe.Pointer(&x[0]), unsafe.Pointer(&b[0]), 1, 1, k, 1, k, k, 0)
			if c != w && !math.IsNaN(float64(c)) || math.IsNaN(float64(c)) != math.IsNaN(float64(w)) {
				t.Fatalf("%v %#x at %d: %v, want %v", d, i, at, c, w)
			}
		}
	}
}
