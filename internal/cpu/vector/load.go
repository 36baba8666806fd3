package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A load is a Load or an InBounds.
type load struct {
	Affine
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
	rank    Affine
	instr   int
	combine simd.Scatterer // of a Scatter
	runs    simd.Binary    // combine for a run that is contiguous in the result
	element int            // of a Scatter: bytes of an element of the result
}

// A guard holds where its affine expression is a multiple of div in [0, limit). The
// quotient times stride is added to the position.
type guard struct {
	Affine
	div, limit, stride int
}

func (a *Assembler) load(i int) int {
	in := &a.Space.Body[i]
	l := &load{arg: in.Arg, at: -1, instr: i}
	domain := in.Domain
	lanes := domain & ir.Axes(a.Schedule.Lanes...)
	elem := ir.Bool
	if in.Op == ir.InBounds {
		l.arg = -1
	} else {
		elem = a.Space.Args[in.Arg].DType
		l.Affine = a.Affine(in.View.Off, in.View.Coef, lanes)
		if l.format = elem.Format(); l.format != nil {
			elem, l.decoder = in.Type, simd.BlocksOf(l.format).Decode
		}
		if elem.IsHalf() {
			l.widen = simd.Casts[elem][ir.Float32]
		}
	}
	l.size = elem.Size()
	if l.arg >= 0 {
		Put(unsafe.Pointer(&l.fill), elem, in.View.Fill)
	}
	for _, g := range in.View.Guards {
		l.guards = append(l.guards, guard{a.Affine(g.Off, g.Coef, lanes), g.Div, g.Len * g.Div, g.Stride})
	}
	s := Op{Do: doLoad, load: l, Src: none}
	if len(in.Src) > 0 {
		l.at = a.cast(a.Body[in.Src[0]], ir.Int64)
		l.atLanes = a.regs[l.at].lanes
		s.Src[0] = l.at
		l.stride, l.limit = in.View.Stride, in.View.Len
	}
	l.rank = a.rank(i, lanes)
	if len(l.guards) > 0 || l.at >= 0 || l.arg < 0 {
		s.Do = doGuardedLoad
	}
	return a.Emit(s, in.Type, domain)
}

// rank is the position at which instruction i reports a bad index: 0 if it uses no
// index.
func (a *Assembler) rank(i int, lanes ir.AxisSet) Affine {
	strides := make([]int, len(a.Space.Rank))
	if a.Space.Body[i].UsesIndex() {
		domain := ir.IndexDomain(a.Space.Body, i)
		for axis, s := range a.Space.Rank {
			if domain.Has(axis) {
				strides[axis] = s
			}
		}
	}
	return a.Affine(0, strides, lanes)
}

// doLoad runs a load without guards and index. Where the block is contiguous in
// memory the register is that memory.
func doLoad(f *Activation, s *Op) {
	l := s.load
	if f.Count[s.Set] == 0 {
		f.Reg[s.Dst] = f.Mem
		return
	}
	loops := Merge(f, l.dims)
	if l.format != nil {
		l.decodeBlock(f, f.Out(s), l.Pos(f), loops)
		return
	}
	src := unsafe.Add(f.Bind[l.arg].P, l.Pos(f)*l.size)
	if l.widen == nil {
		if isDense(loops) && !l.kept {
			f.Reg[s.Dst] = src
			return
		}
		transfer(l.size, f.Out(s), src, loops)
		return
	}
	if !isDense(loops) {
		raw := unsafe.Add(f.Mem, l.raw)
		transfer(l.size, raw, src, loops)
		src = raw
	}
	l.widen(f.Out(s), src, f.Count[s.Set])
}

// doGuardedLoad runs a load with guards or an index, or InBounds.
func doGuardedLoad(f *Activation, s *Op) {
	l, w := s.load, &f.nest
	n := f.Count[s.Set]
	dst := f.Out(s)
	if n == 0 {
		return
	}
	raw := dst
	if l.widen != nil {
		raw = unsafe.Add(f.Mem, l.raw)
	}
	w.active, w.values = w.active[:0], w.values[:0]
	empty := false
	for i := range l.guards {
		g := &l.guards[i]
		lo, hi := g.bounds(f)
		empty = empty || hi < 0 || lo >= g.limit
		if g.div > 1 || lo < 0 || hi >= g.limit {
			w.active = append(w.active, i)
			w.values = append(w.values, g.Pos(f))
		}
	}
	switch {
	case empty:
		l.clear(raw, n)
	case len(w.active) == 0 && l.arg < 0:
		yes := true
		simd.Fill(raw, unsafe.Pointer(&yes), 1, n)
	case len(w.active) == 0 && l.at < 0:
		if loops := Merge(f, l.dims); l.format != nil {
			l.decodeBlock(f, raw, l.Pos(f), loops)
		} else {
			transfer(l.size, raw, unsafe.Add(f.Bind[l.arg].P, l.Pos(f)*l.size), loops)
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
