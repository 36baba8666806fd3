package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// findOnline lets a sweep compute sums together with the maximum that they are scaled by, if that
// makes levels fewer.
func (r *reduction) findOnline() {
	o, ok := loopnest.NewOnline(r.k.Kernel)
	if !ok {
		return
	}
	level := loopnest.Levels(r.k.Body, o.Sums...)
	if n := slices.Max(level); n < r.levels {
		r.online, r.level, r.levels = o, level, n
	}
}

// isMax reports whether a reducer is of the maximum that sums are scaled by.
func (r *reduction) isMax(x reducer) bool { return r.online != nil && x.instr == r.online.Max }

// raise lets change raise maximum x, scales the sums among reducers, and returns the maximum.
func (r *reduction) raise(b *shader.Block, rs []reducer, x reducer, change func()) *shader.Expr {
	before := b.Let("before", x.acc.Ref())
	change()
	now := b.Let("now", x.acc.Ref())
	r.rescale(b, rs, before, now)
	return now
}

// rescale scales the sums among reducers where their maximum was one value and is another.
func (r *reduction) rescale(b *shader.Block, rs []reducer, before, now *shader.Expr) {
	b.If(before.Ne(now), func(b *shader.Block) {
		// Before the first number above -Inf a sum is 0, or a NaN where -Inf was subtracted from itself.
		none := b.Let("none", isLowest(before))
		factor := b.Let("factor", apply(ir.Exp, ir.Float32, ir.Float32, before.Sub(now)))
		for _, s := range rs {
			if slices.Contains(r.online.Sums, s.instr) {
				b.Set(s.acc, none.If(s.start, s.acc.Ref().Mul(factor)))
			}
		}
	})
}

// isLowest reports whether a float32 is -Inf.
func isLowest(x *shader.Expr) *shader.Expr { return x.Bitcast(shader.U32).Eq(0xff800000) }
