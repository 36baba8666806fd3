package routines

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A scan combines the elements of each row with all before them. Threads go along columns,
// a row each, where rows lie side by side in memory or threads do not run at once.
// Elsewhere the threads of a workgroup, or of a part of one, share a row: each combines a
// few neighbours, then the totals of the threads before it. If there are too few rows for
// the device, they are cut into segments: one pass combines each segment, one scans the
// totals of the segments, and one scans the elements (reduce, then scan).
type scan struct {
	*build.Builder
	in       *ir.Instr
	operand  int // instruction
	parallel []int
	reduced  []int
	rows     int
	cols     int
	columns  bool // a thread has a row
	along    int  // threads of a row
	group    int  // rows of a workgroup
	lanes    int  // neighbours of a thread
	segments int
	segment  int // points in one
	totals   int // scratch
}

func addScan(c *build.Builder) {
	in := &c.Nest.Body[len(c.Nest.Body)-1]
	s := &scan{Builder: c, in: in, operand: in.Src[0], parallel: build.InMemory(c.Nest.List(ir.Parallel), in.View), reduced: c.Nest.List(ir.Reduced)}
	s.rows, s.cols = c.Nest.Size(s.parallel), c.Nest.Size(s.reduced)
	s.choose()
	if s.segments > 1 {
		s.totals = c.Scratch(s.rows*s.segments, shader.Register(in.Type))
		s.pass(false)
		scanWords(c, s.totals, s.segments, s.rows, in.Kind, in.Type)
	}
	s.pass(true)
	c.Report()
}

// scanLanes is the number of neighbours that a thread combines.
const scanLanes = 8

// choose cuts the work.
func (s *scan) choose() {
	coef := func(axes []int) int {
		if len(axes) == 0 {
			return s.cols + 1 // no row lies beside another
		}
		return build.Abs(s.in.View.Coef[axes[len(axes)-1]])
	}
	s.columns = !s.Target.Traits().Concurrent || coef(s.parallel) < coef(s.reduced) && s.rows >= s.Target.Threads() || s.cols <= 2*scanLanes
	s.lanes, s.along, s.group, s.segments, s.segment = 1, 1, s.Target.Threads(), 1, s.cols
	least := 256 // points of a segment
	if !s.columns {
		s.lanes = scanLanes
		s.along = min(s.Target.Threads(), build.CeilPow2(ir.CeilDiv(s.cols, s.lanes)))
		s.group = s.Target.Threads() / s.along
		least = 4 * s.along * s.lanes
	}
	// A segment is a whole number of steps.
	most := min(2*s.Target.Busy()/max(1, s.rows*s.along), s.Target.Threads()*scanLanes)
	if parts := min(most, s.cols/least); parts > 1 {
		step := s.along * s.lanes
		s.segment = ir.CeilDiv(ir.CeilDiv(s.cols, parts), step) * step
		s.segments = ir.CeilDiv(s.cols, s.segment)
	}
}

// combine combines two elements.
func (s *scan) combine(a, b *shader.Expr) *shader.Expr { return combine(s.in.Kind, s.in.Type, a, b) }

func combine(kind ir.Op, d ir.DType, a, b *shader.Expr) *shader.Expr {
	return build.Apply(kind, d, d, a, b)
}

// pass adds the pass that stores, or the one that combines each segment.
func (s *scan) pass(stores bool) {
	c := s.Builder
	c.AddPass(s.along*s.group, func(p *build.Pass) {
		all := s.rows * s.segments
		p.Workgroups = ir.CeilDiv(all, s.group)
		t := p.Root.Let("t", shader.ThreadID.Rem(s.along))
		rows := c.CountType(all)
		each := p.Root.Let("each", shader.GroupID.Convert(rows).Mul(s.group).Add(shader.ThreadID.Div(s.along).Convert(rows)))
		if all%s.group != 0 || p.Workgroups > c.Target.MaxGroups {
			p.Root.Valid = []build.Value{{each.Lt(all)}}
		}
		item := p.Root.Let("item", each.Min(all-1))
		segment := p.Root.Let("segment", item.Div(s.rows).Convert(shader.U32))
		row := p.Root.Let("row", item.Rem(s.rows))
		p.Root.Enter(build.Span{Axes: s.parallel, Base: row})
		start := build.Constant(s.in.Type, ir.Identity(s.in.Kind, s.in.Type))
		acc := p.Root.Var("acc", start)
		if stores && s.segments > 1 {
			before := p.Root.When(segment.Gt(0))
			x := before.LoadAt(p.Words(s.totals, acc.Type, false), s.Cell(s.rows, s.segments, row, segment).Sub(1), "before", false)
			before.Set(acc, x.Ref())
			before.End()
		}
		first := p.Root.Let("first", segment.Convert(c.CountType(s.cols)).Mul(s.segment))
		end := p.Root.Let("end", first.Add(s.segment).Min(s.cols))
		w := &scanPass{s, p, t, acc, start, stores}
		w.steps(first, end)
		if stores {
			return
		}
		threadsBefore(p.Root, acc, nil, t, s.along, s.combine)
		last := p.Root.Inner()
		if s.along > 1 {
			last.Valid = []build.Value{{t.Eq(0)}}
		}
		last.Under(last.Condition(0), func(sc *build.Scope) {
			sc.StoreAt(p.Words(s.totals, acc.Type, true), s.Cell(s.rows, s.segments, row, segment), acc.Ref())
		})
		last.End()
	})
}

