package routines

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/pointwise"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A scatter copies its base unless the result is kept, then combines the updates with the result.
//
// The axes whose positions lead to different elements, whatever the index, make columns;
// the others are the updates of each. A thread owns one column and some of the positions
// that the index may name, its rows. It goes through the updates in order and takes those
// whose index is one of its rows, so no two threads write an element and updates apply in
// the order of the points. There are enough blocks of rows to keep the device busy; a
// thread with one row has it in a register. If there are few columns and rows the updates
// are also cut into segments, which a further pass combines, in order. Where that pays,
// subgroups find the updates of a row together; if there are many rows and updates, the
// updates are sorted by their index first. Where positions in a row are the indices, as of new keys in
// a cache, each update has an element of its own and a thread.
type scatter struct {
	*build.Builder
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
	apart    bool // no two updates of a column have the same index
	segments int
	segment  int  // updates in one
	parts    int  // scratch
	placed   bool // these are 1 + the place of the last update, or 0
}

func addScatter(c *build.Builder) {
	if c.Nest.Args[0].Len > 0 && !c.Nest.Args[0].Kept {
		copyBase(c)
	}
	if c.Nest.Points() > 0 {
		x := &scatter{Builder: c, at: &c.Nest.Body[len(c.Nest.Body)-1], segments: 1}
		x.choose()
		switch {
		case x.apart:
			x.combineApart()
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
	c.Report()
}

// copyBase copies argument 1 to argument 0, or fills that.
func copyBase(c *build.Builder) {
	d := c.Nest.Args[0].DType.ComputeType()
	along := &ir.View{Coef: []int{1}}
	k := &ir.Kernel{
		Template: ir.Pointwise,
		Args:     c.Nest.Args,
		Axes:     []ir.Axis{{Len: c.Nest.Args[0].Len, Role: ir.Parallel}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: d, Arg: 1, View: along, Domain: 1},
			{Op: ir.Store, Type: d, Src: []int{0}, Arg: 0, View: along, Domain: 1},
		},
	}
	if x, constant := ir.ScatterStart(c.Nest.Body); constant {
		k.Body[0] = ir.Instr{Op: ir.Const, Type: d, Num: x}
	}
	sub := build.New(k, c.Target, c.Program)
	pointwise.Points(sub, sub.Nest.List(ir.Parallel), []int{1}, nil)
	if c.Err == nil {
		c.Err = sub.Err
	}
}

// choose cuts the work into blocks of rows and segments of updates.
func (x *scatter) choose() {
	v := x.at.View
	separate := loopnest.Separates(v, x.Nest.Axes)
	for _, a := range x.Nest.List(ir.Parallel, ir.Reduced) {
		if separate && v.Coef[a] != 0 {
			x.columns = append(x.columns, a)
		} else {
			x.updates = append(x.updates, a)
		}
	}
	x.columns = build.InMemory(x.columns, v)
	x.width, x.count = x.Nest.Size(x.columns), x.Nest.Size(x.updates)
	x.blocks, x.rows = 1, v.Len
	busy := x.Target.Busy()
	if x.apart = separate && (x.count == 1 || x.indicesDiffer()); x.apart {
		return
	}
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
		parts := min(busy/(x.width*x.blocks), x.count/x.passUpdates())
		if parts > 1 {
			x.segment = ir.CeilDiv(x.count, parts)
			x.segments = ir.CeilDiv(x.count, x.segment)
			x.placed = x.at.Kind == ir.Copy
			x.parts = x.Builder.Scratch(x.segments*x.blocks*x.width, x.none().Type)
		}
	}
}

// passUpdates is the number of updates through which a thread goes while one more pass would run: twice as many steps as
// usual, because threads read the same indices.
func (x *scatter) passUpdates() int {
	return 2 * x.Target.Traits().PassSteps * x.Target.Traits().ScatterAhead
}

// sharedIndex reports whether all columns have the same index.
func (x *scatter) sharedIndex() bool {
	return x.Nest.Body[x.at.Src[0]].Domain&ir.Axes(x.columns...) == 0
}

// indicesDiffer reports whether the indices of updates are neighbouring numbers: positions along their
// axis plus a number, of which a negative one may count from the end.
func (x *scatter) indicesDiffer() bool {
	along := slices.DeleteFunc(slices.Clone(x.updates), func(a int) bool { return x.Nest.Axes[a].Len == 1 })
	if len(along) != 1 || x.count > x.at.View.Len {
		return false
	}
	var counts func(i int) bool
	counts = func(i int) bool {
		in := &x.Nest.Body[i]
		switch in.Op {
		case ir.Index:
			return in.Axis == along[0]
		case ir.Add:
			a, b := in.Src[0], in.Src[1]
			return counts(a) && !x.Nest.Body[b].Domain.Has(along[0]) || counts(b) && !x.Nest.Body[a].Domain.Has(along[0])
		case ir.Where: // Where(n < 0, n + length, n)
			lt, add := &x.Nest.Body[in.Src[0]], &x.Nest.Body[in.Src[1]]
			n := in.Src[2]
			return lt.Op == ir.Lt && lt.Src[0] == n && loopnest.IsNumber(x.Nest.Kernel, lt.Src[1], 0) &&
				add.Op == ir.Add && add.Src[0] == n && loopnest.IsNumber(x.Nest.Kernel, add.Src[1], float64(x.at.View.Len)) && counts(n)
		}
		return false
	}
	return counts(x.at.Src[0])
}

