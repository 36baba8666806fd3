package cpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A reduce is a step that reduces the lanes along reduced axes.
type reduce struct {
	op      ir.Op
	instr   int
	typ     ir.DType // of the operand
	routine simd.Reduction
	arg     simd.ArgMax // for ArgMax
	across  bool        // the reduced lanes are the outer ones
	lanes   int         // index of the set of reduced lanes
	acc     ir.DType    // type of the accumulators
	start   uint64      // what they begin with
	val     int         // ArgMax: scratch for values
	valReg  int         // ArgMax: register of values
	first   affine      // ArgMax: position of the block among the reduced points
}

func (a *assembler) reduction(i int) int {
	in := &a.space.body[i]
	x := a.body[in.Src[0]]
	if in.Op == ir.Sum {
		x = a.cast(x, in.Type)
	}
	over := a.regs[x].over | in.Axes
	if a.stream {
		over = a.space.all()
	}
	x = a.widen(x, over)
	typ := a.regs[x].typ
	r := &reduce{op: in.Op, instr: i, typ: typ, across: a.across, lanes: a.setIndex(in.Axes & ir.Axes(a.plan.lanes...))}
	s := step{do: doReduce, reduce: r, src: [4]int{x, -1, -1, -1}}
	if in.Op == ir.ArgMax {
		r.arg = simd.ArgMaxes[typ]
		r.acc = ir.Int32
		put(unsafe.Pointer(&r.start), ir.Int32, ir.Int(ir.Int32, -1))
		r.first = a.affine(0, ir.RowMajor(a.space.axes, in.Axes), 0)
	} else {
		r.routine = simd.Reductions[in.Op][typ]
		r.acc = r.routine.Acc
		put(unsafe.Pointer(&r.start), r.acc, ir.Identity(in.Op, r.acc))
	}
	if !a.stream {
		r.valReg = a.newRegister(typ, over&^in.Axes, -1)
		return a.cast(a.emit(s, r.acc, over&^in.Axes), in.Type)
	}
	// The result is in registers set from outside, and no step of this code
	// reads it.
	s.do = doAccumulate
	s.over = over
	s.dst = a.newRegister(r.acc, over&^in.Axes, -1)
	r.valReg = a.newRegister(typ, over&^in.Axes, -1)
	s.set = a.setIndex(a.regs[s.dst].lanes)
	a.steps = append(a.steps, s)
	return s.dst
}

// doReduce reduces a block that has all the reduced points.
func doReduce(f *frame, s *step) {
	r := s.reduce
	dst := f.out(s)
	r.begin(dst, f.count[s.set])
	if r.op == ir.ArgMax {
		if f.count[r.lanes] == 0 {
			clear(unsafe.Slice((*int32)(dst), f.count[s.set]))
		}
		f.reg[r.valReg] = unsafe.Add(f.mem, r.val)
	}
	doAccumulate(f, s)
}

// begin sets n accumulators to the start.
func (r *reduce) begin(acc unsafe.Pointer, n int) {
	simd.Fill(acc, unsafe.Pointer(&r.start), r.acc.Size(), n)
}

// doAccumulate takes a block into the accumulators.
func doAccumulate(f *frame, s *step) {
	r := s.reduce
	kept, reduced := f.count[s.set], f.count[r.lanes]
	if kept == 0 || reduced == 0 {
		return
	}
	acc, x := f.reg[s.dst], f.reg[s.src[0]]
	switch {
	case r.op != ir.ArgMax && r.across:
		r.routine.Across(acc, x, reduced, kept)
	case r.op != ir.ArgMax:
		r.routine.Along(acc, x, kept, reduced)
	case r.across:
		r.arg.Across(f.reg[r.valReg], acc, x, reduced, kept, r.first.pos(f))
	default:
		r.arg.Along(f.reg[r.valReg], acc, x, kept, reduced, r.first.pos(f))
	}
}
