package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Packing copies factors to the form that a product's tile reads: elements of 4 bytes, some for each group
// of numbers at successive positions of the depth. Zeros fill the last group.
type Packing struct {
	Group    int // numbers in a group
	Elements int // of a group
	// Left copies rows of the left factor, and Right rows of the right one; of FixedProduct it is nil.
	Left, Right Packer
}

// A Packer copies rows by cols numbers, ld apart. It returns the distance of rows of the
// copy.
type Packer func(dst, src unsafe.Pointer, rows, cols, ld int) (ldDst int)

func (p *Packing) groups(k int) int { return ir.CeilDiv(k, p.Group) * p.Elements }

// Bytes is the memory for a copy of depth k: of n rows of the left factor, or n columns of the
// right one, which may have one more row.
func (p *Packing) Bytes(k, n int) int { return (p.groups(k) + 1) * n * 4 }

// pairs returns the packing in pairs of int16. widen converts int8 to int16, and interleave
// makes pairs of the numbers of two rows.
func pairs(widen Unary, interleave Binary) *Packing {
	p := &Packing{Group: 2, Elements: 1}
	p.Left = func(dst, a unsafe.Pointer, m, k, lda int) int {
		groups := p.groups(k)
		for i := range m {
			row := unsafe.Add(dst, i*groups*4)
			widen(row, unsafe.Add(a, i*lda), k)
			clear(vec[int16](row, groups*2)[k:])
		}
		return groups
	}
	p.Right = func(dst, b unsafe.Pointer, k, n, ldb int) int {
		for ; k >= 2; k -= 2 {
			interleave(dst, b, unsafe.Add(b, ldb), n)
			dst, b = unsafe.Add(dst, n*4), unsafe.Add(b, 2*ldb)
		}
		lastGroup[int16](dst, b, k, n, ldb)
		return n
	}
	return p
}

// fours returns the packing in groups of four, for a tile whose left numbers have no sign:
// they are a + 128. The row after the last one of the right factor is -128·Σ b, which the
// tile adds. A tile has cols columns.
func fours(cols int, tile ProductTile, interleave Quaternary) *Packing {
	p := &Packing{Group: 4, Elements: 1}
	flip := [4]uint8{128, 128, 128, 128}
	p.Left = func(dst, a unsafe.Pointer, m, k, lda int) int {
		groups := p.groups(k)
		for i := range m {
			row := unsafe.Add(dst, i*groups*4)
			Binaries[ir.Xor][ir.Uint8].VS(row, unsafe.Add(a, i*lda), unsafe.Pointer(&flip), k)
			clear(vec[uint8](row, groups*4)[k:])
		}
		return groups
	}
	p.Right = func(dst, b unsafe.Pointer, k, n, ldb int) int {
		groups, first := p.groups(k), dst
		for ; k >= 4; k -= 4 {
			interleave(dst, b, unsafe.Add(b, ldb), unsafe.Add(b, 2*ldb), unsafe.Add(b, 3*ldb), n)
			dst, b = unsafe.Add(dst, n*4), unsafe.Add(b, 4*ldb)
		}
		lastGroup[int8](dst, b, k, n, ldb)
		sums := unsafe.Add(first, groups*n*4)
		clear(vec[int32](sums, n))
		for j := 0; j < n; j += cols {
			tile(unsafe.Add(sums, j*4), unsafe.Pointer(&flip), unsafe.Add(first, j*4), 1, min(cols, n-j), groups, n, 0, 0, n, nil, 0, 0, 0)
		}
		Unaries[ir.Neg][ir.Int32](sums, sums, n)
		return n
	}
	return p
}

// lastGroup packs the last k rows of a right factor, fewer than a group. T is the type of the
// packed numbers.
func lastGroup[T int8 | int16](dst, b unsafe.Pointer, k, n, ldb int) {
	if k == 0 {
		return
	}
	group := int(4 / unsafe.Sizeof(*new(T)))
	d := vec[T](dst, n*group)
	clear(d)
	for r := range k {
		for j, v := range vec[int8](unsafe.Add(b, r*ldb), n) {
			d[j*group+r] = T(v)
		}
	}
}
