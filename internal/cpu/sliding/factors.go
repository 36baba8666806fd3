package sliding

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// slidingFactors returns the factors of sum i, of which x may be windows that slide along axes, and
// y has no position along these; else x is -1. y is -1 if the sum is of no product. Where a product
// counts as 0 because a position is outside, x is 0, and y is not read there.
func slidingFactors(s *vector.Space, i int, along ir.AxisSet) (x, y int) {
	var guards []ir.Guard
	m := s.Body[i].Src[0]
	for s.Body[m].Op == ir.Where {
		c, zero := &s.Body[s.Body[m].Src[0]], &s.Body[s.Body[m].Src[2]]
		if c.Op != ir.InBounds || zero.Op != ir.Const || zero.Num != ir.Float(zero.Type, 0) {
			return -1, -1
		}
		guards = append(guards, c.View.Guards...)
		m = s.Body[m].Src[1]
	}
	if s.Body[m].Op != ir.Mul {
		return guard(s, m, guards), -1
	}
	x, y = s.Body[m].Src[0], s.Body[m].Src[1]
	if loopnest.Points(s.Axes, s.Body[x].Domain) < loopnest.Points(s.Axes, s.Body[y].Domain) {
		x, y = y, x
	}
	for range 2 {
		if all := guardsOf(s, x, guards); unguard(s, y, all, along) {
			return guard(s, x, guards), y
		}
		x, y = y, x
	}
	return -1, -1
}

// slidAlong returns the axes, of some, that guards combine with others.
func slidAlong(s *vector.Space, axes ir.AxisSet) (along ir.AxisSet) {
	for _, in := range s.Body {
		if in.View == nil {
			continue
		}
		for _, g := range in.View.Guards {
			if varied(g.Coef) < 2 {
				continue
			}
			for a, c := range g.Coef {
				if c != 0 && axes.Has(a) {
					along |= 1 << a
				}
			}
		}
	}
	return along
}

// guardsOf returns guards, and the guards of instruction i if it is a load of zeros elsewhere.
func guardsOf(s *vector.Space, i int, guards []ir.Guard) []ir.Guard {
	if in := &s.Body[i]; in.Op == ir.Load && in.View.Fill == ir.Float(in.Type, 0) {
		return slices.Concat(guards, in.View.Guards)
	}
	return guards
}

// guard returns an instruction that is i, or 0 where a guard does not hold.
func guard(s *vector.Space, i int, guards []ir.Guard) int {
	missing := slices.DeleteFunc(slices.Clone(guards), func(g ir.Guard) bool { return hasGuard(guardsOf(s, i, nil), g) })
	if len(missing) == 0 {
		return i
	}
	typ, n := s.Body[i].Type, len(s.Body)
	s.Body = append(s.Body,
		ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: &ir.View{Guards: missing}},
		ir.Instr{Op: ir.Const, Type: typ, Num: ir.Float(typ, 0)},
		ir.Instr{Op: ir.Where, Type: typ, Src: []int{n, i, n + 1}})
	for j := n; j < len(s.Body); j++ {
		s.Body[j].Domain = s.Varies(j)
	}
	return n + 2
}

func hasGuard(list []ir.Guard, g ir.Guard) bool {
	return slices.ContainsFunc(list, func(h ir.Guard) bool {
		return h.Off == g.Off && h.Div == g.Div && h.Len == g.Len && slices.Equal(h.Coef, g.Coef)
	})
}

// unguard makes instruction i vary along none of some axes, by guards that it needs not: it is read
// where these hold. It reports false if it varies otherwise, or where an element may be read nowhere.
func unguard(s *vector.Space, i int, guards []ir.Guard, along ir.AxisSet) bool {
	in := &s.Body[i]
	if in.Domain&along == 0 {
		return true
	}
	if in.Op != ir.Load || len(in.Src) > 0 {
		return false
	}
	var free ir.AxisSet // that the other guards depend on, and no element
	for _, g := range in.View.Guards {
		axes := ir.AxisSet(0)
		for a, c := range g.Coef {
			if c != 0 && in.View.Coef[a] == 0 {
				axes |= 1 << a
			}
		}
		if free&axes != 0 || g.Stride != 0 || !hasGuard(guards, g) || !reachesAll(s, g, axes) {
			return false
		}
		free |= axes
	}
	v := *in.View
	v.Guards = nil
	in.View = &v
	in.Domain = s.Varies(i)
	return in.Domain&along == 0
}

// reachesAll reports whether a guard holds at some position along axes, whatever the others'.
func reachesAll(s *vector.Space, g ir.Guard, along ir.AxisSet) bool {
	lo, hi, otherLo, otherHi, step := g.Off, g.Off, 0, 0, 1
	for a, c := range g.Coef {
		reach := c * (s.Axes[a].Len - 1)
		if along.Has(a) {
			lo, hi, step = lo+min(reach, 0), hi+max(reach, 0), max(step, c, -c)
		} else {
			otherLo, otherHi = otherLo+min(reach, 0), otherHi+max(reach, 0)
		}
	}
	if step > 1 && g.Div > 1 {
		return false
	}
	for _, t := range []int{otherLo, otherHi} { // the interval in which it holds is no shorter between them
		if min(hi+t, g.Div*g.Len-1)-max(lo+t, 0)+1 < max(step, g.Div) {
			return false
		}
	}
	return true
}
