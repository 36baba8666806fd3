package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A scatterRunner runs the routine Scatter: it copies the base, or fills the result, or keeps it,
// and combines the updates with it in the order of the points. Parts along an axis
// whose positions lead to different elements, whatever the index, run in parallel:
// each element still gets its updates in order.
type scatterRunner struct {
	space   *vector.Space
	program *vector.Program
	axis    int            // that is cut into parts; -1 for none
	part    int            // positions in a part
	parts   int            // number of them
	rest    *vector.Tiling // of the other axes
	bytes   int            // of the result that start or the base fills
	start   []byte         // the initial value of each element of the result; nil: argument 1 is copied
	work    int
}

// scatterParts is the most parts that the points are cut into.
const scatterParts = 16

func newScatter(s *vector.Space) *scatterRunner {
	at := len(s.Body) - 1
	r := &scatterRunner{space: s, axis: separate(s, &s.Body[at]), part: 1, parts: 1}
	out := s.Args[0]
	if !out.Kept {
		r.bytes = out.Len * out.DType.Size()
	}
	if x, constant := ir.ScatterStart(s.Body); constant {
		r.start = make([]byte, out.DType.Size())
		vector.Put(unsafe.Pointer(&r.start[0]), out.DType, x.Convert(s.Body[at].Type, out.DType))
	}
	axes := s.List(ir.Parallel, ir.Reduced)
	r.work = s.Work([]int{at})
	rest := slices.DeleteFunc(slices.Clone(axes), func(a int) bool { return a == r.axis })
	if r.axis >= 0 {
		n := s.Axes[r.axis].Len
		// Workers do not share a cache line of the result.
		stride := s.Body[at].View.Coef[r.axis]
		line := ir.CeilDiv(vector.CacheLine, out.DType.Size()*max(stride, -stride))
		r.part = max(line, ir.CeilDiv(n, scatterParts))
		r.parts = ir.CeilDiv(n, r.part)
	}
	r.rest = vector.NewTiling(s, rest, ir.CeilDiv(s.Tune.MinBlock, r.part), max(1, s.Tune.MaxBlock/r.part))
	lanes := slices.Clone(r.rest.LongAxes())
	extent := s.Extents(r.rest)
	if r.axis >= 0 {
		lanes = append(lanes, r.axis)
		slices.Sort(lanes)
		extent[r.axis] = r.part
	}
	r.program = vector.Assemble(s, vector.Schedule{Lanes: lanes, Extent: extent, Roots: []int{at}}).Program
	return r
}

// separate returns an axis whose positions lead a Scatter to different elements: the
// outermost of scatterParts positions, else the longest. Or it returns -1.
func separate(s *vector.Space, in *ir.Instr) int {
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

func (r *scatterRunner) Run(x *vector.Executor) error {
	if err := x.Do(startJob{r}, ir.CeilDiv(r.bytes, copyBytes), r.bytes/4); err != nil {
		return err
	}
	if r.rest.Count == 0 {
		return nil
	}
	return x.Do(r, r.parts, r.work)
}

// A startJob initializes the result, copyBytes per task.
type startJob struct{ *scatterRunner }

const copyBytes = 1 << 20

func (j startJob) Begin(*vector.Executor, *vector.Worker) {}

func (j startJob) Task(x *vector.Executor, _ *vector.Worker, i int) {
	n, to := min(copyBytes, j.bytes-i*copyBytes), unsafe.Add(x.Bind[0].P, i*copyBytes)
	if size := len(j.start); size > 0 {
		simd.Fill(to, unsafe.Pointer(&j.start[0]), size, n/size)
		return
	}
	simd.Copies[1](to, unsafe.Add(x.Bind[1].P, i*copyBytes), n)
}

func (r *scatterRunner) Begin(x *vector.Executor, w *vector.Worker) { w.Enter(x, r.program) }

// Task combines the updates of one part of the points.
func (r *scatterRunner) Task(_ *vector.Executor, w *vector.Worker, i int) {
	f := &w.Activations[0]
	if r.axis >= 0 {
		at := i * r.part
		f.MoveTo(r.axis, at, min(r.part, r.space.Axes[r.axis].Len-at))
	}
	for t := range r.rest.Count {
		r.rest.MoveTo(f, t)
		f.Run()
	}
}
