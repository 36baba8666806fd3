package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// Merge returns the fewest loops that copy a block from strided memory to a
// register, innermost first, in f.loops.
func Merge(f *Activation, dims []Term) []loop {
	k, dense := 0, 1
	for i := len(dims) - 1; i >= 0; i-- {
		n, stride := f.N[dims[i].axis], dims[i].coef
		switch {
		case n == 1:
		case k > 0 && stride == f.loops[k-1].n*f.loops[k-1].From:
			f.loops[k-1].n *= n
		default:
			f.loops[k] = loop{n, dense, stride}
			k++
		}
		dense *= n
	}
	return f.loops[:k]
}

// Offset is the source of element j of loops.
func Offset(loops []loop, j int) (at int) {
	for _, l := range loops {
		at += j % l.n * l.From
		j /= l.n
	}
	return at
}

// isDense reports whether loops read contiguous elements.
func isDense(loops []loop) bool {
	return len(loops) == 0 || len(loops) == 1 && loops[0].From == 1
}

// transfer copies elements by loops, innermost first.
func transfer(size int, dst, src unsafe.Pointer, loops []loop) {
	move := simd.Movers[size]
	switch len(loops) {
	case 0:
		move(dst, src, 1, 0, 0, 1, 1, 1)
	case 1:
		in := loops[0]
		move(dst, src, 1, 0, 0, in.n, in.to, in.From)
	case 2:
		in, out := loops[0], loops[1]
		move(dst, src, out.n, out.to, out.From, in.n, in.to, in.From)
	default:
		last := loops[len(loops)-1]
		for i := range last.n {
			transfer(size, unsafe.Add(dst, i*last.to*size), unsafe.Add(src, i*last.From*size), loops[:len(loops)-1])
		}
	}
}

// doExpand repeats values along lanes that the operand lacks.
func doExpand(f *Activation, s *Op) {
	dst := f.Out(s)
	if f.Count[s.Set] == 0 {
		return
	}
	// The operand is dense over its own lanes.
	stride := 1
	for i := len(s.expand) - 1; i >= 0; i-- {
		x := s.expand[i]
		f.dims[i] = Term{x.axis, x.coef * stride}
		if x.coef != 0 {
			stride *= f.N[x.axis]
		}
	}
	transfer(s.Size, dst, f.Reg[s.Src[0]], Merge(f, f.dims[:len(s.expand)]))
}

// Pack copies the elements of a block, at strides along some axes, next to each other.
func (f *Activation) Pack(size int, dst, src unsafe.Pointer, axes []int, stride *[ir.MaxAxes]int) {
	for d, a := range axes {
		f.dims[d] = Term{a, stride[a]}
	}
	transfer(size, dst, src, Merge(f, f.dims[:len(axes)]))
}

// Unpack is the reverse of Pack.
func (f *Activation) Unpack(size int, dst, src unsafe.Pointer, axes []int, stride *[ir.MaxAxes]int) {
	for d, a := range axes {
		f.dims[d] = Term{a, stride[a]}
	}
	loops := Merge(f, f.dims[:len(axes)])
	for i, l := range loops {
		loops[i].to, loops[i].From = l.From, l.to
	}
	transfer(size, dst, src, loops)
}