// element binds the result and gives the place of the element of a row.
func (x *scatter) element(sc *build.Scope, row *shader.Expr) (b *shader.Buffer, place *shader.Expr) {
	pos := sc.Place(x.at.View).Lane(0)
	return sc.Pass.Output(0), pos.Add(build.Number(pos.Type, x.at.View.Stride).Mul(row.Convert(pos.Type)))
}

// update combines an element and an update, rounded as it would be in memory.
func (x *scatter) update(old, update *shader.Expr) *shader.Expr {
	e := update
	if x.at.Kind != ir.Copy {
		e = build.Apply(x.at.Kind, x.at.Type, x.at.Type, old, update)
	}
	if half, ok := build.Halves[x.Nest.Args[0].DType]; ok && x.segments == 1 {
		return e.Convert(half).Convert(shader.F32)
	}
	return e
}

// combine adds the pass that goes through the updates.
func (x *scatter) combine() {
	x.AddPass(x.Target.Threads(), func(p *build.Pass) {
		sc, item := p.Items(x.width * x.blocks * x.segments)
		column := sc.Let("column", item.Rem(x.width))
		row := sc.Let("row", item.Div(x.width).Rem(x.blocks).Convert(x.CountType(x.at.View.Len)).Mul(x.rows))
		sc.Enter(build.Span{Axes: x.columns, Base: column})
		if !x.register {
			x.updateLoop(sc, nil, row, build.Number(x.CountType(x.count), 0), sc.Let("last", x.Total(x.count)))
		} else {
			acc, first, last := x.start(sc, row, item.Div(x.width*x.blocks))
			x.updateLoop(sc, acc, row, first, last)
			x.finish(sc, acc, row, item)
		}
		sc.End()
	})
}

// combineApart adds the pass in which each update has a thread.
func (x *scatter) combineApart() {
	x.AddPass(x.Target.Threads(), func(p *build.Pass) {
		columns := build.Span{Axes: x.columns}
		each := 1
		if x.storesFours() {
			each, columns.Step, columns.Fours = 4, build.Lanes(4), true
		}
		sc, item := p.Items(x.width / each * x.count)
		columns.Base = sc.Let("column", item.Rem(x.width/each).Mul(each))
		sc.Enter(columns)
		sc.Enter(build.Span{Axes: x.updates, Base: sc.Let("u", item.Div(x.width/each))})
		index, updates := sc.Value(x.at.Src[0]), sc.Value(x.at.Src[1]) // both are loaded before either is needed
		x.noteBad(sc, index)
		hit := sc.When(x.CutOff(index[0], x.at.View.Len).Lt(x.at.View.Len))
		x.replace(hit, index[0], updates, each)
		hit.End()
		sc.End()
	})
}

// storesFours reports whether threads replace four neighbours at once. One alone that is shorter than a word takes two atomic
// operations in WGSL.
func (x *scatter) storesFours() bool {
	short := x.Nest.Args[0].DType.Size() < ir.Float32.Size()
	return short && x.at.Kind == ir.Copy && x.sharedIndex() && x.Fours(x.columns) && x.at.View.Stride%4 == 0 && x.StepsBy(4, x.at, x.columns[len(x.columns)-1])
}

// replace combines elements at an index, neighbours, with updates.
func (x *scatter) replace(sc *build.Scope, index *shader.Expr, updates build.Value, neighbours int) {
	b, place := x.element(sc, index)
	store := &shader.Store{Buffer: b, Index: place}
	for l := range neighbours {
		update := updates.Lane(l)
		if x.at.Kind != ir.Copy {
			update = x.update(sc.LoadAt(b, place, "old", false).Ref(), update)
		}
		store.Values = append(store.Values, sc.Let(build.Tag("sum", l), update))
	}
	sc.Do(store)
}

// none is the initial value of a thread that combines a part.
func (x *scatter) none() *shader.Expr {
	if x.placed {
		return build.Number(x.CountType(x.count), 0)
	}
	return build.Constant(x.at.Type, ir.Identity(x.at.Kind, x.at.Type))
}

// updateAt is the value that a thread combines for the update at a place, which is entered
// in sc.
func (x *scatter) updateAt(sc *build.Scope, place *shader.Expr) *shader.Expr {
	if x.placed {
		return place.Plus(1)
	}
	return sc.Value(x.at.Src[1]).Lane(0)
}

