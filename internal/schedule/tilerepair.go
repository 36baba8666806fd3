package schedule

import "github.com/tensorken/tensorken/internal/shader"

// repair computes a thread's results again, one product after the other, if one of them is no
// number or infinite: a product of heads and tails is so where that of floats is not, for
// infinity has no tail and a head may be infinite where its float is not.
func (q *tilePass) repair() {
	if !q.tile.unit.split || q.depth == 0 {
		return
	}
	root := q.p.root
	worst := root.Var("worst", u32(0))
	for _, row := range q.acc {
		for _, acc := range row {
			for i := range 4 {
				root.Set(worst, worst.Ref().Max(acc.Ref().At(i).Bitcast(shader.U32).And(1<<31-1)))
			}
		}
	}
	const infinite = 0x7f800000
	again := root.when(worst.Ref().Ge(infinite))
	for _, row := range q.acc {
		for _, acc := range row {
			again.Set(acc, number(acc.Type, 0))
		}
	}
	t := q.tile
	end := q.depthAt(q.last).Min(q.depth)
	loop, k := again.loop("k", again.Let("k0", q.depthAt(q.first)), end, 1)
	loop.enter(span{axes: q.deep, base: k})
	right := make([]value, t.wide)
	for h := range right {
		at := loop.beside(tag("_r", h))
		w, _ := q.columns(at, h)
		at.enter(w)
		right[h] = at.value(q.cols.factor)
	}
	for g := range t.high {
		for r := range t.unit.rows {
			at := loop.beside(tag("_l", g, r))
			w, _ := q.row(at, g, r)
			at.enter(w)
			x := at.value(q.rows.factor).lane(0)
			for h, y := range right {
				for j := range 4 {
					acc, i := t.unit.methods.result(q, g, r, h, j)
					loop.SetAt(acc, i, shader.MulAdd(x, y.lane(j), acc.Ref().At(i)))
				}
			}
		}
	}
	loop.end()
	again.end()
}
