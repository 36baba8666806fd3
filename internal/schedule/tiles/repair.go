package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// repair computes a thread's results again, one product after the other, if one of them is
// NaN or infinite. A product of heads and tails may be so where the product of floats is
// finite: infinity has no tail, and a head may overflow where its float does not.
func (q *Pass) repair() {
	if !q.Tile.Unit.Split || q.Depth == 0 {
		return
	}
	root := q.P.Root
	worst := root.Var("worst", build.U32(0))
	for _, row := range q.Acc {
		for _, acc := range row {
			for i := range 4 {
				root.Set(worst, worst.Ref().Max(acc.Ref().At(i).Bitcast(shader.U32).And(1<<31-1)))
			}
		}
	}
	const infinite = 0x7f800000
	again := root.When(worst.Ref().Ge(infinite))
	for _, row := range q.Acc {
		for _, acc := range row {
			again.Set(acc, build.Number(acc.Type, 0))
		}
	}
	t := q.Tile
	end := q.depthAt(q.Last).Min(q.Depth)
	loop, k := again.Loop("k", again.Let("k0", q.depthAt(q.First)), end, 1)
	loop.Enter(build.Span{Axes: q.Deep, Base: k})
	right := make([]build.Value, t.Wide)
	for h := range right {
		at := loop.Beside(build.Tag("_r", h))
		w, _ := q.Columns(at, h)
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
					acc, i := t.Unit.Methods.result(q, g, r, h, j)
					loop.SetAt(acc, i, shader.MulAdd(x, y.Lane(j), acc.Ref().At(i)))
				}
			}
		}
	}
	loop.End()
	again.End()
}
