package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// An epilogue is the program of a contraction after its sums: it computes results from the
// sums of a strip, and stores them. It runs on bands of the strip, some rows each, whose
// registers stay in the first-level cache.
type epilogue struct {
	program    *program
	sum        int     // the register of the sums
	out        *matrix // the result, if the epilogue is only a store, or nil
	rows, cols *tiling
	size       int // bytes of an element
	axis, band int // the axis that is cut into bands, -1 for none, and their length
}

// narrowBand is the number of rows of a band, at least, whose result is contiguous along
// the rows: they are whole cache lines there.
const narrowBand = 64

func newEpilogue(s *space, sum int, rows, cols *tiling) *epilogue {
	typ := s.Body[sum].Type
	e := &epilogue{rows: rows, cols: cols, size: typ.Size(), axis: -1}
	extent := s.extents(rows, cols)
	stores := s.Stores(0, false)
	if long := rows.longAxes(); len(long) > 0 {
		e.axis = long[0]
		inner := rows.maxPoints() / extent[e.axis]
		e.band = max(1, s.tune.maxBlock/(inner*cols.maxPoints()))
		if last := cols.longAxes(); len(last) > 0 && s.Body[stores[0]].View.Coef[last[len(last)-1]] > 1 {
			e.band = max(e.band, ir.CeilDiv(narrowBand, inner))
		}
		extent[e.axis] = min(extent[e.axis], e.band)
	}
	lanes := slices.Concat(rows.longAxes(), cols.longAxes())
	a := assemble(s, schedule{lanes: lanes, extent: extent, roots: stores, given: []int{sum}})
	e.program, e.sum = a.program, a.body[sum]
	if in := &s.Body[stores[0]]; len(e.program.ops) == 1 && in.Src[0] == sum && s.Args[in.Arg].DType == typ {
		e.out = newMatrix(a, in, rows, cols)
	}
	return e
}

// run computes and stores the strip at which an activation is, from its sums.
func (e *epilogue) run(f *activation, sums unsafe.Pointer) {
	if e.axis < 0 {
		f.reg[e.sum] = sums
		f.run()
		return
	}
	at, n := f.at[e.axis], f.n[e.axis]
	bytes := e.rows.size(f) / n * e.cols.size(f) * e.size
	for i := 0; i < n; i += e.band {
		f.moveTo(e.axis, at+i, min(e.band, n-i))
		f.reg[e.sum] = unsafe.Add(sums, i*bytes)
		f.run()
	}
}
