package build

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Bound is one of the columns. Where it is negative, the column adds nothing to its row, as its score
// is -Inf.
type Bound struct {
	loopnest.Bound
	Last bool // it bounds the last column of a row, not the first
}

// BoundsOf lists the bounds in which the position along an axis has the coefficient 1 or -1.
func BoundsOf(all loopnest.Bounds, k *ir.Kernel, axis int) (list []Bound) {
	for _, b := range all.List() {
		switch b.Slope(k, axis) {
		case 1:
			list = append(list, Bound{Bound: b})
		case -1:
			list = append(list, Bound{Bound: b, Last: true})
		}
	}
	return list
}

// An Area is n positions along axes, from a number on.
type Area struct {
	Axes  []int
	First *shader.Expr
	N     int
}

// Extreme is the greatest value that a bound without one of its axes has in some areas, or with a sign
// of -1 the least. Positions along other axes are known in the root.
func (p *Pass) Extreme(b *loopnest.Bound, without, sign int, areas ...Area) *shader.Expr {
	return p.Root.valueOf(b, func(axis, c int) *shader.Expr {
		if axis == without {
			return nil
		}
		return p.greatest(axis, sign*c, areas).Mul(sign)
	})
}

// valueOf is the value of a bound. along gives its term for an axis: c times the position, or nil for
// none.
func (sc *Scope) valueOf(b *loopnest.Bound, along func(axis, c int) *shader.Expr) *shader.Expr {
	sum := Number(shader.I32, b.Off)
	for _, t := range slices.Sorted(maps.Keys(b.Terms)) {
		in, c := &sc.Pass.Nest.Body[t], b.Terms[t]
		if in.Op != ir.Index {
			sum = sum.Add(sc.Value(t).Lane(0).Max(-loopnest.MaxNumber).Min(loopnest.MaxNumber).Mul(c))
		} else if part := along(in.Axis, c); part != nil {
			sum = sum.Add(part)
		}
	}
	return sum
}

// greatest is the greatest value in some areas of c times the position along an axis.
func (p *Pass) greatest(axis, c int, areas []Area) *shader.Expr {
	n := slices.IndexFunc(areas, func(x Area) bool { return slices.Contains(x.Axes, axis) })
	if n < 0 {
		at, _ := p.Root.coord(axis)
		return at.at[0].Convert(shader.I32).Mul(c)
	}
	x, length := areas[n], p.Nest.Axes[axis].Len
	least, most := Number(shader.I32, 0), Number(shader.I32, length-1)
	if inner := x.Axes[len(x.Axes)-1]; axis == inner {
		at := x.First.Rem(length)
		inside := at.Add(x.N).Le(length) // the area has positions of one pass over the axis
		if len(x.Axes) == 1 {
			inside = at.Lt(length) // it ends with the axis
		}
		least = inside.If(at.Convert(shader.I32), least)
		most = inside.If(at.Add(x.N-1).Min(length-1).Convert(shader.I32), most)
	}
	if c > 0 {
		return most.Mul(c)
	}
	return least.Mul(c)
}

// AllLowest is the condition that all numbers are -Inf, nil for an empty list.
func (sc *Scope) AllLowest(list []int) *shader.Expr {
	var c *shader.Expr
	for _, i := range slices.Compact(slices.Sorted(slices.Values(list))) {
		c = All(c, IsLowest(sc.Value(i).Lane(0)))
	}
	return c
}

// IsLowest reports whether a float32 is -Inf.
func IsLowest(x *shader.Expr) *shader.Expr { return x.Bitcast(shader.U32).Eq(0xff800000) }
