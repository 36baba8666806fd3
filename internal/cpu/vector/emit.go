package vector

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// An Emitter adds the ops of instruction i and returns the register of its result.
type Emitter func(a *Assembler, i int) int

// emitterOf returns the emitter of an op, nil if kernels have no such op.
func emitterOf(op ir.Op) Emitter {
	if e := emitterTable[op]; e != nil || op.Class() != ir.Elementwise {
		return e
	}
	return byArity[ir.Table[op].Arity]
}

// emitterTable has the operations that take more than one routine of package simd on
// operands.
var emitterTable = [ir.Ops]Emitter{
	ir.Const:     (*Assembler).constant,
	ir.Scalar:    (*Assembler).scalar,
	ir.Index:     (*Assembler).index,
	ir.Load:      (*Assembler).load,
	ir.InBounds:  (*Assembler).load,
	ir.Store:     (*Assembler).store,
	ir.Scatter:   (*Assembler).scatter,
	ir.Cast:      (*Assembler).castTo,
	ir.Bitcast:   (*Assembler).bitcast,
	ir.Where:     (*Assembler).where,
	ir.Threefry:  (*Assembler).threefry,
	ir.Sum:       (*Assembler).reduction,
	ir.Prod:      (*Assembler).reduction,
	ir.ReduceMax: (*Assembler).reduction,
	ir.ArgMax:    (*Assembler).reduction,
}

var byArity = [...]Emitter{
	1: (*Assembler).unary,
	2: (*Assembler).binary,
}

// none is the operands of an op without operands.
var none = [4]int{-1, -1, -1, -1}

func (a *Assembler) constant(i int) int {
	in := &a.Space.Body[i]
	r := a.NewRegister(in.Type, 0, -1)
	c := constant{reg: r}
	Put(unsafe.Pointer(&c.bits), in.Type, in.Num)
	a.consts = append(a.consts, c)
	return r
}

func (a *Assembler) scalar(i int) int {
	in := &a.Space.Body[i]
	r := a.NewRegister(in.Type, 0, -1)
	a.scalars = append(a.scalars, scalar{r, in.Arg})
	return r
}

func (a *Assembler) index(i int) int {
	in := &a.Space.Body[i]
	return a.Emit(Op{Do: doIndex, axis: in.Axis, Src: none}, ir.Int32, in.Domain)
}

func doIndex(f *Activation, s *Op) {
	simd.Iota(f.Out(s), f.At[s.axis], f.Count[s.Set])
}

func (a *Assembler) unary(i int) int {
	in := &a.Space.Body[i]
	x := a.Body[in.Src[0]]
	f := simd.Unaries[in.Op][a.regs[x].typ]
	if f == nil {
		panic(fmt.Sprintf("cpu: no routine for %v of %v", in.Op, a.regs[x].typ))
	}
	return a.apply(f, x, in.Type)
}

func (a *Assembler) apply(f simd.Unary, x int, to ir.DType) int {
	same := to.Size() == a.regs[x].typ.Size()
	return a.Emit(Op{Do: doUnary, unary: f, Src: [4]int{x, -1, -1, -1}, inPlace: same}, to, a.regs[x].domain)
}

func doUnary(f *Activation, s *Op) {
	s.unary(f.Out(s), f.Reg[s.Src[0]], f.Count[s.Set])
}

func (a *Assembler) castTo(i int) int {
	in := &a.Space.Body[i]
	return a.cast(a.Body[in.Src[0]], in.Type)
}

// cast returns a register that holds x as elements of another type.
func (a *Assembler) cast(x int, to ir.DType) int {
	from := a.regs[x].typ
	if from == to {
		return x
	}
	return a.apply(simd.Casts[from][to], x, to)
}

