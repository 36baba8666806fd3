package build

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Positions, and numbers of points, are I32 and U32 where a target's Positions is enough:
// arithmetic on these is fastest. Others are I64 and U64, which only wide targets have.

// CountType is the type of numbers from 0 to n.
func (c *Builder) CountType(n int) shader.Type {
	if n > c.Target.Positions {
		return shader.U64
	}
	return shader.U32
}

// PositionType is the type of numbers from -n to n.
func (c *Builder) PositionType(n int) shader.Type {
	if n > c.Target.Positions {
		return shader.I64
	}
	return shader.I32
}

// Total is a number from 0 to n, as a constant.
func (c *Builder) Total(n int) *shader.Expr { return Number(c.CountType(n), n) }

// Clamp is the clamp of a span of n points that is cut into blocks: nil if no block goes
// past the end.
func (c *Builder) Clamp(n, block int) *shader.Expr {
	if n%block == 0 {
		return nil
	}
	return c.Total(n)
}

// Cell is the number row·n + at of an element of a row-major array of rows × n.
func (c *Builder) Cell(rows, n int, row, at *shader.Expr) *shader.Expr {
	t := c.CountType(rows * n)
	return row.Convert(t).Mul(n).Add(at.Convert(t))
}

// Reach is the greatest distance of an element from the argument's offset.
func Reach(k *ir.Kernel, v *ir.View) int {
	n := Abs(v.Off) + Abs(v.Stride)*v.Len + ReachOf(k, v.Coef)
	for i := range v.Guards {
		n += Abs(v.Guards[i].Stride) * v.Guards[i].Len
	}
	return n
}

// ReachOf is the greatest distance of two positions.
func ReachOf(k *ir.Kernel, coef []int) int {
	n := 0
	for a, c := range coef {
		n += Abs(c) * max(k.Axes[a].Len-1, 0)
	}
	return n
}

// PartsAdvice is advice on tensors that are too large for a device.
const PartsAdvice = "compute it in parts, such as halves of the batch"
