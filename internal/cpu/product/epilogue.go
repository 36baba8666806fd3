package product

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// An epilogue is the program of a contraction after its sums: it computes results from the
// sums of a strip, and stores them. It runs on bands of the strip, some rows each, whose
// registers stay in the first-level cache.
type epilogue struct {
	program    *vector.Program
	sum        int     // the register of the sums
	out        *matrix // the result, if the epilogue is only a store, or nil
	large      *matrix // the result, if it is larger than the second-level cache, or nil
	rows, cols *vector.Tiling
	size       int // bytes of an element
	axis, band int // the axis that is cut into bands, -1 for none, and their length
}

// narrowBand is the number of rows of a band, at least, whose result is contiguous along
// the rows: they are whole cache lines there.
const narrowBand = 64

func newEpilogue(s *vector.Space, sum int, rows, cols *vector.Tiling) *epilogue {
	typ := s.Body[sum].Type
	e := &epilogue{rows: rows, cols: cols, size: typ.Size(), axis: -1}
	extent := s.Extents(rows, cols)
	stores := s.Stores(0, false)
	if long := rows.LongAxes(); len(long) > 0 {
		e.axis = long[0]
		inner := rows.MaxPoints() / extent[e.axis]
		e.band = max(1, s.Tune.MaxBlock/(inner*cols.MaxPoints()))
		if last := cols.LongAxes(); len(last) > 0 && s.Body[stores[0]].View.Coef[last[len(last)-1]] > 1 {
			e.band = max(e.band, ir.CeilDiv(narrowBand, inner))
		}
		extent[e.axis] = min(extent[e.axis], e.band)
	}
	lanes := slices.Concat(rows.LongAxes(), cols.LongAxes())
	a := vector.Assemble(s, vector.Schedule{Lanes: lanes, Extent: extent, Roots: stores, Given: []int{sum}})
	e.program, e.sum = a.Program, a.Body[sum]
	in := &s.Body[stores[0]]
	result := newMatrix(a, in, rows, cols)
	if len(e.program.Ops) == 1 && in.Src[0] == sum && s.Args[in.Arg].DType == typ {
		e.out = result
	} else if loopnest.Points(s.Axes, in.Domain)*float64(result.size) > float64(4*s.Tune.Panel) {
		e.large = result
	}
	return e
}

// run computes and stores the strip at which an activation is, from its sums.
func (e *epilogue) run(f *vector.Activation, sums unsafe.Pointer) {
	b := e.begin(f, sums)
	b.upTo(e.rows.Size(f))
}

// bands is the bands of a strip whose results an epilogue computes one by one, as their sums are complete.
type bands struct {
	*epilogue
	result    *vector.Activation
	sums      unsafe.Pointer
	first, at int // along the axis, the strip's first position and the next one
	n         int // positions along the axis
	inner     int // rows of a position
}

// begin returns the bands of the strip at which an activation is, from its sums.
func (e *epilogue) begin(f *vector.Activation, sums unsafe.Pointer) bands {
	b := bands{epilogue: e, result: f, sums: sums, n: 1, inner: e.rows.Size(f)}
	if e.axis >= 0 {
		b.first, b.n = f.At[e.axis], f.N[e.axis]
		b.inner /= b.n
	}
	return b
}

// upTo computes and stores the bands whose rows are all among the first rows.
func (b *bands) upTo(rows int) {
	for b.at < b.n {
		n := min(max(1, b.band), b.n-b.at)
		if (b.at+n)*b.inner > rows {
			return
		}
		if b.axis >= 0 {
			b.result.MoveTo(b.axis, b.first+b.at, n)
		}
		b.result.Reg[b.sum] = unsafe.Add(b.sums, b.at*b.inner*b.cols.Size(b.result)*b.size)
		b.result.Run()
		b.at += n
	}
}
