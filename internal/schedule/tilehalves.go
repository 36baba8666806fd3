package schedule

import "github.com/tensorken/tensorken/internal/shader"

// packed reports whether results go to memory as vectors of eight halves: all that is stored are the
// sums of a group's products, once and rounded to halves.
func (q *tilePass) packed() bool {
	stores := q.k.Stores(0, false)
	return q.tile.unit.lanes == shader.Warpgroup && len(stores) == 1 && q.k.Args[q.k.Body[stores[0]].Arg].DType.IsHalf() && q.storesSums(eight)
}

// storeHalves packs results to halves and moves them through the shared memory of the right factor, so
// that neighbouring threads store neighbouring vectors. A thread's two columns of an instruction are a
// word of the vector that has the instruction's eight.
func (q *tilePass) storeHalves() {
	root, t := q.p.root, q.tile
	in := &q.k.Body[q.k.Stores(0, false)[0]]
	half := halves[q.k.Args[in.Arg].DType]
	vectors := t.n / eight // of a row
	sc := root.block()
	q.barrier(sc)
	for r := range t.unit.rows {
		first, next := q.rowOf(0, r)
		row := sc.Let(tag("row", r), first.Plus(next))
		for j, acc := range q.acc[0] {
			x := acc.Ref()
			word := shader.PackHalves(half, x.At(2*r), x.At(2*r+1))
			sc.Do(&shader.StoreShared{Shared: q.n.shared, Index: halvesAt(row, u32(j), vectors), Component: q.lane.And(3), Value: word})
		}
	}
	sc.Barrier()
	words := map[*scope]*shader.Expr{}
	q.takeVectors(sc, 0, vectors, eight, func(to *scope, row, vector *shader.Expr) {
		words[to] = to.Let("result"+to.tag, q.n.shared.At(halvesAt(row, vector, vectors)))
	}, func(to *scope) {
		index := to.storePlace(in).lane(0)
		to.under(to.condition(0), func(sc *scope) {
			sc.Do(&shader.StoreWords{Buffer: q.p.output(in.Arg), Index: index, Value: words[to]})
		})
	})
	sc.end()
}

// halvesAt is where shared memory has a vector of halves of a row, in which there are so many. Threads that
// write together, to eight rows, find different banks, and so do those that read neighbours.
func halvesAt(row, vector *shader.Expr, vectors int) *shader.Expr {
	return row.Mul(vectors).Add(vector.Xor(row.And(7)))
}
