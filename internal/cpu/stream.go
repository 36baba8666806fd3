package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A streamRunner runs a kernel whose reductions are too large for a block.
// It works in phases: each goes over all points and computes those
// reductions that need only the results of the phases before, and the last
// one the stores. Reduced points are cut into parts, the parts' results are
// combined in order; values are computed again in every phase that needs
// them.
type streamRunner struct {
	rowShape
	space   *space
	keep    *tiling // of kept points
	chunk   *tiling // of reduced points
	parts   int     // of the reduced points
	per     int     // chunks in a part
	phases  []*phase
	results []*result
	final   *code // stores over all points, or nil
	tail    *mapRunner
	shared  int // bytes for results
	work    int // additions of a phase
}

// A phase computes some of the reductions.
type phase struct {
	code    *code
	results []*result
}

// A result is the memory of a reduction: accumulators for all kept points,
// once for each part.
type result struct {
	instr    int
	step     *step
	acc, val int // offsets into shared memory; val is ArgMax's
	out      int // the same for the result
	cast     simd.Unary
	size     int // bytes of an element of val
}

func newStream(s *space, shape rowShape) *streamRunner {
	r := &streamRunner{rowShape: shape, space: s}
	if shape.across {
		// Sums take eight rows at a time.
		r.keep = newTiling(s, shape.kept, s.tune.enough, s.tune.most/2)
		rows := max(8, 2*s.tune.most/max(1, r.keep.most()))
		r.chunk = newTiling(s, shape.reduced, rows, rows)
	} else {
		r.keep = newTiling(s, shape.kept, 1, 1)
		r.chunk = newTiling(s, shape.reduced, s.tune.enough, s.tune.most)
	}
	r.cut()
	r.work = max(1, shape.nk) * max(1, shape.nr) * max(s.cost(), 1)
	r.prepare()
	return r
}

// cut chooses the number of parts: enough tasks for many cores, each worth
// handing out.
func (r *streamRunner) cut() {
	r.parts, r.per = 1, max(r.chunk.count, 1)
	if r.keep.count == 0 || r.keep.count >= 16 {
		return
	}
	parts := min(32/r.keep.count, r.nk*r.nr/(2*r.space.tune.small), r.chunk.count)
	if parts > 1 {
		r.per = (r.chunk.count + parts - 1) / parts
		r.parts = (r.chunk.count + r.per - 1) / r.per
	}
}

// prepare assembles the phases. Once a phase has computed a reduction, it
// becomes a load of its result.
func (r *streamRunner) prepare() {
	s := *r.space
	s.body, s.args = slices.Clone(s.body), slices.Clone(s.args)
	level := s.levels()
	lanes := slices.Concat(r.keep.block(), r.chunk.block())
	if r.across {
		lanes = slices.Concat(r.chunk.block(), r.keep.block())
	}
	p := plan{lanes: lanes, extent: s.extents(r.keep, r.chunk), across: r.across, stream: true}
	for l := 1; l <= slices.Max(level); l++ {
		p.roots = nil
		for i := range s.body {
			if s.body[i].Op.Class() == ir.Reduction && level[i] == l {
				p.roots = append(p.roots, i)
			}
		}
		if len(p.roots) > 0 {
			r.addPhase(&s, p)
		}
	}
	p.roots = nil
	var kept []int
	reduced := ir.Axes(r.reduced...)
	for _, i := range s.stores() {
		if s.body[i].Domain&reduced != 0 {
			p.roots = append(p.roots, i)
		} else {
			kept = append(kept, i)
		}
	}
	if len(p.roots) > 0 {
		r.final = assemble(&s, p).code
	}
	if len(kept) > 0 {
		r.tail = newMapOver(&s, r.kept, kept)
	}
}

