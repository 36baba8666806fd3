package sliding

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A filterRunner computes sums of windows times weights that all positions share, such as depthwise
// convolutions, and maxima of windows. Tasks are boxes of the result. Of each plane of a box, all
// positions are computed as one row, with those between its rows, by a routine of simd.Filters; the
// rows are then put together, and the epilogue computes the results from the sums of all planes.
type filterRunner struct {
	windows      *windows
	weights      *vector.Program // nil for weights of 1
	weight       int             // the register of the weights
	weightLanes  []int           // before the taps
	after        *vector.Program
	sum          int // the register of the sums
	boxes        *vector.Tiling
	planes       []int // axes of no position
	filter       simd.Filter
	greater      simd.Binary // for maxima
	ones         []byte
	size         int    // bytes of an element
	bytes        [5]int // of a worker's memory: three programs', the sums of a box, and a plane with all that is between its rows
	work         int
	boxesPerTask int
}

// mostWindows is the most elements of a block of windows, so that it stays in the second-level cache.
const mostWindows = 1 << 16

// NewFilter returns nil for other kernels.
func NewFilter(s *vector.Space) *filterRunner {
	sum, ok := onlyReduction(s)
	if !ok || len(s.Limits) > 0 {
		return nil
	}
	s = clone(s)
	in := &s.Body[sum]
	r := &filterRunner{filter: simd.Filters[in.Type], size: in.Type.Size()}
	kept, reduced := s.List(ir.Parallel, ir.Batch, ir.M, ir.N), s.List(ir.Reduced, ir.K)
	x, y := in.Src[0], -1
	switch {
	case in.Op == ir.ReduceMax:
		if r.greater = simd.Binaries[ir.Max][in.Type].VV; r.greater == nil || s.Body[x].Type != in.Type {
			return nil
		}
	case in.Op != ir.Sum || r.filter.Tile == nil || s.Body[x].Type != in.Type:
		return nil
	default:
		if x, y = slidingFactors(s, sum, slidAlong(s, ir.Axes(kept...))); x < 0 {
			return nil
		}
	}
	along := ir.Axes(kept...)
	if y >= 0 {
		along &^= s.Body[y].Domain
	}
	if r.windows = findWindows(s, x, along, ir.Axes(reduced...), true); r.windows == nil || !r.cut(s, kept, reduced, y) {
		return nil
	}
	r.prepare(s, sum, y, reduced)
	return r
}

// clone returns the space with a kernel of its own.
func clone(s *vector.Space) *vector.Space {
	k := *s.Kernel
	k.Body = slices.Clone(k.Body)
	return s.With(&k)
}

// onlyReduction returns the one reduction of a kernel that stores no value of a reduced position.
func onlyReduction(s *vector.Space) (i int, ok bool) {
	reduces := func(in ir.Instr) bool { return in.Op.Class() == ir.Reduction }
	i = slices.IndexFunc(s.Body, reduces)
	if i < 0 || slices.ContainsFunc(s.Body[i+1:], reduces) {
		return -1, false
	}
	return i, len(s.Stores(s.Roles(ir.Reduced, ir.K), true)) == 0
}

// cut chooses the boxes. It returns false if the result is not contiguous along the positions, or
// if blocks are too large.
func (r *filterRunner) cut(s *vector.Space, kept, reduced []int, y int) bool {
	var weights ir.AxisSet
	if y >= 0 {
		weights = s.Body[y].Domain
	}
	w := r.windows
	var positions []int
	for _, a := range kept {
		moves := slices.ContainsFunc(w.slides, func(c slide) bool { return c.position == a })
		if moves || len(positions) > 0 && !weights.Has(a) && s.Body[w.instr].Domain.Has(a) {
			positions = append(positions, a)
		} else {
			r.planes = append(r.planes, a)
		}
	}
	if y >= 0 && results(s, r.planes, w.instr, y) > mostResults() {
		return false
	}
	coef := s.Body[s.Stores(0, false)[0]].View.Coef
	last := coef[positions[len(positions)-1]]
	if slices.ContainsFunc(kept, func(a int) bool { return coef[a] != 0 && coef[a] < last }) {
		return false
	}
	for limit := 2 * s.Tune.MaxBlock; limit > 0; limit /= 2 {
		r.boxes = vector.NewTiling(s, slices.Concat(r.planes, positions), min(s.Tune.MinBlock, limit), limit)
		if w.cut(r.planes, positions, reduced, r.boxes) <= mostWindows {
			w.assemble()
			return true
		}
	}
	return false
}

// results is the number of sums of the same windows, instruction x, with different elements of factor y.
func results(s *vector.Space, planes []int, x, y int) int {
	return s.Size(slices.DeleteFunc(slices.Clone(planes), func(a int) bool { return !s.Body[y].Domain.Has(a) || s.Body[x].Domain.Has(a) }))
}

// mostResults is the number of sums of the same windows from which on a matrix product is faster:
// for fewer, its registers are half empty.
func mostResults() int { return min(8, simd.Products[ir.Float32].Cols/4) }

