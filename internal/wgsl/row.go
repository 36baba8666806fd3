package wgsl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A row kernel is done in one of these forms. A row is the points along the
// reduced axes at one position of the kept ones; its length is cols.
//
//   - Short and middling rows: along threads, a power of two, share a row, and
//     a workgroup has several rows. What a thread loads it holds in registers
//     from one reduction to the next.
//   - Long rows: a workgroup for each, which sweeps over the row once for each
//     level of reductions and once to store.
//   - Across: where neighbours in memory are different rows, threads lie along
//     the rows, and each sweeps over its part of a row.
//   - Parted: few rows, too few to keep the device busy, are cut into
//     segments whose results further passes combine, level by level.
//
// A reduction's level is the number of reductions that it needs one after the
// other, itself included.
type row struct {
	*compiler
	kept, reduced []int // the last is the one along which memory is walked
	rows, cols    int
	level         []int // of each instruction
	levels        int
	across        bool
	along         int  // threads of a row
	group         int  // rows of a workgroup
	quads         bool // lanes go by fours
	lanes         int  // points that a thread has in hand
	hold          bool // they are all its points
	segment       int  // points of a segment, if rows are parted
	segments      int
	apart         bool // threads of a row leave their results as if each had a segment
	parts         int  // the scratch buffer of a parted kernel
	shelves       map[int]shelf
}

func (c *compiler) rowKernel() {
	r := &row{compiler: c, kept: c.axes(ir.Parallel), reduced: c.axes(ir.Reduced)}
	r.rows, r.cols = c.length(r.kept), c.length(r.reduced)
	r.findLevels()
	r.choose()
	if r.segments > 1 || r.apart {
		r.parted()
	} else {
		r.whole()
	}
	c.settle()
}

func (r *row) findLevels() {
	r.level = make([]int, len(r.k.Body))
	for i := range r.k.Body {
		in := &r.k.Body[i]
		for _, j := range in.Src {
			r.level[i] = max(r.level[i], r.level[j])
		}
		if in.Op.Class() == ir.Reduction {
			r.level[i]++
		}
		r.levels = max(r.levels, r.level[i])
	}
}

// reductions lists those of a level.
func (r *row) reductions(level int) []int {
	var list []int
	for i := range r.k.Body {
		if r.k.Body[i].Op.Class() == ir.Reduction && r.level[i] == level {
			list = append(list, i)
		}
	}
	return list
}

// choose decides on the form.
func (r *row) choose() {
	// What is near in memory should be near among threads.
	near := make([]float64, len(r.k.Axes))
	for i := range r.k.Body {
		in := &r.k.Body[i]
		if in.Op != ir.Load && in.Op != ir.Store {
			continue
		}
		points := 1.0
		for a, axis := range r.k.Axes {
			if in.Domain.Has(a) {
				points *= float64(axis.Len)
			}
		}
		for a, c := range in.View.Coef {
			if c != 0 && r.k.Axes[a].Len > 1 {
				near[a] += points / float64(abs(c))
			}
		}
	}
	last := func(axes []int) ([]int, float64) {
		axes = r.long(axes)
		if len(axes) == 0 {
			return axes, 0
		}
		best := slices.MaxFunc(axes, func(a, b int) int { return cmp.Compare(near[a], near[b]) })
		if near[best] > 2*near[axes[len(axes)-1]] {
			n := slices.Index(axes, best)
			axes = append(slices.Delete(axes, n, n+1), best)
		}
		return axes, near[best]
	}
	var byKept, byReduced float64
	r.kept, byKept = last(r.kept)
	r.reduced, byReduced = last(r.reduced)
	r.across = byKept > byReduced
	r.quads = !r.across && r.vectors()
	threads := r.t.threads()
	unit := 1
	if r.quads {
		unit = 4
	}
	const most = 16 // lanes
	if large := floorPow2(min(1024, r.t.MaxInvocations)); r.cols > most*threads && r.cols <= most*large && r.visits() > 1 && !r.across {
		threads = large // so that a row is read once
	}
	for n := r.registerBytes(); threads*n > r.t.WorkgroupBytes; {
		threads /= 2
	}
	switch {
	case r.t.Software:
		r.along = 1
		if r.apart = 4*r.rows <= r.t.busy() && r.cols >= 1<<12; r.apart {
			threads = 32
			r.along, r.across = threads, false
		}
	case r.across:
		r.along = 1
		for r.rows*r.along < r.t.busy() && r.along < 8 && 4*r.along < r.cols {
			r.along *= 2
		}
	default:
		r.along = min(threads, ceilPow2(ceilDiv(r.cols, most)))
		for r.rows*r.along < r.t.busy() && r.along < threads && 2*r.along*unit <= r.cols {
			r.along *= 2
		}
	}
	r.lanes = ceilDiv(max(r.cols, 1), r.along*unit) * unit
	if r.hold = r.lanes <= most && r.lanes*len(r.k.Body) <= 1000; !r.hold {
		r.lanes = 4
		if r.quads && len(r.k.Body) <= 12 && r.cols >= 2*most*r.along {
			r.lanes = most
		}
	}
	r.group = threads / r.along
	r.part()
}

