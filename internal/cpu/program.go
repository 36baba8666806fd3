package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A program evaluates a part of a kernel's body over blocks. A block is a box of
// points: long along some axes, its lanes, and of length 1 along the others. A
// register holds the values of one instruction over a block, contiguous and in
// row-major order of the lanes that the instruction varies over.
type program struct {
	space     *space
	lanes     []int
	wholeAxes []int // axes that every block spans
	sets      []ir.AxisSet
	ops       []op
	regs      int
	consts    []constant
	scalars   []scalar
	scratch   int // bytes
}

type constant struct {
	reg  int
	bits uint64
}

type scalar struct{ reg, arg int }

// An op computes a register or stores one. do says which fields it uses.
type op struct {
	do      func(*activation, *op)
	domain  ir.AxisSet // a move of the block along one of these makes it run again
	sized   ir.AxisSet // a change of its length along one of these does
	set     int        // the lanes of the result, an index into program.sets
	dst     int
	slot    int // of the result, in scratch
	src     [4]int
	unary   simd.Unary
	binary  simd.Binary
	ternary simd.Ternary
	size    int     // bytes of an element of the result
	from    int     // of doRowBinary: bytes of an element of the operands
	perRow  int     // of doRowBinary: the operand that has one element for each row
	rows    int     // of doRowBinary: the lanes of that operand, an index into program.sets
	inPlace bool    // the result may overwrite an operand
	extra   int     // bytes of scratch that the op needs beside its result's
	raw     int     // and where they are
	target  *target // where the result may be written directly; see activation.out
	load    *load
	reduce  *reduce
	expand  []term
	axis    int
}

// An assembler turns instructions into ops.
type assembler struct {
	*program
	schedule
	body []int // register of each instruction
	regs []register
	last []int // of each register, the last op that reads it
	root int   // the register of a schedule's value
}

// A register holds the values of an instruction over a block.
type register struct {
	typ      ir.DType
	lanes    ir.AxisSet // the lanes that it varies over
	domain   ir.AxisSet // all axes that it varies over
	op       int        // the op that computes it, -1 if the runner sets it
	expanded []int      // registers that repeat it along more lanes
}

// A schedule has the steps of a program and the blocks that they run over.
type schedule struct {
	lanes       []int           // outermost first
	extent      []int           // the greatest length of a block along each axis
	roots       []int           // instructions to be evaluated
	given       []int           // instructions whose registers the runner sets
	columnMajor bool            // reduced lanes enclose kept ones
	stream      bool            // reductions add to accumulators that the runner sets
	value       bool            // the one root is a value, to be held over all lanes
	emitters    map[int]emitter // of instructions that the runner emits itself
}

// assemble prepares a part of a kernel's body.
func assemble(s *space, p schedule) *assembler {
	a := &assembler{program: &program{space: s}, schedule: p, body: make([]int, len(s.Body))}
	a.program.lanes = p.lanes
	need := s.Needs(p.roots, p.given)
	late := false // stores come after all else
	for i := range need {
		late = late || need[i] && s.loadsOld(i)
	}
	for i := range need {
		switch {
		case !need[i] || late && s.Body[i].Op == ir.Store:
		case slices.Contains(p.given, i):
			a.body[i] = a.newRegister(s.Body[i].Type, s.Body[i].Domain, -1)
		case p.emitters[i] != nil:
			a.body[i] = p.emitters[i](a, i)
		case a.isSummed(i, need):
			a.body[i] = -1 // its sum computes it
		default:
			a.body[i] = emitterOf(s.Body[i].Op)(a, i)
		}
	}
	if late {
		for i := range need {
			if need[i] && s.Body[i].Op == ir.Store {
				a.body[i] = a.store(i)
			}
		}
		a.keepOld()
	}
	if p.value {
		a.root = a.widen(a.body[p.roots[0]], ir.Axes(p.lanes...))
	}
	a.program.regs = len(a.regs)
	a.allocate()
	return a
}

func (a *assembler) newRegister(typ ir.DType, domain ir.AxisSet, at int) int {
	a.regs = append(a.regs, register{typ: typ, domain: domain, lanes: domain & ir.Axes(a.schedule.lanes...), op: at})
	return len(a.regs) - 1
}

