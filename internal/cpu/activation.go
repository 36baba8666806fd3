package cpu

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A binding is an argument of a call: the address of element 0 of a buffer's view,
// or a number, as an element of a register. Of a buffer in an ir.Format, p is the address of a block, and
// bits the element's position in it.
type binding struct {
	p    unsafe.Pointer
	bits uint64
}

// advance moves element 0 by some elements of type d.
func (b *binding) advance(d ir.DType, elements int) {
	if f := d.Format(); f != nil {
		elements += int(b.bits)
		b.bits = uint64(elements & (f.Len - 1))
		elements -= int(b.bits)
	}
	b.p = unsafe.Add(b.p, d.Bytes(elements))
}

// An activation is the state of one worker in one program: the position of its
// block and the addresses of its registers.
type activation struct {
	program *program
	bind    []binding
	bad     *badIndex
	mem     unsafe.Pointer // scratch for registers
	reg     []unsafe.Pointer
	count   []int      // points of the block along each of program.sets
	changed ir.AxisSet // axes along which the block has moved or changed its length since the last run
	resized ir.AxisSet // axes along which it has changed its length
	first   bool       // the next run is the first
	at, n   [ir.MaxAxes]int
	limit   [ir.MaxAxes]int // along each axis, the positions that are needed
	loops   [ir.MaxAxes]loop
	dims    [ir.MaxAxes]term
	nest    loopNest
	block   [ir.MaxBlock]float32 // a block of an ir.Format, decoded
}

// A loop has n iterations, with strides in the destination and in the source.
type loop struct{ n, to, from int }

// enter prepares an activation for a program, with registers at mem.
func (f *activation) enter(c *program, bind []binding, mem unsafe.Pointer, bad *badIndex) {
	f.program, f.bind, f.mem, f.bad = c, bind, mem, bad
	f.reg = resize(f.reg, c.regs)
	f.count = resize(f.count, len(c.sets))
	f.first = true
	for a := range c.space.Axes {
		f.at[a], f.n[a], f.limit[a] = 0, 1, math.MaxInt/2 // less a position that may be negative
	}
	for i := range c.space.limits {
		l := &c.space.limits[i]
		f.limit[l.axis] = min(f.limit[l.axis], l.positions(bind))
	}
	for _, a := range c.wholeAxes {
		f.n[a] = min(c.space.Axes[a].Len, f.limit[a])
	}
	for i := range c.consts {
		f.reg[c.consts[i].reg] = unsafe.Pointer(&c.consts[i].bits)
	}
	for _, s := range c.scalars {
		f.reg[s.reg] = unsafe.Pointer(&bind[s.arg].bits)
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// moveTo moves the block along an axis: to n positions from at on, fewer if the axis ends before.
func (f *activation) moveTo(axis, at, n int) {
	n = max(0, min(n, f.limit[axis]-at))
	if f.at[axis] != at {
		f.at[axis] = at
		f.changed |= 1 << axis
	}
	if f.n[axis] != n {
		f.n[axis] = n
		f.changed |= 1 << axis
		f.resized |= 1 << axis
	}
}

// run evaluates the ops whose results changed since the block before.
func (f *activation) run() {
	if f.first || f.resized != 0 {
		for i, s := range f.program.sets {
			n := 1
			for _, a := range f.program.lanes {
				if s.Has(a) {
					n *= f.n[a]
				}
			}
			f.count[i] = n
		}
	}
	ops := f.program.ops
	for i := range ops {
		if s := &ops[i]; f.first || s.domain&f.changed != 0 || s.sized&f.resized != 0 {
			s.do(f, s)
		}
	}
	f.first, f.changed, f.resized = false, 0, 0
}

// out returns the address of an op's result: in the buffer that it is stored to
// if the block is contiguous there, else in scratch.
func (f *activation) out(s *op) unsafe.Pointer {
	p := unsafe.Add(f.mem, s.slot)
	if s.target != nil {
		if pos, dense := s.target.locate(f); dense {
			p = unsafe.Add(f.bind[s.target.arg].p, pos*s.target.size)
		}
	}
	f.reg[s.dst] = p
	return p
}

// A badIndex is the first index out of range: the one at the least position, see
// ir.Kernel.CheckStrides, and of these the first instruction's.
type badIndex struct {
	found       bool
	rank, instr int
	value       int64
}

func (b *badIndex) note(rank, instr int, value int64) {
	if !b.found || rank < b.rank || rank == b.rank && instr < b.instr {
		*b = badIndex{true, rank, instr, value}
	}
}