// visits is the number of times that a sweep would go over a row.
func (r *row) visits() int {
	n := r.levels
	if len(r.stores(r.k.Roles(ir.Reduced), true)) > 0 {
		n++
	}
	return n
}

// part decides whether rows are cut into segments.
func (r *row) part() {
	step := r.along * r.lanes
	if r.apart {
		r.hold = false
		r.segments = max(1, min(4, r.t.busy()/(r.rows*r.along), r.cols/(8*step)))
		r.segment = ceilDiv(ceilDiv(r.cols, r.segments), step) * step
		r.segments = ceilDiv(r.cols, r.segment)
		return
	}
	segments := min(2*r.t.busy()/(r.rows*r.along), r.cols/(2*step))
	if segments < 4 || r.rows*r.cols < 1<<15 {
		r.segments = 1
		return
	}
	r.hold = false
	r.segment = ceilDiv(ceilDiv(r.cols, segments), step) * step
	r.segments = ceilDiv(r.cols, r.segment)
}

// vectors reports whether a load reads four neighbours along the rows.
func (r *row) vectors() bool {
	if len(r.reduced) == 0 || r.k.Axes[r.reduced[len(r.reduced)-1]].Len%4 != 0 {
		return false
	}
	inner := r.reduced[len(r.reduced)-1]
	for i := range r.k.Body {
		in := &r.k.Body[i]
		if in.Op != ir.Load || in.View.Coef[inner] != 1 || in.View.Off%4 != 0 || !r.k.Args[in.Arg].Align {
			continue
		}
		ok := true
		for a, c := range in.View.Coef {
			ok = ok && (a == inner || c%4 == 0 || r.k.Axes[a].Len == 1)
		}
		if ok {
			return true
		}
	}
	return false
}

// start gives each thread its row and its number t among those of the row.
func (r *row) start(s *shader) {
	along, stride := r.along, 1
	if r.across {
		stride = r.group
	}
	s.root.line("let t = thread / %du %% %du;", stride, along)
	own := fmt.Sprintf("thread / %du", along)
	if r.across {
		own = fmt.Sprintf("thread %% %du", r.group)
	}
	tiles := ceilDiv(r.rows, r.group)
	tile := "group"
	if r.segments > 1 || r.apart {
		s.root.line("let segment = group / %du;", tiles)
		tile = fmt.Sprintf("(group %% %du)", tiles)
	}
	s.root.line("let each = %s * %du + %s;", tile, r.group, own)
	s.root.line("let row = min(each, %du);", r.rows-1)
	if r.rows%r.group != 0 {
		s.root.valid = []string{fmt.Sprintf("each < %du", r.rows)}
	}
	s.root.enter(walk{axes: r.kept, base: "row"})
}

// whole does the kernel in one pass.
func (r *row) whole() {
	r.pass(r.along*r.group, func(s *shader) {
		s.groups = ceilDiv(r.rows, r.group)
		r.start(s)
		var held *scope
		if r.hold && r.cols > 0 {
			held = s.root.beside("")
			r.lanesOf(held, "0u", fmt.Sprintf("%du", r.cols), r.cols == r.along*r.lanes)
		}
		end, rest := fmt.Sprintf("%du", r.cols), r.cols%(r.along*r.lanes) != 0
		for level := 1; level <= r.levels; level++ {
			rs, accs := r.accumulators(s, level)
			switch {
			case r.cols == 0:
			case held != nil:
				r.accumulate(held, rs, accs)
			default:
				r.chunks(s.root, "0u", end, r.cols, rest, rs, accs)
			}
			r.join(s, rs, accs)
			r.results(s, rs, accs)
		}
		r.storeKept(s)
		if list := r.stores(r.k.Roles(ir.Reduced), true); len(list) > 0 {
			store := func(sc *scope) {
				for _, i := range list {
					sc.store(i)
				}
			}
			switch {
			case r.cols == 0:
			case held != nil:
				store(held)
			default:
				r.sweep(s.root, "0u", end, rest, store)
			}
		}
	})
}

// accumulate adds a scope's points to accumulators.
func (r *row) accumulate(sc *scope, rs []reducer, accs []string) {
	for n, red := range rs {
		sc.accumulate(red, accs[n], r.lanes)
	}
}

