package sliding

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// An acrossRunner computes sums of windows as a filterRunner does, of planes with weights of their own, such as
// depthwise convolutions. A box is as many planes as a register has lanes, and a register has the elements of all of them
// at one position. Planes that lie beside each other are copied so, of large ones some rows at a time; others are small,
// and transposed, as the results are when they are stored. So short rows leave no register half empty, and steps between
// windows cost nothing.
type acrossRunner struct {
	arg       int             // of the windows
	first     vector.Affine   // in the buffer, the coordinates 0 of a box
	plane     int             // the axis of planes
	position  int             // the axis of rows, or of one row's elements
	apart     int             // distance of planes in the buffer
	rows, row line            // lines of rows, and of elements of a row
	taps      []int           // positions in a block
	weights   *vector.Program // of a box, by plane and tap
	weight    int             // the register of the weights
	after     *vector.Program
	sum       int // the register of the sums
	boxes     vector.Tilings
	band      int // positions along their axis, of which registers stay in the first-level cache
	filter    simd.Filter
	bytes     [6]int // of a worker's memory: two programs', a block, a transposed copy, the sums, the weights
	work      int
	perTask   int // boxes in a task
}

// A line is a coordinate of windows: of n elements, those in [low, high) lie in the buffer, stride apart, and the
// others are 0. There are some positions, a step apart.
type line struct{ n, low, high, stride, positions, step int }

// acrossBytes is the size of an element: routines across planes are of floats.
var acrossBytes = ir.Float32.Size()

// NewAcross returns nil for other kernels.
func NewAcross(s *vector.Space) *acrossRunner {
	sum, ok := onlyReduction(s)
	if !ok || len(s.Limits) > 0 {
		return nil
	}
	s = clone(s)
	in := &s.Body[sum]
	r := &acrossRunner{filter: simd.Filters[in.Type], plane: -1}
	if in.Op != ir.Sum || r.filter.Across == nil || s.Body[in.Src[0]].Type != in.Type {
		return nil
	}
	kept, reduced := s.List(ir.Parallel, ir.Batch, ir.M, ir.N), s.List(ir.Reduced, ir.K)
	x, y := slidingFactors(s, sum, slidAlong(s, ir.Axes(kept...)))
	if x < 0 || y < 0 || s.Body[x].Op != ir.Load || len(s.Body[x].Src) > 0 || s.Args[s.Body[x].Arg].DType != in.Type || s.Body[x].View.Fill != ir.Float(in.Type, 0) {
		return nil
	}
	w := findWindows(s, x, ir.Axes(kept...)&^s.Body[y].Domain, ir.Axes(reduced...), false)
	if w == nil || !r.findLines(w) || !r.cut(s, w, kept, reduced, y) {
		return nil
	}
	r.prepare(s, w, sum, y, reduced)
	return r
}

// findLines returns false if windows slide along other coordinates than rows in memory, or have other guards than of
// these.
func (r *acrossRunner) findLines(w *windows) bool {
	in, list := &w.space.Body[w.instr], w.slides
	coef := in.View.Coef
	if len(list) == 2 && coef[list[0].quotient] < coef[list[1].quotient] {
		list[0], list[1] = list[1], list[0]
	}
	if len(list) > 2 {
		return false
	}
	lines := [2]line{{n: 1, high: 1, positions: 1}, {}}
	for i, c := range list {
		n := w.space.Axes[c.quotient].Len
		lines[2-len(list)+i] = line{n, 0, n, coef[c.quotient], w.space.Axes[c.position].Len, c.step}
	}
	for _, g := range in.View.Guards {
		i := slices.IndexFunc(list, func(c slide) bool { return g.Coef[c.quotient] == 1 })
		if i < 0 || varied(g.Coef) > 1 || g.Div != 1 || g.Stride != 0 {
			return false
		}
		l := &lines[2-len(list)+i]
		l.low, l.high = max(l.low, -g.Off), min(l.high, g.Len-g.Off)
	}
	r.rows, r.row, r.position = lines[0], lines[1], list[0].position
	if r.rows.positions == 1 {
		r.position = list[len(list)-1].position
	}
	r.arg = in.Arg
	return r.rows.low < r.rows.high && r.row.low < r.row.high
}

