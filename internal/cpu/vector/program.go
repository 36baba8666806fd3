// Package vector evaluates kernels in blocks: a program has an op for each instruction, a routine of
// package simd over the block, and registers for the values. It has the loads and stores of blocks,
// the tilings that cut an iteration space into them, and the workers that share them. Read program.go
// first, then activation.go.
package vector

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A Program evaluates a part of a kernel's body over blocks. A block is a box of
// points: long along some axes, its lanes, and of length 1 along the others. A
// register holds the values of one instruction over a block, contiguous and in
// row-major order of the lanes that the instruction varies over.
type Program struct {
	Space     *Space
	lanes     []int
	WholeAxes []int // axes that every block spans
	sets      []ir.AxisSet
	Ops       []Op
	regs      int
	consts    []constant
	scalars   []scalar
	Scratch   int // bytes
}

type constant struct {
	reg  int
	bits uint64
}

type scalar struct{ reg, arg int }

// An Op computes a register or stores one. do says which fields it uses.
type Op struct {
	Do      func(*Activation, *Op)
	domain  ir.AxisSet // a move of the block along one of these makes it run again
	sized   ir.AxisSet // a change of its length along one of these does
	Set     int        // the lanes of the result, an index into program.sets
	Dst     int
	slot    int // of the result, in scratch
	Src     [4]int
	unary   simd.Unary
	binary  simd.Binary
	ternary simd.Ternary
	linked  *[2]simd.LinkOp // its codes in a chain, of a run and of one element, or nil
	links   []link          // of doChain
	Size    int             // bytes of an element of the result
	from    int             // of doRowBinary: bytes of an element of the operands
	perRow  int             // of doRowBinary: the operand that has one element for each row
	rows    int             // of doRowBinary: the lanes of that operand, an index into program.sets
	inPlace bool            // the result may overwrite an operand
	alias   bool            // the result is the operand's memory
	Extra   int             // bytes of scratch that the op needs beside its result's
	Raw     int             // and where they are
	target  *target         // where the result may be written directly; see activation.out
	load    *load
	Reduce  *reduce
	expand  []Term
	axis    int
}

// An Assembler turns instructions into ops.
type Assembler struct {
	*Program
	Schedule
	Body []int // register of each instruction
	regs []register
	last []int // of each register, the last op that reads it
	Root int   // the register of a schedule's value
}

// A register holds the values of an instruction over a block.
type register struct {
	typ      ir.DType
	lanes    ir.AxisSet // the lanes that it varies over
	domain   ir.AxisSet // all axes that it varies over
	op       int        // the op that computes it, -1 if the runner sets it
	expanded []int      // registers that repeat it along more lanes
}

// A Schedule has the steps of a program and the blocks that they run over.
type Schedule struct {
	Lanes       []int           // outermost first
	Extent      []int           // the greatest length of a block along each axis
	Roots       []int           // instructions to be evaluated
	Given       []int           // instructions whose registers the runner sets
	ColumnMajor bool            // reduced lanes enclose kept ones
	Stream      bool            // reductions add to accumulators that the runner sets
	Value       bool            // the one root is a value, to be held over all lanes
	Emitters    map[int]Emitter // of instructions that the runner emits itself
}

// Assemble prepares a part of a kernel's body.
func Assemble(s *Space, p Schedule) *Assembler {
	a := &Assembler{Program: &Program{Space: s}, Schedule: p, Body: make([]int, len(s.Body))}
	a.Program.lanes = p.Lanes
	need := s.Needs(p.Roots, p.Given)
	late := false // stores come after all else
	for i := range need {
		late = late || need[i] && s.loadsOld(i)
	}
	for i := range need {
		switch {
		case !need[i] || late && s.Body[i].Op == ir.Store:
		case slices.Contains(p.Given, i):
			a.Body[i] = a.NewRegister(s.Body[i].Type, s.Body[i].Domain, -1)
		case p.Emitters[i] != nil:
			a.Body[i] = p.Emitters[i](a, i)
		case a.isSummed(i, need), a.isClamped(i, need):
			a.Body[i] = -1 // its reader computes it
		default:
			a.Body[i] = emitterOf(s.Body[i].Op)(a, i)
		}
	}
	if late {
		for i := range need {
			if need[i] && s.Body[i].Op == ir.Store {
				a.Body[i] = a.store(i)
			}
		}
		a.keepOld()
	}
	if p.Value {
		a.Root = a.Widen(a.Body[p.Roots[0]], ir.Axes(p.Lanes...))
	}
	if !late {
		a.chain()
	}
	a.Program.regs = len(a.regs)
	a.allocate()
	return a
}

func (a *Assembler) NewRegister(typ ir.DType, domain ir.AxisSet, at int) int {
	a.regs = append(a.regs, register{typ: typ, domain: domain, lanes: domain & ir.Axes(a.Schedule.Lanes...), op: at})
	return len(a.regs) - 1
}

// SetIndex returns the index of a set of lanes in program.sets.
func (a *Assembler) SetIndex(lanes ir.AxisSet) int {
	if i := slices.Index(a.sets, lanes); i >= 0 {
		return i
	}
	a.sets = append(a.sets, lanes)
	return len(a.sets) - 1
}