// A scanPass is one of the passes of a scan under construction.
type scanPass struct {
	*scan
	p      *build.Pass
	t      *shader.Expr // the thread's number among the row's threads
	acc    *shader.Var  // of the row so far, or of the thread's elements
	start  *shader.Expr
	stores bool
}

// steps goes through the points from first to end. All threads of a workgroup take the
// same number of steps.
func (w *scanPass) steps(first, end *shader.Expr) {
	step := w.along * w.lanes
	if w.along == 1 {
		loop, u := w.p.Root.Loop("u", first, end, 1)
		loop.Enter(build.Span{Axes: w.reduced, Base: u})
		loop.Set(w.acc, w.combine(w.acc.Ref(), loop.Value(w.operand).Lane(0)))
		if w.stores {
			loop.StoreValue(w.in, build.Value{w.acc.Ref()})
		}
		loop.End()
		return
	}
	loop, n := w.p.Root.Loop("n", build.U32(0), build.U32(ir.CeilDiv(min(w.segment, w.cols), step)), 1)
	at := loop.Let("b", first.Add(n.Convert(first.Type).Mul(step)))
	span := build.Span{Axes: w.reduced, Base: at.Add(w.t.Mul(w.lanes).Convert(at.Type)), Step: build.Lanes(w.lanes)}
	span.Fours = w.Fours(w.reduced)
	partial := w.cols%w.segment != 0 || w.segment%step != 0
	if partial {
		span.Clamp = w.Total(w.cols)
	}
	loop.EnterValid(span)
	x := loop.Value(w.operand)
	local := make(build.Value, w.lanes)
	for l := range local {
		e := x.Lane(l)
		if partial {
			e = span.At(l).Lt(end).If(e, w.start)
		}
		if l > 0 {
			e = w.combine(local[l-1], e)
		}
		local[l] = loop.Let(loop.NameOf(len(w.Nest.Body)-1, l, w.lanes), e)
	}
	sum := local[w.lanes-1]
	if !w.stores {
		loop.Set(w.acc, w.combine(w.acc.Ref(), sum))
		loop.End()
		return
	}
	total, before := loop.Var("total", sum), loop.Var("before", w.start)
	threadsBefore(loop, total, before, w.t, w.along, w.combine)
	base := loop.Let("base", w.combine(w.acc.Ref(), before.Ref()))
	for l := range local {
		local[l] = w.combine(base, local[l])
	}
	loop.StoreValue(w.in, local)
	loop.Set(w.acc, w.combine(w.acc.Ref(), total.Ref()))
	loop.End()
}

// threadsBefore combines the totals of along neighbouring threads; t is a thread's number
// among them. If before is not nil it starts as the identity, and becomes the combined
// total of the threads before this one. In each round two threads whose numbers differ in
// one bit exchange totals, and have then combined twice as many threads.
func threadsBefore(sc *build.Scope, total, before *shader.Var, t *shader.Expr, along int, combine func(a, b *shader.Expr) *shader.Expr) {
	p, sub := sc.Pass, sc.Pass.Target.Subgroup()
	var shared *shader.Shared
	for mask := 1; mask < along; mask *= 2 {
		var other *shader.Expr
		if mask < sub && sub <= p.Threads {
			p.Subgroup = sub
			other = sc.Let(unique(sc, "other"), total.Ref().Shuffle(mask))
		} else {
			if shared == nil {
				shared = exchange(p, total.Type)
			}
			sc.Barrier() // all threads have read the memory
			sc.Put(shared, shader.ThreadID, total.Ref())
			sc.Barrier()
			other = sc.Let(unique(sc, "other"), shared.At(shader.ThreadID.Xor(mask)))
		}
		if before != nil {
			sc.Set(before, t.And(mask).Ne(0).If(combine(other, before.Ref()), before.Ref()))
		}
		sc.Set(total, combine(total.Ref(), other))
	}
}