func (a *Assembler) bitcast(i int) int {
	in := &a.Space.Body[i]
	x := a.Body[in.Src[0]]
	if in.Type == ir.Bool && a.regs[x].typ != ir.Bool {
		return a.cast(x, ir.Bool) // a bool is 0 or 1
	}
	return a.Emit(Op{Do: doAlias, Src: [4]int{x, -1, -1, -1}, alias: true}, in.Type, a.regs[x].domain)
}

// doAlias runs an op whose result is its operand's elements, of another type of their size.
func doAlias(f *Activation, s *Op) { f.Reg[s.Dst] = f.Reg[s.Src[0]] }

func (a *Assembler) binary(i int) int {
	in := &a.Space.Body[i]
	x, y := a.Body[in.Src[0]], a.Body[in.Src[1]]
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
		return a.rowBinary(Op{binary: m.VS, Src: [4]int{x, y, -1, -1}, perRow: 1}, in.Type, domain)
	case m.SV != nil && a.regs[y].lanes == both && a.perRow(x, both):
		return a.rowBinary(Op{binary: m.SV, Src: [4]int{x, y, -1, -1}}, in.Type, domain)
	default:
		x, y = a.Widen(x, domain), a.Widen(y, domain)
	}
	same := in.Type.Size() == a.regs[x].typ.Size()
	s := Op{Do: doBinary, binary: f, Src: [4]int{x, y, -1, -1}, inPlace: same}
	if l, ok := linkable[in.Op]; ok && in.Type == ir.Float32 {
		s.linked = &l
	}
	return a.Emit(s, in.Type, domain)
}

// perRow reports whether register r has one element for each row of a register over some
// lanes: it varies over the outer ones of these, and long rows are left.
func (a *Assembler) perRow(r int, lanes ir.AxisSet) bool {
	inner, outer := false, a.regs[r].lanes
	for _, l := range a.Schedule.Lanes {
		if outer.Has(l) && inner {
			return false
		}
		inner = inner || lanes.Has(l) && !outer.Has(l)
	}
	return outer != 0 && len(a.regs[r].expanded) == 0 && a.maxLanes(lanes&^outer) >= a.Space.Tune.MinRow
}

// rowBinary emits s, whose operand number s.perRow has one element for each row.
func (a *Assembler) rowBinary(s Op, to ir.DType, domain ir.AxisSet) int {
	s.Do, s.from = doRowBinary, a.regs[s.Src[0]].typ.Size()
	s.inPlace = to.Size() == s.from
	s.rows = a.SetIndex(a.regs[s.Src[s.perRow]].lanes)
	return a.Emit(s, to, domain)
}

func doRowBinary(f *Activation, s *Op) {
	dst, n, rows := f.Out(s), f.Count[s.Set], f.Count[s.rows]
	if n == 0 {
		return
	}
	steps := [2]int{n / rows * s.from, n / rows * s.from}
	steps[s.perRow] = s.from
	x, y := f.Reg[s.Src[0]], f.Reg[s.Src[1]]
	for i := range rows {
		s.binary(unsafe.Add(dst, i*(n/rows)*s.Size), unsafe.Add(x, i*steps[0]), unsafe.Add(y, i*steps[1]), n/rows)
	}
}

func doBinary(f *Activation, s *Op) {
	s.binary(f.Out(s), f.Reg[s.Src[0]], f.Reg[s.Src[1]], f.Count[s.Set])
}

// clamp returns the routine for instruction i, a Where that takes a number for its last operand where a comparison with a
// number holds, and that limit. It is nil for another instruction.
func (a *Assembler) clamp(i int) (f simd.Ternary, limit int) {
	in := &a.Space.Body[i]
	if in.Op != ir.Where || a.Space.Body[in.Src[0]].Op != ir.Lt {
		return nil, 0
	}
	has := func(j int) bool { return a.Space.Body[j].Domain&ir.Axes(a.Schedule.Lanes...) != 0 }
	x, c := in.Src[2], a.Space.Body[in.Src[0]].Src
	switch m := simd.Clamps[in.Type]; {
	case !has(x) || has(in.Src[1]):
	case c[0] == x && !has(c[1]):
		return m.Low, c[1]
	case c[1] == x && !has(c[0]):
		return m.High, c[0]
	}
	return nil, 0
}

