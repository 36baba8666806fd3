package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// packed reports whether results go to memory as vectors of eight halves: all that is stored are the
// sums of a group's products, once and rounded to halves.
func (q *Pass) packed() bool {
	stores := q.Nest.Stores(0, false)
	return q.Tile.Unit.lanes == shader.Warpgroup && len(stores) == 1 && q.Nest.Args[q.Nest.Body[stores[0]].Arg].DType.IsHalf() && q.storesSums(eight)
}

// storeHalves packs results to halves and moves them through the shared memory of the right factor, so
// that neighbouring threads store neighbouring vectors. A thread's two columns of an instruction are a
// word of the vector that has the instruction's eight.
func (q *Pass) storeHalves() {
	root, t := q.P.Root, q.Tile
	in := &q.Nest.Body[q.Nest.Stores(0, false)[0]]
	half := build.Halves[q.Nest.Args[in.Arg].DType]
	vectors := t.N / eight // of a row
	sc := root.Inner()
	q.barrier(sc)
	for r := range t.Unit.rows {
		first, next := q.rowOf(0, r)
		row := sc.Let(build.Tag("row", r), first.Plus(next))
		for j, acc := range q.Acc[0] {
			x := acc.Ref()
			word := shader.PackHalves(half, x.At(2*r), x.At(2*r+1))
			sc.Do(&shader.StoreShared{Shared: q.N.Shared, Index: halvesAt(row, build.U32(j), vectors), Component: q.Lane.And(3), Value: word})
		}
	}
	sc.Barrier()
	words := map[*build.Scope]*shader.Expr{}
	q.takeVectors(sc, 0, vectors, eight, func(to *build.Scope, row, vector *shader.Expr) {
		words[to] = to.Let("result"+to.Tag, q.N.Shared.At(halvesAt(row, vector, vectors)))
	}, func(to *build.Scope) {
		index := to.StorePlace(in).Lane(0)
		to.Under(to.Condition(0), func(sc *build.Scope) {
			sc.Do(&shader.StoreWords{Buffer: q.P.Output(in.Arg), Index: index, Value: words[to]})
		})
	})
	sc.End()
}

// halvesAt is where shared memory has a vector of halves of a row, in which there are so many. Threads that
// write together, to eight rows, find different banks, and so do those that read neighbours.
func halvesAt(row, vector *shader.Expr, vectors int) *shader.Expr {
	return row.Mul(vectors).Add(vector.Xor(row.And(7)))
}