// setIndex returns the index of a set of lanes in program.sets.
func (a *assembler) setIndex(lanes ir.AxisSet) int {
	if i := slices.Index(a.sets, lanes); i >= 0 {
		return i
	}
	a.sets = append(a.sets, lanes)
	return len(a.sets) - 1
}

// emit adds an op whose result is a new register.
func (a *assembler) emit(s op, typ ir.DType, domain ir.AxisSet) int {
	if s.sized == 0 {
		s.domain |= domain
	}
	s.dst = a.newRegister(typ, domain, len(a.ops))
	s.set = a.setIndex(a.regs[s.dst].lanes)
	s.size = typ.Size()
	a.ops = append(a.ops, s)
	return s.dst
}

// widen returns a register that repeats r along all lanes of a domain.
func (a *assembler) widen(r int, domain ir.AxisSet) int {
	lanes := domain & ir.Axes(a.schedule.lanes...)
	if a.regs[r].lanes == lanes {
		return r
	}
	for _, x := range a.regs[r].expanded {
		if a.regs[x].lanes == lanes {
			return x
		}
	}
	from := &a.regs[r]
	s := op{do: doExpand, src: [4]int{r, -1, -1, -1}, domain: from.domain, sized: lanes}
	for _, l := range a.schedule.lanes {
		if lanes.Has(l) {
			c := 0
			if from.lanes.Has(l) {
				c = 1
			}
			s.expand = append(s.expand, term{l, c})
		}
	}
	x := a.emit(s, from.typ, from.domain|lanes)
	a.regs[r].expanded = append(a.regs[r].expanded, x)
	return x
}

// maxLanes is the greatest number of points of a block along some lanes.
func (a *assembler) maxLanes(lanes ir.AxisSet) int {
	n := 1
	for _, l := range a.schedule.lanes {
		if lanes.Has(l) {
			n *= a.extent[l]
		}
	}
	return n
}

// align rounds a number of bytes up to whole cache lines.
func align(n int) int { return (n + 63) &^ 63 }

// A slot is a range of scratch, in bytes.
type slot struct{ at, size int }

// allocate gives each op's result a slot. A result that is not computed for every
// block keeps its slot; the others share.
func (a *assembler) allocate() {
	a.lastUses()
	var hot ir.AxisSet
	for i := range a.ops {
		hot |= a.ops[i].domain
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
	for i := range a.ops {
		s := &a.ops[i]
		dst := a.regs[s.dst]
		if s.inPlace {
			release(i, func(r register) bool { return r.lanes == dst.lanes && r.typ.Size() == s.size })
		}
		got := slot{a.scratch, align(a.maxLanes(dst.lanes) * s.size)}
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
			a.scratch += got.size
		}
		s.slot = got.at
		if s.domain == hot {
			owned[s.dst] = got
		}
		release(i, func(register) bool { return true })
		a.extra(s, a.maxLanes(dst.lanes))
	}
}

// extra gives an op the scratch that it needs beside its result's.
func (a *assembler) extra(s *op, lanes int) {
	take := func(bytes int) int {
		at := a.scratch
		a.scratch += align(bytes)
		return at
	}
	if s.load != nil && s.load.widen != nil {
		s.load.raw = take(2 * lanes)
	}
	if s.load != nil && s.load.format != nil {
		s.load.raw = take(4 * lanes)
	}
	if s.extra > 0 {
		s.raw = take(s.extra)
	}
	if s.reduce != nil && (s.reduce.arg.Along != nil || s.reduce.short) {
		s.reduce.val = take(8 * lanes)
	}
	if s.target != nil && s.target.narrow != nil {
		s.target.raw = take(2 * lanes)
	}
}

// lastUses finds the last op that reads each register.
func (a *assembler) lastUses() {
	a.last = make([]int, len(a.regs))
	for i := range a.ops {
		s := &a.ops[i]
		a.last[s.dst] = i
		for _, r := range s.src {
			if r >= 0 {
				a.last[r] = i
			}
		}
	}
}

// put writes x as an element of type d.
func put(p unsafe.Pointer, d ir.DType, x ir.Number) {
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
