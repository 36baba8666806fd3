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
