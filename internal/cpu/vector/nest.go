package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A loopNest iterates over the runs of a block. A run is the points along the
// innermost lane.
type loopNest struct {
	dims    []nestAxis
	active  []int // guards that may fail in this block
	values  []int // of the active guards at the run's first point
	pos, at int
	touched byte // keeps the reads of gatherRows
}

type nestAxis struct {
	n, stride, at, i int
	guards           []int // strides of the active guards
}

// eachRun copies the runs of the block one by one.
func (l *load) eachRun(f *Activation, dst unsafe.Pointer) {
	w := &f.nest
	l.enterNest(f)
	inner := &w.dims[len(w.dims)-1]
	lanes, below := inner.n, 1
	planes, rows := l.separates(w), l.gathersRows(w)
	if planes || rows {
		below = 2
		lanes *= w.dims[len(w.dims)-2].n
	}
	for lane := 0; ; lane += lanes {
		switch to := unsafe.Add(dst, lane*l.size); {
		case planes:
			l.plane(f, to, &w.dims[len(w.dims)-2], inner)
		case rows:
			l.gatherRows(f, to, &w.dims[len(w.dims)-2], inner.n)
		default:
			l.run(f, to, inner)
		}
		d := len(w.dims) - 1 - below
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

// separates reports whether the guards hold in a rectangle of each plane along the two
// innermost lanes, as the guards of a window do.
func (l *load) separates(w *loopNest) bool {
	if len(w.dims) < 2 || l.arg < 0 || l.at >= 0 || l.combine != nil || l.format != nil {
		return false
	}
	for j, g := range w.active {
		if l.guards[g].div > 1 || w.dims[len(w.dims)-1].guards[j] != 0 && w.dims[len(w.dims)-2].guards[j] != 0 {
			return false
		}
	}
	return true
}

// plane copies the lanes of a plane where the guards hold, and fills the others.
func (l *load) plane(f *Activation, dst unsafe.Pointer, outer, inner *nestAxis) {
	w := &f.nest
	lo0, hi0, lo, hi := 0, outer.n, 0, inner.n
	for j, g := range w.active {
		if outer.guards[j] != 0 {
			lo0, hi0 = clampLanes(w.values[j], outer.guards[j], l.guards[g].limit, lo0, hi0)
		} else {
			lo, hi = clampLanes(w.values[j], inner.guards[j], l.guards[g].limit, lo, hi)
		}
	}
	if lo0 >= hi0 || lo >= hi {
		l.clear(dst, outer.n*inner.n)
		return
	}
	at := func(i, j int) unsafe.Pointer { return unsafe.Add(dst, (i*inner.n+j)*l.size) }
	move, fill, rows := simd.Movers[l.size], unsafe.Pointer(&l.fill), hi0-lo0
	l.clear(dst, lo0*inner.n)
	if hi0 < outer.n {
		l.clear(at(hi0, 0), (outer.n-hi0)*inner.n)
	}
	move(at(lo0, 0), fill, rows, inner.n, 0, lo, 1, 0)
	if hi < inner.n {
		move(at(lo0, hi), fill, rows, inner.n, 0, inner.n-hi, 1, 0)
	}
	from := unsafe.Add(f.Bind[l.arg].P, (w.pos+lo0*outer.stride+lo*inner.stride)*l.size)
	move(at(lo0, lo), from, rows, inner.n, outer.stride, hi-lo, 1, inner.stride)
}

// enterNest sets up the loops.
func (l *load) enterNest(f *Activation) {
	w := &f.nest
	dims := l.rank.dims
	w.dims = Resize(w.dims, max(len(dims), 1))
	if len(dims) == 0 {
		w.dims[0].n, w.dims[0].stride, w.dims[0].at = 1, 0, 0
		w.dims[0].guards = Resize(w.dims[0].guards, len(w.active))
		clear(w.dims[0].guards)
	}
	w.pos, w.at = l.Pos(f), 0
	at := 1
	for d := len(dims) - 1; d >= 0; d-- {
		x := &w.dims[d]
		x.n, x.i, x.stride, x.at = f.N[dims[d].axis], 0, 0, 0
		if l.arg >= 0 {
			x.stride = l.dims[d].coef
		}
		if l.at >= 0 && l.atLanes.Has(dims[d].axis) {
			x.at = at
			at *= x.n
		}
		x.guards = Resize(x.guards, len(w.active))
		for j, g := range w.active {
			x.guards[j] = l.guards[g].dims[d].coef
		}
	}
}

// run copies the lanes lo, lo+step, … below hi of a run, where the guards hold, and
// fills the others.
func (l *load) run(f *Activation, dst unsafe.Pointer, inner *nestAxis) {
	if l.combine != nil {
		l.put(f, dst, inner)
		return
	}
	w := &f.nest
	lo, hi, step := 0, inner.n, 1
	for j, g := range w.active {
		lo, hi = clampLanes(w.values[j], inner.guards[j], l.guards[g].limit, lo, hi)
	}
	stride, pos := inner.stride, w.pos
	for j, g := range w.active {
		if l.guards[g].div > 1 {
			lo, step = multiples(w.values[j], inner.guards[j], l.guards[g].div, lo, hi, step)
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
	n := ir.CeilDiv(hi-lo, step)
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
		l.copyRun(f, to, pos, n, step, stride)
	default:
		l.gather(f, dst, inner, lo, n, step, pos, stride)
	}
}

// gather copies n lanes of a run, from lo on, from the positions of an index.
func (l *load) gather(f *Activation, dst unsafe.Pointer, inner *nestAxis, lo, n, step, pos, stride int) {
	w := &f.nest
	index := unsafe.Add(f.Reg[l.at], (w.at+lo*inner.at)*8)
	mem := f.Bind[l.arg].P
	if inner.at == 0 {
		v := *(*int64)(index)
		if uint64(v) >= uint64(l.limit) {
			l.note(f, lo, v)
			simd.Movers[l.size](unsafe.Add(dst, lo*l.size), unsafe.Pointer(&l.fill), 1, 0, 0, n, step, 0)
			return
		}
		l.copyRun(f, unsafe.Add(dst, lo*l.size), pos+int(v)*l.stride, n, step, stride)
		return
	}
	for i := 0; i < n; i++ {
		to, from := unsafe.Add(dst, (lo+i*step)*l.size), unsafe.Add(index, i*step*inner.at*8)
		if l.format != nil {
			if v := *(*int64)(from); uint64(v) < uint64(l.limit) {
				l.decode(f, to, pos+i*stride+int(v)*l.stride, 1, 1, 1)
				continue
			}
		} else if i += simd.Gatherers[l.size](to, mem, from, n-i, step, pos+i*stride, stride, step*inner.at, l.stride, l.limit); i == n {
			return
		}
		l.note(f, lo+i*step, *(*int64)(unsafe.Add(index, i*step*inner.at*8)))
		l.clear(unsafe.Add(dst, (lo+i*step)*l.size), 1)
	}
}

// note records that the index v of a lane is out of range.
func (l *load) note(f *Activation, lane int, v int64) {
	w := &f.nest
	rank := l.rank.Pos(f)
	for d, t := range l.rank.dims {
		if d == len(w.dims)-1 {
			rank += t.coef * lane
		} else {
			rank += t.coef * w.dims[d].i
		}
	}
	f.bad.note(rank, l.instr, v)
}

// clampLanes narrows the lanes [lo, hi) to those i with 0 ≤ v + i·c < limit.
func clampLanes(v, c, limit, lo, hi int) (int, int) {
	switch {
	case c == 0:
		if v < 0 || v >= limit {
			return hi, hi
		}
		return lo, hi
	case c < 0: // the same values in reverse
		return max(lo, ir.CeilDiv(v-limit+1, -c)), min(hi, ir.CeilDiv(v+1, -c))
	}
	return max(lo, ir.CeilDiv(-v, c)), min(hi, ir.CeilDiv(limit-v, c))
}

// multiples narrows the lanes lo, lo+step, … below hi to those i for which v + i·c
// is a multiple of div, and returns the first and their distance.
func multiples(v, c, div, lo, hi, step int) (first, apart int) {
	for i := 0; i < div && lo < hi; i++ {
		if (v+lo*c)%div == 0 {
			return lo, step * div / shape.GCD(div, c*step)
		}
		lo += step
	}
	return hi, step
}
