package packed

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// multiplyAhead multiplies bytes, and loads the words of the next strips meanwhile. It loads the first ones while the
// kernels before it end.
func (w *worker) multiplyAhead(steps int) {
	root := w.p.Root
	w.newDigits(w.strips)
	last, before := w.turns*steps-1, len(root.Stmts)
	w.loadStep(root, w.numberIn(root, build.U32(0), steps), build.U32(0), steps)
	words := root.LoadsAlone(before)
	w.p.AwaitOthers()
	w.prepare()
	var results []*build.Scope
	if w.turns == 1 {
		results = w.results(root, w.first(root, build.U32(0)))
	}
	if last > 0 {
		for n, v := range words {
			words[n] = root.Var(build.Tag("carry", n), v.Ref())
		}
		loop, i := root.Loop("step", build.U32(0), build.U32(last), 1)
		before = len(loop.Stmts)
		after := loop.Let("after", i.Add(1))
		w.loadStep(loop, w.numberIn(loop, after, steps), after, steps)
		next := loop.LoadsAlone(before)
		w.multiplyStep(loop, words, i, steps)
		if w.turns > 1 {
			loop.Under(i.Rem(steps).Eq(steps-1), func(sc *build.Scope) {
				w.finish(sc, w.results(sc, w.first(sc, i.Div(steps))))
				w.restart(sc)
			})
		}
		for n, v := range next {
			loop.Set(words[n], v.Ref())
		}
		loop.End()
	}
	w.multiplyStep(root, words, build.U32(last), steps)
	if results != nil {
		w.finish(root, results)
		return
	}
	end := root.Inner()
	w.finish(end, w.results(end, w.first(end, build.U32(w.turns-1))))
	end.End()
}

// numberIn is the strip of a thread in a step.
func (w *worker) numberIn(sc *build.Scope, i *shader.Expr, steps int) *shader.Expr {
	if steps == 1 {
		return w.t
	}
	return sc.Let("number", i.Rem(steps).Mul(w.along).Add(w.t))
}

// loadStep reads the strips of a step, counted over all turns.
func (w *worker) loadStep(sc *build.Scope, number, i *shader.Expr, steps int) loaded {
	in := sc.Beside("_l")
	if w.within(number) != nil {
		number = number.Min(w.strips - 1)
	}
	return w.loadAll(in, w.locate(in, w.first(in, i.Div(steps))), number)
}

// multiplyStep adds the products of a step, whose words are loaded.
func (w *worker) multiplyStep(sc *build.Scope, words []*shader.Var, i *shader.Expr, steps int) {
	in := sc.Inner()
	number, before := w.numberIn(in, i, steps), len(in.Stmts)
	x := w.loadStep(in, number, i, steps)
	in.LoadsDone(before, words)
	in.Under(w.within(number), func(sc *build.Scope) { w.multiplyDigits(sc, x.columns, number) })
	in.End()
}

// restart sets the sums to zero.
func (w *worker) restart(sc *build.Scope) {
	for _, rows := range w.acc {
		for _, list := range rows {
			for _, acc := range list {
				sc.Set(acc.Acc, acc.Start)
			}
		}
	}
}
