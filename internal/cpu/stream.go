package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A streamRunner runs a kernel whose reductions are larger than a block. Each of its
// phases iterates over all points: it computes the reductions that need only the
// results of earlier phases, and the last phase stores. Reduced points are cut into
// parts, whose partial results are combined in order. Each phase recomputes the
// values that it needs.
type streamRunner struct {
	reductionShape
	space         *vector.Space
	keep          *vector.Tiling // of kept points
	chunk         *vector.Tiling // of reduced points
	parts         int            // of the reduced points
	chunksPerPart int            // chunks in a part
	phases        []*phase
	results       []*result
	final         *vector.Program // stores over all points, or nil
	tail          *vector.PointwiseRunner
	shared        int // bytes for results
	work          int // additions of a phase
}

// A phase computes some of the reductions.
type phase struct {
	program *vector.Program
	results []*result
}

// A result is the memory of a reduction: accumulators for all kept points,
// once for each part.
type result struct {
	instr    int
	op       *vector.Op
	acc, val int // offsets into shared memory; val is ArgMax's
	out      int // offset of the result
	cast     simd.Unary
	size     int // bytes of an element of val
}

func newStream(s *vector.Space, shape reductionShape) *streamRunner {
	r := &streamRunner{reductionShape: shape, space: s}
	if shape.columnMajor {
		// Sums take eight rows at a time.
		r.keep = vector.NewTiling(s, shape.kept, s.Tune.MinBlock, s.Tune.MaxBlock/2)
		rows := max(8, 2*s.Tune.MaxBlock/max(1, r.keep.MaxPoints()))
		r.chunk = vector.NewTiling(s, shape.reduced, rows, rows)
	} else {
		r.keep = vector.NewTiling(s, shape.kept, 1, 1)
		most := s.Tune.MaxBlock
		if reducesLoads(s) {
			most = s.Tune.LongBlock(shape.nr)
		}
		r.chunk = vector.NewTiling(s, shape.reduced, s.Tune.MinBlock, most)
	}
	r.cut()
	r.work = s.Work(s.Stores(0, false))
	r.prepare()
	return r
}

// reducesLoads reports whether all reductions read loads directly.
func reducesLoads(s *vector.Space) bool {
	for _, in := range s.Body {
		if in.Op.Class() != ir.Reduction {
			continue
		}
		x := in.Src[0]
		if in.Op == ir.Sum && s.WidensInt(x) && s.Body[s.Body[x].Src[0]].Type.Size() == 4 {
			x = s.Body[x].Src[0]
		}
		if s.Body[x].Op != ir.Load {
			return false
		}
	}
	return true
}

// cut chooses the number of parts: tasks for many cores, each worth a wake-up.
func (r *streamRunner) cut() {
	most := 1
	if n := r.keep.Count; n > 0 && n < 16 {
		most = min(32/n, r.nk*r.nr/(2*r.space.Tune.ParallelThreshold))
	}
	r.parts, r.chunksPerPart = vector.Split(r.chunk, most)
}

// prepare assembles the phases. A reduction that a phase has computed is a load of
// its result in later phases.
func (r *streamRunner) prepare() {
	k := *r.space.Kernel
	k.Body, k.Args = slices.Clone(k.Body), slices.Clone(k.Args)
	s := r.space.With(&k)
	level := loopnest.Levels(s.Body)
	lanes := slices.Concat(r.keep.LongAxes(), r.chunk.LongAxes())
	if r.columnMajor {
		lanes = slices.Concat(r.chunk.LongAxes(), r.keep.LongAxes())
	}
	p := vector.Schedule{Lanes: lanes, Extent: s.Extents(r.keep, r.chunk), ColumnMajor: r.columnMajor, Stream: true}
	for l := 1; l <= slices.Max(level); l++ {
		if p.Roots = s.Reductions(level, l); len(p.Roots) > 0 {
			r.addPhase(s, p)
		}
	}
	reduced := ir.Axes(r.reduced...)
	if p.Roots = s.Stores(reduced, true); len(p.Roots) > 0 {
		r.final = vector.Assemble(s, p).Program
	}
	if kept := s.Stores(reduced, false); len(kept) > 0 {
		r.tail = vector.NewPointwiseOver(s, r.kept, kept)
	}
}