// Emit adds an op whose result is a new register.
func (a *Assembler) Emit(s Op, typ ir.DType, domain ir.AxisSet) int {
	if s.sized == 0 {
		s.domain |= domain
	}
	s.Dst = a.NewRegister(typ, domain, len(a.Ops))
	s.Set = a.SetIndex(a.regs[s.Dst].lanes)
	s.Size = typ.Size()
	a.Ops = append(a.Ops, s)
	return s.Dst
}

// Widen returns a register that repeats r along all lanes of a domain.
func (a *Assembler) Widen(r int, domain ir.AxisSet) int {
	lanes := domain & ir.Axes(a.Schedule.Lanes...)
	if a.regs[r].lanes == lanes {
		return r
	}
	for _, x := range a.regs[r].expanded {
		if a.regs[x].lanes == lanes {
			return x
		}
	}
	from := &a.regs[r]
	s := Op{Do: doExpand, Src: [4]int{r, -1, -1, -1}, domain: from.domain, sized: lanes}
	for _, l := range a.Schedule.Lanes {
		if lanes.Has(l) {
			c := 0
			if from.lanes.Has(l) {
				c = 1
			}
			s.expand = append(s.expand, Term{l, c})
		}
	}
	x := a.Emit(s, from.typ, from.domain|lanes)
	a.regs[r].expanded = append(a.regs[r].expanded, x)
	return x
}

// maxLanes is the greatest number of points of a block along some lanes.
func (a *Assembler) maxLanes(lanes ir.AxisSet) int {
	n := 1
	for _, l := range a.Schedule.Lanes {
		if lanes.Has(l) {
			n *= a.Extent[l]
		}
	}
	return n
}

// Align rounds a number of bytes up to whole cache lines.
func Align(n int) int { return (n + 63) &^ 63 }

// A slot is a range of scratch, in bytes.
type slot struct{ at, size int }

// allocate gives each op's result a slot. A result that is not computed for every
// block keeps its slot; the others share.
func (a *Assembler) allocate() {
	a.lastUses()
	var hot ir.AxisSet
	for i := range a.Ops {
		hot |= a.Ops[i].domain
	}
	var free []slot
	owned := make([]slot, len(a.regs))
	release := func(i int, ok func(r register) bool) {
		for r := range owned {
			if owned[r].size > 0 && a.last[r] == i && ok(a.regs[r]) {
				free = append(free, owned[r])
				owned[r].size = 0
			}
		}
	}
	for i := range a.Ops {
		s := &a.Ops[i]
		if s.alias {
			continue
		}
		dst := a.regs[s.Dst]
		if s.inPlace {
			release(i, func(r register) bool { return r.lanes == dst.lanes && r.typ.Size() == s.Size })
		}
		got := slot{a.Scratch, Align(a.maxLanes(dst.lanes) * s.Size)}
		best := -1
		for j, f := range free {
			if f.size >= got.size && (best < 0 || f.size < free[best].size) {
				best = j
			}
		}
		if s.domain == hot && best >= 0 {
			got = free[best]
			free = slices.Delete(free, best, best+1)
		} else {
			a.Scratch += got.size
		}
		s.slot = got.at
		if s.domain == hot {
			owned[s.Dst] = got
		}
		release(i, func(register) bool { return true })
		a.extra(s, a.maxLanes(dst.lanes))
	}
}

// extra gives an op the scratch that it needs beside its result's.
func (a *Assembler) extra(s *Op, lanes int) {
	take := func(bytes int) int {
		at := a.Scratch
		a.Scratch += Align(bytes)
		return at
	}
	if s.load != nil && s.load.widen != nil {
		s.load.raw = take(2 * lanes)
	}
	if s.load != nil && s.load.format != nil {
		s.load.raw = take(4 * lanes)
	}
	if s.Extra > 0 {
		s.Raw = take(s.Extra)
	}
	if s.Reduce != nil && (s.Reduce.Arg.Along != nil || s.Reduce.short) {
		s.Reduce.val = take(8 * lanes)
	}
	if s.target != nil && s.target.narrow != nil {
		s.target.raw = take(2 * lanes)
	}
}

// lastUses finds the last op that reads each register, or its memory.
func (a *Assembler) lastUses() {
	a.last = make([]int, len(a.regs))
	for i := range a.Ops {
		s := &a.Ops[i]
		a.last[s.Dst] = i
		for _, r := range s.Src {
			if r >= 0 {
				a.last[r] = i
			}
		}
		for _, l := range s.links {
			if l.y >= 0 {
				a.last[l.y] = i
			}
			if l.z >= 0 {
				a.last[l.z] = i
			}
		}
	}
	for i := range slices.Backward(a.Ops) {
		if s := &a.Ops[i]; s.alias {
			a.last[s.Src[0]] = max(a.last[s.Src[0]], a.last[s.Dst])
		}
	}
}

// Put writes x as an element of type d.
func Put(p unsafe.Pointer, d ir.DType, x ir.Number) {
	bits := x.Bits(d)
	switch d.Size() {
	case 1:
		*(*uint8)(p) = uint8(bits)
	case 2:
		*(*uint16)(p) = uint16(bits)
	case 4:
		*(*uint32)(p) = uint32(bits)
	default:
		*(*uint64)(p) = bits
	}
}
