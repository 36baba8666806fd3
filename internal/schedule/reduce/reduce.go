// Package reduce schedules kernels that reduce along axes.
package reduce

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/ir"
)

// A reduction kernel is scheduled in one of these forms. A row is the points
// along the reduced axes at one position of the parallel ones; its length is
// cols.
//
//   - Short and middling rows: along threads, a power of two, share a row, and
//     a workgroup has several rows. A thread holds its elements in registers
//     from one reduction to the next.
//   - Streamed rows: a subgroup for each, where it goes once over rows of some length.
//   - Long rows: a workgroup for each, which sweeps over the row once for each
//     level of reductions and once to store. Sums of exponentials of a softmax are
//     of the level of the maximum.
//   - Across: where neighbours in memory are different rows, threads lie along
//     the rows, and each sweeps over its part of a row.
//   - Tall: few such rows, of a few thousand points. A large workgroup has a sector of
//     them, so that one pass is enough.
//   - Segmented: few rows, too few to keep the device busy, are cut into
//     segments whose results further passes combine, level by level.
type reduction struct {
	*build.Builder
	parallel, reduced []int // the innermost in memory is the last
	rows, cols        int
	level             []int // of each instruction, see loopnest.Levels
	levels            int
	shared            int              // levels before these whose reductions all rows share
	online            *loopnest.Online // nil: no sums are at the level of their maximum
	across            bool
	tall              bool
	along             int  // threads of a row
	group             int  // rows of a workgroup
	vec4              bool // lanes are vectors of four
	vec8              bool // and of eight
	lanes             int  // points that a thread has in registers at once
	hold              bool // these are all points of the thread
	segment           int  // points of a segment, if rows are segmented
	segments          int
	separate          bool // each thread of a row stores a partial result, as if it had a segment
	scratch           int  // the scratch buffer of a segmented kernel
	results           []scratchResult
	within            loopnest.Bounds // of the points that are needed
}

// Compile adds the passes of a kernel with reductions.
func Compile(c *build.Builder) {
	r := &reduction{Builder: c, parallel: c.Nest.List(ir.Parallel), reduced: c.Nest.List(ir.Reduced)}
	r.rows, r.cols = c.Nest.Size(r.parallel), c.Nest.Size(r.reduced)
	r.within = c.PointsWithin()
	r.level, r.shared = c.SharedLevels(c.Target.Threads())
	r.levels = slices.Max(r.level)
	if r.choose(); r.shared > 0 && (r.hold || !c.Target.Traits().Concurrent || r.levels > 1 || r.segments > 1 || r.separate) { // each row computes them
		r.level, r.shared = loopnest.Levels(c.Nest.Body), 0
		if r.levels = slices.Max(r.level); !r.hold {
			r.choose()
		}
	}
	if r.segments > 1 || r.separate {
		r.segmented()
	} else {
		r.whole()
	}
	c.Report()
}

// choose decides on the form.
func (r *reduction) choose() {
	r.vec8 = false
	r.orient()
	traits := r.Target.Traits()
	most := traits.HeldLanes
	threads := r.Target.Threads()
	unit := 1
	if r.vec4 {
		unit = 4
	}
	if large := build.FloorPow2(min(traits.RowThreads, r.Target.MaxThreads)); r.cols > most*threads && r.cols <= most*large && r.visits() > 1 && !r.across {
		threads = large // so that a row is read once
	}
	if r.tall = r.isTall(); r.tall {
		threads = traits.RowThreads
	}
	for n := r.RegisterBytes(); threads*n > r.Target.SharedBytes; {
		threads /= 2
	}
	switch {
	case !traits.Concurrent:
		r.along = 1
		usual := r.Target.Threads()
		if r.separate = 2*r.rows <= usual && r.cols >= usual*traits.PassSteps; r.separate {
			threads = usual / 2
			r.along, r.across = threads, false
		}
	case r.tall:
		r.along = threads / sector
	case r.across:
		r.along = 1
		for r.rows*r.along < r.Target.Busy() && r.along*line < threads && batch*r.along < r.cols {
			r.along *= 2
		}
	case r.streams():
		r.along = r.Target.Subgroup()
		for 8*r.rows*r.along < 3*r.Target.Busy() && r.along < threads {
			r.along *= 2
		}
	default:
		r.along = min(threads, build.CeilPow2(ir.CeilDiv(r.cols, most)))
		for r.rows*r.along < r.Target.Busy() && r.along < threads && 2*r.along*unit <= r.cols {
			r.along *= 2
		}
	}
	r.lanes = ir.CeilDiv(max(r.cols, 1), r.along*unit) * unit
	held := most
	if r.shared > 0 { // a row that its threads hold is read once
		held = streamed
	}
	if r.hold = r.lanes <= held && r.lanes*len(r.Nest.Body) <= maxStatements; !r.hold {
		r.lanes = batch
		if r.vec4 && most*len(r.Nest.Body) <= registers && r.cols >= 2*most*r.along {
			r.lanes = most
		}
		if r.streams() {
			for r.lanes = streamed; r.lanes > most && r.cols%(r.along*r.lanes) != 0; {
				r.lanes /= 2
			}
			r.vec8 = r.cols%(r.along*r.lanes) == 0 && r.loadsEights() // no rest by fours
		}
	}
	if r.hold && r.shared > 0 && len(r.within) == 0 { // other rows may need fewer vectors of four
		r.vec8 = r.lanes%8 == 0 && r.cols == r.along*r.lanes && r.loadsEights()
	}
	r.group = threads / r.along
	if r.cut(); r.segments == 1 && !r.separate && !r.hold {
		r.findOnline()
	}
}

