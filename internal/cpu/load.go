package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A term is a coefficient of an axis.
type term struct{ axis, coef int }

// An affine is where a block's elements lie: a place that depends on where
// the block is, and a stride along each lane.
type affine struct {
	off   int
	terms []term // axes whose coefficient is not 0
	dims  []term // the register's lanes, outermost first
}

func (a *assembler) affine(off int, coef []int, lanes ir.AxisSet) affine {
	f := affine{off: off}
	for axis, c := range coef {
		if c != 0 {
			f.terms = append(f.terms, term{axis, c})
		}
	}
	f.dims = a.dims(coef, slices.DeleteFunc(slices.Clone(a.plan.lanes), func(l int) bool { return !lanes.Has(l) }))
	return f
}

// dims is the coefficients of some axes.
func (a *assembler) dims(coef []int, axes []int) []term {
	d := make([]term, len(axes))
	for i, axis := range axes {
		d[i] = term{axis, coef[axis]}
	}
	return d
}

// pos is the value at the block's first point.
func (x *affine) pos(f *frame) int {
	p := x.off
	for _, t := range x.terms {
		p += t.coef * f.at[t.axis]
	}
	return p
}

// bounds is the least and the greatest value in the block, which must not be
// empty.
func (x *affine) bounds(f *frame) (lo, hi int) {
	lo = x.pos(f)
	hi = lo
	for _, t := range x.dims {
		if d := t.coef * (f.n[t.axis] - 1); d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi
}

// merge puts into f.loops the loops over a register's lanes, innermost first
// and as few as possible: from strided memory to the dense register.
func merge(f *frame, dims []term) []loop {
	k, dense := 0, 1
	for i := len(dims) - 1; i >= 0; i-- {
		n, stride := f.n[dims[i].axis], dims[i].coef
		switch {
		case n == 1:
		case k > 0 && stride == f.loops[k-1].n*f.loops[k-1].from:
			f.loops[k-1].n *= n
		default:
			f.loops[k] = loop{n, dense, stride}
			k++
		}
		dense *= n
	}
	return f.loops[:k]
}

// isDense reports whether loops read elements that lie side by side.
func isDense(loops []loop) bool {
	return len(loops) == 0 || len(loops) == 1 && loops[0].from == 1
}

// transfer copies the elements that loops walk, innermost first.
func transfer(size int, dst, src unsafe.Pointer, loops []loop) {
	move := simd.Movers[size]
	switch len(loops) {
	case 0:
		move(dst, src, 1, 0, 0, 1, 1, 1)
	case 1:
		in := loops[0]
		move(dst, src, 1, 0, 0, in.n, in.to, in.from)
	case 2:
		in, out := loops[0], loops[1]
		move(dst, src, out.n, out.to, out.from, in.n, in.to, in.from)
	default:
		last := loops[len(loops)-1]
		for i := range last.n {
			transfer(size, unsafe.Add(dst, i*last.to*size), unsafe.Add(src, i*last.from*size), loops[:len(loops)-1])
		}
	}
}

// doExpand repeats values along lanes over which the operand does not vary.
func doExpand(f *frame, s *step) {
	dst := f.out(s)
	if f.count[s.set] == 0 {
		return
	}
	// The operand is dense over its own lanes.
	stride := 1
	for i := len(s.expand) - 1; i >= 0; i-- {
		x := s.expand[i]
		f.dims[i] = term{x.axis, x.coef * stride}
		if x.coef != 0 {
			stride *= f.n[x.axis]
		}
	}
	transfer(s.size, dst, f.reg[s.src[0]], merge(f, f.dims[:len(s.expand)]))
}

// A load is a Load or an InBounds.
type load struct {
	affine
	arg     int // -1: InBounds
	size    int // bytes of an element in memory
	widen   simd.Unary
	raw     int // scratch for elements before they are widened
	fill    uint64
	guards  []guard
	at      int // register of the index, or -1
	atLanes ir.AxisSet
	stride  int // of the index
	limit   int
	rank    affine
	instr   int
	combine simd.Scatterer // of a Scatter
	runs    simd.Binary    // the same for runs to one place
}

// A guard holds where its form is a multiple of div from 0 to below limit;
// stride times the quotient adds to the position.
type guard struct {
	affine
	div, limit, stride int
}

func (a *assembler) load(i int) int {
	in := &a.space.body[i]
	l := &load{arg: in.Arg, at: -1, instr: i}
	over := in.Domain
	lanes := over & ir.Axes(a.plan.lanes...)
	elem := ir.Bool
	if in.Op == ir.InBounds {
		l.arg = -1
	} else {
		elem = a.space.args[in.Arg].DType
		l.affine = a.affine(in.View.Off, in.View.Coef, lanes)
		put(unsafe.Pointer(&l.fill), elem, in.View.Fill)
		l.widen = simd.Casts[elem][ir.Float32]
		if !elem.IsHalf() {
			l.widen = nil
		}
	}
	l.size = elem.Size()
	for _, g := range in.View.Guards {
		l.guards = append(l.guards, guard{a.affine(g.Off, g.Coef, lanes), g.Div, g.Len * g.Div, g.Stride})
	}
	s := step{do: doLoad, load: l, src: none}
	if len(in.Src) > 0 {
		l.at = a.cast(a.body[in.Src[0]], ir.Int64)
		l.atLanes = a.regs[l.at].lanes
		s.src[0] = l.at
		l.stride, l.limit = in.View.Stride, in.View.Len
	}
	l.rank = a.rank(i, lanes)
	if len(l.guards) > 0 || l.at >= 0 || l.arg < 0 {
		s.do = doWalk
	}
	return a.emit(s, in.Type, over)
}

// rank is the position at which instruction i reports a bad index; 0 if it uses
// none.
func (a *assembler) rank(i int, lanes ir.AxisSet) affine {
	strides := make([]int, len(a.space.rank))
	if a.space.body[i].UsesIndex() {
		domain := ir.IndexDomain(a.space.body, i)
		for axis, s := range a.space.rank {
			if domain.Has(axis) {
				strides[axis] = s
			}
		}
	}
	return a.affine(0, strides, lanes)
}

// doLoad is a load without guards and index: memory itself where the
// elements lie side by side.
func doLoad(f *frame, s *step) {
	l := s.load
	if f.count[s.set] == 0 {
		f.reg[s.dst] = f.mem
		return
	}
	loops := merge(f, l.dims)
	src := unsafe.Add(f.bind[l.arg].p, l.pos(f)*l.size)
	if l.widen == nil {
		if isDense(loops) {
			f.reg[s.dst] = src
			return
		}
		transfer(l.size, f.out(s), src, loops)
		return
	}
	if !isDense(loops) {
		raw := unsafe.Add(f.mem, l.raw)
		transfer(l.size, raw, src, loops)
		src = raw
	}
	l.widen(f.out(s), src, f.count[s.set])
}

// A walker goes over the runs of a block: the loops over all lanes but the
// innermost.
type walker struct {
	dims    []walkDim
	active  []int // guards that may fail in this block
	values  []int // of the active guards at the run's first point
	pos, at int
}

type walkDim struct {
	n, stride, at, i int
	guards           []int // strides of the active guards
}

// doWalk is a load with guards or an index, or InBounds.
func doWalk(f *frame, s *step) {
	l, w := s.load, &f.walk
	n := f.count[s.set]
	dst := f.out(s)
	if n == 0 {
		return
	}
	raw := dst
	if l.widen != nil {
		raw = unsafe.Add(f.mem, l.raw)
	}
	w.active, w.values = w.active[:0], w.values[:0]
	empty := false
	for i := range l.guards {
		g := &l.guards[i]
		lo, hi := g.bounds(f)
		empty = empty || hi < 0 || lo >= g.limit
		if g.div > 1 || lo < 0 || hi >= g.limit {
			w.active = append(w.active, i)
			w.values = append(w.values, g.pos(f))
		}
	}
	switch {
	case empty:
		l.clear(raw, n)
	case len(w.active) == 0 && l.arg < 0:
		yes := true
		simd.Fill(raw, unsafe.Pointer(&yes), 1, n)
	case len(w.active) == 0 && l.at < 0:
		loops := merge(f, l.dims)
		transfer(l.size, raw, unsafe.Add(f.bind[l.arg].p, l.pos(f)*l.size), loops)
	default:
		l.walk(f, raw)
	}
	if l.widen != nil {
		l.widen(dst, raw, n)
	}
}

func (l *load) clear(dst unsafe.Pointer, n int) {
	simd.Fill(dst, unsafe.Pointer(&l.fill), l.size, n)
}

// walk goes over the runs of the block and copies each.
func (l *load) walk(f *frame, dst unsafe.Pointer) {
	w := &f.walk
	l.plan(f)
	inner := &w.dims[len(w.dims)-1]
	for lane := 0; ; lane += inner.n {
		l.run(f, unsafe.Add(dst, lane*l.size), inner)
		d := len(w.dims) - 2
		for ; d >= 0; d-- {
			x := &w.dims[d]
			x.i++
			back := 1
			if x.i == x.n {
				x.i = 0
				back = 1 - x.n
			}
			w.pos += back * x.stride
			w.at += back * x.at
			for j, c := range x.guards {
				w.values[j] += back * c
			}
			if back == 1 {
				break
			}
		}
		if d < 0 {
			return
		}
	}
}

// plan sets up the walker's loops.
func (l *load) plan(f *frame) {
	w := &f.walk
	dims := l.rank.dims
	w.dims = resize(w.dims, max(len(dims), 1))
	if len(dims) == 0 {
		w.dims[0].n, w.dims[0].stride, w.dims[0].at = 1, 0, 0
		w.dims[0].guards = resize(w.dims[0].guards, len(w.active))
		clear(w.dims[0].guards)
	}
	w.pos, w.at = l.pos(f), 0
	at := 1
	for d := len(dims) - 1; d >= 0; d-- {
		x := &w.dims[d]
		x.n, x.i, x.stride, x.at = f.n[dims[d].axis], 0, 0, 0
		if l.arg >= 0 {
			x.stride = l.dims[d].coef
		}
		if l.at >= 0 && l.atLanes.Has(dims[d].axis) {
			x.at = at
			at *= x.n
		}
		x.guards = resize(x.guards, len(w.active))
		for j, g := range w.active {
			x.guards[j] = l.guards[g].dims[d].coef
		}
	}
}

// run copies one run: fills where a guard fails, and elsewhere the lanes
// from lo to hi, step apart.
func (l *load) run(f *frame, dst unsafe.Pointer, inner *walkDim) {
	if l.combine != nil {
		l.put(f, dst, inner)
		return
	}
	w := &f.walk
	lo, hi, step := 0, inner.n, 1
	for j, g := range w.active {
		lo, hi = within(w.values[j], inner.guards[j], l.guards[g].limit, lo, hi)
	}
	stride, pos := inner.stride, w.pos
	for j, g := range w.active {
		if l.guards[g].div > 1 {
			lo, step = whole(w.values[j], inner.guards[j], l.guards[g].div, lo, hi, step)
		}
	}
	if lo >= hi {
		l.clear(dst, inner.n)
		return
	}
	pos += lo * stride
	stride *= step
	for j, g := range w.active {
		if q := &l.guards[g]; q.div > 1 {
			pos += (w.values[j] + lo*inner.guards[j]) / q.div * q.stride
			stride += inner.guards[j] * step / q.div * q.stride
		}
	}
	n := (hi - lo + step - 1) / step
	switch {
	case n == inner.n:
	case step > 1:
		l.clear(dst, inner.n)
	default:
		if lo > 0 {
			l.clear(dst, lo)
		}
		if hi < inner.n {
			l.clear(unsafe.Add(dst, hi*l.size), inner.n-hi)
		}
	}
	to := unsafe.Add(dst, lo*l.size)
	switch {
	case l.arg < 0:
		yes := true
		simd.Movers[1](to, unsafe.Pointer(&yes), 1, 0, 0, n, step, 0)
	case l.at < 0:
		simd.Movers[l.size](to, unsafe.Add(f.bind[l.arg].p, pos*l.size), 1, 0, 0, n, step, stride)
	default:
		l.gather(f, dst, inner, lo, n, step, pos, stride)
	}
}

// gather copies n lanes of a run, from lo on, from where the index says.
func (l *load) gather(f *frame, dst unsafe.Pointer, inner *walkDim, lo, n, step, pos, stride int) {
	w := &f.walk
	index := unsafe.Add(f.reg[l.at], (w.at+lo*inner.at)*8)
	mem := f.bind[l.arg].p
	if inner.at == 0 {
		v := *(*int64)(index)
		if uint64(v) >= uint64(l.limit) {
			l.note(f, lo, v)
			simd.Movers[l.size](unsafe.Add(dst, lo*l.size), unsafe.Pointer(&l.fill), 1, 0, 0, n, step, 0)
			return
		}
		from := unsafe.Add(mem, (pos+int(v)*l.stride)*l.size)
		simd.Movers[l.size](unsafe.Add(dst, lo*l.size), from, 1, 0, 0, n, step, stride)
		return
	}
	for i := 0; i < n; i++ {
		to, from := unsafe.Add(dst, (lo+i*step)*l.size), unsafe.Add(index, i*step*inner.at*8)
		if i += simd.Gatherers[l.size](to, mem, from, n-i, step, pos+i*stride, stride, step*inner.at, l.stride, l.limit); i < n {
			l.note(f, lo+i*step, *(*int64)(unsafe.Add(index, i*step*inner.at*8)))
			l.clear(unsafe.Add(dst, (lo+i*step)*l.size), 1)
		}
	}
}

// note records that the index of a lane of the run is bad.
func (l *load) note(f *frame, lane int, v int64) {
	w := &f.walk
	rank := l.rank.pos(f)
	for d, t := range l.rank.dims {
		if d == len(w.dims)-1 {
			rank += t.coef * lane
		} else {
			rank += t.coef * w.dims[d].i
		}
	}
	f.bad.note(rank, l.instr, v)
}

// within narrows the lanes [lo, hi) to those i with 0 ≤ v + i·c < limit.
func within(v, c, limit, lo, hi int) (int, int) {
	switch {
	case c == 0:
		if v < 0 || v >= limit {
			return hi, hi
		}
		return lo, hi
	case c < 0: // the same values in the other order
		return max(lo, ceilDiv(v-limit+1, -c)), min(hi, ceilDiv(v+1, -c))
	}
	return max(lo, ceilDiv(-v, c)), min(hi, ceilDiv(limit-v, c))
}

// ceilDiv is a/b rounded up, for b > 0.
func ceilDiv(a, b int) int {
	if b == 1 {
		return a
	}
	q := a / b
	if a > q*b {
		q++
	}
	return q
}

// whole narrows the lanes lo, lo+step, … below hi to those i where v + i·c
// is a multiple of div, and returns the first and how far they are apart.
func whole(v, c, div, lo, hi, step int) (first, apart int) {
	for i := 0; i < div && lo < hi; i++ {
		if (v+lo*c)%div == 0 {
			return lo, step * div / gcd(div, c*step)
		}
		lo += step
	}
	return hi, step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// A place is where a Store writes.
type place struct {
	affine
	arg    int
	size   int
	narrow simd.Unary
	raw    int
}

// locate returns the block's first element and whether the block is dense
// there.
func (p *place) locate(f *frame) (pos int, dense bool) {
	if p.narrow != nil {
		return 0, false
	}
	next := 1
	for i := len(p.dims) - 1; i >= 0; i-- {
		n := f.n[p.dims[i].axis]
		if n != 1 && p.dims[i].coef != next {
			return 0, false
		}
		next *= n
	}
	return p.pos(f), true
}

func (a *assembler) store(i int) int {
	in := &a.space.body[i]
	typ := a.space.args[in.Arg].DType
	r := a.widen(a.body[in.Src[0]], in.Domain)
	p := &place{affine: a.affine(in.View.Off, in.View.Coef, in.Domain&ir.Axes(a.plan.lanes...)), arg: in.Arg, size: typ.Size()}
	if typ.IsHalf() {
		p.narrow = simd.Casts[ir.Float32][typ]
	}
	if at := a.regs[r].step; at >= 0 && a.regs[r].over == in.Domain && a.steps[at].place == nil && p.narrow == nil {
		a.steps[at].place = p
	}
	r = a.emit(step{do: doStore, place: p, src: [4]int{r, -1, -1, -1}}, in.Type, in.Domain)
	a.steps[len(a.steps)-1].size = 0 // no register
	return r
}

func doStore(f *frame, s *step) {
	n, src, p := f.count[s.set], f.reg[s.src[0]], s.place
	if n == 0 {
		return
	}
	dst := unsafe.Add(f.bind[p.arg].p, p.pos(f)*p.size)
	if dst == src {
		return
	}
	loops := merge(f, p.dims)
	if p.narrow != nil {
		if isDense(loops) {
			p.narrow(dst, src, n)
			return
		}
		raw := unsafe.Add(f.mem, p.raw)
		p.narrow(raw, src, n)
		src = raw
	}
	for i, l := range loops {
		loops[i].to, loops[i].from = l.from, l.to
	}
	transfer(p.size, dst, src, loops)
}
