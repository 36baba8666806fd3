package schedule

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A rowPass is a pass in which threads share rows.
type rowPass struct {
	*reduction
	p       *pass
	t       *shader.Expr // the thread's number among those of the row
	row     *shader.Expr
	segment *shader.Expr
}

// rowPass adds a pass with workgroups for all rows, or segments of them.
func (r *reduction) rowPass(reduced func(sc *scope, i int), build func(p *rowPass)) {
	r.pass(r.along*r.group, func(p *pass) {
		p.reduced = reduced
		q := &rowPass{reduction: r, p: p}
		own, stride := shader.ThreadID.Div(r.along), r.stride()
		if r.across {
			own = shader.ThreadID.Rem(r.group)
		}
		q.t = p.root.Let("t", shader.ThreadID.Div(stride).Rem(r.along))
		tiles := loopnest.CeilDiv(r.rows, r.group)
		p.groups = tiles * r.segments
		tile := shader.GroupID
		if r.segments > 1 || r.separate {
			q.segment = p.root.Let("segment", tile.Div(tiles))
			tile = tile.Rem(tiles)
		}
		each := p.root.Let("each", tile.Mul(r.group).Add(own))
		q.row = p.root.Let("row", each.Min(r.rows-1))
		if r.rows%r.group != 0 {
			p.root.valid = []value{{each.Lt(r.rows)}}
		}
		p.root.enter(span{axes: r.parallel, base: q.row})
		build(q)
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
		root := q.p.root
		first, end, partial := u32(0), u32(r.cols), r.cols%(r.along*r.lanes) != 0
		var held *scope
		if r.hold && r.cols > 0 {
			held = root.beside("")
			q.enterLanes(held, nil, end, partial)
		}
		for level := 1; level <= r.levels; level++ {
			rs, accs := q.accumulators(level)
			switch {
			case r.cols == 0:
			case held != nil:
				q.accumulate(held, rs, accs)
			default:
				q.chunks(root, first, end, r.cols, partial, rs, accs)
			}
			root.workgroupReduce(rs, accs, q.t, r.along, r.stride())
			q.define(rs, accs)
		}
		q.storeRows()
		if list := r.k.Stores(r.k.Roles(ir.Reduced), true); len(list) > 0 {
			store := func(sc *scope) {
				for _, i := range list {
					sc.store(i)
				}
			}
			switch {
			case r.cols == 0:
			case held != nil:
				store(held)
			default:
				q.sweep(root, first, end, partial, store)
			}
		}
	})
}

// accumulate adds a scope's points to accumulators.
func (q *rowPass) accumulate(sc *scope, rs []reducer, accs []*shader.Var) {
	for n := range rs {
		sc.accumulate(&rs[n], accs[n], q.lanes)
	}
}

func (q *rowPass) accumulators(level int) (rs []reducer, accs []*shader.Var) {
	for _, i := range q.k.Reductions(q.level, level) {
		r := q.reducer(i)
		rs, accs = append(rs, r), append(accs, q.p.root.Var(fmt.Sprintf("r%d", i), r.start))
	}
	return rs, accs
}

// define makes accumulators the values of their reductions.
func (q *rowPass) define(rs []reducer, accs []*shader.Var) {
	root := q.p.root
	for n, r := range rs {
		root.values[r.instr] = root.let(r.instr, r.result(accs[n].Ref()))
	}
}

// storeRows executes the stores that do not vary over reduced axes.
func (q *rowPass) storeRows() {
	sc := q.p.root.beside("")
	if q.along > 1 {
		sc.valid = []value{{q.t.Eq(0)}}
	}
	for _, i := range q.k.Stores(q.k.Roles(ir.Reduced), false) {
		sc.store(i)
	}
}

// enterLanes enters a thread's points from b on, or from the row's start if it
// is nil; with partial, some may be past hi.
func (q *rowPass) enterLanes(sc *scope, b, hi *shader.Expr, partial bool) {
	w := span{axes: q.reduced, base: q.t, step: make([]int, q.lanes), fours: q.vec4}
	if q.vec4 {
		w.base = q.t.Mul(4)
	}
	if b != nil {
		w.base = b.Add(w.base)
	}
	for l := range w.step {
		w.step[l] = l * q.along
		if q.vec4 {
			w.step[l] = l/4*4*q.along + l%4
		}
	}
	if partial {
		w.clamp = hi
	}
	sc.enterValid(w)
}

// sweep iterates over the points from lo to hi. With partial, the last step may go
// past hi.
func (q *rowPass) sweep(sc *scope, lo, hi *shader.Expr, partial bool, body func(sc *scope)) {
	step := q.along * q.lanes
	outer := sc.block()
	at := outer.Var("b", lo)
	b := at.Ref()
	loop := outer.block()
	loop.head = &shader.For{Var: at, Cond: b.Add(step).Le(hi), Next: b.Add(step), Body: loop.Block}
	q.enterLanes(loop, b, hi, false)
	body(loop)
	loop.end()
	if partial {
		tail := outer.when(b.Lt(hi))
		q.enterLanes(tail, b, hi, true)
		body(tail)
		tail.end()
	}
	outer.end()
}

// sweepChunk is the number of steps of a sweep that are added to one accumulator. The
// sums of chunks are then added, so that rounding errors stay small.
const sweepChunk = 256

// chunks accumulates the points from lo to hi, at most n.
func (q *rowPass) chunks(sc *scope, lo, hi *shader.Expr, n int, partial bool, rs []reducer, accs []*shader.Var) {
	chunk := sweepChunk * q.along * q.lanes
	if n <= 2*chunk {
		q.sweep(sc, lo, hi, partial, func(sc *scope) { q.accumulate(sc, rs, accs) })
		return
	}
	loop, first := sc.loop("first", lo, hi, chunk)
	parts := make([]*shader.Var, len(rs))
	for i, r := range rs {
		parts[i] = loop.Var("c"+accs[i].Name, r.start)
	}
	end := loop.Let("end", first.Add(chunk).Min(hi))
	q.sweep(loop, first, end, partial, func(sc *scope) { q.accumulate(sc, rs, parts) })
	for i, r := range rs {
		loop.Set(accs[i], r.combine(accs[i].Ref(), parts[i].Ref()))
	}
	loop.end()
}
