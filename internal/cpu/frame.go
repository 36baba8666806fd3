package cpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A binding is an argument of the call that is running: the address of its
// element 0, or a number as an element in a register.
type binding struct {
	p    unsafe.Pointer
	bits uint64
}

// A frame is the state of one worker in one code: where its block lies and
// where its registers are.
type frame struct {
	code    *code
	bind    []binding
	bad     *badIndex
	mem     unsafe.Pointer // scratch for registers
	reg     []unsafe.Pointer
	count   []int      // lanes of each of the code's sets
	changed ir.AxisSet // axes along which the block has moved since the last run
	fresh   bool       // nothing has run yet
	resized bool       // lengths have changed since count was set
	at, n   [ir.MaxAxes]int
	loops   [ir.MaxAxes]loop
	dims    [ir.MaxAxes]term
	walk    walker
}

// A loop is a number of steps, so far in the destination and in the source.
type loop struct{ n, to, from int }

// enter makes a frame ready for a code, with registers at mem.
func (f *frame) enter(c *code, bind []binding, mem unsafe.Pointer, bad *badIndex) {
	f.code, f.bind, f.mem, f.bad = c, bind, mem, bad
	f.reg = resize(f.reg, c.regs)
	f.count = resize(f.count, len(c.sets))
	f.fresh, f.resized = true, true
	for a := range c.space.axes {
		f.at[a], f.n[a] = 0, 1
	}
	for _, a := range c.fixed {
		f.n[a] = c.space.axes[a].Len
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

// set moves the block along an axis.
func (f *frame) set(axis, at, n int) {
	if f.at[axis] != at {
		f.at[axis] = at
		f.changed |= 1 << axis
	}
	if f.n[axis] != n {
		f.n[axis] = n
		f.changed |= 1 << axis
		f.resized = true
	}
}

// run evaluates the steps whose results are not those of the block before.
func (f *frame) run() {
	if f.resized {
		for i, s := range f.code.sets {
			n := 1
			for _, a := range f.code.lanes {
				if s.Has(a) {
					n *= f.n[a]
				}
			}
			f.count[i] = n
		}
		f.resized = false
	}
	steps := f.code.steps
	for i := range steps {
		if s := &steps[i]; f.fresh || s.over&f.changed != 0 {
			s.do(f, s)
		}
	}
	f.fresh, f.changed = false, 0
}

// out returns where a step's result goes: to its place in memory if that is
// dense, else to scratch.
func (f *frame) out(s *step) unsafe.Pointer {
	p := unsafe.Add(f.mem, s.slot)
	if s.place != nil {
		if pos, dense := s.place.locate(f); dense {
			p = unsafe.Add(f.bind[s.place.arg].p, pos*s.place.size)
		}
	}
	f.reg[s.dst] = p
	return p
}

// A badIndex is the first index out of range that was met: the one at the
// least rank of points, and of these the first instruction's.
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
