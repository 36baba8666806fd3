package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A scatterRunner runs the routine Scatter: it copies the base, or fills the result, or keeps it,
// and combines the updates with it in the order of the points. Parts along an axis
// whose positions lead to different elements, whatever the index, run in parallel:
// each element still gets its updates in order.
type scatterRunner struct {
	space   *space
	program *program
	axis    int     // that is cut into parts; -1 for none
	part    int     // positions in a part
	parts   int     // number of them
	rest    *tiling // of the other axes
	bytes   int     // of the result that start or the base fills
	start   []byte  // the initial value of each element of the result; nil: argument 1 is copied
	work    int
}

// scatterParts is the most parts that the points are cut into.
const scatterParts = 16

func newScatter(s *space) *scatterRunner {
	at := len(s.Body) - 1
	r := &scatterRunner{space: s, axis: s.separate(&s.Body[at]), part: 1, parts: 1}
	out := s.Args[0]
	if !out.Kept {
		r.bytes = out.Len * out.DType.Size()
	}
	if x, constant := ir.ScatterStart(s.Body); constant {
		r.start = make([]byte, out.DType.Size())
		put(unsafe.Pointer(&r.start[0]), out.DType, x.Convert(s.Body[at].Type, out.DType))
	}
	axes := s.List(ir.Parallel, ir.Reduced)
	r.work = s.work([]int{at})
	rest := slices.DeleteFunc(slices.Clone(axes), func(a int) bool { return a == r.axis })
	if r.axis >= 0 {
		n := s.Axes[r.axis].Len
		// Workers do not share a cache line of the result.
		stride := s.Body[at].View.Coef[r.axis]
		line := ir.CeilDiv(cacheLine, out.DType.Size()*max(stride, -stride))
		r.part = max(line, ir.CeilDiv(n, scatterParts))
		r.parts = ir.CeilDiv(n, r.part)
	}
	r.rest = newTiling(s, rest, ir.CeilDiv(s.tune.minBlock, r.part), max(1, s.tune.maxBlock/r.part))
	lanes := slices.Clone(r.rest.longAxes())
	extent := s.extents(r.rest)
	if r.axis >= 0 {
		lanes = append(lanes, r.axis)
		slices.Sort(lanes)
		extent[r.axis] = r.part
	}
	r.program = assemble(s, schedule{lanes: lanes, extent: extent, roots: []int{at}}).program
	return r
}

// separate returns an axis whose positions lead a Scatter to different elements: the
// outermost of scatterParts positions, else the longest. Or it returns -1.
func (s *space) separate(in *ir.Instr) int {
	best := -1
	if !loopnest.Separates(in.View, s.Axes) {
		return best
	}
	for a, c := range in.View.Coef {
		if c != 0 && (best < 0 || s.Axes[best].Len < scatterParts && s.Axes[a].Len > s.Axes[best].Len) {
			best = a
		}
	}
	return best
}

func (r *scatterRunner) run(x *executor) error {
	if err := x.do(startJob{r}, ir.CeilDiv(r.bytes, copyBytes), r.bytes/4); err != nil {
		return err
	}
	if r.rest.count == 0 {
		return nil
	}
	return x.do(r, r.parts, r.work)
}

// A startJob initializes the result, copyBytes per task.
type startJob struct{ *scatterRunner }

const copyBytes = 1 << 20

func (j startJob) begin(*executor, *worker) {}

func (j startJob) task(x *executor, _ *worker, i int) {
	n, to := min(copyBytes, j.bytes-i*copyBytes), unsafe.Add(x.bind[0].p, i*copyBytes)
	if size := len(j.start); size > 0 {
		simd.Fill(to, unsafe.Pointer(&j.start[0]), size, n/size)
		return
	}
	simd.Copies[1](to, unsafe.Add(x.bind[1].p, i*copyBytes), n)
}

func (r *scatterRunner) begin(x *executor, w *worker) { w.enter(x, r.program) }

// task combines the updates of one part of the points.
func (r *scatterRunner) task(_ *executor, w *worker, i int) {
	f := &w.activations[0]
	if r.axis >= 0 {
		at := i * r.part
		f.moveTo(r.axis, at, min(r.part, r.space.Axes[r.axis].Len-at))
	}
	for t := range r.rest.count {
		r.rest.moveTo(f, t)
		f.run()
	}
}

// scatter emits the op that combines the updates of a block.
func (a *assembler) scatter(i int) int {
	in := &a.space.Body[i]
	lanes := in.Domain & ir.Axes(a.schedule.lanes...)
	index := a.cast(a.body[in.Src[0]], ir.Int64)
	update := a.widen(a.body[in.Src[1]], in.Domain)
	l := &load{
		affine: a.affine(in.View.Off, in.View.Coef, lanes),
		arg:    in.Arg, size: in.Type.Size(), instr: i,
		at: index, atLanes: a.regs[index].lanes, stride: in.View.Stride, limit: in.View.Len,
		rank:    a.rank(i, lanes),
		combine: simd.Scatterers[in.Kind][a.space.Args[in.Arg].DType],
	}
	elem := a.space.Args[in.Arg].DType
	l.element = elem.Size()
	if in.Kind == ir.Copy {
		l.runs = replace(in.Type, elem)
	} else if !elem.IsHalf() {
		l.runs = simd.Binaries[in.Kind][elem].VV
	}
	r := a.emit(op{do: doScatter, load: l, src: [4]int{index, update, -1, -1}}, in.Type, in.Domain)
	a.ops[len(a.ops)-1].size = 0 // no register
	return r
}

// replace returns a routine that stores its last operand as elements.
func replace(from, elem ir.DType) simd.Binary {
	store := simd.Copies[elem.Size()]
	if elem != from {
		store = simd.Casts[from][elem]
	}
	return func(dst, _, y unsafe.Pointer, n int) { store(dst, y, n) }
}

func doScatter(f *activation, s *op) {
	if f.count[s.set] == 0 {
		return
	}
	f.nest.active, f.nest.values = f.nest.active[:0], f.nest.values[:0]
	s.load.eachRun(f, f.reg[s.src[1]])
}

// put combines the updates of a run, at x, with the elements that the index gives.
func (l *load) put(f *activation, x unsafe.Pointer, inner *nestAxis) {
	w := &f.nest
	mem, index := f.bind[l.arg].p, unsafe.Add(f.reg[l.at], w.at*8)
	if v := *(*int64)(index); inner.at == 0 && inner.stride == 1 && l.runs != nil && uint64(v) < uint64(l.limit) {
		p := unsafe.Add(mem, (w.pos+int(v)*l.stride)*l.element)
		l.runs(p, p, x, inner.n)
		return
	}
	for i := 0; i < inner.n; i++ {
		from := unsafe.Add(index, i*inner.at*8)
		i += l.combine(mem, unsafe.Add(x, i*l.size), from, inner.n-i, w.pos+i*inner.stride, inner.stride, inner.at, l.stride, l.limit)
		if i < inner.n {
			l.note(f, i, *(*int64)(unsafe.Add(index, i*inner.at*8)))
		}
	}
}