// unique makes a name that the scope's block does not use yet.
func unique(sc *build.Scope, name string) string { return fmt.Sprintf("%s%d", name, len(sc.Stmts)) }

// exchange is memory that a workgroup shares, for a register of each thread.
func exchange(p *build.Pass, t shader.Type) *shader.Shared {
	if len(p.SharedPool[t]) == 0 {
		p.SharedPool[t] = append(p.SharedPool[t], p.Share(t, p.Threads))
	}
	return p.SharedPool[t][0]
}

// scanWords adds the passes that scan rows of n words of scratch in place: one pass with a
// workgroup for each row or, for long rows, the passes of a scan that is cut into
// segments.
func scanWords(c *build.Builder, scratch, n, rows int, kind ir.Op, d ir.DType) {
	w := &wordScan{Builder: c, kind: kind, typ: d, n: n, rows: rows, segment: n, segments: 1}
	if longest := 16 * 2 * scanLanes * c.Target.Threads(); n > longest && c.Target.Traits().Concurrent {
		w.segment = longest / 4
		w.segments = ir.CeilDiv(n, w.segment)
		w.totals = c.Scratch(rows*w.segments, shader.Register(d))
		w.pass(scratch, false)
		scanWords(c, w.totals, w.segments, rows, kind, d)
	}
	w.pass(scratch, true)
}

// A wordScan scans rows of words.
type wordScan struct {
	*build.Builder
	kind              ir.Op
	typ               ir.DType
	n, rows           int
	segment, segments int // words in one, and of a row
	totals            int // scratch, if there are several
}

// pass adds a pass that scans each segment, or combines it for totals.
func (w *wordScan) pass(scratch int, scans bool) {
	threads := build.FloorPow2(min(w.Target.Threads(), max(1, w.segment/2)))
	if !w.Target.Traits().Concurrent {
		threads = 1
	}
	lanes := min(ir.CeilDiv(w.segment, threads), 2*scanLanes)
	combine := func(a, b *shader.Expr) *shader.Expr { return combine(w.kind, w.typ, a, b) }
	w.Builder.AddPass(threads, func(p *build.Pass) {
		p.Workgroups = w.rows * w.segments
		job := p.Job()
		row, segment := job, build.U32(0)
		if w.segments > 1 {
			row, segment = p.Root.Let("row", job.Div(w.segments)), p.Root.Let("segment", job.Rem(w.segments))
		}
		start := build.Constant(w.typ, ir.Identity(w.kind, w.typ))
		acc := p.Root.Var("acc", start)
		if scans && w.segments > 1 {
			in := p.Root.When(segment.Gt(0))
			in.Set(acc, in.LoadAt(p.Words(w.totals, start.Type, false), job.Sub(1), "earlier", false).Ref())
			in.End()
		}
		end := build.U32(w.n)
		if w.segments > 1 {
			end = p.Root.Let("end", segment.Add(1).Mul(w.segment).Min(w.n))
		}
		loop, b := p.Root.Loop("b", segment.Mul(w.segment), end, threads*lanes)
		words := p.Words(scratch, start.Type, scans)
		first := loop.Let("first", b.Add(shader.ThreadID.Mul(lanes)))
		local := make(build.Value, lanes)
		for l := range local {
			x := loop.Var(fmt.Sprintf("x%d", l), start)
			in := loop.When(first.Plus(l).Lt(end))
			in.Set(x, in.LoadAt(words, w.Cell(w.rows, w.n, row, first.Plus(l)), "y", false).Ref())
			in.End()
			local[l] = x.Ref()
			if l > 0 {
				local[l] = loop.Let(fmt.Sprintf("z%d", l), combine(local[l-1], local[l]))
			}
		}
		total := loop.Var("total", local[lanes-1])
		if !scans {
			threadsBefore(loop, total, nil, shader.ThreadID, threads, combine)
			loop.Set(acc, combine(acc.Ref(), total.Ref()))
			loop.End()
			last := p.Root.When(shader.ThreadID.Eq(0))
			last.StoreAt(p.Words(w.totals, start.Type, true), job, acc.Ref())
			last.End()
			return
		}
		before := loop.Var("before", start)
		threadsBefore(loop, total, before, shader.ThreadID, threads, combine)
		base := loop.Let("base", combine(acc.Ref(), before.Ref()))
		for l, x := range local {
			in := loop.When(first.Plus(l).Lt(end))
			in.StoreAt(words, w.Cell(w.rows, w.n, row, first.Plus(l)), combine(base, x))
			in.End()
		}
		loop.Set(acc, combine(acc.Ref(), total.Ref()))
		loop.End()
	})
}
