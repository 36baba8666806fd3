package reduce

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A rowPass is a pass in which threads share rows.
type rowPass struct {
	*reduction
	p       *build.Pass
	t       *shader.Expr // the thread's number among the row's threads
	row     *shader.Expr
	root    *build.Scope // knows the row
	segment *shader.Expr
	vectors []build.SharedVector
}

// rowPass adds a pass with workgroups for all rows, or segments of them.
func (r *reduction) rowPass(reduced func(sc *build.Scope, i int), body func(p *rowPass)) {
	r.AddPass(r.along*r.group, func(p *build.Pass) {
		p.Reduced = reduced
		q := &rowPass{reduction: r, p: p, root: p.Root}
		own, stride := shader.ThreadID.Div(r.along), r.stride()
		if r.across {
			own = shader.ThreadID.Rem(r.group)
		}
		q.t = p.Root.Let("t", shader.ThreadID.Div(stride).Rem(r.along))
		tiles := ir.CeilDiv(r.rows, r.group)
		p.Workgroups = tiles * r.segments
		tile := shader.GroupID
		if r.segments > 1 || r.separate {
			q.segment = p.Root.Let("segment", tile.Div(tiles))
			tile = tile.Rem(tiles)
		}
		rows := p.CountType(r.rows)
		each := tile.Convert(rows)
		if r.group > 1 {
			each = each.Mul(r.group).Add(own.Convert(rows))
		}
		each = p.Root.Let("each", each)
		q.row = p.Root.Let("row", each.Min(r.rows-1))
		grid := p.Fold(p.Workgroups) // workgroups that fill it up do not replace a row again
		if r.rows%r.group != 0 || p.Replaces() && grid[0]*grid[1] > p.Workgroups {
			p.Root.Valid = []build.Value{{each.Lt(r.rows)}}
		}
		p.Root.Enter(build.Span{Axes: r.parallel, Base: q.row})
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
			in.reduction, in.root = &some, q.p.Root.When(vectors.Eq(n/q.unit()))
			in.wholeRow()
			in.root.End()
			clear(q.p.InUse)
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

// neighbours is the number of neighbours among a thread's points.
func (r *reduction) neighbours() int {
	if r.vec8 {
		return 8
	}
	return r.unit()
}

// vectorsNeeded is the number of vectors that the threads of a row need, if it is known and the same for a
// workgroup; else nil.
func (q *rowPass) vectorsNeeded() *shader.Expr {
	most := q.lanes / q.unit()
	if !q.hold || q.group > 1 || !q.vec4 || len(q.reduced) != 1 || most == 1 {
		return nil
	}
	var n *shader.Expr
	for i, b := range build.BoundsOf(q.within, q.Nest.Kernel, q.reduced[0]) {
		if b.Last {
			last := q.p.Root.Let(build.Tag("last", i), q.p.Extreme(&b.Bound, q.reduced[0], 1).Max(0).Convert(shader.U32))
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
	return q.p.Root.Let("vectors", n.Min(most))
}

// wholeRow computes the kernel for a row.
func (q *rowPass) wholeRow() {
	end := q.Total(q.cols)
	first := build.Number(end.Type, 0)
	var held *build.Scope
	if q.hold && q.cols > 0 {
		held = q.root.Beside("")
		var clamp *shader.Expr
		if q.along*q.lanes > q.cols {
			clamp = end
		}
		q.enterLanes(held, nil, clamp)
		if clamp == nil {
			q.loadAhead(held)
		}
		q.loadEach(held)
	}
	for level := 1; level <= q.levels; level++ {
		rs := q.reducers(level)
		switch {
		case q.cols == 0:
		case held != nil:
			q.accumulate(held, rs)
		default:
			q.chunks(q.root, q.beginStream(first, rs), end, q.cols, rs)
		}
		q.combine(q.root, rs)
		q.define(rs)
	}
	q.storeRows()
	if list := q.Nest.Stores(q.Nest.Roles(ir.Reduced), true); len(list) > 0 {
		switch {
		case q.cols == 0:
		case held != nil:
			held.StoreEach(list)
		default:
			q.sweep(q.root, first, end, func(sc *build.Scope) { sc.StoreEach(list) })
		}
	}
}

// beginStream adds the first points of streamed rows to accumulators, and returns where the rest begins. It loads
// elements of matrices while the kernels before end, and computes reductions that all rows share.
func (q *rowPass) beginStream(first *shader.Expr, rs []build.Reducer) *shader.Expr {
	step, in, ahead := q.along*q.lanes, q.root.Beside("_a"), false
	shared := q.beginShared()
	if q.streams() && q.cols >= step {
		q.enterLanes(in, first, nil)
		ahead = q.loadAhead(in)
	}
	shared()
	if !ahead {
		return first
	}
	in.ReadVectors(q.vectors, q.reduced)
	q.accumulate(in, rs)
	return build.Number(first.Type, step)
}

// beginShared begins the reductions that all rows share, and returns a function that completes them. Rows that stream read
// vectors that depend on them from shared memory.
func (q *rowPass) beginShared() (complete func()) {
	if q.shared == 0 {
		return func() {}
	}
	v := q.p.Vector(q.reduced)
	v.LoadAhead(q.shared)
	return func() {
		if v.Reduce(q.shared); q.vec4 {
			q.vectors = v.Share(q.reduced)
		}
	}
}

// loadAhead loads elements of matrices of a thread's points while the kernels before end, if all are loaded at once and
// without branches. Those write the matrices' other factors, at the earliest.
func (q *rowPass) loadAhead(sc *build.Scope) bool {
	isBranch := func(in ir.Instr) bool { return in.UsesIndex() || in.Op == ir.Load && len(in.View.Guards) > 0 }
	isVector := func(in ir.Instr) bool { return in.Op == ir.Load && in.Domain == ir.Axes(q.reduced...) }
	switch body := q.Nest.Body; {
	case !q.Target.Matrices || len(q.parallel) == 0 || q.rows < q.Target.Units:
		return false
	case q.segments > 1 || q.separate || q.root != q.p.Root || q.visits() > 1 && !q.hold:
		return false
	case q.matrices()*q.lanes > registers || slices.ContainsFunc(body, isBranch) || !slices.ContainsFunc(body, isVector):
		return false
	}
	for i := range q.Nest.Body {
		if q.isMatrix(i) {
			sc.Value(i)
		}
	}
	q.p.AwaitOthers()
	return true
}

// loadEach loads all operands of a thread's points, where threads are few and no others run while these wait: a load
// behind a reduction would begin after it.
func (q *rowPass) loadEach(sc *build.Scope) {
	if q.rows*q.along > q.Target.Busy() {
		return
	}
	for i := range q.Nest.Body {
		if in := &q.Nest.Body[i]; in.Op == ir.Load && len(in.Src) == 0 {
			sc.Value(i)
		}
	}
}

// accumulate adds a scope's points to accumulators.
func (q *rowPass) accumulate(sc *build.Scope, rs []build.Reducer) {
	for _, r := range rs {
		if q.isMax(r) {
			now := q.raise(sc, rs, r, func() { sc.Accumulate(r, q.lanes) })
			sc.Values[r.Instr] = build.Value{now}
			continue
		}
		sc.Accumulate(r, q.lanes)
	}
}

// combine combines the accumulators of the threads of a row.
func (q *rowPass) combine(sc *build.Scope, rs []build.Reducer) {
	reduce := func(rs []build.Reducer) { sc.WorkgroupReduce(rs, q.t, q.along, q.stride()) }
	if i := slices.IndexFunc(rs, q.isMax); i >= 0 && q.along > 1 {
		q.raise(sc, rs, rs[i], func() { reduce(rs[i : i+1]) })
		rs = slices.Concat(rs[:i], rs[i+1:])
	}
	reduce(rs)
}

// reducers lists the reductions of a level, with new accumulators.
func (q *rowPass) reducers(level int) (rs []build.Reducer) {
	for _, i := range q.Nest.Reductions(q.level, level) {
		r := q.Reducer(i)
		r.Acc = q.root.Var(fmt.Sprintf("r%d", i), r.Start)
		rs = append(rs, r)
	}
	return rs
}

// define makes accumulators the values of their reductions.
func (q *rowPass) define(rs []build.Reducer) {
	for _, r := range rs {
		q.root.Values[r.Instr] = q.root.Define(r.Instr, r.Result(r.Acc.Ref()))
	}
}

// storeRows executes the stores that do not vary over reduced axes.
func (q *rowPass) storeRows() {
	sc := q.root.Beside("")
	if q.along > 1 {
		sc.Valid = []build.Value{{q.t.Eq(0)}}
	}
	sc.StoreEach(q.Nest.Stores(q.Nest.Roles(ir.Reduced), false))
}

// enterLanes enters a thread's points from b on, or from the row's start if it is nil.
// Clamp is as in a span.
func (q *rowPass) enterLanes(sc *build.Scope, b, clamp *shader.Expr) {
	w := build.Span{Axes: q.reduced, Base: q.t, Step: make([]int, q.lanes), Fours: q.vec4, Eights: q.vec8, Clamp: clamp}
	near := q.neighbours()
	if near > 1 {
		w.Base = q.t.Mul(near)
	}
	if b != nil {
		w.Base = b.Add(w.Base.Convert(b.Type))
	}
	for l := range w.Step {
		w.Step[l] = l/near*near*q.along + l%near
	}
	sc.EnterValid(w)
	sc.Restrict(q.within)
	sc.ReadVectors(q.vectors, q.reduced)
}

// sweep iterates over the points from lo to hi, parts of a row.
func (q *rowPass) sweep(sc *build.Scope, lo, hi *shader.Expr, body func(sc *build.Scope)) {
	step := q.along * q.lanes
	sc.Steps("b", lo, hi, step, q.cols%step != 0, func(sc *build.Scope, b, clamp *shader.Expr) {
		q.enterLanes(sc, b, clamp)
		body(sc)
	})
}

// sweepChunk is the number of steps of a sweep that are added to one accumulator. The
// sums of chunks are then added, so that rounding errors stay small.
const sweepChunk = 256

// chunks accumulates the points from lo to hi, at most n.
func (q *rowPass) chunks(sc *build.Scope, lo, hi *shader.Expr, n int, rs []build.Reducer) {
	chunk := sweepChunk * q.along * q.lanes
	if n <= 2*chunk {
		q.sweep(sc, lo, hi, func(sc *build.Scope) { q.accumulate(sc, rs) })
		return
	}
	loop, first := sc.Loop("first", lo, hi, chunk)
	parts := slices.Clone(rs)
	most := slices.IndexFunc(rs, q.isMax) // a maximum does not round, and has no parts
	var before *shader.Expr
	for i, r := range rs {
		if i == most {
			before = loop.Let("before", r.Acc.Ref())
			continue
		}
		parts[i].Acc = loop.Var("c"+r.Acc.Name, r.Start)
	}
	end := loop.Let("end", first.Add(chunk).Min(hi))
	q.sweep(loop, first, end, func(sc *build.Scope) { q.accumulate(sc, parts) })
	if most >= 0 {
		q.rescale(loop, rs, before, rs[most].Acc.Ref())
	}
	for i, r := range rs {
		if i != most {
			r.Add(loop.Block, parts[i].Acc.Ref())
		}
	}
	loop.End()
}
