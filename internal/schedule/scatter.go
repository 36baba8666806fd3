package schedule

import (
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A scatter copies its base unless the result is kept, then combines the updates with the result.
//
// The axes whose positions lead to different elements, whatever the index,
// make columns; the others are the updates of each. A thread owns one column
// and some of the positions that the index may name, its rows. It goes
// through the updates in order and takes those whose index is one of its
// rows, so no two threads write an element and the order is that of the
// points. There are as many blocks of rows as it takes to keep the device
// busy; a thread with one row has it in a register. If there are few columns
// and rows the updates are also cut into segments, which a further pass
// combines, in order. Where that pays, subgroups find the updates of a row
// together; if there are many rows and updates, the updates are sorted by
// their index first.
type scatter struct {
	*compiler
	at       *ir.Instr // the Scatter
	columns  []int
	updates  []int
	width    int // columns
	count    int // updates
	blocks   int
	rows     int  // of a block
	register bool // a thread has its one element in a register
	voted    bool // subgroups find the updates of a row: see combineVotes
	sorted   bool // updates are sorted by their index: see sortedRuns
	segments int
	segment  int  // updates in one
	parts    int  // scratch
	placed   bool // these are 1 + the place of the last update, 0 if there is none
}

func (c *compiler) scatter() {
	if c.k.Args[0].Len > 0 && !c.k.Args[0].Kept {
		c.copyBase()
	}
	if c.k.Points() > 0 {
		x := &scatter{compiler: c, at: &c.k.Body[len(c.k.Body)-1], segments: 1}
		x.choose()
		switch {
		case x.voted:
			x.combineVotes()
		case x.sorted:
			x.sortedRuns()
		default:
			x.combine()
		}
		if x.segments > 1 {
			x.addParts()
		}
	}
	c.report()
}

// copyBase copies argument 1 to argument 0, or fills that.
func (c *compiler) copyBase() {
	d := c.k.Args[0].DType.ComputeType()
	along := &ir.View{Coef: []int{1}}
	k := &ir.Kernel{
		Template: ir.Pointwise,
		Args:     c.k.Args,
		Axes:     []ir.Axis{{Len: c.k.Args[0].Len, Role: ir.Parallel}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: d, Arg: 1, View: along, Domain: 1},
			{Op: ir.Store, Type: d, Src: []int{0}, Arg: 0, View: along, Domain: 1},
		},
	}
	if x, constant := ir.ScatterStart(c.k.Body); constant {
		k.Body[0] = ir.Instr{Op: ir.Const, Type: d, Num: x}
	}
	sub := newCompiler(k, c.t, c.program)
	sub.points(sub.k.List(ir.Parallel), []int{1}, nil)
	if c.err == nil {
		c.err = sub.err
	}
}

// choose cuts the work into blocks of rows and segments of updates.
func (x *scatter) choose() {
	v := x.at.View
	separate := loopnest.Separates(v, x.k.Axes)
	for _, a := range x.k.List(ir.Parallel, ir.Reduced) {
		if separate && v.Coef[a] != 0 {
			x.columns = append(x.columns, a)
		} else {
			x.updates = append(x.updates, a)
		}
	}
	x.columns = inMemory(x.columns, v)
	x.width, x.count = x.k.Size(x.columns), x.k.Size(x.updates)
	x.blocks, x.rows = 1, v.Len
	busy := x.t.busy()
	if separate && v.Len > 0 && x.count > 1 {
		x.rows = ir.CeilDiv(v.Len, min(v.Len, max(1, busy/x.width)))
		x.blocks = ir.CeilDiv(v.Len, x.rows)
	}
	if x.voted = x.votes(separate); x.voted {
		x.blocks, x.rows = v.Len, 1
	}
	x.sorted = x.sortsUpdates(separate)
	x.register = separate && x.rows == 1
	x.segment = x.count
	if x.register && (x.at.Type != ir.Bool || x.at.Kind == ir.Copy) {
		parts := min(busy/(x.width*x.blocks), x.count/128)
		if parts > 1 {
			x.segment = ir.CeilDiv(x.count, parts)
			x.segments = ir.CeilDiv(x.count, x.segment)
			x.placed = x.at.Kind == ir.Copy
			x.parts = x.compiler.scratch(x.segments*x.blocks*x.width, x.none().Type)
		}
	}
}

