package sliding

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// An acrossRunner computes sums of windows as a filterRunner does, of planes with weights of their own, such as
// depthwise convolutions. A register has the elements of a group of planes, as many as it has lanes, at one position.
// Planes that lie beside each other are copied so, of large ones some rows at a time; others are small, and transposed, as
// the results are when they are stored. So short rows leave no register half empty, and steps between windows cost
// nothing. A box is a group, or several where planes and results lie beside each other: these are stored in long runs.
type acrossRunner struct {
	arg       int             // of the windows
	first     vector.Affine   // in the buffer, the coordinates 0 of a box
	plane     int             // the axis of planes
	position  int             // the axis of rows, or of one row's elements
	apart     int             // distance of planes in the buffer
	pitch     int             // distance of positions in a block
	rows, row line            // lines of rows, and of elements of a row
	taps      []int           // positions in a block
	weights   *vector.Program // of a box, by plane and tap
	weight    int             // the register of the weights
	after     *vector.Program
	sum       int // the register of the sums
	boxes     vector.Tilings
	same      int // boxes in a row that have the same weights
	band      int // positions along their axis, of which registers stay in the first-level cache
	filter    simd.Filter
	bytes     [7]int // of a worker's memory: two programs', a block, a transposed copy, the sums, the weights and their box
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
	all, few := ir.CeilDiv(s.Axes[r.plane].Len, r.filter.Lanes), 1
	if out := s.Body[s.Stores(0, false)[0]].View.Coef[r.plane] == 1; beside && out {
		few = min(all, ir.CeilDiv(s.Tune.MinBlock, r.filter.Lanes)) // long runs of memory
	} else {
		all, beside = 1, beside || out
	}
	for ; rows > 0; rows /= 2 {
		band, whole, groups := vector.NewStrips(s, r.position, rows), vector.NewTiling(s, inner, row, row), vector.NewTiling(s, others, 1, 1)
		elements := w.cut(nil, positions, reduced, band, whole)
		fits := func(n int) bool {
			return rows*row*n*r.filter.Lanes <= s.Tune.MaxWholeReduction && elements*pitchOf(n)*r.filter.Lanes <= mostWindows
		}
		some := all
		for some > 1 && !fits(some) {
			some = ir.CeilDiv(some, 2)
		}
		if fits(some) && (some >= few || rows == 1) {
			r.boxes = vector.Tilings{r.planesOf(s, some, groups.Count*band.Count), groups, band, whole}
			return true
		}
		if !beside || r.rows.positions == 1 {
			return false
		}
	}
	return false
}

// pitchOf is the distance of neighbouring positions in a block of some groups, in groups: an odd number, so that
// positions do not compete for sets of the cache.
func pitchOf(groups int) int { return groups | 1 }

// planesOf cuts the planes into boxes of at most some groups, or fewer if that gives too few tasks.
func (r *acrossRunner) planesOf(s *vector.Space, some, others int) *vector.Tiling {
	n := s.Axes[r.plane].Len
	all := ir.CeilDiv(n, r.filter.Lanes)
	boxes := max(ir.CeilDiv(all, some), min(all, 2*s.Tune.MinTiles/max(1, others)))
	return vector.NewStrips(s, r.plane, ir.CeilDiv(all, boxes)*r.filter.Lanes)
}