// cut chooses the boxes. It returns false if planes have no weights of their own, if a tap is of no coordinate,
// or if planes are so large that their registers leave the second-level cache: there rows are long, too.
func (r *acrossRunner) cut(s *vector.Space, w *windows, kept, reduced []int, y int) bool {
	var others, positions []int
	for _, c := range w.slides { // in the order of the lines
		positions = append(positions, c.position)
	}
	for _, a := range kept {
		if !slices.Contains(positions, a) && s.Body[w.instr].Domain.Has(a) && s.Body[y].Domain.Has(a) && (r.plane < 0 || s.Axes[a].Len > s.Axes[r.plane].Len) {
			r.plane = a
		}
	}
	if r.plane < 0 || s.Axes[r.plane].Len < r.filter.Lanes {
		return false
	}
	for _, a := range reduced {
		slides := func(c slide) bool { return slices.ContainsFunc(c.taps, func(t tap) bool { return t.axis == a }) }
		if !slices.ContainsFunc(w.slides, slides) {
			return false
		}
	}
	for _, a := range kept {
		if a != r.plane && !slices.Contains(positions, a) {
			others = append(others, a)
		}
	}
	inner := slices.DeleteFunc(slices.Clone(positions), func(a int) bool { return a == r.position })
	rows, row := s.Axes[r.position].Len, s.Size(inner)
	beside := s.Body[w.instr].View.Coef[r.plane] == 1
	if !beside && r.row.stride != 1 {
		return false
	}
	beside = beside || s.Body[s.Stores(0, false)[0]].View.Coef[r.plane] == 1
	for ; rows > 0; rows /= 2 {
		band, whole := vector.NewStrips(s, r.position, rows), vector.NewTiling(s, inner, row, row)
		r.boxes = vector.Tilings{vector.NewTiling(s, others, 1, 1), band, whole, vector.NewStrips(s, r.plane, r.filter.Lanes)}
		if rows*row*r.filter.Lanes <= s.Tune.MaxWholeReduction && w.cut(nil, positions, reduced, band, whole)*r.filter.Lanes <= mostWindows {
			return true
		}
		if !beside || r.rows.positions == 1 {
			return false
		}
	}
	return false
}

// prepare assembles the programs of the weights, instruction y, and of the results.
func (r *acrossRunner) prepare(s *vector.Space, w *windows, sum, y int, reduced []int) {
	lanes, load := r.filter.Lanes, w.space.Body[w.instr].View
	var stride [ir.MaxAxes]int
	for i, c := range w.slides {
		if stride[c.quotient] = lanes; i < len(w.slides)-1 {
			stride[c.quotient] *= r.row.n
		}
	}
	r.taps = w.tapsAt(nil, &stride)
	r.apart = load.Coef[r.plane]

	extent := s.Extents(r.boxes...)
	inner := r.boxes[2].MaxPoints()
	r.band = min(max(1, s.Tune.MaxBlock/(lanes*inner)), extent[r.position])
	extent[r.position] = r.band
	for _, a := range reduced {
		extent[a] = s.Axes[a].Len
	}
	a := vector.Assemble(s, vector.Schedule{Lanes: append([]int{r.plane}, reduced...), Extent: extent, Roots: []int{y}, Value: true})
	r.weights, r.weight = a.Program, a.Root
	r.weights.WholeAxes = reduced
	s.Body[sum].Domain = s.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	stores := s.Stores(0, false)
	a = vector.Assemble(s, vector.Schedule{Lanes: r.boxes.LongAxes(), Extent: extent, Roots: stores, Given: []int{sum}})
	r.after, r.sum = a.Program, a.Body[sum]
	r.first = a.Affine(load.Off, load.Coef[:len(s.Axes)], 0)

	register, places := lanes*acrossBytes, r.band*inner
	r.bytes = [6]int{
		vector.Align(r.weights.Scratch), vector.Align(r.after.Scratch), vector.Align(w.elements * register),
		vector.Align(max(w.elements, places) * register), vector.Align(places * register), vector.Align(len(r.taps) * register),
	}
	r.work = s.Work(stores) / simd.Products[ir.Float32].Speed
	r.perTask = s.Tune.Grain(r.boxes.Count(), r.work)
}

func (r *acrossRunner) Run(x *vector.Executor) error {
	return x.Do(r, ir.CeilDiv(r.boxes.Count(), r.perTask), r.work)
}

