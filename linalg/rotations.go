package linalg

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// rotations are plane rotations of rows of a matrix, which are recorded while a small
// problem is iterated, and applied many at a time.
type rotations struct {
	rows matrix // those that are rotated; no rows are for values alone
	list []rotation
}

// A rotation replaces rows i and j, x and y, by c·x + s·y and c·y - s·x.
type rotation struct {
	i, j int
	c, s float64
}

// The number of rotations and of columns that are applied at a time: a block of columns
// stays in the cache while all recorded rotations pass over its rows.
const (
	maxRotations = 1 << 15
	rotatedCols  = 128
)

// add records a rotation.
func (r *rotations) add(i, j int, c, s float64) {
	if r.rows.rows == 0 {
		return
	}
	if len(r.list) == maxRotations {
		r.apply()
	}
	r.list = append(r.list, rotation{i, j, c, s})
}

// apply applies the recorded rotations.
func (r *rotations) apply() {
	mul := simd.Binaries[ir.Mul][ir.Float64].VS
	add, sub := simd.Binaries[ir.Add][ir.Float64].VV, simd.Binaries[ir.Sub][ir.Float64].VV
	parallel(ir.CeilDiv(r.rows.cols, rotatedCols), 4*len(r.list)*r.rows.cols, func(block int) {
		from := block * rotatedCols
		n := min(rotatedCols, r.rows.cols-from)
		var memory [2][rotatedCols]float64
		u, v := unsafe.Pointer(&memory[0]), unsafe.Pointer(&memory[1])
		for i := range r.list {
			q := &r.list[i]
			c, s := unsafe.Pointer(&q.c), unsafe.Pointer(&q.s)
			x := unsafe.Pointer(&r.rows.data[q.i*r.rows.stride+from])
			y := unsafe.Pointer(&r.rows.data[q.j*r.rows.stride+from])
			mul(u, x, s, n)
			mul(v, y, s, n)
			mul(x, x, c, n)
			mul(y, y, c, n)
			add(x, x, v, n)
			sub(y, y, u, n)
		}
	})
	r.list = r.list[:0]
}