// prepare assembles the programs of the weights, instruction y, and of the results.
func (r *filterRunner) prepare(s *vector.Space, sum, y int, reduced []int) {
	extent, taps := s.Extents(r.boxes), s.Size(reduced)
	for _, a := range reduced {
		extent[a] = s.Axes[a].Len
	}
	if y >= 0 {
		r.weightLanes = slices.DeleteFunc(r.boxes.LongAxes(), func(a int) bool { return !s.Body[y].Domain.Has(a) })
		a := vector.Assemble(s, vector.Schedule{Lanes: slices.Concat(r.weightLanes, reduced), Extent: extent, Roots: []int{y}, Value: true})
		r.weights, r.weight = a.Program, a.Root
		r.weights.WholeAxes = reduced
		r.bytes[1] = vector.Align(r.weights.Scratch)
	} else if r.greater == nil {
		r.ones = make([]byte, taps*r.size)
		for i := range taps {
			vector.Put(unsafe.Pointer(&r.ones[i*r.size]), s.Body[sum].Type, ir.Float(s.Body[sum].Type, 1))
		}
	}
	s.Body[sum].Domain = s.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	stores := s.Stores(0, false)
	a := vector.Assemble(s, vector.Schedule{Lanes: r.boxes.LongAxes(), Extent: s.Extents(r.boxes), Roots: stores, Given: []int{sum}})
	r.after, r.sum = a.Program, a.Body[sum]
	r.bytes[0], r.bytes[2] = vector.Align(r.windows.program.Scratch), vector.Align(r.after.Scratch)
	r.bytes[3], r.bytes[4] = vector.Align(r.boxes.MaxPoints()*r.size), vector.Align(r.windows.elements*r.size)
	r.work = s.Work(stores) / simd.Products[ir.Float32].Speed
	r.boxesPerTask = s.Tune.Grain(r.boxes.Count, r.work)
}

func (r *filterRunner) Run(x *vector.Executor) error {
	return x.Do(r, ir.CeilDiv(r.boxes.Count, r.boxesPerTask), r.work)
}

// memory returns the address of part i of a worker's memory.
func memory(w *vector.Worker, bytes []int, i int) unsafe.Pointer {
	at, all := 0, 0
	for j, n := range bytes {
		if j < i {
			at += n
		}
		all += n
	}
	return unsafe.Add(w.Scratch(all), at)
}

func (r *filterRunner) Begin(x *vector.Executor, w *vector.Worker) {
	for i, p := range []*vector.Program{r.windows.program, r.weights, r.after} {
		if p != nil {
			w.Activations[i].Enter(p, x.Bind, memory(w, r.bytes[:], i), &w.Bad)
		}
	}
}

func (r *filterRunner) Task(_ *vector.Executor, w *vector.Worker, i int) {
	for t := i * r.boxesPerTask; t < min((i+1)*r.boxesPerTask, r.boxes.Count); t++ {
		r.box(w, t)
	}
}

// box computes a box of the result.
func (r *filterRunner) box(w *vector.Worker, i int) {
	block, weights, after := &w.Activations[0], &w.Activations[1], &w.Activations[2]
	r.boxes.MoveTo(block, i)
	r.boxes.MoveTo(after, i)
	var stride, weightStride [ir.MaxAxes]int
	r.windows.load(block, &stride)
	w.Columns = r.windows.tapsAt(w.Columns, &stride)
	weight := unsafe.Pointer(unsafe.SliceData(r.ones))
	if r.weights != nil {
		r.boxes.MoveTo(weights, i)
		weights.Run()
		weight = weights.Reg[r.weight]
		size := len(w.Columns)
		for _, a := range slices.Backward(r.weightLanes) {
			weightStride[a] = size
			size *= weights.N[a]
		}
	}
	w.Runs = vector.Positions(w.Runs, 0, after, r.planes, &stride)
	w.Weights = vector.Positions(w.Weights, 0, after, r.planes, &weightStride)
	sums, row := memory(w, r.bytes[:], 3), memory(w, r.bytes[:], 4)
	n, points := 1, 1
	for _, a := range r.windows.positions {
		n += (block.N[a] - 1) * stride[a]
		points *= block.N[a]
	}
	for j, at := range w.Runs {
		to, from := unsafe.Add(sums, j*points*r.size), unsafe.Add(block.Reg[r.windows.root], at*r.size)
		if n == points {
			r.apply(to, from, unsafe.Add(weight, w.Weights[j]*r.size), w.Columns, n)
			continue
		}
		r.apply(row, from, unsafe.Add(weight, w.Weights[j]*r.size), w.Columns, n)
		block.Pack(r.size, to, row, r.windows.positions, &stride)
	}
	after.Reg[r.sum] = sums
	after.Run()
}

// apply computes n neighbouring windows.
func (r *filterRunner) apply(c, a, weight unsafe.Pointer, taps []int, n int) {
	if r.greater == nil {
		r.filter.Apply(c, a, weight, unsafe.Pointer(&taps[0]), n, len(taps), r.size)
		return
	}
	first := unsafe.Add(a, taps[0]*r.size)
	for _, at := range taps[1:] {
		r.greater(c, first, unsafe.Add(a, at*r.size), n)
		first = c
	}
}
