package build

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// InMemory sorts axes so that a view goes through memory in row-major order.
func InMemory(axes []int, v *ir.View) []int {
	list := slices.Clone(axes)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(Abs(v.Coef[b]), Abs(v.Coef[a])) })
	return list
}

// Fours reports whether four neighbours along axes never wrap to the next row: the
// last axis is a multiple of four long.
func (c *Builder) Fours(axes []int) bool {
	return len(axes) > 0 && c.Nest.Axes[axes[len(axes)-1]].Len%4 == 0
}

// StepsBy reports whether n neighbours along an axis, the first at a multiple of n, are
// contiguous in memory, also at a multiple of n.
func (c *Builder) StepsBy(n int, in *ir.Instr, inner int) bool {
	v := in.View
	if v.Coef[inner] != 1 || v.Off%n != 0 || !c.Nest.Args[in.Arg].Align {
		return false
	}
	for a, s := range v.Coef {
		if a != inner && s%n != 0 {
			return false
		}
	}
	return true
}
