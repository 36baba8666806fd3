package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A target is the memory that a Store writes.
type target struct {
	Affine
	arg    int
	size   int
	narrow simd.Unary
	raw    int
}

// locate returns the position of the block's first element and whether the block
// is contiguous.
func (p *target) locate(f *Activation) (pos int, dense bool) {
	if p.narrow != nil {
		return 0, false
	}
	next := 1
	for i := len(p.dims) - 1; i >= 0; i-- {
		n := f.N[p.dims[i].axis]
		if n != 1 && p.dims[i].coef != next {
			return 0, false
		}
		next *= n
	}
	return p.Pos(f), true
}

func (a *Assembler) store(i int) int {
	in := &a.Space.Body[i]
	return a.StoreTo(in, a.Widen(a.Body[in.Src[0]], in.Domain))
}

// StoreTo emits the store of a register where an instruction says.
func (a *Assembler) StoreTo(in *ir.Instr, r int) int {
	typ := a.Space.Args[in.Arg].DType
	p := &target{Affine: a.Affine(in.View.Off, in.View.Coef, in.Domain&ir.Axes(a.Schedule.Lanes...)), arg: in.Arg, size: typ.Size()}
	if typ.IsHalf() {
		p.narrow = simd.Casts[ir.Float32][typ]
	}
	at := a.regs[r].op
	for at >= 0 && a.Ops[at].alias {
		at = a.regs[a.Ops[at].Src[0]].op
	}
	if at >= 0 && a.regs[r].domain == in.Domain && a.Ops[at].target == nil && p.narrow == nil {
		a.Ops[at].target = p
		a.Ops[at].domain |= in.Domain
	}
	r = a.Emit(Op{Do: doStore, target: p, Src: [4]int{r, -1, -1, -1}}, in.Type, in.Domain)
	a.Ops[len(a.Ops)-1].Size = 0 // no register
	return r
}

func doStore(f *Activation, s *Op) {
	n, src, p := f.Count[s.Set], f.Reg[s.Src[0]], s.target
	if n == 0 {
		return
	}
	dst := unsafe.Add(f.Bind[p.arg].P, p.Pos(f)*p.size)
	if dst == src {
		return
	}
	loops := Merge(f, p.dims)
	if p.narrow != nil {
		if isDense(loops) {
			p.narrow(dst, src, n)
			return
		}
		raw := unsafe.Add(f.Mem, p.raw)
		p.narrow(raw, src, n)
		src = raw
	}
	for i, l := range loops {
		loops[i].to, loops[i].From = l.From, l.to
	}
	transfer(p.size, dst, src, loops)
}
