package build

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Points that nothing needs, as conditions of stores and loads of undefined arguments say, are not computed.

// Skips reports whether the kernel has points that nothing needs.
func (c *Builder) Skips() bool {
	return slices.ContainsFunc(c.Nest.Args, func(a ir.Arg) bool { return a.Undefined }) ||
		slices.ContainsFunc(c.Nest.Body, func(in ir.Instr) bool { return in.Op == ir.Store && len(in.Src) > 1 })
}

// StoresWithin returns the bounds of the points at which an element is needed that one of some stores
// writes.
func (c *Builder) StoresWithin(stores []int) loopnest.Bounds {
	var each []loopnest.Bounds
	for _, i := range stores {
		var b loopnest.Bounds
		if src := c.Nest.Body[i].Src; len(src) > 1 {
			b = loopnest.Holds(c.Nest.Kernel, src[1]).Fixed()
		}
		each = append(each, b)
	}
	return loopnest.Common(each...)
}

// PointsWithin returns the bounds of the points that reductions and stores need along the reduced axes.
func (c *Builder) PointsWithin() loopnest.Bounds {
	if !c.Skips() {
		return nil
	}
	var each []loopnest.Bounds
	if stores := c.Nest.Stores(c.Nest.Roles(ir.Reduced), true); len(stores) > 0 {
		each = append(each, c.StoresWithin(stores))
	}
	for i := range c.Nest.Body {
		switch in := &c.Nest.Body[i]; {
		case in.Op == ir.Sum:
			each = append(each, loopnest.Nonzero(c.Nest.Kernel, in.Src[0]).Fixed())
		case in.Op == ir.ReduceMax:
			each = append(each, loopnest.Finite(c.Nest.Kernel, in.Src[0]).Fixed())
		case in.Op.Class() == ir.Reduction:
			return nil
		}
	}
	return loopnest.Common(each...)
}

// Restrict makes lanes beyond bounds invalid, four neighbours only together. They load nothing.
func (sc *Scope) Restrict(bounds loopnest.Bounds) {
	for _, b := range bounds.List() {
		lanes, group := 1, 1
		for t := range b.Terms {
			if in := &sc.Pass.Nest.Body[t]; in.Op == ir.Index {
				co, _ := sc.coord(in.Axis)
				if lanes = max(lanes, len(co.at)); co.fours == contiguous {
					group = 4
				}
			}
		}
		condition := make(Value, lanes)
		for l := range condition {
			if l%group > 0 {
				condition[l] = condition[l-1]
			} else {
				condition[l] = sc.greatestIn(&b, l).Ge(0)
			}
		}
		sc.Valid = append(sc.Valid, condition)
		sc.needed = append(sc.needed, condition)
	}
}

// greatestIn is the greatest value of a bound in a lane, or in four neighbours from it on.
func (sc *Scope) greatestIn(b *loopnest.Bound, l int) *shader.Expr {
	return sc.valueOf(b, func(axis, c int) *shader.Expr {
		co, _ := sc.coord(axis)
		at := l
		if co.fours == contiguous && c > 0 {
			at += 3
		}
		return co.at.Lane(at).Convert(shader.I32).Mul(c)
	})
}

// neededIn is the condition under which a lane loads, nil if it always does.
func (sc *Scope) neededIn(l int) *shader.Expr {
	var c *shader.Expr
	for s := sc; s != nil; s = s.parent {
		c = All(c, AllIn(s.needed, l))
	}
	return c
}
