package packed

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// A moment is a step of a thread along the depth in one of its turns.
type moment struct{ turn, step *shader.Expr }

// moments returns the steps of all turns from number i on, an even one, so many later.
func (w *worker) moments(sc *build.Scope, i *shader.Expr, later, steps int) moment {
	switch {
	case w.turns == 1 && i.Op == shader.Const:
		return moment{build.U32(0), build.U32(int(i.Bits) + later)}
	case w.turns == 1:
		return moment{build.U32(0), i.Plus(later)}
	case steps == 1:
		return moment{i.Plus(later), build.U32(0)}
	case steps == 2:
		return moment{i.Shr(1).Plus(later / 2), build.U32(later % 2)}
	}
	i = sc.Let(build.Tag("moment"+sc.Tag, later), i.Plus(later))
	return moment{i.Div(steps), i.Rem(steps)}
}

// multiplyAhead multiplies bytes, and loads the words of the next strips meanwhile. It loads the first ones while the
// kernels before it end. A turn of the loop is two steps, between which words need not move to other variables.
func (w *worker) multiplyAhead(steps int) {
	root := w.p.Root
	w.newDigits(w.strips)
	all := w.turns * steps
	words := w.loadNext(root, build.U32(0), 0, steps)
	var list []portion
	var v build.Vector
	if w.shared > 0 {
		v, list = w.vector()
		v.LoadAhead(w.shared)
	}
	w.p.AwaitOthers()
	if w.shared > 0 {
		v.Reduce(w.shared)
	}
	w.prepare(list)
	var results []*build.Scope
	if w.turns == 1 {
		results = w.results(root, w.first(root, build.U32(0)))
	}
	if all > 2 {
		for n, v := range words {
			words[n] = root.Var(build.Tag("carry", n), v.Ref())
		}
		loop, i := root.Loop("moment", build.U32(0), build.U32(all-2), 2)
		next := w.multiplyTwo(loop, words, i, true, steps)
		for n, v := range next {
			loop.Set(words[n], v.Ref())
		}
		loop.End()
	}
	if last := build.U32((all - 1) &^ 1); all%2 == 0 {
		w.multiplyTwo(root, words, last, false, steps)
	} else {
		w.multiplyStep(root, words, last, 0, steps)
	}
	if results != nil {
		w.finish(root, results)
		return
	}
	end := root.Inner()
	w.finish(end, w.results(end, w.first(end, build.U32(w.turns-1))))
	end.End()
}

// multiplyTwo multiplies the words of step i, and of the next one, which it loads first. If there are more steps, it loads the
// words of a third one in between.
func (w *worker) multiplyTwo(sc *build.Scope, first []*shader.Var, i *shader.Expr, more bool, steps int) (third []*shader.Var) {
	second := w.loadNext(sc, i, 1, steps)
	w.multiplyStep(sc, first, i, 0, steps)
	w.endTurn(sc, i, 0, steps)
	if more {
		third = w.loadNext(sc, i, 2, steps)
	}
	w.multiplyStep(sc, second, i, 1, steps)
	if more {
		w.endTurn(sc, i, 1, steps)
	}
	return third
}

// endTurn stores the results of a turn behind its last step, but for the last turn's.
func (w *worker) endTurn(sc *build.Scope, i *shader.Expr, later, steps int) {
	if w.turns == 1 {
		return
	}
	in, isLast := sc.Inner(), (*shader.Expr)(nil)
	at := w.moments(in, i, later, steps)
	switch {
	case at.step.Op != shader.Const:
		isLast = at.step.Eq(steps - 1)
	case !at.step.IsConst(uint64(steps - 1)):
		return
	}
	in.Under(isLast, func(sc *build.Scope) {
		w.finish(sc, w.results(sc, w.first(sc, at.turn)))
		w.restart(sc)
	})
	in.End()
}

// numberIn is the strip of a thread in a step.
func (w *worker) numberIn(sc *build.Scope, step *shader.Expr) *shader.Expr {
	return sc.Let(build.Tag("number"+sc.Tag, len(sc.Stmts)), step.Mul(w.along).Add(w.t))
}

// loadNext loads the words of a step.
func (w *worker) loadNext(sc *build.Scope, i *shader.Expr, later, steps int) []*shader.Var {
	w.loads++
	before, in := len(sc.Stmts), sc.Beside(build.Tag("_l", w.loads))
	w.loadStep(in, w.moments(in, i, later, steps))
	return sc.LoadsAlone(before)
}

// loadStep reads the strips of a step. Threads behind the last strip read the one a step before.
func (w *worker) loadStep(sc *build.Scope, at moment) loaded {
	number, step := w.t, at.step
	if w.within(number) != nil {
		if number = number.Min(w.strips - 1); w.strips > w.along {
			step = step.Sub(w.within(w.numberIn(sc, step)).If(build.U32(0), build.U32(1)))
		}
	}
	return w.loadAll(sc, w.locate(sc, w.first(sc, at.turn)), number, step)
}

// multiplyStep adds the products of a step, whose words are loaded.
func (w *worker) multiplyStep(sc *build.Scope, words []*shader.Var, i *shader.Expr, later, steps int) {
	in := sc.Inner()
	at := w.moments(in, i, later, steps)
	number, before := w.numberIn(in, at.step), len(in.Stmts)
	x := w.loadStep(in, at)
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
