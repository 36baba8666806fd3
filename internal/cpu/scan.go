package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A scanRunner runs the routine Scan. Rows that are work for several cores are cut into
// parts: each part is combined first, then the totals of the parts are scanned, and then
// each part is scanned from there (reduce, then scan).
type scanRunner struct {
	reductionShape
	space         *vector.Space
	keep          *vector.Tiling // of kept points
	chunk         *vector.Tiling // of reduced points
	parts         int            // of the reduced points
	chunksPerPart int
	totals        *vector.Program // combines the points of a part
	scan          *vector.Program
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

func newScan(s *vector.Space) *scanRunner {
	at := len(s.Body) - 1
	kept, reduced := s.List(ir.Parallel), s.List(ir.Reduced)
	r := &scanRunner{space: s, reductionShape: reductionShape{kept: kept, reduced: reduced, nk: s.Size(kept), nr: s.Size(reduced)}}
	r.columnMajor = s.PrefersInnermost(s.Loads(at), kept, reduced)
	most := s.Tune.MaxBlock
	if s.Body[s.Body[at].Src[0]].Op == ir.Load {
		most = s.Tune.LongBlock(r.nk * r.nr)
	}
	if r.columnMajor {
		r.keep = vector.NewTiling(s, kept, s.Tune.MinBlock, most)
		rows := max(8, most/max(1, r.keep.MaxPoints()))
		r.chunk = vector.NewTiling(s, reduced, rows, rows)
	} else {
		r.chunk = vector.NewTiling(s, reduced, s.Tune.MinBlock, most)
		points := max(1, r.chunk.MaxPoints())
		r.keep = vector.NewTiling(s, kept, s.Tune.MinBlock/points, max(1, s.Tune.MaxBlock/points))
	}
	r.parts, r.chunksPerPart = 1, r.chunk.Count
	if n := r.keep.Count; n > 0 && n < 16 {
		r.parts, r.chunksPerPart = vector.Split(r.chunk, min(32/n, r.nk*r.nr/(2*s.Tune.ParallelThreshold)))
	}
	lanes := slices.Concat(r.keep.LongAxes(), r.chunk.LongAxes())
	if r.columnMajor {
		lanes = slices.Concat(r.chunk.LongAxes(), r.keep.LongAxes())
	}
	p := vector.Schedule{Lanes: lanes, Extent: s.Extents(r.keep, r.chunk), ColumnMajor: r.columnMajor, Roots: []int{at}}
	r.scan, r.acc = assembleScan(s, p, true)
	r.totals, _ = assembleScan(s, p, false)
	r.work = s.Work([]int{at})
	return r
}

// assembleScan returns a program, which stores the results or only combines them, and the register
// of its accumulators.
func assembleScan(s *vector.Space, p vector.Schedule, stores bool) (program *vector.Program, acc int) {
	p.Emitters = map[int]vector.Emitter{p.Roots[0]: func(a *vector.Assembler, i int) (y int) {
		y, acc = emitScan(a, i, stores)
		return y
	}}
	return vector.Assemble(s, p).Program, acc
}

// emitScan emits a Scan and, if it is wanted, the store of its result.
func emitScan(a *vector.Assembler, i int, stores bool) (y, acc int) {
	in := &a.Space.Body[i]
	x := a.Widen(a.Body[in.Src[0]], in.Domain)
	r := &scan{
		routine:     simd.Scanners[in.Kind][in.Type],
		combine:     simd.Binaries[in.Kind][in.Type].VV,
		columnMajor: a.ColumnMajor,
		lanes:       a.SetIndex(a.Space.Roles(ir.Reduced) & ir.Axes(a.Schedule.Lanes...)),
		acc:         a.NewRegister(in.Type, 0, -1),
	}
	y = a.Emit(vector.Op{Do: r.run, Src: [4]int{x, -1, -1, -1}}, in.Type, in.Domain)
	if stores {
		a.StoreTo(in, y)
	}
	return y, r.acc
}

// run scans a block of rows, or of columns.
func (r *scan) run(f *vector.Activation, s *vector.Op) {
	dst, n := f.Out(s), f.Count[s.Set]
	if n == 0 {
		return
	}
	acc, x, along := f.Reg[r.acc], f.Reg[s.Src[0]], f.Count[r.lanes]
	if !r.columnMajor {
		r.routine(dst, acc, x, n/along, along)
		return
	}
	size, last := n/along*s.Size, acc
	for i := range along {
		to := unsafe.Add(dst, i*size)
		r.combine(to, last, unsafe.Add(x, i*size), n/along)
		last = to
	}
	simd.Copies[1](acc, last, size)
}

func (r *scanRunner) Run(x *vector.Executor) error {
	in := &r.space.Body[len(r.space.Body)-1]
	size, tasks := in.Type.Size(), r.keep.Count*r.parts
	x.Shared = vector.Grow(x.Shared, r.parts*r.nk*size)
	mem := vector.Base(x.Shared)
	var start [8]byte
	vector.Put(unsafe.Pointer(&start), in.Type, ir.Identity(in.Kind, in.Type))
	simd.Fill(mem, unsafe.Pointer(&start), size, r.parts*r.nk)
	if r.parts > 1 {
		if err := x.Do(scanJob{r, r.totals, 1}, tasks-r.keep.Count, r.work); err != nil {
			return err
		}
		combine := simd.Binaries[in.Kind][in.Type].VV
		for p := 1; p < r.parts; p++ {
			to := unsafe.Add(mem, p*r.nk*size)
			combine(to, unsafe.Add(mem, (p-1)*r.nk*size), to, r.nk)
		}
	}
	return x.Do(scanJob{r, r.scan, 0}, tasks, r.work)
}

// A scanJob scans one part of one box of kept points per task. Part p starts with
// accumulators p or, in the job that combines the parts, adds to accumulators p+1.
type scanJob struct {
	*scanRunner
	program *vector.Program
	to      int
}

func (j scanJob) Begin(x *vector.Executor, w *vector.Worker) { w.Enter(x, j.program) }

func (j scanJob) Task(x *vector.Executor, w *vector.Worker, i int) {
	f := &w.Activations[0]
	box, part := i%j.keep.Count, i/j.keep.Count
	start := j.keep.MoveTo(f, box)
	f.Reg[j.acc] = unsafe.Add(vector.Base(x.Shared), ((part+j.to)*j.nk+start)*j.space.Body[len(j.space.Body)-1].Type.Size())
	for c := part * j.chunksPerPart; c < min((part+1)*j.chunksPerPart, j.chunk.Count); c++ {
		j.chunk.MoveTo(f, c)
		f.Run()
	}
}