// join combines the accumulators of a row's threads.
func (r *row) join(s *shader, rs []reducer, accs []string) {
	stride := 1
	if r.across {
		stride = r.group
	}
	s.root.together(rs, accs, r.along, stride)
}

// partsOfRow is the number of results that a row's segments leave.
func (r *row) partsOfRow() int {
	if r.apart {
		return r.segments * r.along
	}
	return r.segments
}

func (r *row) accumulators(s *shader, level int) (rs []reducer, accs []string) {
	for _, i := range r.reductions(level) {
		red := s.reducer(i)
		acc := fmt.Sprintf("r%d", i)
		s.root.line("var %s = %s;", acc, red.start)
		rs, accs = append(rs, red), append(accs, acc)
	}
	return rs, accs
}

// results makes accumulators the values of their reductions.
func (r *row) results(s *shader, rs []reducer, accs []string) {
	for n, red := range rs {
		s.root.values[red.instr] = s.root.let(red.instr, []string{red.result(accs[n])})
	}
}

// storeKept does the stores that do not vary over reduced axes.
func (r *row) storeKept(s *shader) {
	sc := s.root.beside("")
	if r.along > 1 {
		sc.valid = []string{"t == 0u"}
	}
	for _, i := range r.stores(r.k.Roles(ir.Reduced), false) {
		sc.store(i)
	}
}

// lanesOf enters a thread's points from b on; full says that none is past hi.
func (r *row) lanesOf(sc *scope, b, hi string, full bool) {
	w := walk{axes: r.reduced, base: b + " + t", step: make([]int, r.lanes), quads: r.quads}
	if r.quads {
		w.base = b + " + t * 4u"
	}
	if b == "0u" {
		w.base = w.base[len("0u + "):]
	}
	for l := range w.step {
		w.step[l] = l * r.along
		if r.quads {
			w.step[l] = l/4*4*r.along + l%4
		}
	}
	if !full {
		w.clamp = hi
		sc.limit(w)
	}
	sc.enter(w)
}

// sweep goes over the points from lo to hi; rest says that they may be no
// whole number of steps.
func (r *row) sweep(sc *scope, lo, hi string, rest bool, body func(sc *scope)) {
	step := r.along * r.lanes
	outer := sc.block()
	outer.line("var b = %s;", lo)
	loop := outer.block()
	r.lanesOf(loop, "b", hi, true)
	body(loop)
	loop.end(fmt.Sprintf("for (; b + %du <= %s; b += %du)", step, hi, step))
	if rest {
		tail := outer.block()
		r.lanesOf(tail, "b", hi, false)
		body(tail)
		tail.end(fmt.Sprintf("if (b < %s)", hi))
	}
	outer.end("")
}

// sweepChunk is how many steps of a sweep are added up by themselves, so that
// sums of many keep their last bits.
const sweepChunk = 256

// chunks accumulates the points from lo to hi, at most n; rest is that of sweep.
func (r *row) chunks(sc *scope, lo, hi string, n int, rest bool, rs []reducer, accs []string) {
	chunk := sweepChunk * r.along * r.lanes
	if n <= 2*chunk {
		r.sweep(sc, lo, hi, rest, func(sc *scope) { r.accumulate(sc, rs, accs) })
		return
	}
	loop := sc.block()
	parts := make([]string, len(rs))
	for i, red := range rs {
		parts[i] = "c" + accs[i]
		loop.line("var %s = %s;", parts[i], red.start)
	}
	loop.line("let end = min(first + %du, %s);", chunk, hi)
	r.sweep(loop, "first", "end", rest, func(sc *scope) { r.accumulate(sc, rs, parts) })
	for i, red := range rs {
		loop.line("%s = %s;", accs[i], red.combine(accs[i], parts[i]))
	}
	loop.end(fmt.Sprintf("for (var first = %s; first < %s; first += %du)", lo, hi, chunk))
}

// A shelf is where in the one scratch buffer of a parted kernel, of u32, the
// results of a reduction lie, and those of segments of the level at hand.
type shelf struct{ result, part int }

// parted does the kernel in passes: for each level the reductions of segments
// and what these give together, and at last the stores.
func (r *row) parted() {
	r.shelves = map[int]shelf{}
	words, most := 0, 0
	for level := 1; level <= r.levels; level++ {
		for _, i := range r.reductions(level) {
			r.shelves[i] = shelf{result: words}
			words += 2 * r.rows
		}
	}
	for level := 1; level <= r.levels; level++ {
		n := words
		for _, i := range r.reductions(level) {
			r.shelves[i] = shelf{r.shelves[i].result, n}
			n += 2 * r.rows * r.partsOfRow()
		}
		most = max(most, n)
	}
	r.parts = r.scratch(most, 4)
	for level := 1; level <= r.levels; level++ {
		r.segmentPass(level)
		r.combinePass(level, level == r.levels)
	}
	if list := r.stores(r.k.Roles(ir.Reduced), true); len(list) > 0 {
		r.points(append(slices.Clone(r.kept), r.reduced...), list, r.fetch)
	}
}

