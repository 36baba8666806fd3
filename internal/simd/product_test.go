package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestProduct compares tiles of every size, at several depths, with the definition.
func TestProduct(t *testing.T) {
	testProduct[int32](t, ir.Int32)
	testProduct[uint32](t, ir.Uint32)
	testProduct[int64](t, ir.Int64)
	testProduct[float32](t, ir.Float32)
	testProduct[float64](t, ir.Float64)
}

func testProduct[T number](t *testing.T, d ir.DType) {
	p := Products[d]
	for m := 1; m <= min(p.Rows, 20); m++ {
		for n := 1; n <= min(p.Cols, 40); n++ {
			for _, k := range []int{0, 1, 2, 3, 5, 8, rand.IntN(40)} {
				if testing.Short() && (m+n+k)%3 != 0 {
					continue
				}
				for _, add := range []int{0, 1 + rand.IntN(3)} {
					testTile[T](t, p.Tile, m, n, k, add)
				}
			}
		}
	}
}

// TestPairProduct compares a product of pairs of bfloat16 with the sum of products in float32, which are exact.
func TestPairProduct(t *testing.T) {
	p := Products[ir.BFloat16]
	if p.Tile == nil {
		t.Skip("the level has none")
	}
	for m := 1; m <= p.Rows; m++ {
		for _, n := range []int{1, 5, 16, 17, p.Cols} {
			for k := range 6 {
				a, b, c := make([]ir.BF16, 2*m*k), make([]ir.BF16, 2*n*k), make([]float32, m*n)
				for _, x := range [][]ir.BF16{a, b} {
					for i := range x {
						x[i] = ir.ToBF16(float32(rand.IntN(9) - 4))
					}
				}
				p.Tile(unsafe.Pointer(unsafe.SliceData(c)), unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), m, n, k, n, k, 1, n, nil, 0, 0, 0)
				for i := range m {
					for j := range n {
						var want float32
						for d := range 2 * k {
							want += a[2*i*k+d].Float32() * b[2*(d/2*n+j)+d%2].Float32()
						}
						if got := c[i*n+j]; got != want {
							t.Fatalf("%d rows, %d columns, depth %d: element %d,%d is %v, want %v", m, n, k, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// TestProductDepths computes some tiles at every depth up to 40.
func TestProductDepths(t *testing.T) {
	testProductDepths[float32](t, ir.Float32)
	testProductDepths[float64](t, ir.Float64)
}

func testProductDepths[T number](t *testing.T, d ir.DType) {
	p := Products[d]
	for k := range 41 {
		for _, m := range []int{1, 2, 5, p.Rows - 1, p.Rows} {
			for _, n := range []int{1, 3, p.Cols/2 - 1, p.Cols / 2, p.Cols/2 + 1, p.Cols - 1, p.Cols} {
				m, n := min(m, 20), min(n, 40)
				testTile[T](t, p.Tile, m, n, k, 0)
				testTile[T](t, p.Tile, m, n, k, 1)
			}
		}
	}
}

// addend is the elements from c on, or nil if add is 0.
func addend[T number](c *T, add int) unsafe.Pointer {
	if add == 0 {
		return nil
	}
	return unsafe.Pointer(c)
}

func testTile[T number](t *testing.T, tile ProductTile, m, n, k, add int) {
	t.Helper()
	testProductOf[T](t, tile, m, n, k, add)
}

// testProductOf multiplies small integers, whose sums are exact. The factors and the result
// end where a page does that may not be read, and begin at any element. The elements before
// the result and between its rows stay as they are.
func testProductOf[T number](t *testing.T, tile ProductTile, m, n, k, add int) {
	t.Helper()
	// A factor may be flipped, or the same along an axis.
	flip := func(stride int) int { return stride * []int{1, 1, 1, 1, 0, -1}[rand.IntN(6)] }
	ldc, ldb, lda, sa := n+rand.IntN(3), flip(n+rand.IntN(3)), flip(k+rand.IntN(3)), 1
	if rand.IntN(2) == 0 {
		lda, sa = flip(1+rand.IntN(2)), flip(2*m+rand.IntN(3))
	}
	// span returns the position of the first element of a matrix, and its length in memory.
	span := func(rows, ld, cols, s int) (first, length int) {
		i, j := max(0, rows-1)*ld, max(0, cols-1)*s
		first = -min(0, i) - min(0, j)
		return first, first + max(0, i) + max(0, j) + 1
	}
	firstA, lenA := span(m, lda, k, sa)
	firstB, lenB := span(k, ldb, n, 1)
	values := func(n int) []T {
		v := endOfPage[T](t, n)
		for i := range v {
			v[i] = T(rand.IntN(9))
		}
		return v
	}
	const before = 16
	a, b := values(lenA), values(lenB)
	c := values(before + (m-1)*ldc + n)
	want := slices.Clone(c)
	// The addend is c, or another matrix, or a row.
	sums, sum, step := addend(&c[before], add), c[before:], ldc
	if step = []int{ldc, n + rand.IntN(3), 0}[rand.IntN(3)]; add != 0 && step != ldc {
		sum = values((m-1)*step + n)
		sums = unsafe.Pointer(&sum[0])
	}
	for i := range m {
		for j := range n {
			x := &want[before+i*ldc+j]
			if *x = 0; add != 0 {
				*x = sum[i*step+j]
			}
			for p := range k {
				*x += a[firstA+i*lda+p*sa] * b[firstB+p*ldb+j]
			}
		}
	}
	tile(unsafe.Pointer(&c[before]), unsafe.Pointer(&a[firstA]), unsafe.Pointer(&b[firstB]), m, n, k, ldc, lda, sa, ldb, sums, step*int(unsafe.Sizeof(c[0])), rand.Int(), 1+rand.IntN(128))
	if !slices.Equal(c, want) {
		t.Fatalf("product of %T, %d × %d × %d, add %d, strides %d, %d, %d, %d:\n%v\nwant\n%v", a, m, n, k, add, ldc, lda, sa, ldb, c, want)
	}
}

// TestIndexedProduct compares tiles of every size, whose columns are at random positions that
// may coincide, with tiles of a copy of the columns: the bits are the same.
func TestIndexedProduct(t *testing.T) {
	testIndexedProduct[int32](t, ir.Int32)
	testIndexedProduct[float32](t, ir.Float32)
	testIndexedProduct[float64](t, ir.Float64)
}

func testIndexedProduct[T number](t *testing.T, d ir.DType) {
	p := Products[d]
	for m := 1; m <= min(p.Rows, 20); m++ {
		for n := 1; n <= min(p.Cols, 40); n++ {
			for _, k := range []int{0, 1, 2, 5, rand.IntN(40)} {
				add, ldc, ldb := rand.IntN(2), n+rand.IntN(3), n+rand.IntN(3)
				lda := []int{-1, 1, 2, 7}[rand.IntN(4)]
				reach, first := max(lda, -lda)*(m-1)+1, max(0, -lda*(m-1))
				a, at := endOfPage[T](t, reach+k), endOfPage[int](t, k)
				for i := range a {
					a[i] = T(rand.Float64() * 9)
				}
				column := make([]T, m*k)
				for q := range at {
					at[q] = first + rand.IntN(k+1)
					for i := range m {
						column[i*k+q] = a[i*lda+at[q]]
					}
				}
				b, c := endOfPage[T](t, max(0, (k-1)*ldb+n)), endOfPage[T](t, (m-1)*ldc+n)
				for i := range b {
					b[i] = T(rand.Float64() * 9)
				}
				for i := range c {
					c[i] = T(rand.Float64() * 9)
				}
				want, size := slices.Clone(c), int(unsafe.Sizeof(c[0]))
				start := func(x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
				p.Tile(start(want), start(column), start(b), m, n, k, ldc, k, 1, ldb, addend(&want[0], add), ldc*size, 0, 0)
				p.Indexed(start(c), start(a), start(b), m, n, k, ldc, lda, unsafe.Pointer(unsafe.SliceData(at)), ldb, addend(&c[0], add), ldc*size, rand.Int(), 1+rand.IntN(128))
				if !slices.Equal(c, want) {
					t.Fatalf("product of %T, %d × %d × %d, add %d, strides %d, %d, %d, columns %v:\n%v\nwant\n%v", a, m, n, k, add, ldc, lda, ldb, at, c, want)
				}
			}
		}
	}
}

// Elements that are not finite reach the elements of their row or column, and no others.
func TestProductOfSpecialValues(t *testing.T) {
	p := Products[ir.Float32]
	m, n, k := min(p.Rows, 14), min(p.Cols, 32), 9
	a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	for i := range a {
		a[i] = 1
	}
	for i := range b {
		b[i] = 2
	}
	row, col := m/2, n-1
	a[row*k+3] = float32(math.NaN())
	b[4*n+col] = float32(math.Inf(1))
	p.Tile(unsafe.Pointer(&c[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), m, n, k, n, k, 1, n, nil, 0, 0, 0)
	for i := range m {
		for j := range n {
			x := float64(c[i*n+j])
			switch {
			case i == row:
				if !math.IsNaN(x) {
					t.Errorf("element %d, %d = %v, want NaN", i, j, x)
				}
			case j == col:
				if !math.IsInf(x, 1) {
					t.Errorf("element %d, %d = %v, want +Inf", i, j, x)
				}
			case x != 18:
				t.Errorf("element %d, %d = %v, want 18", i, j, x)
			}
		}
	}
}
