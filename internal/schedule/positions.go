package schedule

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Positions, and numbers of points, are I32 and U32 where a target's Positions is enough:
// arithmetic on these is fastest. Others are I64 and U64, which only wide targets have.

// countType is the type of numbers from 0 to n.
func (c *compiler) countType(n int) shader.Type {
	if n > c.t.Positions {
		return shader.U64
	}
	return shader.U32
}

// positionType is the type of numbers from -n to n.
func (c *compiler) positionType(n int) shader.Type {
	if n > c.t.Positions {
		return shader.I64
	}
	return shader.I32
}

// total is a number from 0 to n, as a constant.
func (c *compiler) total(n int) *shader.Expr { return number(c.countType(n), n) }

// clamp is the clamp of a span of n points that is cut into blocks: nil if no block goes
// past the end.
func (c *compiler) clamp(n, block int) *shader.Expr {
	if n%block == 0 {
		return nil
	}
	return c.total(n)
}

// cell is the number row·n + at of an element of a row-major array of rows × n.
func (c *compiler) cell(rows, n int, row, at *shader.Expr) *shader.Expr {
	t := c.countType(rows * n)
	return row.Convert(t).Mul(n).Add(at.Convert(t))
}

// reach is the greatest distance of an element from the argument's offset.
func reach(k *ir.Kernel, v *ir.View) int {
	n := abs(v.Off) + abs(v.Stride)*v.Len + reachOf(k, v.Coef)
	for i := range v.Guards {
		n += abs(v.Guards[i].Stride) * v.Guards[i].Len
	}
	return n
}

// reachOf is the greatest distance of two positions.
func reachOf(k *ir.Kernel, coef []int) int {
	n := 0
	for a, c := range coef {
		n += abs(c) * max(k.Axes[a].Len-1, 0)
	}
	return n
}

// PartsAdvice is advice on tensors that are too large for a device.
const PartsAdvice = "compute it in parts, such as halves of the batch"

// WebGPUAdvice is such advice for WebGPU.
const WebGPUAdvice = PartsAdvice + ", or on the CPU or the device cuda"

// remedy ends errors on sizes that do not fit in the 31 bits that WebGPU has.
const remedy = "and WebGPU counts to 2^31-1: " + WebGPUAdvice

// checkSizes checks that positions, numbers of points and the intermediate results
// of computing them fit in an i32, if the target has no other integers.
func checkSizes(k *ir.Kernel, t *Target) error {
	if t.Wide {
		return nil
	}
	most := t.Positions
	tooLarge := func(format string, args ...any) error { return fmt.Errorf("schedule: "+format+", "+remedy, args...) }
	for _, a := range k.Args {
		if a.Len > most {
			return tooLarge("a result has %d elements of %v", a.Len, a.DType)
		}
	}
	all := k.Roles(ir.Batch, ir.M, ir.N, ir.Parallel, ir.Reduced)
	if k.Template == ir.Attention { // it numbers rows and columns
		all = k.Roles(ir.Batch, ir.M)
	}
	n := 1.0
	for a, axis := range k.Axes {
		if all.Has(a) {
			n *= float64(axis.Len)
		}
	}
	if n > float64(most) {
		return tooLarge("a step goes over %.0f points, %v", n, lengths(k, all))
	}
	for i := range k.Body {
		v := k.Body[i].View
		if v == nil {
			continue
		}
		for _, g := range v.Guards {
			if n := abs(g.Off) + reachOf(k, g.Coef); n > most {
				return tooLarge("a tensor is padded to %d elements along an axis", n)
			}
		}
		if n := reach(k, v); n > most {
			return tooLarge("a step over %v reads a tensor's element %d", lengths(k, k.Body[i].Domain), n)
		}
	}
	return nil
}

// lengths lists the lengths of some axes.
func lengths(k *ir.Kernel, axes ir.AxisSet) []int {
	var list []int
	for a, axis := range k.Axes {
		if axes.Has(a) {
			list = append(list, axis.Len)
		}
	}
	return list
}
