package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// scatter emits the op that combines the updates of a block.
func (a *Assembler) scatter(i int) int {
	in := &a.Space.Body[i]
	lanes := in.Domain & ir.Axes(a.Schedule.Lanes...)
	index := a.cast(a.Body[in.Src[0]], ir.Int64)
	update := a.Widen(a.Body[in.Src[1]], in.Domain)
	l := &load{
		Affine: a.Affine(in.View.Off, in.View.Coef, lanes),
		arg:    in.Arg, size: in.Type.Size(), instr: i,
		at: index, atLanes: a.regs[index].lanes, stride: in.View.Stride, limit: in.View.Len,
		rank:    a.rank(i, lanes),
		combine: simd.Scatterers[in.Kind][a.Space.Args[in.Arg].DType],
	}
	elem := a.Space.Args[in.Arg].DType
	l.element = elem.Size()
	if in.Kind == ir.Copy {
		l.runs = replace(in.Type, elem)
	} else if !elem.IsHalf() {
		l.runs = simd.Binaries[in.Kind][elem].VV
	}
	r := a.Emit(Op{Do: doScatter, load: l, Src: [4]int{index, update, -1, -1}}, in.Type, in.Domain)
	a.Ops[len(a.Ops)-1].Size = 0 // no register
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

func doScatter(f *Activation, s *Op) {
	if f.Count[s.Set] == 0 {
		return
	}
	f.nest.active, f.nest.values = f.nest.active[:0], f.nest.values[:0]
	s.load.eachRun(f, f.Reg[s.Src[1]])
}

// put combines the updates of a run, at x, with the elements that the index gives.
func (l *load) put(f *Activation, x unsafe.Pointer, inner *nestAxis) {
	w := &f.nest
	mem, index := f.Bind[l.arg].P, unsafe.Add(f.Reg[l.at], w.at*8)
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
