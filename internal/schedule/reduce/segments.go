package reduce

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/pointwise"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A scratchResult has the positions of a reduction's results, and of its partial results,
// in the scratch buffer of a segmented kernel, which holds u32.
type scratchResult struct{ row, segment int }

// segmented computes the kernel in passes: for each level one that reduces segments
// and one that combines their results, and at last one that stores.
func (r *reduction) segmented() {
	r.results = make([]scratchResult, len(r.Nest.Body))
	words, most := 0, 0
	for level := 1; level <= r.levels; level++ {
		for _, i := range r.Nest.Reductions(r.level, level) {
			r.results[i].row = words
			words += r.rows * build.WordsOf(r.Reducer(i).Register)
		}
	}
	for level := 1; level <= r.levels; level++ {
		n := words
		for _, i := range r.Nest.Reductions(r.level, level) {
			r.results[i].segment = n
			n += r.rows * r.parts() * build.WordsOf(r.Reducer(i).Register)
		}
		most = max(most, n)
	}
	r.scratch = r.Builder.Scratch(most, shader.U32)
	for level := 1; level <= r.levels; level++ {
		r.segmentPass(level)
		r.combinePass(level)
	}
	if list := r.Nest.Stores(r.Nest.Roles(ir.Reduced), true); len(list) > 0 {
		pointwise.Points(r.Builder, append(slices.Clone(r.parallel), r.reduced...), list, r.loadResult)
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
func (r *reduction) loadResult(sc *build.Scope, i int) {
	owner := sc.Owner(ir.Axes(r.parallel...))
	red := r.Reducer(i)
	rank := owner.Rank(r.parallel)
	list := make([]*shader.Expr, len(rank))
	for l := range list {
		name := fmt.Sprintf("k%d%s_%d", i, owner.Tag, l)
		list[l] = red.Result(sc.Pass.LoadScratch(owner, r.scratch, red.Register, name, r.results[i].row, rank.Lane(l)))
	}
	owner.Values[i] = owner.Define(i, list...)
}

// segmentPass reduces each segment of each row.
func (r *reduction) segmentPass(level int) {
	r.rowPass(r.loadResult, func(q *rowPass) {
		root := q.p.Root
		lo := root.Let("lo", q.segment.Convert(r.CountType(r.cols)).Mul(r.segment))
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
		sc := root.When(build.All(within, root.Condition(0)))
		for _, red := range rs {
			q.p.StoreScratch(sc, r.scratch, r.results[red.Instr].segment, r.Cell(r.parts(), r.rows, part, q.row), red.Acc.Ref())
		}
		sc.End()
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
	for r.Target.Traits().Concurrent && rows.along < threads && 2*rows.along <= r.parts() && rows.along*rows.rows < r.Target.Busy() {
		rows.along *= 2
	}
	rows.group = threads / rows.along
	rows.rowPass(r.loadResult, func(q *rowPass) {
		p, root := q.p, q.p.Root
		rs := q.reducers(level)
		loop, n := root.Loop("n", q.t, build.U32(r.parts()), rows.along)
		for _, red := range rs {
			name := fmt.Sprintf("k%d", red.Instr)
			part := p.LoadScratch(loop, r.scratch, red.Register, name, r.results[red.Instr].segment, r.Cell(r.parts(), r.rows, n, q.row))
			red.Add(loop.Block, part)
		}
		loop.End()
		q.combine(root, rs)
		if !last || len(r.Nest.Stores(r.Nest.Roles(ir.Reduced), true)) > 0 {
			sc := root.When(build.All(q.t.Eq(0), root.Condition(0)))
			for _, red := range rs {
				p.StoreScratch(sc, r.scratch, r.results[red.Instr].row, q.row, red.Acc.Ref())
			}
			sc.End()
		}
		if last {
			q.define(rs)
			q.storeRows()
		}
	})
}