// sharedIndex reports whether all columns have the same index.
func (x *scatter) sharedIndex() bool {
	return x.k.Body[x.at.Src[0]].Domain&ir.Axes(x.columns...) == 0
}

// element binds the result and gives the place of the element of a row.
func (x *scatter) element(sc *scope, row *shader.Expr) (b *shader.Buffer, place *shader.Expr) {
	pos := sc.place(x.at.View).lane(0)
	return sc.p.output(0), pos.Add(number(pos.Type, x.at.View.Stride).Mul(row.Convert(pos.Type)))
}

// update combines an element and an update, rounded as it would be in memory.
func (x *scatter) update(old, update *shader.Expr) *shader.Expr {
	e := update
	if x.at.Kind != ir.Copy {
		e = apply(x.at.Kind, x.at.Type, x.at.Type, old, update)
	}
	if half, ok := halves[x.k.Args[0].DType]; ok && x.segments == 1 {
		return e.Convert(half).Convert(shader.F32)
	}
	return e
}

var halves = map[ir.DType]shader.Type{ir.Float16: shader.F16, ir.BFloat16: shader.BF16}

// combine adds the pass that goes through the updates.
func (x *scatter) combine() {
	x.pass(x.t.threads(), func(p *pass) {
		sc, item := p.items(x.width * x.blocks * x.segments)
		column := sc.Let("column", item.Rem(x.width))
		row := sc.Let("row", item.Div(x.width).Rem(x.blocks).Convert(x.countType(x.at.View.Len)).Mul(x.rows))
		sc.enter(span{axes: x.columns, base: column})
		if !x.register {
			x.updateLoop(sc, nil, row, number(x.countType(x.count), 0), sc.Let("last", x.total(x.count)))
		} else {
			acc, first, last := x.start(sc, row, item.Div(x.width*x.blocks))
			x.updateLoop(sc, acc, row, first, last)
			x.finish(sc, acc, row, item)
		}
		sc.end()
	})
}

// none is what a thread begins with that combines a part.
func (x *scatter) none() *shader.Expr {
	if x.placed {
		return number(x.countType(x.count), 0)
	}
	return constant(x.at.Type, ir.Identity(x.at.Kind, x.at.Type))
}

// updateAt is what a thread combines for the update at a place, which is entered in sc.
func (x *scatter) updateAt(sc *scope, place *shader.Expr) *shader.Expr {
	if x.placed {
		return place.Plus(1)
	}
	return sc.value(x.at.Src[1]).lane(0)
}

// start declares what a thread with one row combines, for the updates of a segment from first
// to last.
func (x *scatter) start(sc *scope, row, segment *shader.Expr) (acc *shader.Var, first, last *shader.Expr) {
	none := x.none()
	if x.segments > 1 {
		segment = sc.Let("segment", segment.Convert(x.countType(x.count)))
		acc = sc.Var("acc", none)
		first = segment.Mul(x.segment)
		return acc, first, sc.Let("last", first.Add(x.segment).Min(x.count))
	}
	if valid := sc.condition(0); valid == nil {
		b, place := x.element(sc, row)
		acc = sc.loadAt(b, place, "acc", true)
	} else {
		acc = sc.Var("acc", none)
		own := sc.when(valid) // the elements of others change
		b, place := x.element(own, row)
		own.Set(acc, own.loadAt(b, place, "base", false).Ref())
		own.end()
	}
	return acc, number(x.countType(x.count), 0), sc.Let("last", x.total(x.count))
}

