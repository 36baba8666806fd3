package schedule

import (
	"fmt"

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
	*compiler
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

func (c *compiler) scan() {
	in := &c.k.Body[len(c.k.Body)-1]
	s := &scan{compiler: c, in: in, operand: in.Src[0], parallel: inMemory(c.k.List(ir.Parallel), in.View), reduced: c.k.List(ir.Reduced)}
	s.rows, s.cols = c.k.Size(s.parallel), c.k.Size(s.reduced)
	s.choose()
	if s.segments > 1 {
		s.totals = c.scratch(s.rows*s.segments, shader.Register(in.Type))
		s.pass(false)
		c.scanWords(s.totals, s.segments, s.rows, in.Kind, in.Type)
	}
	s.pass(true)
	c.report()
}

// scanLanes is the number of neighbours that a thread combines.
const scanLanes = 8

// choose cuts the work.
func (s *scan) choose() {
	coef := func(axes []int) int {
		if len(axes) == 0 {
			return s.cols + 1 // no row lies beside another
		}
		return abs(s.in.View.Coef[axes[len(axes)-1]])
	}
	s.columns = !s.t.traits().concurrent || coef(s.parallel) < coef(s.reduced) && s.rows >= s.t.threads() || s.cols <= 2*scanLanes
	s.lanes, s.along, s.group, s.segments, s.segment = 1, 1, s.t.threads(), 1, s.cols
	least := 256 // points of a segment
	if !s.columns {
		s.lanes = scanLanes
		s.along = min(s.t.threads(), ceilPow2(ir.CeilDiv(s.cols, s.lanes)))
		s.group = s.t.threads() / s.along
		least = 4 * s.along * s.lanes
	}
	// A segment is a whole number of steps.
	most := min(2*s.t.busy()/max(1, s.rows*s.along), s.t.threads()*scanLanes)
	if parts := min(most, s.cols/least); parts > 1 {
		step := s.along * s.lanes
		s.segment = ir.CeilDiv(ir.CeilDiv(s.cols, parts), step) * step
		s.segments = ir.CeilDiv(s.cols, s.segment)
	}
}

// combine combines two elements.
func (s *scan) combine(a, b *shader.Expr) *shader.Expr { return combine(s.in.Kind, s.in.Type, a, b) }

func combine(kind ir.Op, d ir.DType, a, b *shader.Expr) *shader.Expr {
	return apply(kind, d, d, a, b)
}

// pass adds the pass that stores, or the one that combines each segment.
func (s *scan) pass(stores bool) {
	c := s.compiler
	c.pass(s.along*s.group, func(p *pass) {
		all := s.rows * s.segments
		p.groups = ir.CeilDiv(all, s.group)
		t := p.root.Let("t", shader.ThreadID.Rem(s.along))
		rows := c.countType(all)
		each := p.root.Let("each", shader.GroupID.Convert(rows).Mul(s.group).Add(shader.ThreadID.Div(s.along).Convert(rows)))
		if all%s.group != 0 || p.groups > c.t.MaxGroups {
			p.root.valid = []value{{each.Lt(all)}}
		}
		item := p.root.Let("item", each.Min(all-1))
		segment := p.root.Let("segment", item.Div(s.rows).Convert(shader.U32))
		row := p.root.Let("row", item.Rem(s.rows))
		p.root.enter(span{axes: s.parallel, base: row})
		start := constant(s.in.Type, ir.Identity(s.in.Kind, s.in.Type))
		acc := p.root.Var("acc", start)
		if stores && s.segments > 1 {
			before := p.root.when(segment.Gt(0))
			x := before.loadAt(p.words(s.totals, acc.Type, false), s.cell(s.rows, s.segments, row, segment).Sub(1), "before", false)
			before.Set(acc, x.Ref())
			before.end()
		}
		first := p.root.Let("first", segment.Convert(c.countType(s.cols)).Mul(s.segment))
		end := p.root.Let("end", first.Add(s.segment).Min(s.cols))
		w := &scanPass{s, p, t, acc, start, stores}
		w.steps(first, end)
		if stores {
			return
		}
		p.root.threadsBefore(acc, nil, t, s.along, s.combine)
		last := p.root.block()
		if s.along > 1 {
			last.valid = []value{{t.Eq(0)}}
		}
		last.under(last.condition(0), func(sc *scope) {
			sc.storeAt(p.words(s.totals, acc.Type, true), s.cell(s.rows, s.segments, row, segment), acc.Ref())
		})
		last.end()
	})
}

// A scanPass is one of the passes of a scan under construction.
type scanPass struct {
	*scan
	p      *pass
	t      *shader.Expr // the thread's number among those of the row
	acc    *shader.Var  // of the row so far, or of the thread's elements
	start  *shader.Expr
	stores bool
}

// steps goes through the points from first to end. All threads of a workgroup take the
// same number of steps.
func (w *scanPass) steps(first, end *shader.Expr) {
	step := w.along * w.lanes
	if w.along == 1 {
		loop, u := w.p.root.loop("u", first, end, 1)
		loop.enter(span{axes: w.reduced, base: u})
		loop.Set(w.acc, w.combine(w.acc.Ref(), loop.value(w.operand).lane(0)))
		if w.stores {
			loop.storeValue(w.in, value{w.acc.Ref()})
		}
		loop.end()
		return
	}
	loop, n := w.p.root.loop("n", u32(0), u32(ir.CeilDiv(min(w.segment, w.cols), step)), 1)
	at := loop.Let("b", first.Add(n.Convert(first.Type).Mul(step)))
	span := span{axes: w.reduced, base: at.Add(w.t.Mul(w.lanes).Convert(at.Type)), step: count(w.lanes)}
	span.fours = w.fours(w.reduced)
	partial := w.cols%w.segment != 0 || w.segment%step != 0
	if partial {
		span.clamp = w.total(w.cols)
	}
	loop.enterValid(span)
	x := loop.value(w.operand)
	local := make(value, w.lanes)
	for l := range local {
		e := x.lane(l)
		if partial {
			e = span.at(l).Lt(end).If(e, w.start)
		}
		if l > 0 {
			e = w.combine(local[l-1], e)
		}
		local[l] = loop.Let(loop.name(len(w.k.Body)-1, l, w.lanes), e)
	}
	sum := local[w.lanes-1]
	if !w.stores {
		loop.Set(w.acc, w.combine(w.acc.Ref(), sum))
		loop.end()
		return
	}
	total, before := loop.Var("total", sum), loop.Var("before", w.start)
	loop.threadsBefore(total, before, w.t, w.along, w.combine)
	base := loop.Let("base", w.combine(w.acc.Ref(), before.Ref()))
	for l := range local {
		local[l] = w.combine(base, local[l])
	}
	loop.storeValue(w.in, local)
	loop.Set(w.acc, w.combine(w.acc.Ref(), total.Ref()))
	loop.end()
}

// threadsBefore combines the totals of along neighbouring threads; t is a thread's number
// among them. If before is not nil it starts as the identity, and becomes the combined
// total of the threads before this one. In each round two threads whose numbers differ in
// one bit exchange totals, and have then combined twice as many threads.
func (sc *scope) threadsBefore(total, before *shader.Var, t *shader.Expr, along int, combine func(a, b *shader.Expr) *shader.Expr) {
	p, sub := sc.p, sc.p.t.subgroup()
	var shared *shader.Shared
	for mask := 1; mask < along; mask *= 2 {
		var other *shader.Expr
		if mask < sub && sub <= p.Threads {
			p.Subgroup = sub
			other = sc.Let(sc.unique("other"), total.Ref().Shuffle(mask))
		} else {
			if shared == nil {
				shared = p.exchange(total.Type)
			}
			sc.Barrier() // all threads have read the memory
			sc.Put(shared, shader.ThreadID, total.Ref())
			sc.Barrier()
			other = sc.Let(sc.unique("other"), shared.At(shader.ThreadID.Xor(mask)))
		}
		if before != nil {
			sc.Set(before, t.And(mask).Ne(0).If(combine(other, before.Ref()), before.Ref()))
		}
		sc.Set(total, combine(total.Ref(), other))
	}
}

// unique makes a name that the scope's block does not use yet.
func (sc *scope) unique(name string) string { return fmt.Sprintf("%s%d", name, len(sc.Stmts)) }

// exchange is memory that a workgroup shares, for a register of each thread.
func (p *pass) exchange(t shader.Type) *shader.Shared {
	if len(p.sharedPool[t]) == 0 {
		p.sharedPool[t] = append(p.sharedPool[t], p.share(t, p.Threads))
	}
	return p.sharedPool[t][0]
}

// scanWords adds the passes that scan rows of n words of scratch in place: one pass with a
// workgroup for each row or, for long rows, the passes of a scan that is cut into
// segments.
func (c *compiler) scanWords(scratch, n, rows int, kind ir.Op, d ir.DType) {
	w := &wordScan{compiler: c, kind: kind, typ: d, n: n, rows: rows, segment: n, segments: 1}
	if longest := 16 * 2 * scanLanes * c.t.threads(); n > longest && c.t.traits().concurrent {
		w.segment = longest / 4
		w.segments = ir.CeilDiv(n, w.segment)
		w.totals = c.scratch(rows*w.segments, shader.Register(d))
		w.pass(scratch, false)
		c.scanWords(w.totals, w.segments, rows, kind, d)
	}
	w.pass(scratch, true)
}

// A wordScan scans rows of words.
type wordScan struct {
	*compiler
	kind              ir.Op
	typ               ir.DType
	n, rows           int
	segment, segments int // words in one, and of a row
	totals            int // scratch, if there are several
}

// pass adds a pass that scans each segment, or combines it for totals.
func (w *wordScan) pass(scratch int, scans bool) {
	threads := floorPow2(min(w.t.threads(), max(1, w.segment/2)))
	if !w.t.traits().concurrent {
		threads = 1
	}
	lanes := min(ir.CeilDiv(w.segment, threads), 2*scanLanes)
	combine := func(a, b *shader.Expr) *shader.Expr { return combine(w.kind, w.typ, a, b) }
	w.compiler.pass(threads, func(p *pass) {
		p.groups = w.rows * w.segments
		job := p.job()
		row, segment := job, u32(0)
		if w.segments > 1 {
			row, segment = p.root.Let("row", job.Div(w.segments)), p.root.Let("segment", job.Rem(w.segments))
		}
		start := constant(w.typ, ir.Identity(w.kind, w.typ))
		acc := p.root.Var("acc", start)
		if scans && w.segments > 1 {
			in := p.root.when(segment.Gt(0))
			in.Set(acc, in.loadAt(p.words(w.totals, start.Type, false), job.Sub(1), "earlier", false).Ref())
			in.end()
		}
		end := u32(w.n)
		if w.segments > 1 {
			end = p.root.Let("end", segment.Add(1).Mul(w.segment).Min(w.n))
		}
		loop, b := p.root.loop("b", segment.Mul(w.segment), end, threads*lanes)
		words := p.words(scratch, start.Type, scans)
		first := loop.Let("first", b.Add(shader.ThreadID.Mul(lanes)))
		local := make(value, lanes)
		for l := range local {
			x := loop.Var(fmt.Sprintf("x%d", l), start)
			in := loop.when(first.Plus(l).Lt(end))
			in.Set(x, in.loadAt(words, w.cell(w.rows, w.n, row, first.Plus(l)), "y", false).Ref())
			in.end()
			local[l] = x.Ref()
			if l > 0 {
				local[l] = loop.Let(fmt.Sprintf("z%d", l), combine(local[l-1], local[l]))
			}
		}
		total := loop.Var("total", local[lanes-1])
		if !scans {
			loop.threadsBefore(total, nil, shader.ThreadID, threads, combine)
			loop.Set(acc, combine(acc.Ref(), total.Ref()))
			loop.end()
			last := p.root.when(shader.ThreadID.Eq(0))
			last.storeAt(p.words(w.totals, start.Type, true), job, acc.Ref())
			last.end()
			return
		}
		before := loop.Var("before", start)
		loop.threadsBefore(total, before, shader.ThreadID, threads, combine)
		base := loop.Let("base", combine(acc.Ref(), before.Ref()))
		for l, x := range local {
			in := loop.when(first.Plus(l).Lt(end))
			in.storeAt(words, w.cell(w.rows, w.n, row, first.Plus(l)), combine(base, x))
			in.end()
		}
		loop.Set(acc, combine(acc.Ref(), total.Ref()))
		loop.end()
	})
}
