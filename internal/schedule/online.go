package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// findOnline gives scaled sums the level of their maximum, if that makes levels fewer.
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

// raise calls change, which may raise x, the maximum of some reducers, and scales their sums. It returns
// the maximum.
func (r *reduction) raise(sc *scope, rs []reducer, x reducer, change func()) *shader.Expr {
	before := sc.Let("before", x.acc.Ref())
	change()
	now := sc.Let("now", x.acc.Ref())
	r.rescale(sc, rs, before, now)
	return now
}

// rescale scales the sums of some reducers, whose maximum was one value and is another.
func (r *reduction) rescale(sc *scope, rs []reducer, before, now *shader.Expr) {
	raised := sc.when(before.Ne(now))
	shift := func(tag string, max *shader.Expr) *shader.Expr {
		at := raised.beside(tag)
		at.values[r.online.Max] = value{max}
		return at.value(r.online.Shift).lane(0)
	}
	factor := raised.Let("factor", apply(ir.Exp, ir.Float32, ir.Float32, shift("_b", before).Sub(shift("_n", now)).Launder(shader.FirstWay)))
	// Before the first number above -Inf a sum is 0, or a NaN where -Inf was subtracted from itself.
	initial := raised.Let("initial", isLowest(before))
	for _, s := range rs {
		if slices.Contains(r.online.Sums, s.instr) {
			raised.Set(s.acc, initial.If(s.start, s.acc.Ref().Mul(factor)))
		}
	}
	raised.end()
}

// isLowest reports whether a float32 is -Inf.
func isLowest(x *shader.Expr) *shader.Expr { return x.Bitcast(shader.U32).Eq(0xff800000) }
