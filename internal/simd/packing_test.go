package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestPacking multiplies packed factors of int8, which end where a page does that may not be
// read.
func TestPacking(t *testing.T) {
	p := Products[ir.Int8]
	if p.Tile == nil {
		t.Skip("level ", Level, " has no products of int8")
	}
	for k := range 40 {
		for _, m := range []int{1, 2, p.Rows - 1, p.Rows} {
			for _, n := range []int{1, 3, p.Cols/2 - 1, p.Cols / 2, p.Cols/2 + 1, p.Cols - 1, p.Cols, p.Cols + 1, 2*p.Cols + 3} {
				testPacking(t, &p, m, n, k, rand.IntN(2), func() int8 { return int8(rand.IntN(256)) })
			}
		}
	}
	for _, x := range []int8{-128, 127} {
		testPacking(t, &p, p.Rows, p.Cols, 1000, 0, func() int8 { return x })
	}
}

func testPacking(t *testing.T, p *Product, m, n, k, add int, value func() int8) {
	t.Helper()
	values := func(n int) []int8 {
		v := endOfPage[int8](t, n)
		for i := range v {
			v[i] = value()
		}
		return v
	}
	lda, ldb, ldc := k+rand.IntN(3), n+rand.IntN(3), n+rand.IntN(3)
	a, b := values(max(0, (m-1)*lda+k)), values(max(0, (k-1)*ldb+n))
	c := endOfPage[int32](t, (m-1)*ldc+n)
	for i := range c {
		c[i] = rand.Int32()
	}
	want := slices.Clone(c)
	for i := range m {
		for j := range n {
			x := &want[i*ldc+j]
			if add == 0 {
				*x = 0
			}
			for p := range k {
				*x += int32(a[i*lda+p]) * int32(b[p*ldb+j])
			}
		}
	}
	left, right := endOfPage[byte](t, p.Packing.Bytes(k, m)), endOfPage[byte](t, p.Packing.Bytes(k, n))
	p.Packing.Left(unsafe.Pointer(&left[0]), unsafe.Pointer(unsafe.SliceData(a)), m, k, lda)
	p.Packing.Right(unsafe.Pointer(&right[0]), unsafe.Pointer(unsafe.SliceData(b)), k, n, ldb)
	depth := p.Depth(k)
	for j := 0; j < n; j += p.Cols {
		p.Tile(unsafe.Pointer(&c[j]), unsafe.Pointer(&left[0]), unsafe.Pointer(&right[j*4]), m, min(p.Cols, n-j), depth, ldc, depth, 1, n, addend(&c[j], add), ldc*4, 0, 0)
	}
	if !slices.Equal(c, want) {
		t.Fatalf("product of int8, %d × %d × %d, add %d, strides %d, %d, %d:\n%v\nwant\n%v", m, n, k, add, lda, ldb, ldc, c, want)
	}
}