// peek reads what poke wrote: a register, in the scratch buffer's words from
// a shelf on.
func (r *row) peek(s *shader, register string, shelf int, n string) string {
	b := s.buffer(r.parts, "u32", false)
	if register == "vec2<u32>" {
		return fmt.Sprintf("vec2<u32>(%s[%d + 2 * (%s)], %s[%d + 2 * (%s)])", b, shelf, n, b, shelf+1, n)
	}
	return fmt.Sprintf("bitcast<%s>(%s[%d + %s])", register, b, shelf, n)
}

func (r *row) poke(sc *scope, register string, shelf int, n, x string) {
	b := sc.s.buffer(r.parts, "u32", true)
	if register == "vec2<u32>" {
		sc.line("%s[%d + 2 * (%s)] = %s.x;", b, shelf, n, x)
		sc.line("%s[%d + 2 * (%s)] = %s.y;", b, shelf+1, n, x)
		return
	}
	sc.line("%s[%d + %s] = bitcast<u32>(%s);", b, shelf, n, x)
}

// fetch gives the value of a reduction that is in scratch.
func (r *row) fetch(sc *scope, i int) {
	home := sc.home(ir.Axes(r.kept...))
	red := sc.s.reducer(i)
	rank := home.rank(r.kept, ir.Axes(r.kept...))
	list := make([]string, rank.lanes())
	for l := range list {
		name := fmt.Sprintf("k%d%s_%d", i, home.tag, l)
		home.line("let %s = %s;", name, r.peek(sc.s, red.register, r.shelves[i].result, rank.lane(l)))
		list[l] = red.result(name)
	}
	home.values[i] = home.let(i, list)
}

// segmentPass reduces each segment of each row.
func (r *row) segmentPass(level int) {
	r.pass(r.along*r.group, func(s *shader) {
		s.groups = ceilDiv(r.rows, r.group) * r.segments
		s.reduced = r.fetch
		r.start(s)
		s.root.line("let lo = segment * %du;", r.segment)
		s.root.line("let hi = min(lo + %du, %du);", r.segment, r.cols)
		rs, accs := r.accumulators(s, level)
		r.chunks(s.root, "lo", "hi", r.segment, r.cols%(r.along*r.lanes) != 0, rs, accs)
		part := "segment"
		sc := s.root.block()
		if r.apart {
			part = fmt.Sprintf("(segment * %du + t)", r.along)
			sc.valid = []string{fmt.Sprintf("segment < %du", r.segments)}
		} else {
			r.join(s, rs, accs)
			sc.valid = []string{fmt.Sprintf("t == 0u && segment < %du", r.segments)}
		}
		for n, red := range rs {
			r.poke(sc, red.register, r.shelves[red.instr].part, fmt.Sprintf("%s * %du + row", part, r.rows), accs[n])
		}
		sc.end("if (" + sc.condition(0) + ")")
	})
}

// combinePass combines the segments of each row; the last one also does the
// stores that do not vary over reduced axes, others leave their results.
func (r *row) combinePass(level int, last bool) {
	all := *r
	all.segments, all.across, all.apart = 1, false, false
	threads := r.along * r.group
	all.along = 1
	for !r.t.Software && all.along < threads && 2*all.along <= r.partsOfRow() && all.along*all.rows < r.t.busy() {
		all.along *= 2
	}
	all.group = threads / all.along
	varying := len(r.stores(r.k.Roles(ir.Reduced), true)) > 0
	r.pass(threads, func(s *shader) {
		s.groups = ceilDiv(all.rows, all.group)
		s.reduced = r.fetch
		all.start(s)
		rs, accs := all.accumulators(s, level)
		loop := s.root.block()
		for n, red := range rs {
			part := r.peek(s, red.register, r.shelves[red.instr].part, fmt.Sprintf("n * %du + row", r.rows))
			loop.line("%s = %s;", accs[n], red.combine(accs[n], part))
		}
		loop.end(fmt.Sprintf("for (var n = t; n < %du; n += %du)", r.partsOfRow(), all.along))
		s.root.together(rs, accs, all.along, 1)
		if varying || !last {
			sc := s.root.block()
			sc.valid = []string{"t == 0u"}
			for n, red := range rs {
				r.poke(sc, red.register, r.shelves[red.instr].result, "row", accs[n])
			}
			sc.end("if (" + sc.condition(0) + ")")
		}
		if last {
			all.results(s, rs, accs)
			all.storeKept(s)
		}
	})
}
