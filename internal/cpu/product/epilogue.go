package product

import (
	"math"
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
	addend     *matrix // an operand that the product adds to the sums, such as a bias, or nil
	out        *matrix // the result, if sums may stand there before the epilogue, or nil
	stored     bool    // the epilogue is only a store
	large      *matrix // the result, if it is larger than the second-level cache and not only stored, or nil
	rows, cols *vector.Tiling
	size       int // bytes of an element
	axis, band int // the axis that is cut into bands, -1 for none, and their length
}

// narrowBand is the number of rows of a band, at least, whose result is contiguous along
// the rows: they are whole cache lines there.
const narrowBand = 64

// newEpilogue returns the epilogue after instruction sum, to whose sums the product has added a load, -1 for none.
func newEpilogue(s *vector.Space, sum, load int, rows, cols *vector.Tiling) *epilogue {
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
	if load >= 0 {
		e.addend = newMatrix(a, &s.Body[load], rows, cols)
	}
	e.stored = len(e.program.Ops) == 1 && in.Src[0] == sum
	if s.Args[in.Arg].DType == typ && (e.stored || onlyReadsFewer(s, stores, sum)) {
		e.out = result
	}
	if !e.stored && loopnest.Points(s.Axes, in.Domain)*float64(result.size) > float64(4*s.Tune.Panel) {
		e.large = result
	}
	return e
}

// addend returns a load that only adds to instruction sum, and that addition, which then takes the place of the sum.
// Load is -1, and result is sum, if no load does.
func addend(s *vector.Space, sum int, rows, cols *vector.Tiling) (load, result int) {
	reader := -1
	for i := range s.Body {
		for _, x := range s.Body[i].Src {
			if x == sum && reader >= 0 {
				return -1, sum
			} else if x == sum {
				reader = i
			}
		}
	}
	if reader < 0 || s.Body[reader].Op != ir.Add || s.Body[reader].Type != s.Body[sum].Type || len(s.Limits) > 0 {
		return -1, sum
	}
	src := s.Body[reader].Src
	load = src[0] + src[1] - sum
	// All of it lies so, and not only a strip: the order of additions must not depend on the number of threads.
	whole := func(t *vector.Tiling) *vector.Tiling { return vector.NewTiling(s, t.Axes, math.MaxInt, math.MaxInt) }
	if x, y, ok := located(s, load, whole(rows), whole(cols)); !ok || x.runs > 1 || y.runs > 1 || y.step != 1 {
		return -1, sum
	}
	s.Body[reader].Domain |= s.Body[sum].Domain
	return load, reader
}

// beside returns the part of the addend for the strip at which an activation is, an empty panel without one.
func (e *epilogue) beside(f *vector.Activation) panel {
	if e.addend == nil {
		return panel{}
	}
	at, row, _, _ := e.addend.inPlace(f) // as all of it does, see addend
	return panel{at: at, row: row}
}

// onlyReadsFewer reports whether the one store reads, beside instruction sum, only buffers of fewer elements than the
// result: none of them is the result's memory, which an operand has only if the kernel reads it where it stores.
func onlyReadsFewer(s *vector.Space, stores []int, sum int) bool {
	result := loopnest.Points(s.Axes, s.Body[stores[0]].Domain)
	need := s.Needs(stores, []int{sum})
	for i := range s.Body {
		if in := &s.Body[i]; need[i] && in.Op != ir.Store && in.View != nil && loopnest.Points(s.Axes, in.Domain) >= result {
			return false
		}
	}
	return len(stores) == 1
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
