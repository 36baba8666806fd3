package sliding

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A correlationRunner computes sums over positions, for each tap, of windows times a factor that has no
// tap, such as the derivative of a depthwise convolution by its weights. Tasks are boxes of planes. Of
// each plane of a part of the positions, the factor is laid out like the windows, with zeros between its
// rows, so that the sum of a tap is a dot product of two rows.
type correlationRunner struct {
	windows    *windows
	other      *vector.Program
	root       int   // the register of the factor
	lanes      []int // of the factor, along planes
	after      *vector.Program
	sum        int            // the register of the sums
	planes     *vector.Tiling // of kept axes of no tap
	parts      *vector.Tiling // of reduced axes
	outer      []int          // reduced axes of no position
	dots       simd.DotTile
	size       int    // bytes of an element
	bytes      [5]int // of a worker's memory: three programs', the sums of a box, and a plane of the factor
	sizeOfSums int    // bytes
	work       int
	perTask    int // boxes of planes in a task
}

// dotPart is the greatest length of a dot product, so that lanes add up few products.
const dotPart = 1024

// NewCorrelation returns nil for other kernels.
func NewCorrelation(s *vector.Space) *correlationRunner {
	sum, ok := onlyReduction(s)
	if !ok || len(s.Limits) > 0 {
		return nil
	}
	s = clone(s)
	in := &s.Body[sum]
	r := &correlationRunner{dots: simd.DotTiles[in.Type], size: in.Type.Size()}
	kept, reduced := s.List(ir.Parallel, ir.Batch, ir.M, ir.N), s.List(ir.Reduced, ir.K)
	if in.Op != ir.Sum || !in.Type.IsFloat() || r.dots.Dots == nil || s.Body[in.Src[0]].Type != in.Type {
		return nil
	}
	x, y := slidingFactors(s, sum, slidAlong(s, ir.Axes(kept...)))
	if x < 0 || y < 0 {
		return nil
	}
	if r.windows = findWindows(s, x, ir.Axes(reduced...), ir.Axes(kept...)&^s.Body[y].Domain, true); r.windows == nil || !r.cut(s, kept, reduced, y) {
		return nil
	}
	r.prepare(s, sum, y)
	return r
}

// cut chooses the boxes. It returns false if the other factor has a tap, or if blocks are too large.
func (r *correlationRunner) cut(s *vector.Space, kept, reduced []int, y int) bool {
	w := r.windows
	var taps, planes, positions []int
	for _, a := range kept {
		isTap := func(c slide) bool { return slices.ContainsFunc(c.taps, func(t tap) bool { return t.axis == a }) }
		switch {
		case !slices.ContainsFunc(w.slides, isTap):
			planes = append(planes, a)
		case s.Body[y].Domain.Has(a):
			return false
		default:
			taps = append(taps, a)
		}
	}
	for _, a := range reduced {
		if len(positions) > 0 || slices.ContainsFunc(w.slides, func(c slide) bool { return c.position == a }) {
			positions = append(positions, a)
		} else {
			r.outer = append(r.outer, a)
		}
	}
	both := s.Body[y].Domain & s.Body[w.instr].Domain
	if results(s, planes, w.instr, y) > mostResults() || slices.ContainsFunc(positions, func(a int) bool { return !both.Has(a) }) {
		return false
	}
	for limit := 2 * s.Tune.MaxBlock; limit > 0; limit /= 2 {
		r.parts = vector.NewTiling(s, slices.Concat(r.outer, positions), min(s.Tune.MinBlock, limit), limit)
		some := max(1, limit/r.parts.MaxPoints())
		r.planes = vector.NewTiling(s, planes, some, some)
		if w.cut(slices.Concat(planes, r.outer), positions, taps, r.planes, r.parts) <= mostWindows {
			w.assemble()
			return true
		}
	}
	return false
}

