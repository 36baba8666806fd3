package schedule

import (
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Contractions skip what a mask hides: results that nothing needs, tile by tile, and the part of the depth
// in which a factor is 0.

// findHidden finds the bounds of what is needed.
func (x *contraction) findHidden() {
	if !x.skips() || x.t.Matrices {
		return
	}
	x.within = x.storesWithin(x.k.Stores(0, false))
	if len(x.deep) == 1 {
		nonzero := loopnest.Nonzero(x.k.Kernel, x.rows.factor).Union(loopnest.Nonzero(x.k.Kernel, x.cols.factor))
		x.deepWithin = boundsOf(nonzero.Fixed(), x.k.Kernel, x.deep[0])
	}
}

// perBatch is the number of workgroups for the tiles of a batch, without splits. Where a mask hides a part of
// the depth, a workgroup computes one tile from the begin and then one from the end, so that all have the
// same work.
func (x *contraction) perBatch(tiles int) int {
	if len(x.deepWithin) > 0 {
		return ir.CeilDiv(tiles, 2)
	}
	return tiles
}

// inTurn makes what follows a loop over two tiles of a batch: one by its number from the begin, and the
// one of that number from the end. It returns the number of the loop's tile.
func (q *tilePass) inTurn(tile *shader.Expr, tiles int) (own *shader.Expr, end func()) {
	root := q.p.root
	other := u32(tiles - 1).Sub(tile)
	turns := root.Let("turns", tile.Eq(other).If(u32(1), u32(2)))
	turn := &shader.Var{Name: "turn", Type: shader.U32, Mutable: true}
	end = root.later(func(b *shader.Block) shader.Stmt {
		return &shader.For{Var: turn, Init: u32(0), Cond: turn.Ref().Lt(turns), Next: turn.Ref().Add(1), Body: b}
	})
	return root.Let("own", turn.Ref().Eq(0).If(tile, other)), end
}

// narrow leaves out steps along the depth that no result of the tile needs. Their number stays even if it
// was.
func (q *tilePass) narrow() {
	root := q.p.root
	step := 2 * q.tile.depth()
	for i, b := range q.deepWithin {
		most := root.Let(tag("most", i), q.p.extreme(&b.Bound, q.deep[0], 1, q.areas()...))
		if b.last {
			last := most.Add(step).Max(0).Convert(shader.U32).Div(step).Mul(2)
			q.last = root.Let(tag("last", i), last.Min(q.last))
		} else {
			first := number(shader.I32, 0).Sub(most).Max(0).Convert(shader.U32).Div(step).Mul(2)
			q.first = root.Let(tag("first", i), first.Max(q.first))
		}
	}
}

// areas are those of a tile.
func (q *tilePass) areas() []area {
	return []area{{axes: q.rows.axes, first: q.at.row, n: q.tile.m}, {axes: q.cols.axes, first: q.at.col, n: q.tile.n}}
}

// visible is the condition that some result of the tile is needed, nil if it always is.
func (q *tilePass) visible() *shader.Expr {
	var c *shader.Expr
	for i, b := range q.within.List() {
		most := q.p.root.Let(tag("most", i), q.p.extreme(&b, -1, 1, q.areas()...))
		c = all(c, most.Ge(0))
	}
	return c
}
