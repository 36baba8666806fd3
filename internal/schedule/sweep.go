package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A rowPass is a pass in which threads share rows.
type rowPass struct {
	*reduction
	p       *pass
	t       *shader.Expr // the thread's number among those of the row
	row     *shader.Expr
	root    *scope // knows the row
	segment *shader.Expr
}

// rowPass adds a pass with workgroups for all rows, or segments of them.
func (r *reduction) rowPass(reduced func(sc *scope, i int), body func(p *rowPass)) {
	r.pass(r.along*r.group, func(p *pass) {
		p.reduced = reduced
		q := &rowPass{reduction: r, p: p, root: p.root}
		own, stride := shader.ThreadID.Div(r.along), r.stride()
		if r.across {
			own = shader.ThreadID.Rem(r.group)
		}
		q.t = p.root.Let("t", shader.ThreadID.Div(stride).Rem(r.along))
		tiles := ir.CeilDiv(r.rows, r.group)
		p.groups = tiles * r.segments
		tile := shader.GroupID
		if r.segments > 1 || r.separate {
			q.segment = p.root.Let("segment", tile.Div(tiles))
			tile = tile.Rem(tiles)
		}
		rows := p.countType(r.rows)
		each := tile.Convert(rows)
		if r.group > 1 {
			each = each.Mul(r.group).Add(own.Convert(rows))
		}
		each = p.root.Let("each", each)
		q.row = p.root.Let("row", each.Min(r.rows-1))
		grid := p.fold(p.groups) // workgroups that fill it up do not replace a row again
		if r.rows%r.group != 0 || p.replaces() && grid[0]*grid[1] > p.groups {
			p.root.valid = []value{{each.Lt(r.rows)}}
		}
		p.root.enter(span{axes: r.parallel, base: q.row})
		body(q)
	})
}

// stride is the distance between neighbouring threads of a row.
func (r *reduction) stride() int {
	if r.across {
		return r.group
	}
	return 1
}

// whole computes the kernel in one pass.
func (r *reduction) whole() {
	r.rowPass(nil, func(q *rowPass) {
		vectors := q.vectorsNeeded()
		if vectors == nil {
			q.wholeRow()
			return
		}
		for n := q.unit(); n <= r.lanes; n += q.unit() { // code for rows that need fewer points
			some, in := *r, *q
			some.lanes = n
			in.reduction, in.root = &some, q.p.root.when(vectors.Eq(n/q.unit()))
			in.wholeRow()
			in.root.end()
			clear(q.p.inUse)
		}
	})
}

// unit is the number of neighbours that a thread loads at once.
func (r *reduction) unit() int {
	if r.vec4 {
		return 4
	}
	return 1
}

// vectorsNeeded is the number of vectors that the threads of a row need, if it is known and the same for a
// workgroup; else nil.
func (q *rowPass) vectorsNeeded() *shader.Expr {
	most := q.lanes / q.unit()
	if !q.hold || q.group > 1 || !q.vec4 || len(q.reduced) != 1 || most == 1 {
		return nil
	}
	var n *shader.Expr
	for i, b := range boundsOf(q.within, q.k.Kernel, q.reduced[0]) {
		if b.last {
			last := q.p.root.Let(tag("last", i), q.p.extreme(&b.Bound, q.reduced[0], 1).Max(0).Convert(shader.U32))
			x := last.Div(q.unit() * q.along).Add(1)
			if n != nil {
				x = n.Min(x)
			}
			n = x
		}
	}
	if n == nil {
		return nil
	}
	return q.p.root.Let("vectors", n.Min(most))
}

// wholeRow computes the kernel for a row.
func (q *rowPass) wholeRow() {
	end := q.total(q.cols)
	first := number(end.Type, 0)
	var held *scope
	if q.hold && q.cols > 0 {
		held = q.root.beside("")
		var clamp *shader.Expr
		if q.along*q.lanes > q.cols {
			clamp = end
		}
		q.enterLanes(held, nil, clamp)
	}
	for level := 1; level <= q.levels; level++ {
		rs := q.reducers(level)
		switch {
		case q.cols == 0:
		case held != nil:
			q.accumulate(held, rs)
		default:
			q.chunks(q.root, first, end, q.cols, rs)
		}
		q.combine(q.root, rs)
		q.define(rs)
	}
	q.storeRows()
	if list := q.k.Stores(q.k.Roles(ir.Reduced), true); len(list) > 0 {
		switch {
		case q.cols == 0:
		case held != nil:
			held.storeEach(list)
		default:
			q.sweep(q.root, first, end, func(sc *scope) { sc.storeEach(list) })
		}
	}
}