// prepare assembles the programs of the other factor, instruction y, and of the results.
func (r *correlationRunner) prepare(s *vector.Space, sum, y int) {
	extent := s.Extents(r.planes, r.parts)
	within := func(lanes []int) []int {
		return slices.DeleteFunc(lanes, func(a int) bool { return !s.Body[y].Domain.Has(a) })
	}
	r.lanes = slices.Concat(within(r.planes.LongAxes()), within(r.parts.LongAxes()))
	a := vector.Assemble(s, vector.Schedule{Lanes: r.lanes, Extent: extent, Roots: []int{y}, Value: true})
	r.other, r.root = a.Program, a.Root

	for _, a := range r.windows.taps {
		extent[a] = s.Axes[a].Len
	}
	s.Body[sum].Domain = s.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	stores := s.Stores(0, false)
	a = vector.Assemble(s, vector.Schedule{Lanes: slices.Concat(r.planes.LongAxes(), r.windows.taps), Extent: extent, Roots: stores, Given: []int{sum}})
	r.after, r.sum = a.Program, a.Body[sum]
	r.after.WholeAxes = r.windows.taps
	r.sizeOfSums = r.planes.MaxPoints() * s.Size(r.windows.taps) * r.size
	r.bytes = [5]int{vector.Align(r.windows.program.Scratch), vector.Align(r.other.Scratch), vector.Align(r.after.Scratch), vector.Align(r.sizeOfSums), vector.Align(r.windows.elements * r.size)}
	r.work = s.Work(stores) / simd.Products[ir.Float32].Speed
	r.perTask = s.Tune.Grain(r.planes.Count, r.work)
}

func (r *correlationRunner) Run(x *vector.Executor) error {
	return x.Do(r, ir.CeilDiv(r.planes.Count, r.perTask), r.work)
}

func (r *correlationRunner) Begin(x *vector.Executor, w *vector.Worker) {
	for i, p := range []*vector.Program{r.windows.program, r.other, r.after} {
		w.Activations[i].Enter(p, x.Bind, memory(w, r.bytes[:], i), &w.Bad)
	}
}

func (r *correlationRunner) Task(_ *vector.Executor, w *vector.Worker, i int) {
	for t := i * r.perTask; t < min((i+1)*r.perTask, r.planes.Count); t++ {
		for f := range w.Activations {
			r.planes.MoveTo(&w.Activations[f], t)
		}
		sums, after := memory(w, r.bytes[:], 3), &w.Activations[2]
		clear(unsafe.Slice((*byte)(sums), r.sizeOfSums))
		for part := range r.parts.Count {
			r.add(w, part, sums)
		}
		after.Reg[r.sum] = sums
		after.Run()
	}
}

// add adds the products of a part of the positions to the sums of a box of planes.
func (r *correlationRunner) add(w *vector.Worker, part int, sums unsafe.Pointer) {
	block, other := &w.Activations[0], &w.Activations[1]
	r.parts.MoveTo(block, part)
	r.parts.MoveTo(other, part)
	var stride, dense [ir.MaxAxes]int
	r.windows.load(block, &stride)
	other.Run()
	w.Columns = r.windows.tapsAt(w.Columns, &stride)
	size := 1
	for _, a := range slices.Backward(r.lanes) {
		dense[a] = size
		size *= other.N[a]
	}
	n := 1
	for _, a := range r.windows.positions {
		n += (block.N[a] - 1) * stride[a]
	}
	row := memory(w, r.bytes[:], 4)
	clear(unsafe.Slice((*byte)(row), n*r.size))
	outer := slices.Concat(r.planes.Axes, r.outer)
	w.Runs = vector.Positions(w.Runs, 0, block, outer, &stride)
	w.Weights = vector.Positions(w.Weights, 0, block, outer, &dense)
	repeats := 1 // of a plane, along reduced axes
	for _, a := range r.outer {
		repeats *= block.N[a]
	}
	for j, at := range w.Runs {
		if j == 0 || w.Weights[j] != w.Weights[j-1] {
			other.Unpack(r.size, row, unsafe.Add(other.Reg[r.root], w.Weights[j]*r.size), r.windows.positions, &stride)
		}
		to := unsafe.Add(sums, j/repeats*len(w.Columns)*r.size)
		r.dot(to, unsafe.Add(block.Reg[r.windows.root], at*r.size), row, w.Columns, n)
	}
}

// dot adds to the sum of each tap the dot product of n neighbouring elements at the tap, in a, with b.
// Taps at equal distances are rows of one routine.
func (r *correlationRunner) dot(sums, a, b unsafe.Pointer, taps []int, n int) {
	for t := 0; t < len(taps); {
		rows, step := 1, 0
		for ; t+rows < len(taps) && rows < r.dots.Rows; rows++ {
			next := taps[t+rows] - taps[t+rows-1]
			if rows > 1 && next != step {
				break
			}
			step = next
		}
		for j := 0; j < n; j += dotPart {
			at := unsafe.Add(a, (taps[t]+j)*r.size)
			r.dots.Dots(unsafe.Add(sums, t*r.size), at, unsafe.Add(b, j*r.size), rows, 1, min(dotPart, n-j), 1, step, 0, 1)
		}
		t += rows
	}
}
