package packed

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// multiplyAhead multiplies bytes, and loads the next strips meanwhile. It loads the first ones while the kernels before
// it end.
func (w *worker) multiplyAhead(steps int) {
	root := w.p.Root
	w.newDigits(w.strips)
	last, before := w.turns*steps-1, len(root.Stmts)
	x := w.loadStep(root, build.U32(0), steps)
	decode := root.LoadsFirst(before)
	w.p.AwaitOthers()
	w.prepare()
	root.Do(decode...)
	if last > 0 {
		for n, v := range x.values() {
			if !isCarried(*v) {
				carried := root.Var(build.Tag("carry", n), *v).Ref()
				x.replace(*v, carried)
			}
		}
		loop, i := root.Loop("step", build.U32(0), build.U32(last), 1)
		after := loop.Let("after", i.Add(1))
		before = len(loop.Stmts)
		next := w.loadStep(loop, after, steps)
		decode = loop.LoadsFirst(before)
		w.multiplyStep(loop, x, i, steps)
		if w.turns > 1 {
			loop.Under(i.Rem(steps).Eq(steps-1), func(sc *build.Scope) { w.finish(sc, w.first(sc, i.Div(steps))); w.restart(sc) })
		}
		loop.Do(decode...)
		to, seen := x.values(), map[*shader.Var]bool{}
		for n, v := range next.values() {
			if acc := (*to[n]).Var; !seen[acc] {
				loop.Set(acc, *v)
				seen[acc] = true
			}
		}
		loop.End()
	}
	w.multiplyStep(root, x, build.U32(last), steps)
	end := root.Inner()
	w.finish(end, w.first(end, build.U32(w.turns-1)))
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
func (w *worker) loadStep(sc *build.Scope, i *shader.Expr, steps int) loaded {
	in := sc.Beside("_l")
	number := w.numberIn(in, i, steps)
	if w.within(number) != nil {
		number = number.Min(w.strips - 1)
	}
	return w.loadAll(in, w.locate(in, w.first(in, i.Div(steps))), number)
}

// multiplyStep adds the products of a step.
func (w *worker) multiplyStep(sc *build.Scope, x loaded, i *shader.Expr, steps int) {
	in := sc.Inner()
	number := w.numberIn(in, i, steps)
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

// values are the values of the strips that a thread has multiplied, in an order of their own.
func (x *loaded) values() (list []**shader.Expr) {
	add := func(values []*shader.Expr) {
		for i := range values {
			if values[i] != nil {
				list = append(list, &values[i])
			}
		}
	}
	for _, columns := range x.columns {
		for c := range columns {
			v := &columns[c]
			for j := range v.codes {
				add(v.codes[j].low)
				for h := range v.codes[j].high {
					high := &v.codes[j].high[h]
					add(high.words)
					list = append(list, &high.shift)
				}
				add(v.scale[j])
				add(v.offset[j])
			}
		}
	}
	return list
}

// replace puts a value in the place of another.
func (x *loaded) replace(old, by *shader.Expr) {
	for _, v := range x.values() {
		if *v == old {
			*v = by
		}
	}
}

func isCarried(x *shader.Expr) bool { return x.Op == shader.Ref && x.Var.Mutable }
