package attention

import (
	"maps"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// findBounds finds the bounds of the columns that a row needs.
func (a *attention) findBounds() []build.Bound {
	if len(a.n) != 1 {
		return nil
	}
	var each []loopnest.Bounds
	if a.Max >= 0 {
		each = append(each, loopnest.Finite(a.Nest.Kernel, a.Nest.Body[a.Max].Src[0]))
	}
	for _, i := range a.Sums {
		each = append(each, loopnest.Nonzero(a.Nest.Kernel, a.Nest.Body[i].Src[0]))
	}
	for _, q := range a.outputs {
		each = append(each, loopnest.Nonzero(a.Nest.Kernel, q.Rows.Factor))
	}
	return build.BoundsOf(loopnest.Common(each...), a.Nest.Kernel, a.n[0])
}

// decided are the conditions that hold in the blocks before full: see columnsOf.
func decided(list []build.Bound) map[int]int64 {
	all := map[int]int64{}
	for _, b := range list {
		maps.Copy(all, b.Holds)
	}
	return all
}

// columnsOf returns the columns that a block of rows needs, from first, at the begin of a block,
// up to end. If all bounds are ends, blocks up to full lie within the bounds of every row;
// otherwise full is nil.
func (a *attention) columnsOf(list []build.Bound, row *shader.Expr) (first, full, end *shader.Expr) {
	root, n, step := a.p.Root, a.Nest.Size(a.n), a.width
	rowBlock := build.Area{Axes: a.m, First: row, N: a.height}
	if len(list) == 0 {
		return build.U32(0), nil, build.U32(n)
	}
	low, high := root.Var("n_low", build.Number(shader.I32, 0)), root.Var("n_high", build.Number(shader.I32, n))
	whole := root.Var("n_whole", build.Number(shader.I32, n))
	lasts := 0
	for i, b := range list {
		most := root.Let(build.Tag("most", i), a.p.Extreme(&b.Bound, a.n[0], 1, rowBlock))
		sc := root.When(a.p.Root.AllLowest(b.Lowest))
		if b.Last {
			lasts++
			sc.Set(high, high.Ref().Min(most.Add(1)))
			least := root.Let(build.Tag("least", i), a.p.Extreme(&b.Bound, a.n[0], -1, rowBlock))
			root.Set(whole, whole.Ref().Min(least.Add(1)))
		} else {
			sc.Set(low, low.Ref().Max(build.Number(shader.I32, 0).Sub(most)))
		}
		sc.End()
	}
	begin := func(x *shader.Expr) *shader.Expr { return x.Convert(shader.U32).Div(step).Mul(step) }
	first = root.Let("n_first", begin(low.Ref().Min(n-1)))
	end = root.Let("n_end", high.Ref().Max(0).Convert(shader.U32))
	if lasts == len(list) {
		full = root.Let("n_full", begin(whole.Ref().Min(high.Ref()).Max(0)))
	}
	return first, full, end
}
