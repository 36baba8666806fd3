package schedule

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// An area is n positions along axes, from a number on.
type area struct {
	axes  []int
	first *shader.Expr
	n     int
}

// extreme is the greatest value that a bound without one of its axes has in some areas, or with a sign
// of -1 the least. Positions along other axes are known in the root.
func (p *pass) extreme(b *loopnest.Bound, without, sign int, areas ...area) *shader.Expr {
	return p.root.valueOf(b, func(axis, c int) *shader.Expr {
		if axis == without {
			return nil
		}
		return p.greatest(axis, sign*c, areas).Mul(sign)
	})
}

// valueOf is the value of a bound, of which along gives the part of c times the position along an axis,
// nil for none.
func (sc *scope) valueOf(b *loopnest.Bound, along func(axis, c int) *shader.Expr) *shader.Expr {
	sum := number(shader.I32, b.Off)
	for _, t := range slices.Sorted(maps.Keys(b.Terms)) {
		in, c := &sc.p.k.Body[t], b.Terms[t]
		if in.Op != ir.Index {
			sum = sum.Add(sc.value(t).lane(0).Max(-loopnest.MaxNumber).Min(loopnest.MaxNumber).Mul(c))
		} else if part := along(in.Axis, c); part != nil {
			sum = sum.Add(part)
		}
	}
	return sum
}

// greatest is the greatest value in some areas of c times the position along an axis.
func (p *pass) greatest(axis, c int, areas []area) *shader.Expr {
	n := slices.IndexFunc(areas, func(x area) bool { return slices.Contains(x.axes, axis) })
	if n < 0 {
		at, _ := p.root.coord(axis)
		return at.at[0].Convert(shader.I32).Mul(c)
	}
	x, length := areas[n], p.k.Axes[axis].Len
	least, most := number(shader.I32, 0), number(shader.I32, length-1)
	if inner := x.axes[len(x.axes)-1]; axis == inner {
		at := x.first.Rem(length)
		inside := at.Add(x.n).Le(length) // the area has positions of one pass over the axis
		if len(x.axes) == 1 {
			inside = at.Lt(length) // it ends with the axis
		}
		least = inside.If(at.Convert(shader.I32), least)
		most = inside.If(at.Add(x.n-1).Min(length-1).Convert(shader.I32), most)
	}
	if c > 0 {
		return most.Mul(c)
	}
	return least.Mul(c)
}

// allLowest is the condition that all numbers are -Inf, nil if there are none.
func (sc *scope) allLowest(list []int) *shader.Expr {
	var c *shader.Expr
	for _, i := range slices.Compact(slices.Sorted(slices.Values(list))) {
		c = all(c, isLowest(sc.value(i).lane(0)))
	}
	return c
}
