package schedule

import (
	"maps"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A bound is one of the columns. Where it is negative, the column adds nothing to its row, as its score
// is -Inf.
type bound struct {
	loopnest.Bound
	last bool // it bounds the last column of a row, not the first
}

// findBounds finds the bounds of the columns that a row needs.
func (a *attention) findBounds() []bound {
	if len(a.n) != 1 {
		return nil
	}
	var each []loopnest.Bounds
	if a.Max >= 0 {
		each = append(each, loopnest.Finite(a.k.Kernel, a.k.Body[a.Max].Src[0]))
	}
	for _, i := range a.Sums {
		each = append(each, loopnest.Nonzero(a.k.Kernel, a.k.Body[i].Src[0]))
	}
	for _, q := range a.outputs {
		each = append(each, loopnest.Nonzero(a.k.Kernel, q.rows.factor))
	}
	return boundsOf(loopnest.Common(each...), a.k.Kernel, a.n[0])
}

// boundsOf lists those of some bounds in which the position along an axis has the coefficient 1 or -1.
func boundsOf(all loopnest.Bounds, k *ir.Kernel, axis int) (list []bound) {
	for _, b := range all.List() {
		switch b.Slope(k, axis) {
		case 1:
			list = append(list, bound{Bound: b})
		case -1:
			list = append(list, bound{Bound: b, last: true})
		}
	}
	return list
}

// decided are the conditions that hold in blocks up to the column full of columnsOf.
func decided(list []bound) map[int]int64 {
	all := map[int]int64{}
	for _, b := range list {
		maps.Copy(all, b.Holds)
	}
	return all
}

// columnsOf returns the first column that a block of rows needs, at a block's begin, and the one
// after the last. If there is more than that the bounds end, full is where the blocks end in
// which they hold for all rows; else nil.
func (a *attention) columnsOf(list []bound, row *shader.Expr) (first, full, end *shader.Expr) {
	root, n, step := a.p.root, a.k.Size(a.n), a.width
	rowBlock := area{axes: a.m, first: row, n: a.height}
	if len(list) == 0 {
		return u32(0), nil, u32(n)
	}
	low, high := root.Var("n_low", number(shader.I32, 0)), root.Var("n_high", number(shader.I32, n))
	whole := root.Var("n_whole", number(shader.I32, n))
	lasts := 0
	for i, b := range list {
		most := root.Let(tag("most", i), a.p.extreme(&b.Bound, a.n[0], 1, rowBlock))
		sc := root.when(a.p.root.allLowest(b.Lowest))
		if b.last {
			lasts++
			sc.Set(high, high.Ref().Min(most.Add(1)))
			least := root.Let(tag("least", i), a.p.extreme(&b.Bound, a.n[0], -1, rowBlock))
			root.Set(whole, whole.Ref().Min(least.Add(1)))
		} else {
			sc.Set(low, low.Ref().Max(number(shader.I32, 0).Sub(most)))
		}
		sc.end()
	}
	begin := func(x *shader.Expr) *shader.Expr { return x.Convert(shader.U32).Div(step).Mul(step) }
	first = root.Let("n_first", begin(low.Ref().Min(n-1)))
	end = root.Let("n_end", high.Ref().Max(0).Convert(shader.U32))
	if lasts == len(list) {
		full = root.Let("n_full", begin(whole.Ref().Min(high.Ref()).Max(0)))
	}
	return first, full, end
}
