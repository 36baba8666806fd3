package cpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A load is a Load or an InBounds.
type load struct {
	affine
	arg     int  // -1: InBounds
	size    int  // bytes of an element in memory
	kept    bool // a copy, because the memory changes before the last use
	widen   simd.Unary
	format  *ir.Format // of the elements in memory; nil if they are of a type
	decoder func(y, b unsafe.Pointer, n int)
	raw     int // scratch for halves before they are widened, or for decoded runs
	fill    uint64
	guards  []guard
	at      int // register of the index, or -1
	atLanes ir.AxisSet
	stride  int // of the index
	limit   int
	rank    affine
	instr   int
	combine simd.Scatterer // of a Scatter
	runs    simd.Binary    // combine for a run that is contiguous in the result
	element int            // of a Scatter: bytes of an element of the result
}

// A guard holds where its affine expression is a multiple of div in [0, limit). The
// quotient times stride is added to the position.
type guard struct {
	affine
	div, limit, stride int
}

func (a *assembler) load(i int) int {
	in := &a.space.Body[i]
	l := &load{arg: in.Arg, at: -1, instr: i}
	domain := in.Domain
	lanes := domain & ir.Axes(a.schedule.lanes...)
	elem := ir.Bool
	if in.Op == ir.InBounds {
		l.arg = -1
	} else {
		elem = a.space.Args[in.Arg].DType
		l.affine = a.affine(in.View.Off, in.View.Coef, lanes)
		if l.format = elem.Format(); l.format != nil {
			elem, l.decoder = in.Type, simd.BlocksOf(l.format).Decode
		}
		if elem.IsHalf() {
			l.widen = simd.Casts[elem][ir.Float32]
		}
	}
	l.size = elem.Size()
	if l.arg >= 0 {
		put(unsafe.Pointer(&l.fill), elem, in.View.Fill)
	}
	for _, g := range in.View.Guards {
		l.guards = append(l.guards, guard{a.affine(g.Off, g.Coef, lanes), g.Div, g.Len * g.Div, g.Stride})
	}
	s := op{do: doLoad, load: l, src: none}
	if len(in.Src) > 0 {
		l.at = a.cast(a.body[in.Src[0]], ir.Int64)
		l.atLanes = a.regs[l.at].lanes
		s.src[0] = l.at
		l.stride, l.limit = in.View.Stride, in.View.Len
	}
	l.rank = a.rank(i, lanes)
	if len(l.guards) > 0 || l.at >= 0 || l.arg < 0 {
		s.do = doGuardedLoad
	}
	return a.emit(s, in.Type, domain)
}

// rank is the position at which instruction i reports a bad index: 0 if it uses no
// index.
func (a *assembler) rank(i int, lanes ir.AxisSet) affine {
	strides := make([]int, len(a.space.Rank))
	if a.space.Body[i].UsesIndex() {
		domain := ir.IndexDomain(a.space.Body, i)
		for axis, s := range a.space.Rank {
			if domain.Has(axis) {
				strides[axis] = s
			}
		}
	}
	return a.affine(0, strides, lanes)
}

// doLoad runs a load without guards and index. Where the block is contiguous in
// memory the register is that memory.
func doLoad(f *activation, s *op) {
	l := s.load
	if f.count[s.set] == 0 {
		f.reg[s.dst] = f.mem
		return
	}
	loops := merge(f, l.dims)
	if l.format != nil {
		l.decodeBlock(f, f.out(s), l.pos(f), loops)
		return
	}
	src := unsafe.Add(f.bind[l.arg].p, l.pos(f)*l.size)
	if l.widen == nil {
		if isDense(loops) && !l.kept {
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

// doGuardedLoad runs a load with guards or an index, or InBounds.
func doGuardedLoad(f *activation, s *op) {
	l, w := s.load, &f.nest
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
		if loops := merge(f, l.dims); l.format != nil {
			l.decodeBlock(f, raw, l.pos(f), loops)
		} else {
			transfer(l.size, raw, unsafe.Add(f.bind[l.arg].p, l.pos(f)*l.size), loops)
		}
	default:
		l.eachRun(f, raw)
	}
	if l.widen != nil {
		l.widen(dst, raw, n)
	}
}

func (l *load) clear(dst unsafe.Pointer, n int) {
	simd.Fill(dst, unsafe.Pointer(&l.fill), l.size, n)
}
