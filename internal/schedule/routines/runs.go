package routines

import (
	"math"
	"math/bits"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// sortsUpdates reports whether to sort the updates by their index. That pays if there are
// so many results that otherwise each thread has several rows, and goes through all
// updates for them: longer than two more passes, and the rounds in which a workgroup sorts. All columns must
// have the same index.
func (x *scatter) sortsUpdates(separate bool) bool {
	rounds := bits.Len(uint(x.count))
	return separate && x.sharedIndex() && x.rows > 1 && x.count >= 2*(x.passUpdates()+rounds*rounds) && x.count <= math.MaxInt32 && x.at.Type != ir.Bool
}

// sortedRuns combines the updates sorted by their index: a thread for each column and
// each first update of an index goes through all of that index, in order.
func (x *scatter) sortedRuns() {
	order := x.Builder.Scratch(x.count, shader.U32)
	s := &sort{Builder: x.Builder, operand: x.at.Src[0], result: order, most: x.at.View.Len, reduced: x.updates, places: x.count}
	s.run()
	x.Builder.AddPass(x.Target.Threads(), func(p *build.Pass) { // a thread for each update
		sc, item := p.Items(x.count)
		sc.Enter(build.Span{Axes: x.updates, Base: item})
		x.noteBad(sc, sc.Value(x.at.Src[0]))
		sc.End()
	})
	x.Builder.AddPass(x.Target.Threads(), func(p *build.Pass) {
		sc, item := p.Items(x.width * x.count)
		sc.Enter(build.Span{Axes: x.columns, Base: sc.Let("column", item.Rem(x.width))})
		place := sc.Let("place", item.Div(x.width).Convert(shader.U32))
		words := p.Words(order, shader.U32, false)
		// update enters the update at a place of the sorted order, and returns its index.
		update := func(sc *build.Scope, name string, place *shader.Expr) *shader.Expr {
			sc.Enter(build.Span{Axes: x.updates, Base: sc.LoadAt(words, place, name, false).Ref()})
			return x.CutOff(sc.Value(x.at.Src[0]).Lane(0), x.at.View.Len)
		}
		own := sc.Let("own", update(sc.Beside("own"), "first", place))
		starts := sc.Var("starts", own.Lt(x.at.View.Len))
		later := sc.When(place.Gt(0))
		later.Set(starts, starts.Ref().And(update(later, "other", place.Sub(1)).Ne(own)))
		later.End()
		run := sc.When(starts.Ref())
		b, to := x.element(run, own)
		acc := run.LoadAt(b, to, "acc", true)
		end := run.Var("end", build.U32(x.count))
		loop, at := run.Loop("at", place, end.Ref(), 1)
		same := update(loop, "next", at).Eq(own)
		hit := loop.When(same)
		hit.Set(acc, x.update(acc.Ref(), hit.Value(x.at.Src[1]).Lane(0)))
		hit.End()
		stop := loop.When(same.Not())
		stop.Set(end, build.U32(0))
		stop.End()
		loop.End()
		run.StoreAt(b, to, acc.Ref())
		run.End()
		sc.End()
	})
}
