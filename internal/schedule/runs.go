package schedule

import (
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// sortsUpdates reports whether to sort the updates by their index. That pays if there are
// so many results that otherwise each thread has several rows, and goes through all
// updates for them. All columns must have the same index.
func (x *scatter) sortsUpdates(separate bool) bool {
	return separate && x.sharedIndex() && x.rows > 1 && x.count >= 512 && x.count <= math.MaxInt32 && x.at.Type != ir.Bool
}

// sortedRuns combines the updates sorted by their index: a thread for each column and
// each first update of an index goes through all of that index, in order.
func (x *scatter) sortedRuns() {
	order := x.compiler.scratch(x.count, shader.U32)
	s := &sort{compiler: x.compiler, operand: x.at.Src[0], result: order, most: x.at.View.Len, reduced: x.updates, places: x.count}
	s.run()
	x.compiler.pass(x.t.threads(), func(p *pass) { // a thread for each update
		sc, item := p.items(x.count)
		sc.enter(span{axes: x.updates, base: item})
		x.noteBad(sc, sc.value(x.at.Src[0]))
		sc.end()
	})
	x.compiler.pass(x.t.threads(), func(p *pass) {
		sc, item := p.items(x.width * x.count)
		sc.enter(span{axes: x.columns, base: sc.Let("column", item.Rem(x.width))})
		place := sc.Let("place", item.Div(x.width).Convert(shader.U32))
		words := p.words(order, shader.U32, false)
		// update enters the update at a place of the sorted order, and returns its index.
		update := func(sc *scope, name string, place *shader.Expr) *shader.Expr {
			sc.enter(span{axes: x.updates, base: sc.loadAt(words, place, name, false).Ref()})
			return x.cutOff(sc.value(x.at.Src[0]).lane(0), x.at.View.Len)
		}
		own := sc.Let("own", update(sc.beside("own"), "first", place))
		starts := sc.Var("starts", own.Lt(x.at.View.Len))
		later := sc.when(place.Gt(0))
		later.Set(starts, starts.Ref().And(update(later, "other", place.Sub(1)).Ne(own)))
		later.end()
		run := sc.when(starts.Ref())
		b, to := x.element(run, own)
		acc := run.loadAt(b, to, "acc", true)
		end := run.Var("end", u32(x.count))
		loop, at := run.loop("at", place, end.Ref(), 1)
		same := update(loop, "next", at).Eq(own)
		hit := loop.when(same)
		hit.Set(acc, x.update(acc.Ref(), hit.value(x.at.Src[1]).lane(0)))
		hit.end()
		stop := loop.when(same.Not())
		stop.Set(end, u32(0))
		stop.end()
		loop.end()
		run.storeAt(b, to, acc.Ref())
		run.end()
		sc.end()
	})
}
