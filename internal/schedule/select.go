package schedule

import (
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
)

// A selection finds the first places of segments of rows. Each thread of a workgroup
// finds the first of every so-many-th element. What is to be found is the places-th of
// these firsts or comes before it, and only the threads whose firsts do own any: few
// elements are read again, and sorted.
type selection struct {
	*sort
	from     candidates // what is read
	n        int        // elements of a row there
	each     int        // elements of a thread, at most
	segment  int        // elements of a segment
	segments int
}

// candidates are keys and positions in scratch. Of equal keys the first has the first
// position.
type candidates struct{ key, at int }

// operand stands for the elements of the operand.
var operand = candidates{-1, -1}

// sel selects the first places of each row, in rounds: of segments, of what they have
// left, and so on.
func (s *sort) sel() {
	r := &selection{sort: s, from: operand, n: s.cols}
	for {
		threads := s.t.threads()
		r.each = min(s.fit/s.places, loopnest.CeilDiv(r.n, threads))
		if few := 2 * s.t.busy() / max(1, s.rows*threads); few > 1 { // more workgroups
			r.each = min(r.each, max(8, loopnest.CeilDiv(r.n, few*threads)))
		}
		r.segment = r.each * threads
		r.segments = loopnest.CeilDiv(r.n, r.segment)
		to := operand
		if r.segments > 1 {
			n := s.rows * r.segments * s.places
			to = candidates{s.scratch(n), s.scratch(n)}
		}
		r.round(to)
		if r.segments == 1 {
			return
		}
		r.from, r.n = to, r.segments*s.places
	}
}

// read gives the key of an element of a row, which is within its bounds.
func (r *selection) read(sc *scope, row, at *shader.Expr) *shader.Expr {
	if r.from == operand {
		return r.element(sc, row, at)
	}
	return sc.loadAt(sc.p.words(r.from.key, shader.U32, false), row.Mul(r.n).Add(at), "key", false).Ref()
}

// round adds the pass that finds the first places of each segment.
func (r *selection) round(to candidates) {
	r.pass(r.t.threads(), func(p *pass) {
		root, threads, k := p.root, p.Threads, r.places
		p.groups = r.rows * r.segments
		job := p.job()
		row := root.Let("row", job.Div(r.segments))
		first := root.Let("start", job.Rem(r.segments).Mul(r.segment))
		end := root.Let("end", first.Add(r.segment).Min(r.n))
		size := ceilPow2(max(k*r.each, threads))
		x := p.pairs(size)

		best, found := root.Var("best", none), root.Var("found", none)
		loop, u := root.loop("u", first.Add(shader.ThreadID), end, threads)
		key := r.read(loop, row, u)
		better := loop.when(before(key, u, best.Ref(), found.Ref()))
		better.Set(best, key)
		better.Set(found, u)
		better.end()
		loop.end()
		x.put(root.Block, shader.ThreadID, best.Ref(), found.Ref())
		root.Barrier()
		x.sort(root, threads, threads)

		bound, place := root.Let("bound", x.key.At(u32(k-1))), root.Let("place", x.at.At(u32(k-1)))
		own := root.Let("own", x.at.At(shader.ThreadID)) // of the thread whose elements this one reads
		root.Barrier()
		fill, i := root.loop("i", shader.ThreadID, u32(size), threads)
		x.put(fill.Block, i, none, none)
		fill.end()
		root.Barrier()
		reads := root.when(shader.ThreadID.Lt(k).And(own.Ne(none)))
		next := reads.Var("to", shader.ThreadID.Mul(r.each))
		again, v := reads.loop("v", first.Add(own.Sub(first).Rem(threads)), end, threads)
		key = r.read(again, row, v)
		hit := again.when(before(bound, place, key, v).Not())
		x.put(hit.Block, next.Ref(), key, v)
		hit.Set(next, next.Ref().Add(1))
		hit.end()
		again.end()
		reads.end()
		root.Barrier()
		x.sort(root, size, size)
		r.store(p, x, row, job, to)
	})
}

// store writes the first pairs of a workgroup: to scratch, or their positions to the
// result.
func (r *selection) store(p *pass, x pairs, row, job *shader.Expr, to candidates) {
	loop, i := p.root.loop("i", shader.ThreadID, u32(r.places), p.Threads)
	at := loop.Var("at", x.at.At(i))
	if r.from != operand {
		in := loop.when(at.Ref().Ne(none))
		in.Set(at, in.loadAt(p.words(r.from.at, shader.U32, false), row.Mul(r.n).Add(at.Ref()), "position", false).Ref())
		in.end()
	}
	if to == operand {
		r.put(loop, row, i, at.Ref())
	} else {
		place := loop.Let("place", job.Mul(r.places).Add(i))
		loop.storeAt(p.words(to.key, shader.U32, true), place, x.key.At(i))
		loop.storeAt(p.words(to.at, shader.U32, true), place, at.Ref())
	}
	loop.end()
}
