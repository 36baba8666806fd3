package attention

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A multiple is a value of points as factor·x, or -Inf where a condition does not hold. Fields are instructions.
type multiple struct {
	x, factor, product int // the factor is the same for all points of a matrix
	mask, lowest       int // -1: none
}

// multipleOf returns a value as a multiple, and whether it is one.
func (a *attention) multipleOf(i int) (m multiple, ok bool) {
	m.mask, m.lowest = -1, -1
	if in := &a.Nest.Body[i]; in.Op == ir.Where && loopnest.IsNumber(a.Nest.Kernel, in.Src[2], math.Inf(-1)) {
		m.mask, m.lowest, i = in.Src[0], in.Src[2], in.Src[1]
	}
	in := &a.Nest.Body[i]
	if m.product = i; in.Op != ir.Mul || build.ByWeight(in) {
		return m, false
	}
	for n, factor := range in.Src {
		if a.Nest.Body[factor].Domain&a.Nest.Roles(ir.M, ir.N) == 0 {
			m.x, m.factor = in.Src[1-n], factor
			return m, true
		}
	}
	return m, false
}

// usesOf counts the uses of an instruction.
func (a *attention) usesOf(i int) (n int) {
	for _, in := range a.Nest.Body {
		for _, x := range in.Src {
			if x == i {
				n++
			}
		}
	}
	return n
}

// makePositive lets the maximum of a row be one of scores, before they are multiplied by a factor: where the
// factor is negative, so is the left factor of the score in shared memory. It changes nothing where other values need the score.
func (a *attention) makePositive() {
	if a.Max < 0 {
		return
	}
	m, ok := a.multipleOf(a.Nest.Body[a.Max].Src[0])
	if !ok || a.usesOf(m.x) > 1 || m.mask >= 0 && a.usesOf(m.product) > 1 {
		return
	}
	if slices.ContainsFunc(a.scores, func(q *tiles.Pass) bool { return q.Sum == m.x }) {
		a.positive = &m
	}
}

// negate finds the factor of a score in the root.
func (a *attention) negate(q *tiles.Pass) {
	if a.positive == nil || a.positive.x != q.Sum {
		return
	}
	root := a.p.Root
	factor := root.Value(a.positive.factor).Lane(0)
	q.Negative = root.Let("negative", factor.Lt(0))
	const least = 0x1p-126 // by 0, -Inf of a masked score would be NaN
	a.factor = root.Let("factor", shader.Function("max_f32").Call(factor.Abs(), shader.Number(shader.F32, least)))
}

// enterScores gives a scope the scores of a product in a block of columns.
func (a *attention) enterScores(sc *build.Scope, i int, scores build.Value) {
	if m := a.positive; m != nil && m.x == i {
		if m.mask >= 0 {
			mask, lowest := sc.Value(m.mask), sc.Value(m.lowest)
			for l := range scores {
				scores[l] = mask.Lane(l).If(scores[l], lowest.Lane(l))
			}
			scores = sc.Define(i, scores...)
		}
		products := make(build.Value, len(scores))
		for l, x := range scores {
			products[l] = x.Mul(a.factor)
		}
		sc.Values[m.product] = products
	}
	sc.Values[i] = scores
}

// exponentials computes exp(x - y), where y is a value of a row or of a column. A factor of x that is a power of two
// is multiplied by the instruction that subtracts: others would be rounded in another way than where y was computed, so that the
// greatest difference would not be 0. If rows are computed again, scores are as they are in the kernel, see makePositive.
func (a *attention) exponentials(sc *build.Scope, again bool) {
	for i := range a.Nest.Body {
		in := &a.Nest.Body[i]
		if in.Op != ir.Exp {
			continue
		}
		d := &a.Nest.Body[in.Src[0]]
		ofPoint := a.Nest.Roles(ir.M, ir.N)
		if d.Op != ir.Sub || in.Domain&ofPoint != ofPoint || a.Nest.Body[d.Src[1]].Domain&ofPoint == ofPoint {
			continue
		}
		y := sc.Value(d.Src[1])
		one := shader.Number(shader.F32, 1)
		x, factor := build.Value(nil), one
		var mask, lowest build.Value
		switch m, ok := a.multipleOf(d.Src[0]); {
		case !ok || !a.isPowerOf2(m.factor):
			x = sc.Value(d.Src[0])
		case a.positive != nil && m == *a.positive && !again:
			x, factor = sc.Value(m.x), a.factor
		case a.Max < 0:
			x, factor = sc.Value(m.x), sc.Value(m.factor).Lane(0)
			if m.mask >= 0 {
				mask, lowest = sc.Value(m.mask), sc.Value(m.lowest)
			}
		default: // the maximum needs the products
			x = sc.Value(d.Src[0])
		}
		list := make([]*shader.Expr, max(len(x), len(y), len(mask)))
		for l := range list {
			e := exponent(x.Lane(l), factor, y.Lane(l))
			if mask != nil {
				e = mask.Lane(l).If(e, exponent(lowest.Lane(l), one, y.Lane(l)))
			}
			list[l] = e.Exp2()
		}
		sc.Values[i] = sc.Define(i, list...)
	}
}

// exponent is the exponent of 2 for exp(factor·x - y) by a fused multiplication and addition. The rounding of y's multiple is
// the same for all exponentials with y, in the gradient too, and so cancels in quotients.
func exponent(x, factor, y *shader.Expr) *shader.Expr {
	base := toBase2(y)
	return shader.MulAdd(x, factor.Mul(base), y.Mul(base).Neg())
}

// isPowerOf2 reports whether instruction i is a constant power of two, such as the scale of heads of 64 elements.
func (a *attention) isPowerOf2(i int) bool {
	in := &a.Nest.Body[i]
	if in.Op != ir.Const {
		return false
	}
	fraction, _ := math.Frexp(in.Num.Float64(in.Type))
	return math.Abs(fraction) == 0.5
}

// toBase2 is the factor that turns differences to y into exponents of 2: log₂ e. For |y| ≥ 2³⁰, as of a
// mask of -1e30, the rounding error of y's multiple may exceed any exponent; there a difference is 0 or
// so great that the base does not matter, and the factor is 1.
func toBase2(y *shader.Expr) *shader.Expr {
	return y.Abs().Lt(1<<30).If(shader.Number(shader.F32, math.Log2E), shader.Number(shader.F32, 1))
}
