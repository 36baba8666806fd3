package vector

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A Binding is an argument of a call: the address of element 0 of a buffer's view,
// or a number, as an element of a register. Of a buffer in an ir.Format, p is the address of a block, and
// bits the element's position in it.
type Binding struct {
	P    unsafe.Pointer
	Bits uint64
}

// Advance moves element 0 by some elements of type d.
func (b *Binding) Advance(d ir.DType, elements int) {
	if f := d.Format(); f != nil {
		elements += int(b.Bits)
		b.Bits = uint64(elements & (f.Len - 1))
		elements -= int(b.Bits)
	}
	b.P = unsafe.Add(b.P, d.Bytes(elements))
}

// An Activation is the state of one worker in one program: the position of its
// block and the addresses of its registers.
type Activation struct {
	program *Program
	Bind    []Binding
	bad     *badIndex
	Mem     unsafe.Pointer // scratch for registers
	Reg     []unsafe.Pointer
	Count   []int      // points of the block along each of program.sets
	changed ir.AxisSet // axes along which the block has moved or changed its length since the last run
	resized ir.AxisSet // axes along which it has changed its length
	first   bool       // the next run is the first
	At, N   [ir.MaxAxes]int
	limit   [ir.MaxAxes]int // along each axis, the positions that are needed
	loops   [ir.MaxAxes]loop
	dims    [ir.MaxAxes]Term
	nest    loopNest
	links   []simd.Link
	block   [ir.MaxBlock]float32 // a block of an ir.Format, decoded
}

// A loop has n iterations, with strides in the destination and in the source.
type loop struct{ n, to, From int }

// Len is the number of iterations.
func (l loop) Len() int { return l.n }

// Enter prepares an activation for a program, with registers at mem.
func (f *Activation) Enter(c *Program, bind []Binding, mem unsafe.Pointer, bad *badIndex) {
	f.program, f.Bind, f.Mem, f.bad = c, bind, mem, bad
	f.Reg = Resize(f.Reg, c.regs)
	f.Count = Resize(f.Count, len(c.sets))
	f.first = true
	for a := range c.Space.Axes {
		f.At[a], f.N[a], f.limit[a] = 0, 1, math.MaxInt/2 // less a position that may be negative
	}
	for i := range c.Space.Limits {
		l := &c.Space.Limits[i]
		f.limit[l.axis] = min(f.limit[l.axis], l.positions(bind))
	}
	for _, a := range c.WholeAxes {
		f.N[a] = min(c.Space.Axes[a].Len, f.limit[a])
	}
	for i := range c.consts {
		f.Reg[c.consts[i].reg] = unsafe.Pointer(&c.consts[i].bits)
	}
	for _, s := range c.scalars {
		f.Reg[s.reg] = unsafe.Pointer(&bind[s.arg].Bits)
	}
}

func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// MoveTo moves the block along an axis: to n positions from at on, fewer if the axis ends before.
func (f *Activation) MoveTo(axis, at, n int) {
	n = max(0, min(n, f.limit[axis]-at))
	if f.At[axis] != at {
		f.At[axis] = at
		f.changed |= 1 << axis
	}
	if f.N[axis] != n {
		f.N[axis] = n
		f.changed |= 1 << axis
		f.resized |= 1 << axis
	}
}

// Run evaluates the ops whose results changed since the block before.
func (f *Activation) Run() {
	if f.first || f.resized != 0 {
		for i, s := range f.program.sets {
			n := 1
			for _, a := range f.program.lanes {
				if s.Has(a) {
					n *= f.N[a]
				}
			}
			f.Count[i] = n
		}
	}
	ops := f.program.Ops
	for i := range ops {
		if s := &ops[i]; f.first || s.domain&f.changed != 0 || s.sized&f.resized != 0 {
			s.Do(f, s)
		}
	}
	f.first, f.changed, f.resized = false, 0, 0
}

// Out returns the address of an op's result: in the buffer that it is stored to
// if the block is contiguous there, else in scratch.
func (f *Activation) Out(s *Op) unsafe.Pointer {
	p := unsafe.Add(f.Mem, s.slot)
	if s.target != nil {
		if pos, dense := s.target.locate(f); dense {
			p = unsafe.Add(f.Bind[s.target.arg].P, pos*s.target.size)
		}
	}
	f.Reg[s.Dst] = p
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
