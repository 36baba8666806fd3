package cpu

import (
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
	arg         simd.ArgMax // for ArgMax
	columnMajor bool        // reduced lanes enclose kept ones
	lanes       int         // index of the set of reduced lanes
	acc         ir.DType    // type of the accumulators
	start       uint64      // what they begin with
	val         int         // ArgMax: scratch for values
	valReg      int         // ArgMax: register of values
	first       affine      // ArgMax: position of the block among the reduced points
}

func (a *assembler) reduction(i int) int {
	in := &a.space.Body[i]
	x := a.body[in.Src[0]]
	if in.Op == ir.Sum {
		x = a.cast(x, in.Type)
	}
	domain := a.regs[x].domain | in.Axes
	if a.stream {
		domain = 1<<len(a.space.Axes) - 1
	}
	x = a.widen(x, domain)
	typ := a.regs[x].typ
	r := &reduce{kind: in.Op, instr: i, typ: typ, columnMajor: a.columnMajor, lanes: a.setIndex(in.Axes & ir.Axes(a.schedule.lanes...))}
	s := op{do: doReduce, reduce: r, src: [4]int{x, -1, -1, -1}}
	if in.Op == ir.ArgMax {
		r.arg = simd.ArgMaxes[typ]
		r.acc = ir.Int32
		put(unsafe.Pointer(&r.start), ir.Int32, ir.Int(ir.Int32, -1))
		r.first = a.affine(0, ir.DenseStrides(a.space.Axes, in.Axes), 0)
	} else {
		r.routine = simd.Reductions[in.Op][typ]
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