// prepare assembles the programs of the weights, instruction y, and of the results.
func (r *acrossRunner) prepare(s *vector.Space, w *windows, sum, y int, reduced []int) {
	lanes, load := r.filter.Lanes, w.space.Body[w.instr].View
	planes := r.boxes[0].MaxPoints()
	r.pitch = pitchOf(ir.CeilDiv(planes, lanes)) * lanes
	var stride [ir.MaxAxes]int
	for i, c := range w.slides {
		if stride[c.quotient] = r.pitch; i < len(w.slides)-1 {
			stride[c.quotient] *= r.row.n
		}
	}
	r.taps = w.tapsAt(nil, &stride)
	r.apart = load.Coef[r.plane]

	extent := s.Extents(r.boxes...)
	r.same = r.boxes[2].Count * r.boxes[3].Count
	if !slices.ContainsFunc(r.boxes[1].Axes, func(a int) bool { return s.Body[y].Domain.Has(a) }) {
		r.same *= r.boxes[1].Count
	}
	inner := r.boxes[3].MaxPoints()
	places := extent[r.position] * inner
	r.band = min(max(1, s.Tune.MaxBlock/(planes*inner)), extent[r.position])
	extent[r.position] = r.band
	for _, a := range reduced {
		extent[a] = s.Axes[a].Len
	}
	a := vector.Assemble(s, vector.Schedule{Lanes: append([]int{r.plane}, reduced...), Extent: extent, Roots: []int{y}, Value: true})
	r.weights, r.weight = a.Program, a.Root
	r.weights.WholeAxes = reduced
	s.Body[sum].Domain = s.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	stores := s.Stores(0, false)
	a = vector.Assemble(s, vector.Schedule{Lanes: append(r.boxes[1:].LongAxes(), r.plane), Extent: extent, Roots: stores, Given: []int{sum}})
	r.after, r.sum = a.Program, a.Body[sum]
	r.first = a.Affine(load.Off, load.Coef[:len(s.Axes)], 0)

	register, block := lanes*acrossBytes, vector.Align(w.elements*r.pitch*acrossBytes)
	r.bytes = [7]int{
		vector.Align(r.weights.Scratch), vector.Align(r.after.Scratch), block, block,
		vector.Align(places*planes*acrossBytes + register), ir.CeilDiv(planes, lanes) * vector.Align(len(r.taps)*register), 8,
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
	*r.loaded(w) = -1
}

// loaded is the number of the weights that a worker has.
func (r *acrossRunner) loaded(w *vector.Worker) *int { return (*int)(memory(w, r.bytes[:], 6)) }

func (r *acrossRunner) Task(_ *vector.Executor, w *vector.Worker, i int) {
	for t := i * r.perTask; t < min((i+1)*r.perTask, r.boxes.Count()); t++ {
		r.boxes.MoveTo(&w.Activations[0], t)
		r.boxes.MoveTo(&w.Activations[1], t)
		if weights, loaded := &w.Activations[0], r.loaded(w); *loaded != t/r.same {
			*loaded = t / r.same
			weights.Run()
			r.turn(memory(w, r.bytes[:], 5), weights.Reg[r.weight], weights.N[r.plane])
		}
		r.box(w, &w.Activations[1])
	}
}

// box computes a box of the result. Of the last group more planes are summed than there are: their sums are written
// before the elements that lie there, because groups are in reverse order and positions in order.
func (r *acrossRunner) box(w *vector.Worker, after *vector.Activation) {
	block, spare, sums, weight := memory(w, r.bytes[:], 2), memory(w, r.bytes[:], 3), memory(w, r.bytes[:], 4), memory(w, r.bytes[:], 5)
	planes, lanes, taps := after.N[r.plane], r.filter.Lanes, len(r.taps)
	register, panel, apart := lanes*acrossBytes, vector.Align(taps*lanes*acrossBytes), planes*acrossBytes
	rows, row, first, positions := after.N[r.position], r.row.positions, after.At[r.position], after.N[r.position]
	if r.rows.positions == 1 {
		rows, row = 1, rows
	}
	r.load(after, block, spare)
	for g := (planes - 1) / lanes; g >= 0; g-- {
		for i := range rows {
			to, from := unsafe.Add(sums, i*row*apart+g*register), unsafe.Add(block, i*r.rows.step*r.row.n*r.pitch*acrossBytes+g*register)
			r.filter.ApplyAcross(to, from, unsafe.Add(weight, g*panel), unsafe.Pointer(&r.taps[0]), row, taps, r.row.step*r.pitch*acrossBytes, apart)
		}
	}
	of := rows * row / positions * apart // bytes of a position
	for at := 0; at < positions; at += r.band {
		after.Reg[r.sum] = unsafe.Add(sums, at*of)
		after.MoveTo(r.position, first+at, min(r.band, positions-at))
		after.Run()
	}
}

// turn lays out the weights of some planes by group, tap and plane.
func (r *acrossRunner) turn(to, from unsafe.Pointer, planes int) {
	lanes, taps := r.filter.Lanes, len(r.taps)
	for g := 0; g < planes; g += lanes {
		n := min(lanes, planes-g)
		if n < lanes {
			clear(unsafe.Slice((*byte)(to), taps*lanes*acrossBytes))
		}
		simd.Movers[acrossBytes](to, unsafe.Add(from, g*taps*acrossBytes), taps, lanes, 1, n, 1, taps)
		to = unsafe.Add(to, vector.Align(taps*lanes*acrossBytes))
	}
}

// part returns the part of a line that the windows of n positions from first on read.
func (l line) part(first, n int) line {
	at, all := first*l.step, l.n-(l.positions-n)*l.step
	l.low, l.high = max(0, l.low-at), min(all, l.high-at)
	l.n, l.positions = all, n
	return l
}

// load copies the elements of a box to a block, by position.
func (r *acrossRunner) load(f *vector.Activation, block, spare unsafe.Pointer) {
	planes, move := f.N[r.plane], simd.Movers[acrossBytes]
	lines, at := r.rows, r.first.Pos(f)
	if lines.positions > 1 {
		lines = lines.part(f.At[r.position], f.N[r.position])
		at += f.At[r.position] * lines.step * lines.stride
	}
	size := r.pitch * acrossBytes // of a position
	line := r.row.n * size
	zero := func(p unsafe.Pointer, bytes int) { clear(unsafe.Slice((*byte)(p), bytes)) }
	rows, n := lines.high-lines.low, r.row.high-r.row.low
	if rows <= 0 {
		zero(block, lines.n*line)
		return
	}
	zero(block, lines.low*line)
	zero(unsafe.Add(block, lines.high*line), (lines.n-lines.high)*line)
	to := unsafe.Add(block, lines.low*line)
	if n < r.row.n {
		for i := range rows {
			zero(unsafe.Add(to, i*line), r.row.low*size)
			zero(unsafe.Add(to, i*line+r.row.high*size), (r.row.n-r.row.high)*size)
		}
	}
	to = unsafe.Add(to, r.row.low*size)
	from := unsafe.Add(f.Bind[r.arg].P, (at+lines.low*lines.stride+r.row.low*r.row.stride)*acrossBytes)
	if rows > 1 && (lines.stride != n || r.row.stride != 1) {
		for i := range rows {
			move(unsafe.Add(to, i*line), unsafe.Add(from, i*lines.stride*acrossBytes), n, r.pitch, r.row.stride, planes, 1, r.apart)
		}
		return
	}
	if n == r.row.n {
		spare = to
	}
	move(spare, from, rows*n, r.pitch, r.row.stride, planes, 1, r.apart)
	if n < r.row.n {
		move(to, spare, rows, r.row.n*r.pitch, n*r.pitch, n*r.pitch, 1, 1)
	}
}
