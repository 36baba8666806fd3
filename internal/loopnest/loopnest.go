// Package loopnest analyses the loops of kernels: the decisions that all devices make alike.
// Read nest.go first.
package loopnest

import (
	"cmp"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// Levels gives for each instruction the number of reductions that come one
// after the other up to it, itself included. Reductions of one level can be
// computed together. A reduction in online has the level of its operand.
func Levels(body []ir.Instr, online ...int) []int {
	levels := make([]int, len(body))
	for i := range body {
		for _, j := range body[i].Src {
			levels[i] = max(levels[i], levels[j])
		}
		if body[i].Op.Class() == ir.Reduction && !slices.Contains(online, i) {
			levels[i]++
		}
	}
	return levels
}

// SharedLevels returns the levels of a kernel's instructions, shared reductions left out, and the number of levels of shared
// reductions. These vary over no row; the number is 0 unless all other reductions depend on them.
func SharedLevels(k *ir.Kernel) (levels []int, shared int) {
	levels = Levels(k.Body)
	own, rows := 0, k.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	for i, in := range k.Body {
		switch {
		case in.Op.Class() != ir.Reduction:
		case in.Domain&rows == 0:
			shared = max(shared, levels[i])
		case own == 0:
			own = levels[i]
		default:
			own = min(own, levels[i])
		}
	}
	if own <= shared {
		return levels, 0
	}
	for i := range levels {
		levels[i] = max(0, levels[i]-shared)
	}
	return levels, shared
}

// Factors finds the sum of a contraction's body and the two factors of its
// product: left varies over no axis of n, right over none of m.
func Factors(body []ir.Instr, m, n ir.AxisSet) (sum, left, right int) {
	sum = slices.IndexFunc(body, func(in ir.Instr) bool { return in.Op.Class() == ir.Reduction })
	product := &body[body[sum].Src[0]]
	left, right = product.Src[0], product.Src[1]
	if body[left].Domain&n != 0 || body[right].Domain&m != 0 {
		left, right = right, left
	}
	return sum, left, right
}

// ColumnMajor reports whether the first result of a contraction lies in smaller steps
// along M than along N.
func (n *Nest) ColumnMajor() bool {
	coef := n.Body[n.Stores(0, false)[0]].View.Coef
	step := func(role ir.Role) int {
		least := math.MaxInt
		for _, a := range n.List(role) {
			if c := abs(coef[a]); c != 0 {
				least = min(least, c)
			}
		}
		return least
	}
	return step(ir.M) < step(ir.N)
}

// Separates reports whether different positions along the axes that a view depends
// on lead to different elements, whatever its index: each stride exceeds the reach of
// all smaller ones together.
func Separates(v *ir.View, axes []ir.Axis) bool {
	type loop struct{ n, stride int }
	loops := []loop{{v.Len, abs(v.Stride)}}
	for a, c := range v.Coef {
		if c != 0 {
			loops = append(loops, loop{axes[a].Len, abs(c)})
		}
	}
	sorts.Stable(loops, func(a, b loop) int { return cmp.Compare(a.stride, b.stride) })
	reach := 0
	for _, l := range loops {
		if l.n > 1 && l.stride <= reach {
			return false
		}
		reach += l.stride * max(l.n-1, 0)
	}
	return true
}

func abs(x int) int { return max(x, -x) }

// IsNumber reports whether an instruction is the constant x.
func IsNumber(k *ir.Kernel, i int, x float64) bool {
	in := &k.Body[i]
	return in.Op == ir.Const && in.Num.Float64(in.Type) == x
}
