package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A reduce is the part of an op that reduces lanes along reduced axes.
type reduce struct {
	Kind        ir.Op
	Instr       int
	Typ         ir.DType // of the operand
	routine     simd.Reduction
	dot         simd.Dot    // for the sum of a product; the op's second operand is the second factor
	shared      bool        // all rows have the same second factor
	Arg         simd.ArgMax // for ArgMax
	short       bool        // the operand was of fewer than 32 bits: blocks are added in int32, and that in int64
	columnMajor bool        // reduced lanes enclose kept ones
	lanes       int         // index of the set of reduced lanes
	Acc         ir.DType    // type of the accumulators
	start       uint64      // their initial value
	val         int         // scratch: ArgMax's for values, or the sums of a short block
	ValReg      int         // ArgMax: register of values
	first       Affine      // ArgMax: position of the block among the reduced points
}

func (a *Assembler) reduction(i int) int {
	in := &a.Space.Body[i]
	reducedLanes := in.Axes & ir.Axes(a.Schedule.Lanes...)
	r := &reduce{Kind: in.Op, Instr: i, columnMajor: a.ColumnMajor, lanes: a.SetIndex(reducedLanes)}
	domain := a.Space.Body[in.Src[0]].Domain | in.Axes
	if a.Stream {
		domain = 1<<len(a.Space.Axes) - 1
	}
	x, y := a.factors(i, domain, reducedLanes)
	if y >= 0 {
		r.dot = simd.Dots[in.Type]
		r.shared = a.regs[y].lanes == reducedLanes
		r.routine = simd.Reductions[in.Op][in.Type]
	} else {
		x = a.Body[in.Src[0]]
		table := &simd.Reductions[in.Op]
		switch {
		case x < 0: // see isSummed
			x = a.Body[a.Space.Body[in.Src[0]].Src[0]]
			r.short = a.regs[x].typ.Size() < ir.Int32.Size()
			x = a.cast(x, a.regs[x].typ.SumType())
			table = &simd.WideSums
		case in.Op == ir.Sum:
			x = a.cast(x, in.Type)
		}
		r.routine = table[a.regs[x].typ]
		x = a.Widen(x, domain)
	}
	typ := a.regs[x].typ
	r.Typ = typ
	s := Op{Do: doReduce, Reduce: r, Src: [4]int{x, y, -1, -1}}
	if in.Op == ir.ArgMax {
		r.Arg = simd.ArgMaxes[typ]
		r.Acc = ir.Int32
		Put(unsafe.Pointer(&r.start), ir.Int32, ir.Int(ir.Int32, -1))
		r.first = a.Affine(0, ir.DenseStrides(a.Space.Axes, in.Axes), 0)
	} else {
		r.Acc = r.routine.Acc
		Put(unsafe.Pointer(&r.start), r.Acc, ir.Identity(in.Op, r.Acc))
	}
	if !a.Stream {
		r.ValReg = a.NewRegister(typ, domain&^in.Axes, -1)
		return a.cast(a.Emit(s, r.Acc, domain&^in.Axes), in.Type)
	}
	// The runner sets the registers of the result, and no op of this program
	// reads them.
	s.Do = doAccumulate
	s.domain = domain
	s.Dst = a.NewRegister(r.Acc, domain&^in.Axes, -1)
	r.ValReg = a.NewRegister(typ, domain&^in.Axes, -1)
	s.Set = a.SetIndex(a.regs[s.Dst].lanes)
	a.Ops = append(a.Ops, s)
	return s.Dst
}

// isSummed reports whether instruction i is a product or a cast that only one sum reads, so
// that a routine of simd.Dot or simd.WideSums may compute both. need says which instructions
// are evaluated.
func (a *Assembler) isSummed(i int, need []bool) bool {
	in := &a.Space.Body[i]
	product := in.Op == ir.Mul && simd.Dots[in.Type].Along != nil
	return (product || a.Space.WidensInt(i)) && a.hasReader(i, need, func(j int) bool {
		r := &a.Space.Body[j]
		return r.Op == ir.Sum && r.Type == in.Type
	})
}

// factors returns the registers of the two factors if simd.Dot computes reduction i
// together with its product: x varies over all lanes of the domain, y over these or only
// over the reduced ones. If simd.Dot has no routine for these lanes, factors emits the
// product and y is -1.
func (a *Assembler) factors(i int, domain, reduced ir.AxisSet) (x, y int) {
	m := a.Space.Body[i].Src[0]
	if a.Body[m] >= 0 || a.Space.Body[m].Op != ir.Mul {
		return -1, -1
	}
	x, y = a.Body[a.Space.Body[m].Src[0]], a.Body[a.Space.Body[m].Src[1]]
	if a.regs[x].lanes == reduced {
		x, y = y, x
	}
	switch {
	case a.regs[y].lanes == reduced:
		return a.Widen(x, domain), y
	case !a.ColumnMajor:
		return a.Widen(x, domain), a.Widen(y, domain)
	}
	a.Body[m] = a.binary(m)
	return -1, -1
}

// doReduce reduces a block that spans all reduced axes.
func doReduce(f *Activation, s *Op) {
	r := s.Reduce
	dst := f.Out(s)
	r.Begin(dst, f.Count[s.Set])
	if r.Kind == ir.ArgMax {
		if f.Count[r.lanes] == 0 {
			clear(unsafe.Slice((*int32)(dst), f.Count[s.Set]))
		}
		f.Reg[r.ValReg] = unsafe.Add(f.Mem, r.val)
	}
	doAccumulate(f, s)
}

// Begin sets n accumulators to the neutral element.
func (r *reduce) Begin(acc unsafe.Pointer, n int) {
	simd.Fill(acc, unsafe.Pointer(&r.start), r.Acc.Size(), n)
}

// doAccumulate reduces a block into the accumulators.
func doAccumulate(f *Activation, s *Op) {
	r := s.Reduce
	kept, reduced := f.Count[s.Set], f.Count[r.lanes]
	if kept == 0 || reduced == 0 {
		return
	}
	acc, x := f.Reg[s.Dst], f.Reg[s.Src[0]]
	switch {
	case r.dot.Along != nil && r.columnMajor:
		r.dot.Across(acc, x, f.Reg[s.Src[1]], reduced, kept)
	case r.dot.Along != nil:
		ldy := reduced
		if r.shared {
			ldy = 0
		}
		r.dot.Along(acc, x, f.Reg[s.Src[1]], kept, reduced, ldy)
	case r.short:
		part, sums := unsafe.Add(f.Mem, r.val), simd.Reductions[ir.Sum][ir.Int32]
		clear(unsafe.Slice((*int32)(part), kept))
		if r.columnMajor {
			sums.Across(part, x, reduced, kept)
		} else {
			sums.Along(part, x, kept, reduced)
		}
		r.routine.Across(acc, part, 1, kept)
	case r.Kind != ir.ArgMax && r.columnMajor:
		r.routine.Across(acc, x, reduced, kept)
	case r.Kind != ir.ArgMax:
		r.routine.Along(acc, x, kept, reduced)
	case r.columnMajor:
		r.Arg.Across(f.Reg[r.ValReg], acc, x, reduced, kept, r.first.Pos(f))
	default:
		r.Arg.Along(f.Reg[r.ValReg], acc, x, kept, reduced, r.first.Pos(f))
	}
}
