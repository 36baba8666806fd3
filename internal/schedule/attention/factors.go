package attention

import (
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A common has factors of the left factor of an output that are the same for all columns of a row: the row's sums
// are multiplied by them once. Fields are instructions.
type common struct {
	factors []int
	without map[int]int // the operand that a product on the way to the left factor is without such a factor
}

// takeOut takes factors of rows out of a sum of products of bfloat16. The left factor without them is rounded to as
// many digits; float16 has too few exponents.
func (a *attention) takeOut(q *tiles.Pass) {
	if tiles.Half(q.Product, q.Cols.Factor) != ir.BFloat16 {
		return
	}
	c := &common{without: map[int]int{}}
	masked := false // then a factor that is not finite would be multiplied by 0
	for i := q.Rows.Factor; i >= 0 && a.usesOf(i) == 1; {
		in, next := &a.Nest.Body[i], -1
		switch {
		case in.Op == ir.Where && loopnest.IsNumber(a.Nest.Kernel, in.Src[2], 0):
			masked, next = true, in.Src[1]
		case in.Op == ir.Mul:
			next = in.Src[0]
			for n, factor := range in.Src {
				if !a.varies(factor) && !build.ByWeight(in) && (!masked || a.isFinite(factor)) {
					next = in.Src[1-n]
					c.factors, c.without[i] = append(c.factors, factor), next
					break
				}
			}
		}
		i = next
	}
	if len(c.factors) > 0 {
		a.common[q] = c
	}
}

// varies reports whether a value differs between columns.
func (a *attention) varies(i int) bool { return a.Nest.Body[i].Domain&a.Nest.Roles(ir.N) != 0 }

// isFinite reports whether a value is a finite constant.
func (a *attention) isFinite(i int) bool {
	in := &a.Nest.Body[i]
	return in.Op == ir.Const && math.Abs(in.Num.Float64(in.Type)) <= math.MaxFloat32
}

// leaveOut gives a scope the values of an output's left factor without common factors.
func (a *attention) leaveOut(q *tiles.Pass, sc *build.Scope) {
	if c := a.common[q]; c != nil {
		for _, i := range slices.Sorted(maps.Keys(c.without)) {
			sc.Values[i] = sc.Value(c.without[i])
		}
	}
}

// startCommon declares the products of a row's common factors.
func (a *attention) startCommon(r *row) {
	r.common = map[*tiles.Pass]*shader.Var{}
	for n, q := range a.outputs {
		if c := a.common[q]; c != nil {
			x := r.Value(c.factors[0]).Lane(0)
			for _, f := range c.factors[1:] {
				x = x.Mul(r.Value(f).Lane(0))
			}
			r.common[q] = a.p.Root.Var(build.Tag("common", n)+r.Tag, x)
		}
	}
}

// results are the thread's results of a row in square h of an output.
func (r *row) results(q *tiles.Pass, h int) build.Value {
	list := q.Results(r.squareNumber, r.number, h)
	if v := r.common[q]; v != nil {
		for i, x := range list {
			list[i] = x.Mul(v.Ref())
		}
	}
	return list
}
