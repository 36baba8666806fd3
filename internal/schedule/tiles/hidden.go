package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// perBatch is the number of workgroups for the tiles of a batch, without splits. If a mask hides a part of
// the depth, a workgroup computes a tile from the beginning and then a tile from the end, so that all
// workgroups have the same work.
func perBatch(x *product.Product, tiles int) int {
	if len(x.DeepWithin) > 0 {
		return ir.CeilDiv(tiles, 2)
	}
	return tiles
}

// inTurn wraps the following statements in a loop over two tiles of a batch: one by its number from the
// begin, and the one of that number from the end. It returns the number of the loop's tile.
func (q *Pass) inTurn(tile *shader.Expr, tiles int) (own *shader.Expr, end func()) {
	root := q.P.Root
	other := build.U32(tiles - 1).Sub(tile)
	turns := root.Let("turns", tile.Eq(other).If(build.U32(1), build.U32(2)))
	turn := &shader.Var{Name: "turn", Type: shader.U32, Mutable: true}
	end = root.Later(func(b *shader.Block) shader.Stmt {
		return &shader.For{Var: turn, Init: build.U32(0), Cond: turn.Ref().Lt(turns), Next: turn.Ref().Add(1), Body: b}
	})
	return root.Let("own", turn.Ref().Eq(0).If(tile, other)), end
}

// narrow leaves out steps along the depth that no result of the tile needs. Their number stays even if it
// was.
func (q *Pass) narrow() {
	root := q.P.Root
	step := 2 * q.Tile.Depth()
	for i, b := range q.DeepWithin {
		most := root.Let(build.Tag("most", i), q.P.Extreme(&b.Bound, q.Deep[0], 1, q.areas()...))
		if b.Last {
			last := most.Add(step).Max(0).Convert(shader.U32).Div(step).Mul(2)
			q.Last = root.Let(build.Tag("last", i), last.Min(q.Last))
		} else {
			first := build.Number(shader.I32, 0).Sub(most).Max(0).Convert(shader.U32).Div(step).Mul(2)
			q.First = root.Let(build.Tag("first", i), first.Max(q.First))
		}
	}
}

// areas are the rows and columns of a tile.
func (q *Pass) areas() []build.Area {
	return []build.Area{{Axes: q.Rows.Axes, First: q.At.Row, N: q.Tile.M}, {Axes: q.Cols.Axes, First: q.At.Col, N: q.Tile.N}}
}

// visible is the condition that some result of the tile is needed, nil if it always is.
func (q *Pass) visible() *shader.Expr {
	var c *shader.Expr
	for i, b := range q.Within.List() {
		most := q.P.Root.Let(build.Tag("most", i), q.P.Extreme(&b, -1, 1, q.areas()...))
		c = build.All(c, most.Ge(0))
	}
	return c
}
