package routines

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A selection finds the first elements, in sorted order, of each segment of a row: as many
// as the sort has places. A workgroup deals the elements of a segment out to its threads
// in turn, and each thread finds its least one. The places-th of these is a bound: no
// element after it is wanted. So only the threads whose least element is within the bound
// read theirs again, and the few elements within it are sorted.
type selection struct {
	*sort
	from     candidates // the elements to read
	n        int        // elements of a row there
	each     int        // elements of a thread, at most
	segment  int        // elements of a segment
	segments int
}

// candidates are keys and positions in scratch. Equal keys are in the order of their
// positions.
type candidates struct{ key, at int }

// operand stands for the elements of the operand, which are not in scratch.
var operand = candidates{-1, -1}

// sel selects the first places of each row in rounds: of the elements of each segment,
// then of the candidates that these leave, and so on.
func (s *sort) sel() {
	r := &selection{sort: s, from: operand, n: s.cols}
	for {
		threads := s.Target.Threads()
		r.each = min(s.fit/s.places, ir.CeilDiv(r.n, threads))
		if few := 2 * s.Target.Busy() / max(1, s.rows*threads); few > 1 { // more workgroups
			r.each = min(r.each, max(2*selectAhead, ir.CeilDiv(r.n, few*threads)))
		}
		r.segment = r.each * threads
		r.segments = ir.CeilDiv(r.n, r.segment)
		to := operand
		if r.segments > 1 {
			n := s.rows * r.segments * s.places
			to = s.candidates(n)
		}
		r.round(to)
		if r.segments == 1 {
			return
		}
		r.from, r.n = to, r.segments*s.places
	}
}

// selectAhead is the number of elements that a thread reads at once, to hide the latency
// of memory.
const selectAhead = 4

// elements goes through the elements of one thread in a row, from first to below end in
// steps of the number of threads. do gets the scope of an element, its key and its place.
func (r *selection) elements(sc *build.Scope, row, first, end *shader.Expr, do func(sc *build.Scope, key, at *shader.Expr)) {
	threads := sc.Pass.Threads
	loop, u := sc.Loop("u", first, end, selectAhead*threads)
	var keys, at []*shader.Expr
	for l := range selectAhead {
		at = append(at, loop.Let(fmt.Sprintf("at%d", l), u.Plus(l*threads)))
		in := loop.Beside(fmt.Sprintf("_%d", l))
		inside := loop.Let(fmt.Sprintf("in%d", l), at[l].Min(end.Sub(1)))
		var key *shader.Expr
		if r.from == operand {
			in.Enter(build.Span{Axes: r.reduced, Base: inside})
			key = r.key(in.Value(r.sort.operand).Lane(0))
		} else {
			keys := sc.Pass.Words(r.from.key, r.keyType(), false)
			key = in.LoadAt(keys, r.Cell(r.rows, r.n, row, inside), fmt.Sprintf("x%d", l), false).Ref()
		}
		keys = append(keys, loop.Let(fmt.Sprintf("key%d", l), key))
	}
	for l, key := range keys {
		in := loop.When(at[l].Lt(end))
		do(in, key, at[l])
		in.End()
	}
	loop.End()
}

// round adds the pass that finds the first places of each segment.
func (r *selection) round(to candidates) {
	r.AddPass(r.Target.Threads(), func(p *build.Pass) {
		root, threads, k := p.Root, p.Threads, r.places
		p.Workgroups = r.rows * r.segments
		job := p.Job()
		row := root.Let("row", job.Div(r.segments))
		first := root.Let("start", job.Rem(r.segments).Mul(r.segment))
		end := root.Let("end", first.Add(r.segment).Min(r.n))
		size := build.CeilPow2(max(k*r.each, threads))
		x := newPairs(p, size, r.keyType())

		best, found := root.Var("best", none(r.keyType())), root.Var("found", none(shader.U32))
		root.Enter(build.Span{Axes: r.parallel, Base: row})
		r.elements(root, row, first.Add(shader.ThreadID), end, func(sc *build.Scope, key, at *shader.Expr) {
			better := sc.When(before(key, at, best.Ref(), found.Ref()))
			better.Set(best, key)
			better.Set(found, at)
			better.End()
		})
		x.put(root.Block, shader.ThreadID, best.Ref(), found.Ref())
		root.Barrier()
		x.sort(root, threads, threads)

		bound, place := root.Let("bound", x.key.At(build.U32(k-1))), root.Let("place", x.at.At(build.U32(k-1)))
		own := root.Let("own", x.at.At(shader.ThreadID)) // of the thread whose elements this one reads
		root.Barrier()
		fill, i := root.Loop("i", shader.ThreadID, build.U32(size), threads)
		x.put(fill.Block, i, none(r.keyType()), none(shader.U32))
		fill.End()
		root.Barrier()
		reads := root.When(shader.ThreadID.Lt(k).And(own.Ne(none(shader.U32))))
		next := reads.Var("to", shader.ThreadID.Mul(r.each))
		r.elements(reads, row, first.Add(own.Sub(first).Rem(threads)), end, func(sc *build.Scope, key, at *shader.Expr) {
			hit := sc.When(before(bound, place, key, at).Not())
			x.put(hit.Block, next.Ref(), key, at)
			hit.Set(next, next.Ref().Add(1))
			hit.End()
		})
		reads.End()
		root.Barrier()
		x.sort(root, size, size)
		r.store(p, x, row, job, to)
	})
}

// store writes the first pairs of a workgroup: to scratch, or their positions to the
// result.
func (r *selection) store(p *build.Pass, x pairs, row, job *shader.Expr, to candidates) {
	loop, i := p.Root.Loop("i", shader.ThreadID, build.U32(r.places), p.Threads)
	at := loop.Var("at", x.at.At(i))
	if r.from != operand {
		in := loop.When(at.Ref().Ne(none(shader.U32)))
		in.Set(at, in.LoadAt(p.Words(r.from.at, shader.U32, false), r.Cell(r.rows, r.n, row, at.Ref()), "position", false).Ref())
		in.End()
	}
	if to == operand {
		r.put(loop, i, at.Ref())
	} else {
		place := loop.Let("place", r.Cell(r.rows*r.segments, r.places, job, i))
		loop.StoreAt(p.Words(to.key, r.keyType(), true), place, x.key.At(i))
		loop.StoreAt(p.Words(to.at, shader.U32, true), place, at.Ref())
	}
	loop.End()
}
