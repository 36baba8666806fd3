package cpu

import (
	"slices"
	"unsafe"

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
	space         *space
	keep          *tiling // of kept points
	chunk         *tiling // of reduced points
	parts         int     // of the reduced points
	chunksPerPart int     // chunks in a part
	phases        []*phase
	results       []*result
	final         *program // stores over all points, or nil
	tail          *pointwiseRunner
	shared        int // bytes for results
	work          int // additions of a phase
}

// A phase computes some of the reductions.
type phase struct {
	program *program
	results []*result
}

// A result is the memory of a reduction: accumulators for all kept points,
// once for each part.
type result struct {
	instr    int
	op       *op
	acc, val int // offsets into shared memory; val is ArgMax's
	out      int // offset of the result
	cast     simd.Unary
	size     int // bytes of an element of val
}

func newStream(s *space, shape reductionShape) *streamRunner {
	r := &streamRunner{reductionShape: shape, space: s}
	if shape.columnMajor {
		// Sums take eight rows at a time.
		r.keep = newTiling(s, shape.kept, s.tune.minBlock, s.tune.maxBlock/2)
		rows := max(8, 2*s.tune.maxBlock/max(1, r.keep.maxPoints()))
		r.chunk = newTiling(s, shape.reduced, rows, rows)
	} else {
		r.keep = newTiling(s, shape.kept, 1, 1)
		most := s.tune.maxBlock
		if s.reducesLoads() {
			most = s.tune.longBlock(shape.nr)
		}
		r.chunk = newTiling(s, shape.reduced, s.tune.minBlock, most)
	}
	r.cut()
	r.work = s.work(s.Stores(0, false))
	r.prepare()
	return r
}

// reducesLoads reports whether all reductions read loads directly.
func (s *space) reducesLoads() bool {
	for _, in := range s.Body {
		if in.Op.Class() != ir.Reduction {
			continue
		}
		x := in.Src[0]
		if in.Op == ir.Sum && s.widensInt(x) && s.Body[s.Body[x].Src[0]].Type.Size() == 4 {
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
	if n := r.keep.count; n > 0 && n < 16 {
		most = min(32/n, r.nk*r.nr/(2*r.space.tune.parallelThreshold))
	}
	r.parts, r.chunksPerPart = split(r.chunk, most)
}

// prepare assembles the phases. A reduction that a phase has computed is a load of
// its result in later phases.
func (r *streamRunner) prepare() {
	k := *r.space.Kernel
	k.Body, k.Args = slices.Clone(k.Body), slices.Clone(k.Args)
	s := r.space.with(&k)
	level := loopnest.Levels(s.Body)
	lanes := slices.Concat(r.keep.longAxes(), r.chunk.longAxes())
	if r.columnMajor {
		lanes = slices.Concat(r.chunk.longAxes(), r.keep.longAxes())
	}
	p := schedule{lanes: lanes, extent: s.extents(r.keep, r.chunk), columnMajor: r.columnMajor, stream: true}
	for l := 1; l <= slices.Max(level); l++ {
		if p.roots = s.Reductions(level, l); len(p.roots) > 0 {
			r.addPhase(s, p)
		}
	}
	reduced := ir.Axes(r.reduced...)
	if p.roots = s.Stores(reduced, true); len(p.roots) > 0 {
		r.final = assemble(s, p).program
	}
	if kept := s.Stores(reduced, false); len(kept) > 0 {
		r.tail = newPointwiseOver(s, r.kept, kept)
	}
}

// addPhase assembles the program of some reductions and turns them into loads.
func (r *streamRunner) addPhase(s *space, p schedule) {
	ph := &phase{program: assemble(s, p).program}
	for i := range ph.program.ops {
		st := &ph.program.ops[i]
		if st.reduce == nil {
			continue
		}
		in := &s.Body[st.reduce.instr]
		res := &result{instr: st.reduce.instr, op: st, size: st.reduce.typ.Size()}
		res.acc = r.take(r.parts * r.nk * st.reduce.acc.Size())
		if in.Op == ir.ArgMax {
			res.val = r.take(r.parts * r.nk * res.size)
		}
		res.out = res.acc
		if st.reduce.acc != in.Type {
			res.cast = simd.Casts[st.reduce.acc][in.Type]
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
	r.shared += align(n)
	return at
}

func (r *streamRunner) run(x *executor) error {
	x.shared = grow(x.shared, r.shared)
	args := len(x.bind) - len(r.results)
	for i, res := range r.results {
		x.bind[args+i] = binding{p: unsafe.Add(base(x.shared), res.out)}
	}
	for _, p := range r.phases {
		j := &streamJob{r, p.program, p.results}
		if err := x.do(j, r.keep.count*r.parts, r.work); err != nil {
			return err
		}
		if err := x.do(combineJob{j}, r.keep.count, r.nk*r.parts); err != nil {
			return err
		}
	}
	if r.final != nil {
		if err := x.do(&streamJob{r, r.final, nil}, r.keep.count*r.parts, r.work); err != nil {
			return err
		}
	}
	if r.tail != nil {
		return r.tail.run(x)
	}
	return nil
}

// A streamJob is a phase, one part of one box of kept points per task.
type streamJob struct {
	*streamRunner
	program *program
	results []*result // none for the stores
}

func (j *streamJob) begin(x *executor, w *worker) { w.enter(x, j.program) }

func (j *streamJob) task(x *executor, w *worker, i int) {
	f := &w.activations[0]
	box, part := i/j.parts, i%j.parts
	start := j.keep.moveTo(f, box)
	mem, n := base(x.shared), j.keep.size(f)
	for _, res := range j.results {
		r := res.op.reduce
		acc := res.at(mem, part*j.nk+start)
		r.begin(acc, n)
		f.reg[res.op.dst] = acc
		if r.kind == ir.ArgMax {
			f.reg[r.valReg] = res.valAt(mem, part*j.nk+start)
		}
	}
	if n == 0 {
		return
	}
	for c := part * j.chunksPerPart; c < min((part+1)*j.chunksPerPart, j.chunk.needed(f)); c++ {
		j.chunk.moveTo(f, c)
		f.run()
	}
}

// at is the address of accumulator i.
func (res *result) at(mem unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(mem, res.acc+i*res.op.reduce.acc.Size())
}

func (res *result) valAt(mem unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(mem, res.val+i*res.size)
}

// A combineJob combines the parts of a phase's results, a box of kept points per
// task.
type combineJob struct{ *streamJob }

func (j combineJob) task(x *executor, w *worker, box int) {
	f := &w.activations[0]
	start := j.keep.moveTo(f, box)
	mem, n := base(x.shared), j.keep.size(f)
	for _, res := range j.results {
		r := res.op.reduce
		acc := res.at(mem, start)
		for part := 1; part < j.parts; part++ {
			at := part*j.nk + start
			if r.kind == ir.ArgMax {
				r.arg.Merge(res.valAt(mem, start), acc, res.valAt(mem, at), res.at(mem, at), n)
			} else {
				simd.Reductions[r.kind][r.acc].Across(acc, res.at(mem, at), 1, n)
			}
		}
		if r.kind == ir.ArgMax && j.nr == 0 {
			clear(unsafe.Slice((*int32)(acc), n))
		}
		if res.cast != nil {
			out := unsafe.Add(mem, res.out+start*j.space.Body[res.instr].Type.Size())
			res.cast(out, acc, n)
		}
	}
}
