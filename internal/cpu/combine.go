package cpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// scatter emits the op that combines the updates of a block.
func (a *assembler) scatter(i int) int {
	in := &a.space.Body[i]
	lanes := in.Domain & ir.Axes(a.schedule.lanes...)
	index := a.cast(a.body[in.Src[0]], ir.Int64)
	update := a.widen(a.body[in.Src[1]], in.Domain)
	l := &load{
		affine: a.affine(in.View.Off, in.View.Coef, lanes),
		arg:    in.Arg, size: in.Type.Size(), instr: i,
		at: index, atLanes: a.regs[index].lanes, stride: in.View.Stride, limit: in.View.Len,
		rank:    a.rank(i, lanes),
		combine: simd.Scatterers[in.Kind][a.space.Args[in.Arg].DType],
	}
	elem := a.space.Args[in.Arg].DType
	l.element = elem.Size()
	if in.Kind == ir.Copy {
		l.runs = replace(in.Type, elem)
	} else if !elem.IsHalf() {
		l.runs = simd.Binaries[in.Kind][elem].VV
	}
	r := a.emit(op{do: doScatter, load: l, src: [4]int{index, update, -1, -1}}, in.Type, in.Domain)
	a.ops[len(a.ops)-1].size = 0 // no register
	return r
}

// replace returns a routine that stores its last operand as elements.
func replace(from, elem ir.DType) simd.Binary {
	store := simd.Copies[elem.Size()]
	if elem != from {
		store = simd.Casts[from][elem]
	}
	return func(dst, _, y unsafe.Pointer, n int) { store(dst, y, n) }
}

func doScatter(f *activation, s *op) {
	if f.count[s.set] == 0 {
		return
	}
	f.nest.active, f.nest.values = f.nest.active[:0], f.nest.values[:0]
	s.load.eachRun(f, f.reg[s.src[1]])
}

// put combines the updates of a run, at x, with the elements that the index gives.
func (l *load) put(f *activation, x unsafe.Pointer, inner *nestAxis) {
	w := &f.nest
	mem, index := f.bind[l.arg].p, unsafe.Add(f.reg[l.at], w.at*8)
	if v := *(*int64)(index); inner.at == 0 && inner.stride == 1 && l.runs != nil && uint64(v) < uint64(l.limit) {
		p := unsafe.Add(mem, (w.pos+int(v)*l.stride)*l.element)
		l.runs(p, p, x, inner.n)
		return
	}
	for i := 0; i < inner.n; i++ {
		from := unsafe.Add(index, i*inner.at*8)
		i += l.combine(mem, unsafe.Add(x, i*l.size), from, inner.n-i, w.pos+i*inner.stride, inner.stride, inner.at, l.stride, l.limit)
		if i < inner.n {
			l.note(f, i, *(*int64)(unsafe.Add(index, i*inner.at*8)))
		}
	}
}