// addPhase assembles the code of some reductions, and turns them into loads.
func (r *streamRunner) addPhase(s *space, p plan) {
	before := *s
	before.body = slices.Clone(s.body)
	before.args = slices.Clone(s.args)
	ph := &phase{code: assemble(&before, p).code}
	for i := range ph.code.steps {
		st := &ph.code.steps[i]
		if st.reduce == nil {
			continue
		}
		in := &s.body[st.reduce.instr]
		res := &result{instr: st.reduce.instr, step: st, size: st.reduce.typ.Size()}
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

		load := ir.Instr{Op: ir.Load, Type: in.Type, Arg: len(s.args)}
		load.View = &ir.View{Coef: ir.RowMajor(s.axes, ir.Axes(r.kept...))}
		*in = load
		s.args = append(s.args, ir.Arg{Kind: ir.In, DType: load.Type})
	}
	for i := range s.body {
		s.body[i].Domain = s.varies(i)
	}
	r.phases = append(r.phases, ph)
}

func (r *streamRunner) take(n int) int {
	at := r.shared
	r.shared += align(n)
	return at
}

func (r *streamRunner) run(d *device) error {
	d.shared = grow(d.shared, r.shared)
	mem := base(d.shared)
	args := len(d.bind) - len(r.results)
	for i, res := range r.results {
		d.bind[args+i] = binding{p: unsafe.Add(mem, res.out)}
	}
	for _, p := range r.phases {
		j := &streamJob{streamRunner: r, code: p.code, phase: p, bind: d.bind, mem: mem}
		if err := d.do(j, r.keep.count*r.parts, r.work); err != nil {
			return err
		}
		if err := d.do(&combineJob{j}, r.keep.count, r.nk*r.parts); err != nil {
			return err
		}
	}
	if r.final != nil {
		j := &streamJob{streamRunner: r, code: r.final, bind: d.bind, mem: mem}
		if err := d.do(j, r.keep.count*r.parts, r.work); err != nil {
			return err
		}
	}
	if r.tail != nil {
		return r.tail.run(d)
	}
	return nil
}

// A streamJob is a phase: a task is one part of one box of kept points.
type streamJob struct {
	*streamRunner
	code  *code
	phase *phase // nil for the stores
	bind  []binding
	mem   unsafe.Pointer
}

func (j *streamJob) begin(w *worker) {
	w.frames[0].enter(j.code, j.bind, w.scratch(j.code.scratch), &w.bad)
}

func (j *streamJob) task(w *worker, i int) {
	f := &w.frames[0]
	box, part := i/j.parts, i%j.parts
	j.keep.set(f, box)
	if j.phase != nil {
		start, n := j.keep.start(box), j.keep.points(box)
		for _, res := range j.phase.results {
			r := res.step.reduce
			acc := res.at(j.mem, part*j.nk+start)
			r.begin(acc, n)
			f.reg[res.step.dst] = acc
			if r.op == ir.ArgMax {
				f.reg[r.valReg] = res.valAt(j.mem, part*j.nk+start)
			}
		}
	}
	for c := part * j.per; c < min((part+1)*j.per, j.chunk.count); c++ {
		j.chunk.set(f, c)
		f.run()
	}
}

// at is the address of accumulator i.
func (res *result) at(mem unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(mem, res.acc+i*res.step.reduce.acc.Size())
}

func (res *result) valAt(mem unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(mem, res.val+i*res.size)
}

// A combineJob combines the parts of a phase's results: a task is a box of
// kept points.
type combineJob struct{ *streamJob }

func (j *combineJob) begin(*worker) {}

func (j *combineJob) task(w *worker, box int) {
	start, n := j.keep.start(box), j.keep.points(box)
	for _, res := range j.phase.results {
		r := res.step.reduce
		acc := res.at(j.mem, start)
		for part := 1; part < j.parts; part++ {
			at := part*j.nk + start
			if r.op == ir.ArgMax {
				r.arg.Merge(res.valAt(j.mem, start), acc, res.valAt(j.mem, at), res.at(j.mem, at), n)
			} else {
				simd.Reductions[r.op][r.acc].Across(acc, res.at(j.mem, at), 1, n)
			}
		}
		if r.op == ir.ArgMax && j.nr == 0 {
			clear(unsafe.Slice((*int32)(acc), n))
		}
		if res.cast != nil {
			out := unsafe.Add(j.mem, res.out+start*j.space.body[res.instr].Type.Size())
			res.cast(out, acc, n)
		}
	}
}
