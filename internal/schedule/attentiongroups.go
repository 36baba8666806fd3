package schedule

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// attentionGroups is attention by groups of 128 threads: tiles of halves are copied to shared
// memory, in two buffers, and multiplied there; the left factors of outputs are in registers.
type attentionGroups struct {
	*attention
	buffer *shader.Expr // that has the tiles of the block
}

// inGroups reports whether all products are of halves whose tiles are copied as they are.
func (a *attentionGroups) inGroups() bool {
	if !a.t.SharedMatrices {
		return false
	}
	for _, q := range a.scores {
		half := q.half(q.rows.factor)
		if half == 0 || half != q.half(q.cols.factor) || !q.rows.alongK || !q.cols.alongK || !q.copies(&q.cols) {
			return false
		}
	}
	for _, q := range a.outputs {
		if q.half(q.cols.factor) == 0 || q.cols.alongK || !q.copies(&q.cols) {
			return false
		}
	}
	return true
}

func (a *attentionGroups) choose() bool {
	if !a.inGroups() {
		return false
	}
	words := 0
	a.inWarps(8, 1, 4)
	unit := func(q *tilePass) *unit {
		u := byGroups(unitsOfHalves[q.half(q.cols.factor)].elem, 2)
		u.apart = 1 // by rowOrder
		return u
	}
	for _, q := range a.scores {
		q.tile = tile{m: a.height, n: a.width, k: 32 * ir.CeilDiv(max(1, q.depth), 64), high: 1, wide: a.wide, unit: unit(q)}
		words += q.tile.k * (q.tile.m + 2*q.tile.n)
	}
	for _, q := range a.outputs {
		squares := ir.CeilDiv(q.cols.n, 16)
		q.tile = tile{m: a.height, n: 16 * squares, k: 8 * a.wide, high: 1, wide: squares, unit: unit(q)}
		words += 2 * q.tile.k * 64 * ir.CeilDiv(q.tile.n, 64)
	}
	return a.t.fits(a.threads, 4*words)
}

// An instruction has rows g and g+8 of 16 in a thread. Rows lie in an order in which these are 2g and
// 2g+1.
func rowOrder(x *shader.Expr) *shader.Expr {
	return x.Shr(4).Shl(4).Or(x.And(1).Shl(3)).Or(x.Shr(1).And(7))
}

func (a *attentionGroups) place(root *scope) (ty, tx *shader.Expr) {
	a.p.Resident = 1
	if a.registers() <= 88 {
		a.p.Resident = 2
	}
	return a.placeInWarp(root)
}

func (a *attentionGroups) declare(q *tilePass, isScore bool) {
	block := q.tile.n
	if !isScore {
		block = ir.CeilDiv(block, 64) * 64
	}
	q.n = q.declare(&q.cols, block, 2)
	if isScore {
		q.m = q.declare(&q.rows, q.tile.m, 1)
	}
	q.m.order, q.n.order = rowOrder, columnOrder
	if !isScore {
		q.place(a.p.root, &q.n, u32(0))
	}
}

func (a *attentionGroups) begin(first *shader.Expr) { a.copyBlock(a.p.root, first, u32(0)) }

func (a *attentionGroups) end() { a.p.root.Do(&shader.CopyWait{}) }

// load waits for the tiles of a block, and starts to copy those of the next.
func (a *attentionGroups) load(loop *scope, first, end *shader.Expr) {
	size := a.width
	a.buffer = loop.Let("buffer", a.columns.Sub(first).Div(size).And(1))
	loop.Do(&shader.CopyWait{}, &shader.Fence{}, &shader.Barrier{})
	next := loop.Let("next", a.columns.Add(size).Lt(end).If(a.columns.Add(size), a.columns)) // the last one again: it is not used
	a.copyBlock(loop, next, u32(1).Sub(a.buffer))
}

// copyBlock starts to copy the tiles of a block to a buffer.
func (a *attentionGroups) copyBlock(sc *scope, at, buffer *shader.Expr) {
	for _, q := range a.scores {
		in := sc.block()
		q.n.loads = nil
		q.place(in, &q.n, at)
		q.copyTile(in, &q.n, u32(0), buffer.Mul(q.n.size(q.tile)))
		in.end()
	}
	for _, q := range a.outputs {
		in := sc.block()
		q.copyTile(in, &q.n, at, buffer.Mul(q.n.size(q.tile)))
		in.end()
	}
	sc.Do(&shader.CopyCommit{})
}

func (a *attentionGroups) score(loop *scope) {
	group := &shader.MultiplyGroup{}
	for i, q := range a.scores {
		rows := loop.Let(tag("left", i), shader.ThreadID.Div(shader.Warpgroup).Mul(64*8))
		cols := loop.Let(tag("right", i), a.buffer.Mul(q.n.size(q.tile)))
		for k := 0; k < q.depth; k += 16 {
			group.Products = append(group.Products, shader.MultiplyShared{
				Elem: q.tile.unit.elem, Acc: q.acc[0],
				A: shader.SharedMatrix{Shared: q.m.shared, First: rows.Plus(k / 64 * 8 * q.m.block), Depth: k % 64},
				B: shader.SharedMatrix{Shared: q.n.shared, First: cols.Plus(k / 64 * 8 * q.n.block), Depth: k % 64},
			})
		}
	}
	loop.Do(group)
}

func (a *attentionGroups) add(loop *scope) {
	group := &shader.MultiplyGroup{}
	for _, q := range a.outputs {
		group.Products = append(group.Products, a.products(q, a.left(q)[0])...)
	}
	if len(a.outputs) > 0 {
		loop.Do(group)
	}
}

// products are the products of a block that an output adds up, with its left factor.
func (a *attentionGroups) products(q *tilePass, left [][]value) (list []shader.MultiplyShared) {
	first := a.buffer.Mul(q.n.size(q.tile))
	for h := range a.wide {
		k := 16 * h
		list = append(list, shader.MultiplyShared{
			Elem: q.tile.unit.elem, Acc: q.acc[0], Left: q.words(left, 8*h, 0),
			B: shader.SharedMatrix{Shared: q.n.shared, First: first.Plus(k / 64 * 8 * q.n.block), AlongSide: true, Depth: k % 64},
		})
	}
	return list
}

func (a *attentionGroups) column(h int) (step, first int) { return 4, 16 * h }

// outputColumns has the columns of an instruction, which are those of the factor in order.
func (a *attentionGroups) outputColumns(q *tilePass, sc *scope, h int) span {
	w, _ := q.columns(sc, h)
	w.base, w.step, w.fours = a.tx.Mul(2).Plus(16*h), []int{0, 1, 8, 9}, false
	return w
}