// isClamped reports whether instruction i is a comparison that only one clamp reads, which computes both. need says which
// instructions are evaluated.
func (a *Assembler) isClamped(i int, need []bool) bool {
	return a.Space.Body[i].Op == ir.Lt && a.hasReader(i, need, func(j int) bool {
		f, _ := a.clamp(j)
		return f != nil && !slices.Contains(a.Space.Body[j].Src[1:], i)
	})
}

// hasReader reports whether one instruction alone reads instruction i, once, and fits.
func (a *Assembler) hasReader(i int, need []bool, fits func(j int) bool) bool {
	if slices.Contains(a.Schedule.Roots, i) {
		return false
	}
	readers := 0
	for j := range need {
		if !need[j] || slices.Contains(a.Schedule.Given, j) {
			continue
		}
		for _, x := range a.Space.Body[j].Src {
			if x != i {
				continue
			}
			if a.Emitters[j] != nil || !fits(j) {
				return false
			}
			readers++
		}
	}
	return readers == 1
}

func (a *Assembler) where(i int) int {
	in := &a.Space.Body[i]
	if f, limit := a.clamp(i); f != nil && a.Body[in.Src[0]] < 0 {
		s := Op{Do: doWhere, ternary: f, Src: [4]int{a.Body[in.Src[2]], a.Body[limit], a.Body[in.Src[1]], -1}, inPlace: true}
		if in.Type == ir.Float32 {
			s.linked = &[2]simd.LinkOp{simd.HighS, simd.HighS}
			if a.Space.Body[in.Src[0]].Src[0] == in.Src[2] {
				s.linked = &[2]simd.LinkOp{simd.LowS, simd.LowS}
			}
		}
		return a.Emit(s, in.Type, a.regs[s.Src[0]].domain|a.regs[s.Src[1]].domain|a.regs[s.Src[2]].domain)
	}
	c, x, y := a.Body[in.Src[0]], a.Body[in.Src[1]], a.Body[in.Src[2]]
	domain := a.regs[c].domain | a.regs[x].domain | a.regs[y].domain
	m := simd.Wheres[in.Type]
	f := m.VV
	c = a.Widen(c, domain)
	if a.regs[c].lanes != 0 {
		xs, ys := a.regs[x].lanes == 0, a.regs[y].lanes == 0
		switch {
		case xs && ys:
			f = m.SS
		case xs:
			f, y = m.SV, a.Widen(y, domain)
		case ys:
			f, x = m.VS, a.Widen(x, domain)
		default:
			x, y = a.Widen(x, domain), a.Widen(y, domain)
		}
	}
	return a.Emit(Op{Do: doWhere, ternary: f, Src: [4]int{c, x, y, -1}, inPlace: true}, in.Type, domain)
}

func doWhere(f *Activation, s *Op) {
	s.ternary(f.Out(s), f.Reg[s.Src[0]], f.Reg[s.Src[1]], f.Reg[s.Src[2]], f.Count[s.Set])
}

func (a *Assembler) threefry(i int) int {
	in := &a.Space.Body[i]
	s := Op{Do: doThreefry, inPlace: true}
	var domain ir.AxisSet
	for _, j := range in.Src {
		domain |= a.regs[a.Body[j]].domain
	}
	for n, j := range in.Src {
		s.Src[n] = a.Widen(a.Body[j], domain)
	}
	return a.Emit(s, in.Type, domain)
}

func doThreefry(f *Activation, s *Op) {
	simd.Threefry(f.Out(s), f.Reg[s.Src[0]], f.Reg[s.Src[1]], f.Reg[s.Src[2]], f.Reg[s.Src[3]], f.Count[s.Set])
}