// accumulate adds a scope's points to accumulators.
func (q *rowPass) accumulate(sc *scope, rs []reducer) {
	for _, r := range rs {
		if q.isMax(r) {
			now := q.raise(sc, rs, r, func() { sc.accumulate(r, q.lanes) })
			sc.values[r.instr] = value{now}
			continue
		}
		sc.accumulate(r, q.lanes)
	}
}

// combine combines the accumulators of the threads of a row.
func (q *rowPass) combine(sc *scope, rs []reducer) {
	reduce := func(rs []reducer) { sc.workgroupReduce(rs, q.t, q.along, q.stride()) }
	if i := slices.IndexFunc(rs, q.isMax); i >= 0 && q.along > 1 {
		q.raise(sc, rs, rs[i], func() { reduce(rs[i : i+1]) })
		rs = slices.Concat(rs[:i], rs[i+1:])
	}
	reduce(rs)
}

// reducers lists the reductions of a level, with new accumulators.
func (q *rowPass) reducers(level int) (rs []reducer) {
	for _, i := range q.k.Reductions(q.level, level) {
		r := q.reducer(i)
		r.acc = q.root.Var(fmt.Sprintf("r%d", i), r.start)
		rs = append(rs, r)
	}
	return rs
}

// define makes accumulators the values of their reductions.
func (q *rowPass) define(rs []reducer) {
	for _, r := range rs {
		q.root.values[r.instr] = q.root.let(r.instr, r.result(r.acc.Ref()))
	}
}

// storeRows executes the stores that do not vary over reduced axes.
func (q *rowPass) storeRows() {
	sc := q.root.beside("")
	if q.along > 1 {
		sc.valid = []value{{q.t.Eq(0)}}
	}
	sc.storeEach(q.k.Stores(q.k.Roles(ir.Reduced), false))
}

// enterLanes enters a thread's points from b on, or from the row's start if it is nil.
// Clamp is as in a span.
func (q *rowPass) enterLanes(sc *scope, b, clamp *shader.Expr) {
	w := span{axes: q.reduced, base: q.t, step: make([]int, q.lanes), fours: q.vec4, clamp: clamp}
	if q.vec4 {
		w.base = q.t.Mul(4)
	}
	if b != nil {
		w.base = b.Add(w.base.Convert(b.Type))
	}
	for l := range w.step {
		w.step[l] = l * q.along
		if q.vec4 {
			w.step[l] = l/4*4*q.along + l%4
		}
	}
	sc.enterValid(w)
	sc.restrict(q.within)
}

// sweep iterates over the points from lo to hi, parts of a row.
func (q *rowPass) sweep(sc *scope, lo, hi *shader.Expr, body func(sc *scope)) {
	step := q.along * q.lanes
	sc.steps("b", lo, hi, step, q.cols%step != 0, func(sc *scope, b, clamp *shader.Expr) {
		q.enterLanes(sc, b, clamp)
		body(sc)
	})
}

// sweepChunk is the number of steps of a sweep that are added to one accumulator. The
// sums of chunks are then added, so that rounding errors stay small.
const sweepChunk = 256

// chunks accumulates the points from lo to hi, at most n.
func (q *rowPass) chunks(sc *scope, lo, hi *shader.Expr, n int, rs []reducer) {
	chunk := sweepChunk * q.along * q.lanes
	if n <= 2*chunk {
		q.sweep(sc, lo, hi, func(sc *scope) { q.accumulate(sc, rs) })
		return
	}
	loop, first := sc.loop("first", lo, hi, chunk)
	parts := slices.Clone(rs)
	most := slices.IndexFunc(rs, q.isMax) // a maximum does not round, and has no parts
	var before *shader.Expr
	for i, r := range rs {
		if i == most {
			before = loop.Let("before", r.acc.Ref())
			continue
		}
		parts[i].acc = loop.Var("c"+r.acc.Name, r.start)
	}
	end := loop.Let("end", first.Add(chunk).Min(hi))
	q.sweep(loop, first, end, func(sc *scope) { q.accumulate(sc, parts) })
	if most >= 0 {
		q.rescale(loop, rs, before, rs[most].acc.Ref())
	}
	for i, r := range rs {
		if i != most {
			r.add(loop.Block, parts[i].acc.Ref())
		}
	}
	loop.end()
}
