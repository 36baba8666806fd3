package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A scratchResult has the positions of a reduction's results, and of its partial results,
// in the scratch buffer of a segmented kernel, which holds u32.
type scratchResult struct{ row, segment int }

// segmented computes the kernel in passes: for each level one that reduces segments
// and one that combines their results, and at last one that stores.
func (r *reduction) segmented() {
	r.results = make([]scratchResult, len(r.k.Body))
	words, most := 0, 0
	for level := 1; level <= r.levels; level++ {
		for _, i := range r.k.Reductions(r.level, level) {
			r.results[i].row = words
			words += r.rows * wordsOf(r.reducer(i).register)
		}
	}
	for level := 1; level <= r.levels; level++ {
		n := words
		for _, i := range r.k.Reductions(r.level, level) {
			r.results[i].segment = n
			n += r.rows * r.parts() * wordsOf(r.reducer(i).register)
		}
		most = max(most, n)
	}
	r.scratch = r.compiler.scratch(most, shader.U32)
	for level := 1; level <= r.levels; level++ {
		r.segmentPass(level)
		r.combinePass(level)
	}
	if list := r.k.Stores(r.k.Roles(ir.Reduced), true); len(list) > 0 {
		r.points(append(slices.Clone(r.parallel), r.reduced...), list, r.loadResult)
	}
}

// parts is the number of partial results of a row.
func (r *reduction) parts() int {
	if r.separate {
		return r.segments * r.along
	}
	return r.segments
}

// loadResult loads the value of a reduction from scratch.
func (r *reduction) loadResult(sc *scope, i int) {
	owner := sc.owner(ir.Axes(r.parallel...))
	red := r.reducer(i)
	rank := owner.rank(r.parallel)
	list := make([]*shader.Expr, len(rank))
	for l := range list {
		name := fmt.Sprintf("k%d%s_%d", i, owner.tag, l)
		list[l] = red.result(sc.p.loadScratch(owner, r.scratch, red.register, name, r.results[i].row, rank.lane(l)))
	}
	owner.values[i] = owner.let(i, list...)
}

// segmentPass reduces each segment of each row.
func (r *reduction) segmentPass(level int) {
	r.rowPass(r.loadResult, func(q *rowPass) {
		root := q.p.root
		lo := root.Let("lo", q.segment.Convert(r.countType(r.cols)).Mul(r.segment))
		hi := root.Let("hi", lo.Add(r.segment).Min(r.cols))
		rs := q.reducers(level)
		q.chunks(root, lo, hi, r.segment, rs)
		part, within := q.segment, q.segment.Lt(r.segments)
		if r.separate {
			part = q.segment.Mul(r.along).Add(q.t)
		} else {
			q.combine(root, rs)
			within = q.t.Eq(0).And(within)
		}
		sc := root.when(all(within, root.condition(0)))
		for _, red := range rs {
			q.p.storeScratch(sc, r.scratch, r.results[red.instr].segment, r.cell(r.parts(), r.rows, part, q.row), red.acc.Ref())
		}
		sc.end()
	})
}

// combinePass combines the segments of each row. The last such pass also executes the
// stores that do not vary over reduced axes; the others store results in scratch.
func (r *reduction) combinePass(level int) {
	last := level == r.levels
	rows := *r
	rows.segments, rows.across, rows.separate = 1, false, false
	threads := r.along * r.group
	rows.along = 1
	for r.t.traits().concurrent && rows.along < threads && 2*rows.along <= r.parts() && rows.along*rows.rows < r.t.busy() {
		rows.along *= 2
	}
	rows.group = threads / rows.along
	rows.rowPass(r.loadResult, func(q *rowPass) {
		p, root := q.p, q.p.root
		rs := q.reducers(level)
		loop, n := root.loop("n", q.t, u32(r.parts()), rows.along)
		for _, red := range rs {
			name := fmt.Sprintf("k%d", red.instr)
			part := p.loadScratch(loop, r.scratch, red.register, name, r.results[red.instr].segment, r.cell(r.parts(), r.rows, n, q.row))
			red.add(loop.Block, part)
		}
		loop.end()
		q.combine(root, rs)
		if !last || len(r.k.Stores(r.k.Roles(ir.Reduced), true)) > 0 {
			sc := root.when(all(q.t.Eq(0), root.condition(0)))
			for _, red := range rs {
				p.storeScratch(sc, r.scratch, r.results[red.instr].row, q.row, red.acc.Ref())
			}
			sc.end()
		}
		if last {
			q.define(rs)
			q.storeRows()
		}
	})
}