// start declares the accumulator of a thread with one row, for the updates of a segment from
// first to last.
func (x *scatter) start(sc *build.Scope, row, segment *shader.Expr) (acc *shader.Var, first, last *shader.Expr) {
	none := x.none()
	if x.segments > 1 {
		segment = sc.Let("segment", segment.Convert(x.CountType(x.count)))
		acc = sc.Var("acc", none)
		first = segment.Mul(x.segment)
		return acc, first, sc.Let("last", first.Add(x.segment).Min(x.count))
	}
	if valid := sc.Condition(0); valid == nil {
		b, place := x.element(sc, row)
		acc = sc.LoadAt(b, place, "acc", true)
	} else {
		acc = sc.Var("acc", none)
		own := sc.When(valid) // the elements of others change
		b, place := x.element(own, row)
		own.Set(acc, own.LoadAt(b, place, "base", false).Ref())
		own.End()
	}
	return acc, build.Number(x.CountType(x.count), 0), sc.Let("last", x.Total(x.count))
}

// finish stores the element of a row, or the part of a segment.
func (x *scatter) finish(sc *build.Scope, acc *shader.Var, row, part *shader.Expr) {
	if x.segments == 1 {
		b, place := x.element(sc, row)
		sc.StoreAt(b, place, acc.Ref())
		return
	}
	sc.StoreAt(sc.Pass.Words(x.parts, acc.Type, true), part, acc.Ref())
}

// updateLoop goes through the updates from first to last; acc is nil if the
// thread updates elements in memory.
func (x *scatter) updateLoop(sc *build.Scope, acc *shader.Var, row, first, last *shader.Expr) {
	ahead := 1 // indices that are read at once, to hide the latency of memory
	if n := x.Target.Traits().ScatterAhead; x.count >= n {
		ahead = n
	}
	loop, u := sc.Loop("u", first, last, ahead)
	w := build.Span{Axes: x.updates, Base: u}
	if ahead > 1 {
		w.Step, w.Clamp = build.Lanes(ahead), last
	}
	loop.EnterValid(w)
	index := loop.Value(x.at.Src[0])
	x.noteBad(loop, index)
	for l := range ahead {
		at := index.Lane(l)
		own := x.CutOff(at, x.at.View.Len)
		hits := own.Eq(row)
		if acc == nil {
			end := row.Add(x.rows).Min(x.at.View.Len)
			hits = own.Ge(row).And(own.Lt(end))
		}
		hit := loop.When(build.All(hits, loop.Condition(l)))
		hit.Axes = build.InLane(loop.Axes, l) // so that the update is only computed here
		hit.Values[x.at.Src[0]] = build.Value{at}
		update := x.updateAt(hit, u.Plus(l))
		if acc != nil {
			hit.Set(acc, x.update(acc.Ref(), update))
		} else {
			b, place := x.element(hit, at)
			old := hit.LoadAt(b, place, "old", false)
			hit.StoreAt(b, place, hit.Let("sum", x.update(old.Ref(), update)))
		}
		hit.End()
	}
	loop.End()
}

// noteBad notes which indices of a loop are out of range.
func (x *scatter) noteBad(loop *build.Scope, index build.Value) {
	n := x.at.View.Len
	greatest := x.CutOff(index[0], n)
	for _, e := range index[1:] {
		greatest = greatest.Max(x.CutOff(e, n))
	}
	bad := loop.When(greatest.Ge(n))
	for l, e := range index {
		in := bad.When(x.CutOff(e, n).Ge(n))
		in.Note(len(x.Nest.Body)-1, l)
		in.End()
	}
	bad.End()
}

// addParts adds the pass that combines the partial results of all segments with each
// element.
func (x *scatter) addParts() {
	x.AddPass(x.Target.Threads(), func(p *build.Pass) {
		count := x.width * x.blocks
		sc, item := p.Items(count)
		column := sc.Let("column", item.Rem(x.width))
		row := sc.Let("row", item.Div(x.width))
		sc.Enter(build.Span{Axes: x.columns, Base: column})
		b, place := x.element(sc, row)
		each := func(acc *shader.Var, combine func(acc, part *shader.Expr) *shader.Expr) {
			loop, n := sc.Loop("n", build.U32(0), build.U32(x.segments), 1)
			part := loop.LoadAt(p.Words(x.parts, acc.Type, false), x.Cell(x.segments, count, n, item), "part", false)
			loop.Set(acc, combine(acc.Ref(), part.Ref()))
			loop.End()
		}
		if x.placed {
			last := sc.Var("last", x.none())
			each(last, func(last, part *shader.Expr) *shader.Expr { return last.Max(part) })
			own := sc.When(last.Ref().Gt(0))
			own.Enter(build.Span{Axes: x.updates, Base: last.Ref().Sub(1)})
			own.StoreAt(b, place, own.Value(x.at.Src[1]).Lane(0))
			own.End()
		} else {
			acc := sc.LoadAt(b, place, "acc", true)
			each(acc, func(acc, part *shader.Expr) *shader.Expr {
				return build.Apply(x.at.Kind, x.at.Type, x.at.Type, acc, part)
			})
			sc.StoreAt(b, place, acc.Ref())
		}
		sc.End()
	})
}
