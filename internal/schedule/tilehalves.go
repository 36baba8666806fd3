package schedule

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// packed reports whether results go to memory as vectors of eight halves: the only ones that are
// stored are the sums of a group's products, rounded to halves.
func (q *tilePass) packed() bool {
	stores := q.k.Stores(0, false)
	if q.tile.unit.order == nil || q.splits > 1 || q.depth == 0 || len(stores) != 1 {
		return false
	}
	in := &q.k.Body[stores[0]]
	half, x := q.k.Args[in.Arg].DType, in.Src[0]
	if q.k.Body[x].Op == ir.Cast && q.k.Body[x].Type == half {
		x = q.k.Body[x].Src[0]
	}
	cols := q.cols.axes
	return x == q.sum && half.IsHalf() && len(cols) > 0 && len(in.View.Guards) == 0 &&
		q.k.Axes[cols[len(cols)-1]].Len%eight == 0 && q.stepsBy(eight, in, cols[len(cols)-1])
}

// halfTypes has the types of halves in memory.
var halfTypes = map[ir.DType]shader.Type{ir.Float16: shader.F16, ir.BFloat16: shader.BF16}

// storeHalves packs results to halves and moves them through the shared memory of the right factor, so
// that neighbouring threads store neighbouring vectors. A thread's two columns of an instruction are a
// word of the vector that has the instruction's eight.
func (q *tilePass) storeHalves() {
	root, t := q.p.root, q.tile
	in := &q.k.Body[q.k.Stores(0, false)[0]]
	half := halfTypes[q.k.Args[in.Arg].DType]
	vectors := t.n / eight // of a row
	at := func(row, vector *shader.Expr) *shader.Expr {
		return row.Mul(vectors).Add(vector.Xor(row.And(7))) // threads that write together have eight rows
	}
	sc := root.block()
	q.barrier(sc)
	for r := range t.unit.rows {
		first, next := q.rowOf(0, r)
		row := sc.Let(tag("row", r), first.Plus(next))
		for j, acc := range q.acc[0] {
			x := acc.Ref()
			word := shader.PackHalves(half, x.At(2*r), x.At(2*r+1))
			sc.Do(&shader.StoreShared{Shared: q.n.shared, Index: at(row, u32(j)), Component: q.lane.And(3), Value: word})
		}
	}
	sc.Barrier()
	b := q.p.bind(in.Arg, 0, ir.Uint32, true)
	const ahead = 4 // vectors of a thread that are under way at once
	loop, item := sc.loop("item", shader.ThreadID, u32(t.m*vectors), ahead*q.p.Threads)
	var offset []*shader.Expr
	if q.k.Args[in.Arg].Part {
		offset = append(offset, q.p.offset(in.Arg))
	}
	var scopes []*scope
	var words []value
	for i := range ahead {
		to := loop.beside(tag("_", i))
		number := to.Let(tag("number", i), item.Plus(i*q.p.Threads))
		row, vector := to.Let(tag("row", i), number.Div(vectors)), to.Let(tag("vector", i), number.Rem(vectors))
		to.enterValid(span{axes: q.rows.axes, base: q.at.row.Add(row.Convert(q.at.row.Type)), clamp: q.clamp(q.rows.n, t.m)})
		to.enterValid(span{axes: q.cols.axes, base: q.at.col.Add(vector.Mul(eight).Convert(q.at.col.Type)), clamp: q.clamp(q.cols.n, t.n)})
		words = append(words, components(to.Let(tag("result", i), q.n.shared.At(at(row, vector)))))
		scopes = append(scopes, to)
	}
	for i, to := range scopes {
		place := to.place(in.View, offset...).lane(0)
		to.under(to.condition(0), func(sc *scope) {
			sc.Do(&shader.Store{Buffer: b, Index: place.Shr(1), Values: words[i]})
		})
	}
	loop.end()
	sc.end()
}
