package cpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A target is the memory that a Store writes.
type target struct {
	affine
	arg    int
	size   int
	narrow simd.Unary
	raw    int
}

// locate returns the position of the block's first element and whether the block
// is contiguous.
func (p *target) locate(f *activation) (pos int, dense bool) {
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
	in := &a.space.Body[i]
	return a.storeTo(in, a.widen(a.body[in.Src[0]], in.Domain))
}

// storeTo emits the store of a register where an instruction says.
func (a *assembler) storeTo(in *ir.Instr, r int) int {
	typ := a.space.Args[in.Arg].DType
	p := &target{affine: a.affine(in.View.Off, in.View.Coef, in.Domain&ir.Axes(a.schedule.lanes...)), arg: in.Arg, size: typ.Size()}
	if typ.IsHalf() {
		p.narrow = simd.Casts[ir.Float32][typ]
	}
	if at := a.regs[r].op; at >= 0 && a.regs[r].domain == in.Domain && a.ops[at].target == nil && p.narrow == nil {
		a.ops[at].target = p
		a.ops[at].domain |= in.Domain
	}
	r = a.emit(op{do: doStore, target: p, src: [4]int{r, -1, -1, -1}}, in.Type, in.Domain)
	a.ops[len(a.ops)-1].size = 0 // no register
	return r
}

func doStore(f *activation, s *op) {
	n, src, p := f.count[s.set], f.reg[s.src[0]], s.target
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