// orient decides whether threads lie along or across the rows, so that neighbouring
// threads access neighbouring elements.
func (r *reduction) orient() {
	near := make([]float64, len(r.Nest.Axes))
	for i := range r.Nest.Body {
		in := &r.Nest.Body[i]
		if in.Op != ir.Load && in.Op != ir.Store {
			continue
		}
		points := loopnest.Points(r.Nest.Axes, in.Domain)
		for a, c := range in.View.Coef {
			if c != 0 {
				near[a] += points / float64(build.Abs(c))
			}
		}
	}
	last := func(axes []int) float64 {
		if len(axes) == 0 {
			return 0
		}
		return near[axes[len(axes)-1]]
	}
	r.across = last(r.parallel) > last(r.reduced)
	r.vec4 = !r.across && r.loadsFours()
}

const (
	sector, line  = 8, 32 // words of memory that are read at once, and that lie in a line of a cache
	batch         = 4     // least points that a thread loads at once, where there are so many
	registers     = 192   // of a thread for its points
	maxStatements = 1000  // for the points that a thread holds
)

// streamed is the number of elements of a row that a thread loads at once where rows stream: enough loads are
// under way while less than half of the usual threads run.
const streamed = 32

// streams reports whether there are some rows, which are swept once, as in a product of a matrix and a vector.
// Then the threads of a subgroup suffice for a row: they need no barrier, and each loads more at once.
func (r *reduction) streams() bool {
	sub := r.Target.Subgroup()
	return r.vec4 && r.visits() == 1 && r.matrices() > 0 && r.rows >= r.Target.Units && sub <= r.Target.Threads() && r.cols >= 2*r.Target.Traits().HeldLanes*sub
}

// matrices is the number of loads that read another element at each point.
func (r *reduction) matrices() (n int) {
	for i := range r.Nest.Body {
		if r.isMatrix(i) {
			n++
		}
	}
	return n
}

// isMatrix reports whether an instruction loads another element at each point.
func (r *reduction) isMatrix(i int) bool {
	in := &r.Nest.Body[i]
	return in.Op == ir.Load && in.Domain == ir.Axes(append(slices.Clone(r.parallel), r.reduced...)...)
}

// isTall reports whether the reduction takes the form for tall rows: a workgroup for each compute unit has a sector
// of all rows, which lie across in some lines, each row has points for all threads and no more than they could
// hold, and one matrix is read, once.
func (r *reduction) isTall() bool {
	traits := r.Target.Traits()
	threads := traits.RowThreads
	if !r.across || !traits.Concurrent || r.Target.MaxThreads < threads {
		return false
	}
	if r.rows < 2*line || r.rows > sector*r.Target.Units || r.cols < threads || r.cols > traits.HeldLanes*threads || r.visits() > 1 {
		return false
	}
	return r.matrices() == 1
}

// visits is the number of times that a sweep would go over a row.
func (r *reduction) visits() int {
	n := r.levels
	if len(r.Nest.Stores(r.Nest.Roles(ir.Reduced), true)) > 0 {
		n++
	}
	return n
}

// cut decides whether rows are cut into segments: where they leave half of the device idle, a thread takes more steps
// than last as long as the pass that combines the segments, and a compute unit alone would read for longer.
func (r *reduction) cut() {
	step, busy := r.along*r.lanes, r.Target.Busy()
	r.segments = 1
	switch {
	case r.tall:
		return
	case r.separate:
		r.segments = max(1, min(busy/(r.rows*r.along), r.cols/(2*step)))
	case 2*r.rows*r.along > busy || r.cols < step*r.Target.Traits().PassSteps ||
		!r.Target.Machine.IsWorthLaunch(r.rows*r.cols*ir.Float32.Size()*r.Target.Units):
		return
	default:
		r.segments = min(2*busy/(r.rows*r.along), r.cols/(2*step))
	}
	r.hold = false
	r.segment = ir.CeilDiv(ir.CeilDiv(r.cols, r.segments), step) * step
	r.segments = ir.CeilDiv(r.cols, r.segment)
}

// loadsEights reports whether loads read eight neighbouring halves along the rows.
func (r *reduction) loadsEights() bool {
	inner := r.reduced[len(r.reduced)-1]
	return r.Nest.Axes[inner].Len%8 == 0 && slices.ContainsFunc(r.Nest.Body, func(in ir.Instr) bool {
		return in.Op == ir.Load && r.Nest.Args[in.Arg].DType.IsHalf() && r.StepsBy(8, &in, inner)
	})
}

// loadsFours reports whether a load reads four neighbours along the rows.
func (r *reduction) loadsFours() bool {
	if !r.Fours(r.reduced) {
		return false
	}
	inner := r.reduced[len(r.reduced)-1]
	return slices.ContainsFunc(r.Nest.Body, func(in ir.Instr) bool {
		return in.Op == ir.Load && r.StepsBy(4, &in, inner)
	})
}