func (r *acrossRunner) Begin(x *vector.Executor, w *vector.Worker) {
	for i, p := range []*vector.Program{r.weights, r.after} {
		w.Activations[i].Enter(p, x.Bind, memory(w, r.bytes[:], i), &w.Bad)
	}
}

func (r *acrossRunner) Task(_ *vector.Executor, w *vector.Worker, i int) {
	for t := i * r.perTask; t < min((i+1)*r.perTask, r.boxes.Count()); t++ {
		r.boxes.MoveTo(&w.Activations[0], t)
		r.boxes.MoveTo(&w.Activations[1], t)
		r.box(w, &w.Activations[0], &w.Activations[1])
	}
}

// box computes a box of the result.
func (r *acrossRunner) box(w *vector.Worker, weights, after *vector.Activation) {
	block, spare, sums, weight := memory(w, r.bytes[:], 2), memory(w, r.bytes[:], 3), memory(w, r.bytes[:], 4), memory(w, r.bytes[:], 5)
	planes, lanes, taps := after.N[r.plane], r.filter.Lanes, len(r.taps)
	move, register := simd.Movers[acrossBytes], lanes*acrossBytes
	r.load(after, block, spare)
	weights.Run()
	if planes < lanes {
		clear(unsafe.Slice((*byte)(weight), taps*register))
	}
	move(weight, weights.Reg[r.weight], taps, lanes, 1, planes, 1, taps)
	first, positions := after.At[r.position], after.N[r.position]
	for at := 0; at < positions; at += r.band {
		n := min(r.band, positions-at)
		rows, row, from := n, r.row.positions, at*r.rows.step*r.row.n
		if r.rows.positions == 1 {
			rows, row, from = 1, n, at*r.row.step
		}
		for i := range rows {
			to, from := unsafe.Add(sums, i*row*register), unsafe.Add(block, (from+i*r.rows.step*r.row.n)*register)
			r.filter.ApplyAcross(to, from, weight, unsafe.Pointer(&r.taps[0]), row, taps, r.row.step*register, acrossBytes)
		}
		after.Reg[r.sum] = sums
		if planes < lanes {
			move(spare, sums, rows*row, planes, lanes, planes, 1, 1)
			after.Reg[r.sum] = spare
		}
		after.MoveTo(r.position, first+at, n)
		after.Run()
	}
}

// part returns the part of a line that the windows of n positions from first on read.
func (l line) part(first, n int) line {
	at, all := first*l.step, l.n-(l.positions-n)*l.step
	l.low, l.high = max(0, l.low-at), min(all, l.high-at)
	l.n, l.positions = all, n
	return l
}

// load copies the elements of a box to a block, by registers of a position.
func (r *acrossRunner) load(f *vector.Activation, block, spare unsafe.Pointer) {
	planes, lanes, move := f.N[r.plane], r.filter.Lanes, simd.Movers[acrossBytes]
	lines, at := r.rows, r.first.Pos(f)
	if lines.positions > 1 {
		lines = lines.part(f.At[r.position], f.N[r.position])
		at += f.At[r.position] * lines.step * lines.stride
	}
	rows, n := lines.high-lines.low, r.row.high-r.row.low
	from := unsafe.Add(f.Bind[r.arg].P, (at+lines.low*lines.stride+r.row.low*r.row.stride)*acrossBytes)
	whole := rows == lines.n && n == r.row.n
	register := lanes * acrossBytes
	if !whole || planes < lanes {
		clear(unsafe.Slice((*byte)(block), lines.n*r.row.n*register))
	}
	if rows <= 0 {
		return
	}
	to := unsafe.Add(block, (lines.low*r.row.n+r.row.low)*register)
	if rows > 1 && (lines.stride != n || r.row.stride != 1) {
		for i := range rows {
			move(unsafe.Add(to, i*r.row.n*register), unsafe.Add(from, i*lines.stride*acrossBytes), n, lanes, r.row.stride, planes, 1, r.apart)
		}
		return
	}
	if whole {
		spare = block
	}
	move(spare, from, rows*n, lanes, r.row.stride, planes, 1, r.apart)
	if !whole {
		move(to, spare, rows, r.row.n*lanes, n*lanes, n*lanes, 1, 1)
	}
}