// finish stores the element of a row, or the part of a segment.
func (x *scatter) finish(sc *scope, acc *shader.Var, row, part *shader.Expr) {
	if x.segments == 1 {
		b, place := x.element(sc, row)
		sc.storeAt(b, place, acc.Ref())
		return
	}
	sc.storeAt(sc.p.words(x.parts, acc.Type, true), part, acc.Ref())
}

// updateLoop goes through the updates from first to last; acc is nil if the
// thread updates elements in memory.
func (x *scatter) updateLoop(sc *scope, acc *shader.Var, row, first, last *shader.Expr) {
	ahead := 1 // indices that are read at once, to hide the latency of memory
	if n := x.t.traits().scatterAhead; x.count >= n {
		ahead = n
	}
	loop, u := sc.loop("u", first, last, ahead)
	w := span{axes: x.updates, base: u}
	if ahead > 1 {
		w.step, w.clamp = count(ahead), last
	}
	loop.enterValid(w)
	index := loop.value(x.at.Src[0])
	x.noteBad(loop, index)
	for l := range ahead {
		at := index.lane(l)
		own := x.cutOff(at, x.at.View.Len)
		hits := own.Eq(row)
		if acc == nil {
			end := row.Add(x.rows).Min(x.at.View.Len)
			hits = own.Ge(row).And(own.Lt(end))
		}
		hit := loop.when(all(hits, loop.condition(l)))
		hit.axes = inLane(loop.axes, l) // so that the update is only computed here
		hit.values[x.at.Src[0]] = value{at}
		update := x.updateAt(hit, u.Plus(l))
		if acc != nil {
			hit.Set(acc, x.update(acc.Ref(), update))
		} else {
			b, place := x.element(hit, at)
			old := hit.loadAt(b, place, "old", false)
			hit.storeAt(b, place, hit.Let("sum", x.update(old.Ref(), update)))
		}
		hit.end()
	}
	loop.end()
}

// noteBad notes which indices of a loop are out of range.
func (x *scatter) noteBad(loop *scope, index value) {
	n := x.at.View.Len
	greatest := x.cutOff(index[0], n)
	for _, e := range index[1:] {
		greatest = greatest.Max(x.cutOff(e, n))
	}
	bad := loop.when(greatest.Ge(n))
	for l, e := range index {
		in := bad.when(x.cutOff(e, n).Ge(n))
		in.note(len(x.k.Body)-1, l)
		in.end()
	}
	bad.end()
}

// addParts adds the pass that combines the partial results of all segments with each
// element.
func (x *scatter) addParts() {
	x.pass(x.t.threads(), func(p *pass) {
		count := x.width * x.blocks
		sc, item := p.items(count)
		column := sc.Let("column", item.Rem(x.width))
		row := sc.Let("row", item.Div(x.width))
		sc.enter(span{axes: x.columns, base: column})
		b, place := x.element(sc, row)
		each := func(acc *shader.Var, combine func(acc, part *shader.Expr) *shader.Expr) {
			loop, n := sc.loop("n", u32(0), u32(x.segments), 1)
			part := loop.loadAt(p.words(x.parts, acc.Type, false), x.cell(x.segments, count, n, item), "part", false)
			loop.Set(acc, combine(acc.Ref(), part.Ref()))
			loop.end()
		}
		if x.placed {
			last := sc.Var("last", x.none())
			each(last, func(last, part *shader.Expr) *shader.Expr { return last.Max(part) })
			own := sc.when(last.Ref().Gt(0))
			own.enter(span{axes: x.updates, base: last.Ref().Sub(1)})
			own.storeAt(b, place, own.value(x.at.Src[1]).lane(0))
			own.end()
		} else {
			acc := sc.loadAt(b, place, "acc", true)
			each(acc, func(acc, part *shader.Expr) *shader.Expr { return apply(x.at.Kind, x.at.Type, x.at.Type, acc, part) })
			sc.storeAt(b, place, acc.Ref())
		}
		sc.end()
	})
}
