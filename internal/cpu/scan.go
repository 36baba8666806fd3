package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A scanRunner runs the routine Scan. Rows that are work for several cores are cut into
// parts: each part is combined first, then the totals of the parts are scanned, and then
// each part is scanned from there (reduce, then scan).
type scanRunner struct {
	reductionShape
	space         *space
	keep          *tiling // of kept points
	chunk         *tiling // of reduced points
	parts         int     // of the reduced points
	chunksPerPart int
	totals        *program // combines the points of a part
	scan          *program
	acc           int // register of the accumulators in both
	work          int
}

// A scan is the part of an op that combines each element with all before it along lanes.
type scan struct {
	routine     simd.Scanner
	combine     simd.Binary
	columnMajor bool
	lanes       int // index of the set of reduced lanes
	acc         int // register of the accumulators
}

func newScan(s *space) *scanRunner {
	at := len(s.Body) - 1
	kept, reduced := s.List(ir.Parallel), s.List(ir.Reduced)
	r := &scanRunner{space: s, reductionShape: reductionShape{kept: kept, reduced: reduced, nk: s.Size(kept), nr: s.Size(reduced)}}
	r.columnMajor = s.prefersInnermost(s.Loads(at), kept, reduced)
	most := s.tune.maxBlock
	if s.Body[s.Body[at].Src[0]].Op == ir.Load {
		most = s.tune.longBlock(r.nk * r.nr)
	}
	if r.columnMajor {
		r.keep = newTiling(s, kept, s.tune.minBlock, most)
		rows := max(8, most/max(1, r.keep.maxPoints()))
		r.chunk = newTiling(s, reduced, rows, rows)
	} else {
		r.chunk = newTiling(s, reduced, s.tune.minBlock, most)
		points := max(1, r.chunk.maxPoints())
		r.keep = newTiling(s, kept, s.tune.minBlock/points, max(1, s.tune.maxBlock/points))
	}
	r.parts, r.chunksPerPart = 1, r.chunk.count
	if n := r.keep.count; n > 0 && n < 16 {
		r.parts, r.chunksPerPart = split(r.chunk, min(32/n, r.nk*r.nr/(2*s.tune.parallelThreshold)))
	}
	lanes := slices.Concat(r.keep.longAxes(), r.chunk.longAxes())
	if r.columnMajor {
		lanes = slices.Concat(r.chunk.longAxes(), r.keep.longAxes())
	}
	p := schedule{lanes: lanes, extent: s.extents(r.keep, r.chunk), columnMajor: r.columnMajor, roots: []int{at}}
	r.scan, r.acc = assembleScan(s, p, true)
	r.totals, _ = assembleScan(s, p, false)
	r.work = s.work([]int{at})
	return r
}

// assembleScan returns a program, which stores the results or only combines them, and the register
// of its accumulators.
func assembleScan(s *space, p schedule, stores bool) (program *program, acc int) {
	p.emitters = map[int]emitter{p.roots[0]: func(a *assembler, i int) (y int) {
		y, acc = emitScan(a, i, stores)
		return y
	}}
	return assemble(s, p).program, acc
}

// emitScan emits a Scan and, if it is wanted, the store of its result.
func emitScan(a *assembler, i int, stores bool) (y, acc int) {
	in := &a.space.Body[i]
	x := a.widen(a.body[in.Src[0]], in.Domain)
	r := &scan{
		routine:     simd.Scanners[in.Kind][in.Type],
		combine:     simd.Binaries[in.Kind][in.Type].VV,
		columnMajor: a.columnMajor,
		lanes:       a.setIndex(a.space.Roles(ir.Reduced) & ir.Axes(a.schedule.lanes...)),
		acc:         a.newRegister(in.Type, 0, -1),
	}
	y = a.emit(op{do: r.run, src: [4]int{x, -1, -1, -1}}, in.Type, in.Domain)
	if stores {
		a.storeTo(in, y)
	}
	return y, r.acc
}

// run scans a block of rows, or of columns.
func (r *scan) run(f *activation, s *op) {
	dst, n := f.out(s), f.count[s.set]
	if n == 0 {
		return
	}
	acc, x, along := f.reg[r.acc], f.reg[s.src[0]], f.count[r.lanes]
	if !r.columnMajor {
		r.routine(dst, acc, x, n/along, along)
		return
	}
	size, last := n/along*s.size, acc
	for i := range along {
		to := unsafe.Add(dst, i*size)
		r.combine(to, last, unsafe.Add(x, i*size), n/along)
		last = to
	}
	simd.Copies[1](acc, last, size)
}

func (r *scanRunner) run(x *executor) error {
	in := &r.space.Body[len(r.space.Body)-1]
	size, tasks := in.Type.Size(), r.keep.count*r.parts
	x.shared = grow(x.shared, r.parts*r.nk*size)
	mem := base(x.shared)
	var start [8]byte
	put(unsafe.Pointer(&start), in.Type, ir.Identity(in.Kind, in.Type))
	simd.Fill(mem, unsafe.Pointer(&start), size, r.parts*r.nk)
	if r.parts > 1 {
		if err := x.do(scanJob{r, r.totals, 1}, tasks-r.keep.count, r.work); err != nil {
			return err
		}
		combine := simd.Binaries[in.Kind][in.Type].VV
		for p := 1; p < r.parts; p++ {
			to := unsafe.Add(mem, p*r.nk*size)
			combine(to, unsafe.Add(mem, (p-1)*r.nk*size), to, r.nk)
		}
	}
	return x.do(scanJob{r, r.scan, 0}, tasks, r.work)
}

// A scanJob scans one part of one box of kept points per task. Part p starts with
// accumulators p or, in the job that combines the parts, adds to accumulators p+1.
type scanJob struct {
	*scanRunner
	program *program
	to      int
}

func (j scanJob) begin(x *executor, w *worker) { w.enter(x, j.program) }

func (j scanJob) task(x *executor, w *worker, i int) {
	f := &w.activations[0]
	box, part := i%j.keep.count, i/j.keep.count
	start := j.keep.moveTo(f, box)
	f.reg[j.acc] = unsafe.Add(base(x.shared), ((part+j.to)*j.nk+start)*j.space.Body[len(j.space.Body)-1].Type.Size())
	for c := part * j.chunksPerPart; c < min((part+1)*j.chunksPerPart, j.chunk.count); c++ {
		j.chunk.moveTo(f, c)
		f.run()
	}
}
