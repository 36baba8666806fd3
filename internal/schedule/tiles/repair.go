package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
)

// repair computes a thread's results again, one product after the other, if one of them is
// NaN or infinite, where such a product may have another value. A product of heads and tails may be so where
// the product of floats is finite: infinity has no tail, and a head may overflow where its float does not.
// For a product by weights see [product.Product.Repair].
func (q *Pass) repair() {
	if !q.Tile.Unit.Split && q.Weight < 0 || q.Depth == 0 {
		return
	}
	root := q.P.Root
	again := product.Again(root, slices.Concat(q.Acc...))
	t := q.Tile
	end := q.depthAt(q.Last).Min(q.Depth)
	loop, k := again.Loop("k", again.Let("k0", q.depthAt(q.First)), end, 1)
	loop.Enter(build.Span{Axes: q.Deep, Base: k})
	right := make([]build.Value, t.Wide)
	for h := range right {
		at := loop.Beside(build.Tag("_r", h))
		w, _ := q.Columns(at, h)
		if q.packed() {
			w.Base, w.Step, w.Fours = q.At.Col.Add(q.Lane.And(3).Mul(2).Plus(16*h).Convert(q.At.Col.Type)), []int{0, 1, 8, 9}, false
		}
		at.Enter(w)
		right[h] = at.Value(q.Cols.Factor)
	}
	for g := range t.High {
		for r := range t.Unit.rows {
			at := loop.Beside(build.Tag("_l", g, r))
			w, _ := q.Row(at, g, r)
			at.Enter(w)
			x := at.Value(q.Rows.Factor).Lane(0)
			for h, y := range right {
				for j := range 4 {
					acc, i := q.Result(g, r, h, j)
					loop.SetAt(acc, i, q.AddProduct(acc.Ref().At(i), x, y.Lane(j)))
				}
			}
		}
	}
	loop.End()
	again.End()
}
