package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A reduce is the part of an op that reduces lanes along reduced axes.
type reduce struct {
	kind        ir.Op
	instr       int
	typ         ir.DType // of the operand
	routine     simd.Reduction
	dot         simd.Dot    // for the sum of a product; the op's second operand is the second factor
	shared      bool        // all rows have the same second factor
	arg         simd.ArgMax // for ArgMax
	short       bool        // the operand was of fewer than 32 bits: blocks are added in int32, and that in int64
	columnMajor bool        // reduced lanes enclose kept ones
	lanes       int         // index of the set of reduced lanes
	acc         ir.DType    // type of the accumulators
	start       uint64      // their initial value
	val         int         // scratch: ArgMax's for values, or the sums of a short block
	valReg      int         // ArgMax: register of values
	first       affine      // ArgMax: position of the block among the reduced points
}

func (a *assembler) reduction(i int) int {
	in := &a.space.Body[i]
	reducedLanes := in.Axes & ir.Axes(a.schedule.lanes...)
	r := &reduce{kind: in.Op, instr: i, columnMajor: a.columnMajor, lanes: a.setIndex(reducedLanes)}
	domain := a.space.Body[in.Src[0]].Domain | in.Axes
	if a.stream {
		domain = 1<<len(a.space.Axes) - 1
	}
	x, y := a.factors(i, domain, reducedLanes)
	if y >= 0 {
		r.dot = simd.Dots[in.Type]
		r.shared = a.regs[y].lanes == reducedLanes
		r.routine = simd.Reductions[in.Op][in.Type]
	} else {
		x = a.body[in.Src[0]]
		table := &simd.Reductions[in.Op]
		switch {
		case x < 0: // see isSummed
			x = a.body[a.space.Body[in.Src[0]].Src[0]]
			r.short = a.regs[x].typ.Size() < ir.Int32.Size()
			x = a.cast(x, a.regs[x].typ.SumType())
			table = &simd.WideSums
		case in.Op == ir.Sum:
			x = a.cast(x, in.Type)
		}
		r.routine = table[a.regs[x].typ]
		x = a.widen(x, domain)
	}
	typ := a.regs[x].typ
	r.typ = typ
	s := op{do: doReduce, reduce: r, src: [4]int{x, y, -1, -1}}
	if in.Op == ir.ArgMax {
		r.arg = simd.ArgMaxes[typ]
		r.acc = ir.Int32
		put(unsafe.Pointer(&r.start), ir.Int32, ir.Int(ir.Int32, -1))
		r.first = a.affine(0, ir.DenseStrides(a.space.Axes, in.Axes), 0)
	} else {
		r.acc = r.routine.Acc
		put(unsafe.Pointer(&r.start), r.acc, ir.Identity(in.Op, r.acc))
	}
	if !a.stream {
		r.valReg = a.newRegister(typ, domain&^in.Axes, -1)
		return a.cast(a.emit(s, r.acc, domain&^in.Axes), in.Type)
	}
	// The runner sets the registers of the result, and no op of this program
	// reads them.
	s.do = doAccumulate
	s.domain = domain
	s.dst = a.newRegister(r.acc, domain&^in.Axes, -1)
	r.valReg = a.newRegister(typ, domain&^in.Axes, -1)
	s.set = a.setIndex(a.regs[s.dst].lanes)
	a.ops = append(a.ops, s)
	return s.dst
}

// isSummed reports whether instruction i is a product or a cast that only one sum reads, so
// that a routine of simd.Dot or simd.WideSums may compute both. need says which instructions
// are evaluated.
func (a *assembler) isSummed(i int, need []bool) bool {
	in := &a.space.Body[i]
	product := in.Op == ir.Mul && simd.Dots[in.Type].Along != nil
	if !product && !a.space.widensInt(i) || slices.Contains(a.schedule.roots, i) {
		return false
	}
	sums := 0
	for j := range need {
		if !need[j] || slices.Contains(a.schedule.given, j) {
			continue
		}
		for _, x := range a.space.Body[j].Src {
			if x != i {
				continue
			}
			if r := &a.space.Body[j]; r.Op != ir.Sum || r.Type != in.Type || a.emitters[j] != nil {
				return false
			}
			sums++
		}
	}
	return sums == 1
}

// factors returns the registers of the two factors if simd.Dot computes reduction i
// together with its product: x varies over all lanes of the domain, y over these or only
// over the reduced ones. If simd.Dot has no routine for these lanes, factors emits the
// product and y is -1.
func (a *assembler) factors(i int, domain, reduced ir.AxisSet) (x, y int) {
	m := a.space.Body[i].Src[0]
	if a.body[m] >= 0 || a.space.Body[m].Op != ir.Mul {
		return -1, -1
	}
	x, y = a.body[a.space.Body[m].Src[0]], a.body[a.space.Body[m].Src[1]]
	if a.regs[x].lanes == reduced {
		x, y = y, x
	}
	switch {
	case a.regs[y].lanes == reduced:
		return a.widen(x, domain), y
	case !a.columnMajor:
		return a.widen(x, domain), a.widen(y, domain)
	}
	a.body[m] = a.binary(m)
	return -1, -1
}

// doReduce reduces a block that spans all reduced axes.
func doReduce(f *activation, s *op) {
	r := s.reduce
	dst := f.out(s)
	r.begin(dst, f.count[s.set])
	if r.kind == ir.ArgMax {
		if f.count[r.lanes] == 0 {
			clear(unsafe.Slice((*int32)(dst), f.count[s.set]))
		}
		f.reg[r.valReg] = unsafe.Add(f.mem, r.val)
	}
	doAccumulate(f, s)
}

// begin sets n accumulators to the neutral element.
func (r *reduce) begin(acc unsafe.Pointer, n int) {
	simd.Fill(acc, unsafe.Pointer(&r.start), r.acc.Size(), n)
}

// doAccumulate reduces a block into the accumulators.
func doAccumulate(f *activation, s *op) {
	r := s.reduce
	kept, reduced := f.count[s.set], f.count[r.lanes]
	if kept == 0 || reduced == 0 {
		return
	}
	acc, x := f.reg[s.dst], f.reg[s.src[0]]
	switch {
	case r.dot.Along != nil && r.columnMajor:
		r.dot.Across(acc, x, f.reg[s.src[1]], reduced, kept)
	case r.dot.Along != nil:
		ldy := reduced
		if r.shared {
			ldy = 0
		}
		r.dot.Along(acc, x, f.reg[s.src[1]], kept, reduced, ldy)
	case r.short:
		part, sums := unsafe.Add(f.mem, r.val), simd.Reductions[ir.Sum][ir.Int32]
		clear(unsafe.Slice((*int32)(part), kept))
		if r.columnMajor {
			sums.Across(part, x, reduced, kept)
		} else {
			sums.Along(part, x, kept, reduced)
		}
		r.routine.Across(acc, part, 1, kept)
	case r.kind != ir.ArgMax && r.columnMajor:
		r.routine.Across(acc, x, reduced, kept)
	case r.kind != ir.ArgMax:
		r.routine.Along(acc, x, kept, reduced)
	case r.columnMajor:
		r.arg.Across(f.reg[r.valReg], acc, x, reduced, kept, r.first.pos(f))
	default:
		r.arg.Along(f.reg[r.valReg], acc, x, kept, reduced, r.first.pos(f))
	}
}
