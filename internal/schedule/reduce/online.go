package reduce

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// findOnline gives scaled sums the level of their maximum, if that makes levels fewer.
func (r *reduction) findOnline() {
	o, ok := loopnest.NewOnline(r.Nest.Kernel)
	if !ok {
		return
	}
	level := loopnest.Levels(r.Nest.Body, o.Sums...)
	if n := slices.Max(level); n < r.levels {
		r.online, r.level, r.levels = o, level, n
	}
}

// isMax reports whether a reducer is of the maximum that sums are scaled by.
func (r *reduction) isMax(x build.Reducer) bool { return r.online != nil && x.Instr == r.online.Max }

// raise calls change, which may raise x, the maximum of some reducers, and scales their sums. It returns
// the maximum.
func (r *reduction) raise(sc *build.Scope, rs []build.Reducer, x build.Reducer, change func()) *shader.Expr {
	before := sc.Let("before", x.Acc.Ref())
	change()
	now := sc.Let("now", x.Acc.Ref())
	r.rescale(sc, rs, before, now)
	return now
}

// rescale scales the sums of some reducers, whose maximum was one value and is another.
func (r *reduction) rescale(sc *build.Scope, rs []build.Reducer, before, now *shader.Expr) {
	raised := sc.When(before.Ne(now))
	shift := func(tag string, max *shader.Expr) *shader.Expr {
		at := raised.Beside(tag)
		at.Values[r.online.Max] = build.Value{max}
		return at.Value(r.online.Shift).Lane(0)
	}
	factor := raised.Let("factor", build.Apply(ir.Exp, ir.Float32, ir.Float32, shift("_b", before).Sub(shift("_n", now)).Launder(shader.FirstWay)))
	// Before the first number above -Inf a sum is 0, or a NaN where -Inf was subtracted from itself.
	initial := raised.Let("initial", build.IsLowest(before))
	for _, s := range rs {
		if slices.Contains(r.online.Sums, s.Instr) {
			raised.Set(s.Acc, initial.If(s.Start, s.Acc.Ref().Mul(factor)))
		}
	}
	raised.End()
}
