package attention

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// groups is attention by groups of 128 threads: tiles of halves are copied to shared
// memory, in two buffers, and multiplied there; the left factors of outputs are in registers.
type groups struct {
	*attention
	buffer *shader.Expr // that has the tiles of the block
}

// inGroups reports whether all products have factors of halves whose tiles are copied as they are.
func (a *groups) inGroups() bool {
	if !a.Target.SharedMatrices {
		return false
	}
	for _, q := range a.scores {
		half := tiles.Half(q.Product, q.Rows.Factor)
		if half == 0 || half != tiles.Half(q.Product, q.Cols.Factor) || !q.Rows.AlongK || !q.Cols.AlongK || !tiles.Copies(q.Product, &q.Cols) {
			return false
		}
	}
	for _, q := range a.outputs {
		if tiles.Half(q.Product, q.Cols.Factor) == 0 || q.Cols.AlongK || !tiles.Copies(q.Product, &q.Cols) {
			return false
		}
	}
	return true
}

func (a *groups) choose() bool {
	if !a.inGroups() {
		return false
	}
	words := 0
	a.inWarps(8, 1, 4)
	unit := func(q *tiles.Pass) *tiles.Unit {
		u := tiles.ByGroups(tiles.HalfPairs[tiles.Half(q.Product, q.Cols.Factor)].Elem, 2)
		u.Apart = 1 // by rowOrder
		return u
	}
	for _, q := range a.scores {
		q.Tile = tiles.Tile{M: a.height, N: a.width, K: 32 * ir.CeilDiv(max(1, q.Depth), 64), High: 1, Wide: a.wide, Unit: unit(q)}
		words += q.Tile.K * (q.Tile.M + 2*q.Tile.N)
	}
	for _, q := range a.outputs {
		squares := ir.CeilDiv(q.Cols.N, 16)
		q.Tile = tiles.Tile{M: a.height, N: 16 * squares, K: 8 * a.wide, High: 1, Wide: squares, Unit: unit(q)}
		words += 2 * q.Tile.K * 64 * ir.CeilDiv(q.Tile.N, 64)
	}
	if !a.Target.Fits(a.threads, 4*words) {
		return false
	}
	a.makePositive()
	for _, q := range a.outputs {
		a.takeOut(q)
	}
	return true
}

// rowOrder returns the row of scores at position x. A thread has rows g and g+8 of an instruction's
// 16, which lie at the neighbouring positions 2g and 2g+1.
func rowOrder(x *shader.Expr) *shader.Expr {
	return x.Shr(4).Shl(4).Or(x.And(1).Shl(3)).Or(x.Shr(1).And(7))
}

func (a *groups) place(root *build.Scope) (ty, tx *shader.Expr) {
	a.p.Resident = 1
	if a.registers() <= 88 {
		a.p.Resident = 2
	}
	return a.placeInWarp(root)
}

func (a *groups) declare(q *tiles.Pass, isScore bool) {
	block := q.Tile.N
	if !isScore {
		block = ir.CeilDiv(block, 64) * 64
	}
	q.N = q.Declare(&q.Cols, block, 2)
	if isScore {
		q.M = q.Declare(&q.Rows, q.Tile.M, 1)
	}
	q.M.Order, q.N.Order = rowOrder, tiles.ColumnOrder
	if !isScore {
		q.Place(a.p.Root, &q.N, build.U32(0))
	}
}

func (a *groups) loadRows(q *tiles.Pass) {
	a.negate(q)
	a.attention.loadRows(q)
}

func (a *groups) begin(first *shader.Expr) { a.copyBlock(a.p.Root, first, build.U32(0)) }

func (a *groups) end() { a.p.Root.Do(&shader.CopyWait{}) }

// load waits for the tiles of a block, and starts to copy the tiles of the next.
func (a *groups) load(loop *build.Scope, first, end *shader.Expr) {
	size := a.width
	a.buffer = loop.Let("buffer", a.columns.Sub(first).Div(size).And(1))
	loop.Do(&shader.CopyWait{}, &shader.Fence{}, &shader.Barrier{})
	next := loop.Let("next", a.columns.Add(size).Lt(end).If(a.columns.Add(size), a.columns)) // the last one again: it is not used
	a.copyBlock(loop, next, build.U32(1).Sub(a.buffer))
}

// copyBlock starts to copy the tiles of a block to a buffer.
func (a *groups) copyBlock(sc *build.Scope, at, buffer *shader.Expr) {
	for _, q := range a.scores {
		in := sc.Inner()
		q.N.Loads = nil
		q.Place(in, &q.N, at)
		q.CopyFactor(in, &q.N, build.U32(0), buffer.Mul(q.N.Size(q.Tile)))
		in.End()
	}
	for _, q := range a.outputs {
		in := sc.Inner()
		q.CopyFactor(in, &q.N, at, buffer.Mul(q.N.Size(q.Tile)))
		in.End()
	}
	sc.Do(&shader.CopyCommit{})
}

func (a *groups) score(loop *build.Scope) {
	group := &shader.MultiplyGroup{}
	for i, q := range a.scores {
		rows := loop.Let(build.Tag("left", i), shader.ThreadID.Div(shader.Warpgroup).Mul(64*8))
		cols := loop.Let(build.Tag("right", i), a.buffer.Mul(q.N.Size(q.Tile)))
		for k := 0; k < q.Depth; k += 16 {
			group.Products = append(group.Products, shader.MultiplyShared{
				Elem: q.Tile.Unit.Elem, Acc: q.Acc[0],
				A: shader.SharedMatrix{Shared: q.M.Shared, First: rows.Plus(k / 64 * 8 * q.M.Block), Depth: k % 64},
				B: shader.SharedMatrix{Shared: q.N.Shared, First: cols.Plus(k / 64 * 8 * q.N.Block), Depth: k % 64},
			})
		}
	}
	loop.Do(group)
}

func (a *groups) add(loop *build.Scope) {
	group := &shader.MultiplyGroup{}
	for _, q := range a.outputs {
		group.Products = append(group.Products, a.products(q, a.left(q)[0])...)
	}
	if len(a.outputs) > 0 {
		loop.Do(group)
	}
}

// products are the products of a block that an output adds up, with its left factor.
func (a *groups) products(q *tiles.Pass, left [][]build.Value) (list []shader.MultiplyShared) {
	first := a.buffer.Mul(q.N.Size(q.Tile))
	for h := range a.wide {
		k := 16 * h
		list = append(list, shader.MultiplyShared{
			Elem: q.Tile.Unit.Elem, Acc: q.Acc[0], Left: words(q, left, 8*h, 0),
			B: shader.SharedMatrix{Shared: q.N.Shared, First: first.Plus(k / 64 * 8 * q.N.Block), AlongSide: true, Depth: k % 64},
		})
	}
	return list
}

func (a *groups) column(h int) (step, first int) { return 4, 16 * h }

// outputColumns has the columns of an instruction, which are the factor's columns in order.
func (a *groups) outputColumns(q *tiles.Pass, sc *build.Scope, h int) build.Span {
	w, _ := q.Columns(sc, h)
	w.Base, w.Step, w.Fours = a.tx.Mul(2).Plus(16*h), []int{0, 1, 8, 9}, false
	return w
}
