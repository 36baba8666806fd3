package build

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Compilers of shaders reason as if floats were real numbers. To them (a + b) - a is b,
// although the sum was rounded; a - a is 0, even of an infinity; and so is 0 times
// anything, NaN included. So operations read the results of others laundered: as bits that
// a compiler can infer nothing about. A zero is laundered where it may be a factor or its
// sign may count.

// selects has the ops that give one of their operands as it is.
var selects = [ir.Ops]bool{ir.Where: true, ir.Max: true, ir.Min: true}

// readsZeros has the ops whose result may be an operand that is a zero. For ops whose
// result depends on the sign of a zero see ir.Info.SignedZero.
var readsZeros = [ir.Ops]bool{ir.Add: true, ir.Sub: true, ir.Mul: true, ir.Div: true, ir.Where: true}

// fuses reports whether the n-th operand of a sum is a product that may become a
// fused multiply-add with it: the other operand is no result of an operation and no
// factor of the product.
func (c *Builder) fuses(in *ir.Instr, n int) bool {
	if in.Op != ir.Add && in.Op != ir.Sub || c.Nest.Body[in.Src[n]].Op != ir.Mul {
		return false
	}
	other := in.Src[1-n]
	by := c.Nest.Body[other].Op
	return (by == ir.Load || by == ir.Const || by == ir.Scalar) && !slices.Contains(c.Nest.Body[in.Src[n]].Src, other)
}

// barrierOperand is x, the n-th operand of an instruction, laundered if need be: the
// first in the first way, others in the second, so that equal operands look different
// to compilers.
func (c *Builder) barrierOperand(in *ir.Instr, n int, x *shader.Expr) *shader.Expr {
	j := &c.Nest.Body[in.Src[n]]
	computed := j.Op.Class() == ir.Elementwise || j.Op.Class() == ir.Reduction
	again := n == 1 && in.Src[0] == in.Src[1] && (in.Op == ir.Sub || in.Op == ir.Div)
	switch {
	case !j.Type.IsFloat():
	case j.Op == ir.Const && (readsZeros[in.Op] || ir.Table[in.Op].SignedZero>>n&1 == 1):
		if j.Num.Float64(j.Type) == 0 {
			return opaqueConst(j.Type, j.Num)
		}
	case selects[in.Op], c.fuses(in, n):
	case computed && n == 0:
		return x.Launder(shader.FirstWay)
	case computed || again:
		return x.Launder(shader.SecondWay)
	}
	return x
}

// factorable reports whether products share a factor along axes: compilers would
// factor it out of their sum.
func (c *Builder) factorable(in *ir.Instr, axes ir.AxisSet) bool {
	return in.Op == ir.Mul && in.Type.IsFloat() && (c.InvariantAlong(in.Src[0], axes) || c.InvariantAlong(in.Src[1], axes))
}

// InvariantAlong reports whether an instruction's value is the same at several
// points along axes.
func (c *Builder) InvariantAlong(i int, axes ir.AxisSet) bool {
	return axes&^c.Nest.Body[i].Domain != 0
}