// addPhase assembles the program of some reductions and turns them into loads.
func (r *streamRunner) addPhase(s *vector.Space, p vector.Schedule) {
	ph := &phase{program: vector.Assemble(s, p).Program}
	for i := range ph.program.Ops {
		st := &ph.program.Ops[i]
		if st.Reduce == nil {
			continue
		}
		in := &s.Body[st.Reduce.Instr]
		res := &result{instr: st.Reduce.Instr, op: st, size: st.Reduce.Typ.Size()}
		res.acc = r.take(r.parts * r.nk * st.Reduce.Acc.Size())
		if in.Op == ir.ArgMax {
			res.val = r.take(r.parts * r.nk * res.size)
		}
		res.out = res.acc
		if st.Reduce.Acc != in.Type {
			res.cast = simd.Casts[st.Reduce.Acc][in.Type]
			res.out = r.take(r.nk * in.Type.Size())
		}
		ph.results = append(ph.results, res)
		r.results = append(r.results, res)

		load := ir.Instr{Op: ir.Load, Type: in.Type, Arg: len(s.Args)}
		load.View = &ir.View{Coef: ir.DenseStrides(s.Axes, ir.Axes(r.kept...))}
		*in = load
		s.Args = append(s.Args, ir.Arg{Kind: ir.In, DType: load.Type})
	}
	for i := range s.Body {
		s.Body[i].Domain = s.Varies(i)
	}
	r.phases = append(r.phases, ph)
}

func (r *streamRunner) take(n int) int {
	at := r.shared
	r.shared += vector.Align(n)
	return at
}

func (r *streamRunner) Run(x *vector.Executor) error {
	x.Shared = vector.Grow(x.Shared, r.shared)
	args := len(x.Bind) - len(r.results)
	for i, res := range r.results {
		x.Bind[args+i] = vector.Binding{P: unsafe.Add(vector.Base(x.Shared), res.out)}
	}
	for _, p := range r.phases {
		j := &streamJob{r, p.program, p.results}
		if err := x.Do(j, r.keep.Count*r.parts, r.work); err != nil {
			return err
		}
		if err := x.Do(combineJob{j}, r.keep.Count, r.nk*r.parts); err != nil {
			return err
		}
	}
	if r.final != nil {
		if err := x.Do(&streamJob{r, r.final, nil}, r.keep.Count*r.parts, r.work); err != nil {
			return err
		}
	}
	if r.tail != nil {
		return r.tail.Run(x)
	}
	return nil
}

// A streamJob is a phase, one part of one box of kept points per task.
type streamJob struct {
	*streamRunner
	program *vector.Program
	results []*result // none for the stores
}

func (j *streamJob) Begin(x *vector.Executor, w *vector.Worker) { w.Enter(x, j.program) }

func (j *streamJob) Task(x *vector.Executor, w *vector.Worker, i int) {
	f := &w.Activations[0]
	box, part := i/j.parts, i%j.parts
	start := j.keep.MoveTo(f, box)
	mem, n := vector.Base(x.Shared), j.keep.Size(f)
	for _, res := range j.results {
		r := res.op.Reduce
		acc := res.at(mem, part*j.nk+start)
		r.Begin(acc, n)
		f.Reg[res.op.Dst] = acc
		if r.Kind == ir.ArgMax {
			f.Reg[r.ValReg] = res.valAt(mem, part*j.nk+start)
		}
	}
	if n == 0 {
		return
	}
	for c := part * j.chunksPerPart; c < min((part+1)*j.chunksPerPart, j.chunk.Needed(f)); c++ {
		j.chunk.MoveTo(f, c)
		f.Run()
	}
}

// at is the address of accumulator i.
func (res *result) at(mem unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(mem, res.acc+i*res.op.Reduce.Acc.Size())
}

func (res *result) valAt(mem unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(mem, res.val+i*res.size)
}

// A combineJob combines the parts of a phase's results, a box of kept points per
// task.
type combineJob struct{ *streamJob }

func (j combineJob) Task(x *vector.Executor, w *vector.Worker, box int) {
	f := &w.Activations[0]
	start := j.keep.MoveTo(f, box)
	mem, n := vector.Base(x.Shared), j.keep.Size(f)
	for _, res := range j.results {
		r := res.op.Reduce
		acc := res.at(mem, start)
		for part := 1; part < j.parts; part++ {
			at := part*j.nk + start
			if r.Kind == ir.ArgMax {
				r.Arg.Merge(res.valAt(mem, start), acc, res.valAt(mem, at), res.at(mem, at), n)
			} else {
				simd.Reductions[r.Kind][r.Acc].Across(acc, res.at(mem, at), 1, n)
			}
		}
		if r.Kind == ir.ArgMax && j.nr == 0 {
			clear(unsafe.Slice((*int32)(acc), n))
		}
		if res.cast != nil {
			out := unsafe.Add(mem, res.out+start*j.space.Body[res.instr].Type.Size())
			res.cast(out, acc, n)
		}
	}
}
