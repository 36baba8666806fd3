package build

import (
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A boundsCheck says whether a guard holds at all points, at some, or at none.
type boundsCheck uint8

const (
	maybe boundsCheck = iota
	always
	never
)

// check decides a guard by the least and the greatest position of the kernel's points.
func (c *Builder) check(g *ir.Guard) boundsCheck {
	lo, hi := g.Off, g.Off
	for a, n := range g.Coef {
		lo += min(0, n*(c.Nest.Axes[a].Len-1))
		hi += max(0, n*(c.Nest.Axes[a].Len-1))
	}
	limit := g.Len * g.Div
	switch {
	case hi < 0 || lo >= limit || lo == hi && lo%g.Div != 0:
		return never
	case lo >= 0 && hi < limit && (g.Div == 1 || lo == hi):
		return always
	}
	return maybe
}

// below reports whether an index is from 0 to n - 1.
func below(x *shader.Expr, n int) *shader.Expr {
	switch x.Type {
	case shader.I32:
		n = min(n, math.MaxInt32+1)
	case shader.U32:
		if n > math.MaxUint32 {
			return x.Le(math.MaxUint32)
		}
	}
	return x.Convert(x.Type.Unsigned()).Lt(n)
}

// CutOff converts an index to an unsigned number, which is n or more if the index is not from 0
// to n - 1.
func (c *Builder) CutOff(x *shader.Expr, n int) *shader.Expr {
	if t := c.CountType(n); t.IsWide() {
		if x.Type.IsSigned() {
			x = x.Convert(shader.I64)
		}
		return x.Convert(t)
	}
	if x.Type.IsWide() {
		x = x.Convert(shader.U64).Min(n)
	}
	return x.Convert(shader.U32)
}

// guards returns the conditions of a view's guards, except guards that always hold, and the terms
// that guards add to the position. It reports false if a guard never holds.
func (sc *Scope) guards(v *ir.View) (conditions, parts []Value, ok bool) {
	t := sc.placeType(v)
	for i := range v.Guards {
		g := &v.Guards[i]
		check := sc.Pass.check(g)
		if check == never {
			return nil, nil, false
		}
		position := sc.linear(g.Off, g.Coef)
		condition, part := make(Value, len(position)), make(Value, len(position))
		for l, x := range position {
			condition[l] = below(x, g.Len*g.Div)
			if g.Div > 1 {
				condition[l] = condition[l].And(x.Rem(g.Div).Eq(0))
			}
			part[l] = Number(t, g.Stride).Mul(x.Div(g.Div).Convert(t))
		}
		if check != always {
			conditions = append(conditions, condition)
		}
		if g.Stride != 0 {
			parts = append(parts, part)
		}
	}
	return conditions, parts, true
}

// mostLanes is the greatest number of lanes of the values.
func mostLanes(x ...Value) int {
	n := 1
	for i := range x {
		n = max(n, len(x[i]))
	}
	return n
}

// AllIn is the conjunction of conditions in a lane, nil for an empty list.
func AllIn(x []Value, l int) *shader.Expr {
	var c *shader.Expr
	for i := range x {
		c = All(c, x[i].Lane(l))
	}
	return c
}

func (sc *Scope) inBounds(i int) Value {
	conditions, _, ok := sc.guards(sc.Pass.Nest.Body[i].View)
	switch {
	case !ok:
		return sc.Define(i, Constant(ir.Bool, 0))
	case len(conditions) == 0:
		return sc.Define(i, Constant(ir.Bool, 1))
	}
	v := make(Value, mostLanes(conditions...))
	for l := range v {
		v[l] = AllIn(conditions, l)
	}
	return sc.Define(i, v...)
}

// isInEights reports whether each eight lanes of a view that is vectorizable are contiguous elements, the first at a
// multiple of eight.
func (sc *Scope) isInEights(v *ir.View) bool {
	if v.Off%8 != 0 {
		return false
	}
	for a, c := range v.Coef {
		if c == 0 {
			continue
		}
		if co, _ := sc.coord(a); !co.eights && (len(co.at) > 1 || c%8 != 0 && !co.at[0].IsConst(0)) {
			return false
		}
	}
	return true
}

// vectorizable reports whether each four lanes of a view are contiguous elements, the
// first at a multiple of four.
func (sc *Scope) vectorizable(v *ir.View, index Value) bool {
	if v.Off%4 != 0 || len(index) > 1 || index != nil && v.Stride%4 != 0 {
		return false
	}
	count := 0
	for a, c := range v.Coef {
		if c == 0 {
			continue
		}
		switch co, _ := sc.coord(a); {
		case len(co.at) == 1 && co.at[0].IsConst(0):
		case co.fours == contiguous:
			if c != 1 {
				return false
			}
			count++
		case len(co.at) > 1 && co.fours != uniform || c%4 != 0:
			return false
		}
	}
	for i := range v.Guards {
		g := &v.Guards[i]
		if sc.Pass.check(g) == always && g.Stride == 0 {
			continue
		}
		if g.Stride%4 != 0 {
			return false
		}
		for a, c := range g.Coef {
			if c == 0 {
				continue
			}
			if co, _ := sc.coord(a); len(co.at) > 1 && co.fours != uniform {
				return false
			}
		}
	}
	return count == 1
}
