package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
)

// gathersRows reports whether the innermost lanes of a Gather are a row of memory, at the
// same index.
func (l *load) gathersRows(w *loopNest) bool {
	if len(w.dims) < 2 || l.at < 0 || l.combine != nil || l.format != nil || len(w.active) > 0 {
		return false
	}
	inner := &w.dims[len(w.dims)-1]
	return inner.at == 0 && (inner.stride == 1 || inner.n == 1) && inner.n*l.size >= CacheLine
}

const (
	CacheLine = 64 // bytes
	// rowsAhead is the number of rows whose first lines are read before they are copied, so
	// that the memory looks for them at the same time.
	rowsAhead = 16
)

// gatherRows copies rows of n elements from the positions of an index, one for each
// position of a lane.
func (l *load) gatherRows(f *Activation, dst unsafe.Pointer, outer *nestAxis, n int) {
	w := &f.nest
	mem, index := f.Bind[l.arg].P, unsafe.Add(f.Reg[l.at], w.at*8)
	bytes := n * l.size
	copyRow := simd.Copies[1]
	from := func(i, v int) unsafe.Pointer { return unsafe.Add(mem, (w.pos+i*outer.stride+v*l.stride)*l.size) }
	var touched byte
	for i := range outer.n {
		if i%rowsAhead == 0 {
			for j := i; j < min(i+rowsAhead, outer.n); j++ {
				if v := *(*int64)(unsafe.Add(index, j*outer.at*8)); uint64(v) < uint64(l.limit) {
					row := from(j, int(v))
					touched ^= *(*byte)(row) ^ *(*byte)(unsafe.Add(row, min(2*CacheLine, bytes-1)))
				}
			}
		}
		to := unsafe.Add(dst, i*bytes)
		if v := *(*int64)(unsafe.Add(index, i*outer.at*8)); uint64(v) < uint64(l.limit) {
			copyRow(to, from(i, int(v)), bytes)
		} else {
			outer.i = i
			l.note(f, 0, v)
			outer.i = 0
			l.clear(to, n)
		}
	}
	w.touched = touched
}
