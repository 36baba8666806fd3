package cpu

import (
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// An emitter adds the ops of instruction i and returns the register of its result.
type emitter func(a *assembler, i int) int

// emitterOf returns the emitter of an op, nil if kernels have no such op.
func emitterOf(op ir.Op) emitter {
	if e := emitterTable[op]; e != nil || op.Class() != ir.Elementwise {
		return e
	}
	return byArity[ir.Table[op].Arity]
}

// emitterTable has the operations that take more than one routine of package simd on
// operands.
var emitterTable = [ir.Ops]emitter{
	ir.Const:     (*assembler).constant,
	ir.Scalar:    (*assembler).scalar,
	ir.Index:     (*assembler).index,
	ir.Load:      (*assembler).load,
	ir.InBounds:  (*assembler).load,
	ir.Store:     (*assembler).store,
	ir.Scatter:   (*assembler).scatter,
	ir.Cast:      (*assembler).castTo,
	ir.Bitcast:   (*assembler).bitcast,
	ir.Where:     (*assembler).where,
	ir.Threefry:  (*assembler).threefry,
	ir.Sum:       (*assembler).reduction,
	ir.Prod:      (*assembler).reduction,
	ir.ReduceMax: (*assembler).reduction,
	ir.ArgMax:    (*assembler).reduction,
}

var byArity = [...]emitter{
	1: (*assembler).unary,
	2: (*assembler).binary,
}

// none is the operands of an op without operands.
var none = [4]int{-1, -1, -1, -1}

func (a *assembler) constant(i int) int {
	in := &a.space.Body[i]
	r := a.newRegister(in.Type, 0, -1)
	c := constant{reg: r}
	put(unsafe.Pointer(&c.bits), in.Type, in.Num)
	a.consts = append(a.consts, c)
	return r
}

func (a *assembler) scalar(i int) int {
	in := &a.space.Body[i]
	r := a.newRegister(in.Type, 0, -1)
	a.scalars = append(a.scalars, scalar{r, in.Arg})
	return r
}

func (a *assembler) index(i int) int {
	in := &a.space.Body[i]
	return a.emit(op{do: doIndex, axis: in.Axis, src: none}, ir.Int32, in.Domain)
}

func doIndex(f *activation, s *op) {
	simd.Iota(f.out(s), f.at[s.axis], f.count[s.set])
}

func (a *assembler) unary(i int) int {
	in := &a.space.Body[i]
	x := a.body[in.Src[0]]
	f := simd.Unaries[in.Op][a.regs[x].typ]
	if f == nil {
		panic(fmt.Sprintf("cpu: no routine for %v of %v", in.Op, a.regs[x].typ))
	}
	return a.apply(f, x, in.Type)
}

func (a *assembler) apply(f simd.Unary, x int, to ir.DType) int {
	same := to.Size() == a.regs[x].typ.Size()
	return a.emit(op{do: doUnary, unary: f, src: [4]int{x, -1, -1, -1}, inPlace: same}, to, a.regs[x].domain)
}

func doUnary(f *activation, s *op) {
	s.unary(f.out(s), f.reg[s.src[0]], f.count[s.set])
}

func (a *assembler) castTo(i int) int {
	in := &a.space.Body[i]
	return a.cast(a.body[in.Src[0]], in.Type)
}

// cast returns a register that holds x as elements of another type.
func (a *assembler) cast(x int, to ir.DType) int {
	from := a.regs[x].typ
	if from == to {
		return x
	}
	return a.apply(simd.Casts[from][to], x, to)
}

func (a *assembler) bitcast(i int) int {
	in := &a.space.Body[i]
	x := a.body[in.Src[0]]
	if in.Type == ir.Bool && a.regs[x].typ != ir.Bool {
		return a.cast(x, ir.Bool) // a bool is 0 or 1
	}
	return a.apply(simd.Copies[in.Type.Size()], x, in.Type)
}

func (a *assembler) binary(i int) int {
	in := &a.space.Body[i]
	x, y := a.body[in.Src[0]], a.body[in.Src[1]]
	m := simd.Binaries[in.Op][a.regs[x].typ]
	if m.VV == nil {
		panic(fmt.Sprintf("cpu: no routine for %v of %v", in.Op, a.regs[x].typ))
	}
	f := m.VV
	domain := a.regs[x].domain | a.regs[y].domain
	both := a.regs[x].lanes | a.regs[y].lanes
	switch {
	case both != 0 && a.regs[y].lanes == 0 && m.VS != nil:
		f = m.VS
	case both != 0 && a.regs[x].lanes == 0 && m.SV != nil:
		f = m.SV
	case m.VS != nil && a.regs[x].lanes == both && a.perRow(y, both):
		return a.rowBinary(op{binary: m.VS, src: [4]int{x, y, -1, -1}, perRow: 1}, in.Type, domain)
	case m.SV != nil && a.regs[y].lanes == both && a.perRow(x, both):
		return a.rowBinary(op{binary: m.SV, src: [4]int{x, y, -1, -1}}, in.Type, domain)
	default:
		x, y = a.widen(x, domain), a.widen(y, domain)
	}
	same := in.Type.Size() == a.regs[x].typ.Size()
	return a.emit(op{do: doBinary, binary: f, src: [4]int{x, y, -1, -1}, inPlace: same}, in.Type, domain)
}

// perRow reports whether register r has one element for each row of a register over some
// lanes: it varies over the outer ones of these, and long rows are left.
func (a *assembler) perRow(r int, lanes ir.AxisSet) bool {
	inner, outer := false, a.regs[r].lanes
	for _, l := range a.schedule.lanes {
		if outer.Has(l) && inner {
			return false
		}
		inner = inner || lanes.Has(l) && !outer.Has(l)
	}
	return outer != 0 && len(a.regs[r].expanded) == 0 && a.maxLanes(lanes&^outer) >= a.space.tune.minRow
}

// rowBinary emits s, whose operand number s.perRow has one element for each row.
func (a *assembler) rowBinary(s op, to ir.DType, domain ir.AxisSet) int {
	s.do, s.from = doRowBinary, a.regs[s.src[0]].typ.Size()
	s.inPlace = to.Size() == s.from
	s.rows = a.setIndex(a.regs[s.src[s.perRow]].lanes)
	return a.emit(s, to, domain)
}

func doRowBinary(f *activation, s *op) {
	dst, n, rows := f.out(s), f.count[s.set], f.count[s.rows]
	if n == 0 {
		return
	}
	steps := [2]int{n / rows * s.from, n / rows * s.from}
	steps[s.perRow] = s.from
	x, y := f.reg[s.src[0]], f.reg[s.src[1]]
	for i := range rows {
		s.binary(unsafe.Add(dst, i*(n/rows)*s.size), unsafe.Add(x, i*steps[0]), unsafe.Add(y, i*steps[1]), n/rows)
	}
}

func doBinary(f *activation, s *op) {
	s.binary(f.out(s), f.reg[s.src[0]], f.reg[s.src[1]], f.count[s.set])
}

func (a *assembler) where(i int) int {
	in := &a.space.Body[i]
	c, x, y := a.body[in.Src[0]], a.body[in.Src[1]], a.body[in.Src[2]]
	domain := a.regs[c].domain | a.regs[x].domain | a.regs[y].domain
	m := simd.Wheres[in.Type]
	f := m.VV
	c = a.widen(c, domain)
	if a.regs[c].lanes != 0 {
		xs, ys := a.regs[x].lanes == 0, a.regs[y].lanes == 0
		switch {
		case xs && ys:
			f = m.SS
		case xs:
			f, y = m.SV, a.widen(y, domain)
		case ys:
			f, x = m.VS, a.widen(x, domain)
		default:
			x, y = a.widen(x, domain), a.widen(y, domain)
		}
	}
	return a.emit(op{do: doWhere, ternary: f, src: [4]int{c, x, y, -1}, inPlace: true}, in.Type, domain)
}

func doWhere(f *activation, s *op) {
	s.ternary(f.out(s), f.reg[s.src[0]], f.reg[s.src[1]], f.reg[s.src[2]], f.count[s.set])
}

func (a *assembler) threefry(i int) int {
	in := &a.space.Body[i]
	s := op{do: doThreefry, inPlace: true}
	var domain ir.AxisSet
	for _, j := range in.Src {
		domain |= a.regs[a.body[j]].domain
	}
	for n, j := range in.Src {
		s.src[n] = a.widen(a.body[j], domain)
	}
	return a.emit(s, in.Type, domain)
}

func doThreefry(f *activation, s *op) {
	simd.Threefry(f.out(s), f.reg[s.src[0]], f.reg[s.src[1]], f.reg[s.src[2]], f.reg[s.src[3]], f.count[s.set])
}
