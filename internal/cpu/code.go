package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A code is a part of a kernel's body prepared for blocks: boxes of points,
// long along some axes, the lanes, and of one position along the others. The
// values of an instruction over a block lie side by side in a register, in
// row-major order of those lanes over which it varies.
type code struct {
	space   *space
	lanes   []int
	fixed   []int // axes along which every block is whole
	sets    []ir.AxisSet
	steps   []step
	regs    int
	consts  []constant
	scalars []scalar
	scratch int // bytes
}

type constant struct {
	reg  int
	bits uint64
}

type scalar struct{ reg, arg int }

// A step computes one register, or stores one. Which fields it uses is up to
// what it does.
type step struct {
	do      func(*frame, *step)
	over    ir.AxisSet // it must run again when the block moves along one of these
	set     int        // the lanes of the result, in code.sets
	dst     int
	slot    int // of the result, in scratch
	src     [4]int
	unary   simd.Unary
	binary  simd.Binary
	ternary simd.Ternary
	size    int    // bytes of an element of the result
	inPlace bool   // the result may take an operand's slot
	place   *place // where the result may go at once; see frame.out
	load    *load
	reduce  *reduce
	expand  []term
	axis    int
}

// An assembler turns instructions into steps.
type assembler struct {
	*code
	plan
	body []int // register of each instruction
	regs []register
	last []int // of each register, the last step that reads it
	root int   // of a plan for a value, the register that holds it
}

// A register holds the values of an instruction over a block.
type register struct {
	typ      ir.DType
	lanes    ir.AxisSet // the lanes that it varies over
	over     ir.AxisSet // all axes that it varies over
	step     int        // that computes it, -1 if it is set from outside
	expanded []int      // other registers that hold the same over more lanes
}

// A plan says how a code's blocks lie and what it is to compute.
type plan struct {
	lanes  []int // axes along which blocks are long, outermost first
	extent []int // the greatest length of a block along each axis
	roots  []int // instructions to be evaluated, with what they need
	given  []int // instructions whose registers are set from outside
	across bool  // reduced lanes are outside of kept ones
	stream bool  // reductions add to accumulators set from outside
	value  bool  // the one root is a value wanted over all lanes
}

// assemble prepares a part of a kernel's body.
func assemble(s *space, p plan) *assembler {
	a := &assembler{code: &code{space: s}, plan: p, body: make([]int, len(s.body))}
	a.code.lanes = p.lanes
	need := s.needs(p.roots, p.given)
	for i := range need {
		switch {
		case !need[i]:
		case slices.Contains(p.given, i):
			a.body[i] = a.newRegister(s.body[i].Type, s.body[i].Domain, -1)
		default:
			a.body[i] = emitterOf(s.body[i].Op)(a, i)
		}
	}
	if p.value {
		a.root = a.widen(a.body[p.roots[0]], ir.Axes(p.lanes...))
	}
	a.code.regs = len(a.regs)
	a.allocate()
	return a
}

// needs marks the instructions that roots depend on, down to the given ones.
func (s *space) needs(roots, given []int) []bool {
	need := make([]bool, len(s.body))
	for _, r := range roots {
		need[r] = true
	}
	for i := len(need) - 1; i >= 0; i-- {
		if need[i] && !slices.Contains(given, i) {
			for _, j := range s.body[i].Src {
				need[j] = true
			}
		}
	}
	return need
}

func (a *assembler) newRegister(typ ir.DType, over ir.AxisSet, step int) int {
	a.regs = append(a.regs, register{typ: typ, over: over, lanes: over & ir.Axes(a.plan.lanes...), step: step})
	return len(a.regs) - 1
}

// setIndex returns the index of a set of lanes in code.sets.
func (a *assembler) setIndex(lanes ir.AxisSet) int {
	if i := slices.Index(a.sets, lanes); i >= 0 {
		return i
	}
	a.sets = append(a.sets, lanes)
	return len(a.sets) - 1
}

// emit adds a step whose result is a new register.
func (a *assembler) emit(s step, typ ir.DType, over ir.AxisSet) int {
	s.over |= over
	s.dst = a.newRegister(typ, over, len(a.steps))
	s.set = a.setIndex(a.regs[s.dst].lanes)
	s.size = typ.Size()
	a.steps = append(a.steps, s)
	return s.dst
}

// widen returns a register with the values of r over more lanes.
func (a *assembler) widen(r int, over ir.AxisSet) int {
	lanes := over & ir.Axes(a.plan.lanes...)
	if a.regs[r].lanes == lanes {
		return r
	}
	for _, x := range a.regs[r].expanded {
		if a.regs[x].lanes == lanes {
			return x
		}
	}
	from := &a.regs[r]
	s := step{do: doExpand, src: [4]int{r, -1, -1, -1}}
	for _, l := range a.plan.lanes {
		if lanes.Has(l) {
			c := 0
			if from.lanes.Has(l) {
				c = 1
			}
			s.expand = append(s.expand, term{l, c})
		}
	}
	x := a.emit(s, from.typ, from.over|lanes)
	a.regs[r].expanded = append(a.regs[r].expanded, x)
	return x
}

// maxLanes is the most lanes of a set in a block.
func (a *assembler) maxLanes(lanes ir.AxisSet) int {
	n := 1
	for _, l := range a.plan.lanes {
		if lanes.Has(l) {
			n *= a.extent[l]
		}
	}
	return n
}

// align rounds a number of bytes up to a whole number of cache lines.
func align(n int) int { return (n + 63) &^ 63 }

// A slot is a part of scratch.
type slot struct{ at, size int }

// allocate gives every step's result a slot. A value that does not change
// from block to block keeps its own; the others share.
func (a *assembler) allocate() {
	a.lastUses()
	var hot ir.AxisSet
	for i := range a.steps {
		hot |= a.steps[i].over
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
	for i := range a.steps {
		s := &a.steps[i]
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
		if s.over == hot && best >= 0 {
			got = free[best]
			free = slices.Delete(free, best, best+1)
		} else {
			a.scratch += got.size
		}
		s.slot = got.at
		if s.over == hot {
			owned[s.dst] = got
		}
		release(i, func(register) bool { return true })
		a.extra(s, a.maxLanes(dst.lanes))
	}
}

// extra gives a step the scratch that it needs besides its result's.
func (a *assembler) extra(s *step, lanes int) {
	take := func(size int) int {
		at := a.scratch
		a.scratch += align(lanes * size)
		return at
	}
	if s.load != nil && s.load.widen != nil {
		s.load.raw = take(2)
	}
	if s.reduce != nil && s.reduce.arg.Along != nil {
		s.reduce.val = take(8)
	}
	if s.place != nil && s.place.narrow != nil {
		s.place.raw = take(2)
	}
}

// lastUses finds the last step that reads each register.
func (a *assembler) lastUses() {
	a.last = make([]int, len(a.regs))
	for i := range a.steps {
		s := &a.steps[i]
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
	switch d {
	case ir.Bool, ir.Uint8:
		*(*uint8)(p) = uint8(x)
	case ir.Int32, ir.Uint32:
		*(*uint32)(p) = uint32(x)
	case ir.Float16:
		*(*ir.F16)(p) = ir.ToF16(float32(x.Float64(d)))
	case ir.BFloat16:
		*(*ir.BF16)(p) = ir.ToBF16(float32(x.Float64(d)))
	case ir.Float32:
		*(*float32)(p) = float32(x.Float64(d))
	default:
		*(*uint64)(p) = uint64(x)
	}
}
