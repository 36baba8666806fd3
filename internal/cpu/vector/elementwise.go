package vector

import (
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

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
	return a.elementwise(Op{unary: f, inPlace: same}, to, a.regs[x].domain, x)
}

func (a *Assembler) binary(i int) int {
	in := &a.Space.Body[i]
	x, y := a.Body[in.Src[0]], a.Body[in.Src[1]]
	m := simd.Binaries[in.Op][a.regs[x].typ]
	if m.VV == nil {
		panic(fmt.Sprintf("cpu: no routine for %v of %v", in.Op, a.regs[x].typ))
	}
	f, same := m.VV, in.Type.Size() == a.regs[x].typ.Size()
	domain := a.regs[x].domain | a.regs[y].domain
	both := a.regs[x].lanes | a.regs[y].lanes
	switch {
	case both != 0 && a.regs[y].lanes == 0 && m.VS != nil:
		f = m.VS
	case both != 0 && a.regs[x].lanes == 0 && m.SV != nil:
		f = m.SV
	case m.VS != nil && a.regs[x].lanes == both && a.perRow(y, both):
		return a.elementwise(Op{binary: m.VS, inPlace: same}, in.Type, domain, x, y)
	case m.SV != nil && a.regs[y].lanes == both && a.perRow(x, both):
		return a.elementwise(Op{binary: m.SV, inPlace: same}, in.Type, domain, x, y)
	default:
		x, y = a.Widen(x, domain), a.Widen(y, domain)
	}
	return a.elementwise(Op{binary: f, inPlace: same}, in.Type, domain, x, y)
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
	return inner && outer != 0 && len(a.regs[r].expanded) == 0 && a.maxLanes(lanes&^outer) >= a.Space.Tune.MinRow
}

func (a *Assembler) where(i int) int {
	in := &a.Space.Body[i]
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
	return a.elementwise(Op{ternary: f, inPlace: true}, in.Type, domain, c, x, y)
}

// elementwise emits s, a routine on operands that have an element for each point of the result, one
// for each row of it, or one.
func (a *Assembler) elementwise(s Op, to ir.DType, domain ir.AxisSet, operands ...int) int {
	s.Do, s.Src, s.rows = doElementwise, none, -1
	lanes := domain & ir.Axes(a.Schedule.Lanes...)
	for k, r := range operands {
		s.Src[k] = r
		switch from := &a.regs[r]; {
		case from.lanes == lanes:
			s.perPoint[k] = from.typ.Size()
		case from.lanes != 0:
			s.perRow[k], s.rows = from.typ.Size(), a.SetIndex(from.lanes)
		}
	}
	return a.Emit(s, to, domain)
}

// doElementwise runs a routine on all of a block, or on each of its rows if an operand has one element
// for each, or if they are apart in the buffer that they are stored to.
func doElementwise(f *Activation, s *Op) {
	n, rows := f.Count[s.Set], 1
	if s.rows >= 0 {
		rows = f.Count[s.rows]
	}
	dst, rows, step := f.outRows(s, rows)
	if n == 0 {
		return
	}
	n /= rows
	operand := func(k, i int) unsafe.Pointer {
		return unsafe.Add(f.Reg[s.Src[k]], i*(s.perRow[k]+s.perPoint[k]*n))
	}
	for i := range rows {
		to := unsafe.Add(dst, i*step)
		switch {
		case s.unary != nil:
			s.unary(to, operand(0, i), n)
		case s.binary != nil:
			s.binary(to, operand(0, i), operand(1, i), n)
		default:
			s.ternary(to, operand(0, i), operand(1, i), operand(2, i), n)
		}
	}
}
