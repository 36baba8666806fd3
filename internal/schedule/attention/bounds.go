package attention

import (
	"maps"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// findBounds finds the bounds of the columns that a row needs: outside of them, a column adds
// nothing to any reduction or product.
func (a *attention) findBounds() []build.Bound {
	if len(a.n) != 1 {
		return nil
	}
	var perUse []loopnest.Bounds
	if a.Max >= 0 {
		perUse = append(perUse, loopnest.Finite(a.Nest.Kernel, a.Nest.Body[a.Max].Src[0]))
	}
	for _, i := range a.Sums {
		perUse = append(perUse, loopnest.Nonzero(a.Nest.Kernel, a.Nest.Body[i].Src[0]))
	}
	for _, q := range a.outputs {
		perUse = append(perUse, loopnest.Nonzero(a.Nest.Kernel, q.Rows.Factor))
	}
	return build.BoundsOf(loopnest.Common(perUse...), a.Nest.Kernel, a.n[0])
}

// decided returns the conditions that hold in blocks of columns: of bounds of one kind, in all blocks before full, as columnsOf
// returns it, or in all from there on.
func decided(bounds []build.Bound) (before, after map[int]int64) {
	all := map[int]int64{}
	for _, b := range bounds {
		maps.Copy(all, b.Holds)
	}
	if len(bounds) > 0 && bounds[0].Last {
		return all, nil
	}
	return nil, all
}

// columnsOf returns the columns that some row of a block of rows needs: from first, which begins
// a block of columns, to before end. Every row needs all columns before full or, if bounds are on the first columns of rows,
// from there on; full is nil if bounds are of both kinds.
func (a *attention) columnsOf(bounds []build.Bound, row *shader.Expr) (first, full, end *shader.Expr) {
	root, n := a.p.Root, a.Nest.Size(a.n)
	rows := build.Area{Axes: a.m, First: row, N: a.height}
	if len(bounds) == 0 {
		return build.U32(0), nil, build.U32(n)
	}
	// The columns that some row needs are low to before high; those that every row needs begin and end at common.
	low, high := root.Var("n_low", build.Number(shader.I32, 0)), root.Var("n_high", build.Number(shader.I32, n))
	common := [2]*shader.Var{root.Var("n_begin", build.Number(shader.I32, 0)), root.Var("n_common", build.Number(shader.I32, n))}
	lasts := 0
	for i, b := range bounds {
		greatest := root.Let(build.Tag("greatest", i), a.p.Extreme(&b.Bound, a.n[0], 1, rows))
		least := root.Let(build.Tag("least", i), a.p.Extreme(&b.Bound, a.n[0], -1, rows))
		sc := root.When(a.p.Root.AllLowest(b.Lowest))
		if b.Last {
			lasts++
			sc.Set(high, high.Ref().Min(greatest.Add(1)))
			root.Set(common[1], common[1].Ref().Min(least.Add(1)))
		} else {
			sc.Set(low, low.Ref().Max(build.Number(shader.I32, 0).Sub(greatest)))
			root.Set(common[0], common[0].Ref().Max(build.Number(shader.I32, 0).Sub(least)))
		}
		sc.End()
	}
	blockStart := func(x *shader.Expr) *shader.Expr { return x.Convert(shader.U32).Div(a.width).Mul(a.width) }
	first = root.Let("n_first", blockStart(low.Ref().Min(n-1)))
	end = root.Let("n_end", high.Ref().Max(0).Convert(shader.U32))
	switch lasts {
	case len(bounds):
		full = root.Let("n_full", blockStart(common[1].Ref().Min(high.Ref()).Max(0)))
	case 0:
		full = root.Let("n_full", blockStart(common[0].Ref().Min(n).Add(a.width-1)))
	}
	return first, full, end
}
