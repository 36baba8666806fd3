package loopnest

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// Sums of a softmax are of the level of the maximum, unless one pass is not enough.
func TestOnline(t *testing.T) {
	magnitude := func(b *body, m int) int {
		infinite := b.add(ir.Instr{Op: ir.Eq, Type: ir.Bool, Src: []int{b.op(ir.Max, m, b.op(ir.Neg, m)), b.number(math.Inf(1))}})
		return b.op(ir.Where, infinite, b.number(0), m)
	}
	for _, c := range []struct {
		name   string
		levels int                      // of a sum
		of     func(b *body, x int) int // the summed instruction
	}{
		{"numbers", 1, func(_ *body, x int) int { return x }},
		{"exponentials", 1, func(b *body, x int) int { return b.op(ir.Exp, b.op(ir.Sub, x, b.along(ir.ReduceMax, x))) }},
		{"without -Inf", 1, func(b *body, x int) int { return b.exponential(x) }},
		{"without infinities", 1, func(b *body, x int) int {
			return b.op(ir.Exp, b.op(ir.Sub, x, magnitude(b, b.along(ir.ReduceMax, x))))
		}},
		{"times a number", 1, func(b *body, x int) int { return b.op(ir.Mul, b.number(3), b.exponential(x)) }},
		{"times numbers, which may overflow", 2, func(b *body, x int) int { return b.op(ir.Mul, b.exponential(x), x) }},
		{"with and without -Inf", 2, func(b *body, x int) int {
			m := b.along(ir.ReduceMax, x)
			lowest := b.add(ir.Instr{Op: ir.Eq, Type: ir.Bool, Src: []int{m, b.number(math.Inf(-1))}})
			return b.op(ir.Add, b.op(ir.Exp, b.op(ir.Sub, x, m)), b.op(ir.Exp, b.op(ir.Sub, x, b.op(ir.Where, lowest, b.number(0), m))))
		}},
		{"of other numbers", 2, func(b *body, x int) int {
			return b.op(ir.Exp, b.op(ir.Sub, b.op(ir.Neg, x), b.along(ir.ReduceMax, x)))
		}},
		{"differences", 2, func(b *body, x int) int { return b.op(ir.Sub, x, b.along(ir.ReduceMax, x)) }},
		{"of the sum", 2, func(b *body, x int) int { return b.op(ir.Exp, b.op(ir.Sub, x, b.along(ir.Sum, x))) }},
		{"plus 1", 2, func(b *body, x int) int { return b.op(ir.Add, b.exponential(x), b.number(1)) }},
		{"over their sum", 2, func(b *body, x int) int {
			e := b.exponential(x)
			return b.op(ir.Div, e, b.along(ir.Sum, e))
		}},
	} {
		b := &body{ir.Kernel{Template: ir.Reduce, Axes: []ir.Axis{{Len: 3}, {Len: 4, Role: ir.Reduced}}}}
		b.Args = []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: 3}}
		x := b.add(ir.Instr{Op: ir.Load, View: &ir.View{Coef: []int{4, 1}}})
		sum := b.along(ir.Sum, c.of(b, x))
		b.add(ir.Instr{Op: ir.Store, Src: []int{sum}, Arg: 1, View: &ir.View{Coef: []int{1, 0}}})
		o, ok := NewOnline(&b.Kernel)
		levels := Levels(b.Body, o.Sums...)
		if got := slices.Max(levels); got != c.levels || ok != (len(o.Sums) > 0) {
			t.Errorf("%s: %d levels, want %d; sums %v, ok %t", c.name, got, c.levels, o.Sums, ok)
		}
	}
}
