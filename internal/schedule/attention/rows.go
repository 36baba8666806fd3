package attention

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// startRows declares a thread's variables for its rows.
func (a *attention) startRows() {
	root := a.p.Root
	a.rows = make([][]*row, a.high)
	for g := range a.rows {
		for r := range a.square {
			name := build.Tag("_", g, r)
			row := &row{Scope: root.Beside(name), squareNumber: g, number: r}
			w, _ := a.scores[0].Row(row.Scope, g, r)
			row.EnterValid(w)
			start := func(i int, name string) build.Reducer {
				x := a.Reducer(i)
				x.Acc = root.Var(name, x.Start)
				return x
			}
			if a.Max >= 0 {
				x := start(a.Max, "max"+name)
				row.max = &x
			}
			for n, i := range a.Sums {
				row.sums = append(row.sums, start(i, build.Tag("sum", n)+name))
			}
			a.rows[g] = append(a.rows[g], row)
		}
	}
}

// rowGroups lists the rows of a thread in groups, whose reductions are completed at once. Where
// threads exchange them through shared memory, that is all rows, so that there are few barriers.
func (a *attention) rowGroups() [][]*row {
	every := slices.Concat(a.rows...)
	if a.exchanges() && !a.apart {
		return [][]*row{every}
	}
	return slices.Collect(slices.Chunk(every, 1))
}

// reduceBlock continues the reductions of rows by a block of columns, in which some conditions
// are decided.
func (a *attention) reduceBlock(loop *build.Scope, decided map[int]int64) {
	for _, rows := range a.rowGroups() {
		var maxima []build.Reducer
		for _, row := range rows {
			a.enterBlock(loop, row, decided)
			if row.max != nil {
				a.raiseMax(loop, row)
				maxima = append(maxima, *row.max)
			}
		}
		if !a.apart {
			clear(a.p.InUse) // there were barriers since the block before
			loop.WorkgroupReduce(maxima, a.tx, a.across, a.stride)
		}
		for _, row := range rows {
			if row.max != nil {
				a.rescale(loop, row)
			}
			a.addSums(loop, row)
		}
	}
}

// enterBlock enters a block of columns.
func (a *attention) enterBlock(loop *build.Scope, row *row, decided map[int]int64) {
	row.step = row.On(loop.Block, "_b")
	row.points = nil
	for h := range a.wide {
		sc := row.step.On(loop.Block, build.Tag("_", h))
		step, first := a.unit.column(h)
		col := sc.Let("col"+sc.Tag, a.columns.Add(a.tx.Mul(step)).Plus(first))
		sc.EnterValid(build.Span{Axes: a.n, Base: col, Step: build.Lanes(4), Fours: a.Fours(a.n), Clamp: a.Clamp(a.Nest.Size(a.n), a.width)})
		if a.exists != nil {
			sc.Valid = append(sc.Valid, build.Value{a.exists})
		}
		for i, holds := range decided {
			sc.Values[i] = build.Value{build.Constant(ir.Bool, ir.Int(ir.Bool, holds))}
		}
		a.unit.enterColumns(loop, sc, h)
		for _, q := range a.scores {
			a.enterScores(sc, q.Sum, q.Results(row.squareNumber, row.number, h))
		}
		row.points = append(row.points, sc)
	}
}

// addSums adds a block to the sums of a row.
func (a *attention) addSums(loop *build.Scope, row *row) {
	for _, sc := range row.points {
		a.exponentials(sc, false)
	}
	for n, x := range row.sums {
		in := &a.Nest.Body[x.Instr]
		if a.Scaled[in.Src[0]] {
			loop.Set(x.Acc, x.Acc.Ref().Mul(row.scale))
		}
		for _, sc := range row.points {
			for _, e := range a.valid(sc, sc.Value(in.Src[0]), x.Start) {
				row.sums[n].Add(loop.Block, e)
			}
		}
	}
}

// raiseMax finds the greatest value of a row in the thread's columns up to a block.
func (a *attention) raiseMax(loop *build.Scope, row *row) {
	x := row.max
	row.old = loop.Let("old"+row.step.Tag, x.Acc.Ref())
	of := a.Nest.Body[a.Max].Src[0]
	if a.positive != nil {
		of = a.positive.x
	}
	var list build.Value
	for _, sc := range row.points {
		list = append(list, a.valid(sc, sc.Value(of), x.Start)...)
	}
	most := a.greatestOf(loop, row.step.Tag, list)
	if a.positive != nil {
		most = most.Mul(a.factor)
	}
	x.Add(loop.Block, most)
}

// greatestOf is the greatest of some float32, or a NaN if there is one: devices with matrix instructions have a maximum that
// returns it. Another device may return either of two numbers as their maximum if one is a NaN; the greatest of their bits shows it.
func (a *attention) greatestOf(sc *build.Scope, tag string, list build.Value) *shader.Expr {
	if a.Target.Matrices {
		f := shader.Function("max_f32")
		for n := len(list); n > 1; { // a shallow tree
			half := (n + 1) / 2
			for i := range n - half {
				list[i] = sc.Let(build.Tag("most"+tag, n, i), f.Call(list[i], list[i+half]))
			}
			n = half
		}
		return list[0]
	}
	const infinity = 0x7f800000
	bits := func(x *shader.Expr) *shader.Expr { return x.Bitcast(shader.U32).And(math.MaxInt32) }
	x, most := list[0], bits(list[0])
	for _, y := range list[1:] {
		x, most = x.Max(y), most.Max(bits(y))
	}
	most = sc.Let("bits"+tag, most)
	return most.Gt(infinity).If(most.Bitcast(shader.F32), x)
}

// rescale computes the factor that rescales a row's sums of exponentials, exp(x - max), when a
// block may have raised the row's maximum.
func (a *attention) rescale(loop *build.Scope, row *row) {
	now := loop.Let("now"+row.step.Tag, row.max.Acc.Ref())
	// Without a number above -Inf so far exponentials are 0, and no NaN.
	row.step.Values[a.Max] = build.Value{loop.Let("shift"+row.step.Tag, build.IsLowest(now).If(build.Number(shader.F32, 0), now))}
	if slices.ContainsFunc(a.Sums, func(i int) bool { return a.Scaled[i] }) || slices.ContainsFunc(a.outputs, func(q *tiles.Pass) bool { return a.Scaled[q.Sum] }) {
		row.scale = loop.Let("scale"+row.step.Tag, rescaling(row.old, now))
	}
}

// rescaling is the factor that turns sums of exponentials with one maximum into sums with another. It rounds
// the products as exponential does, and is 0 if old is -Inf, as nothing was added.
func rescaling(old, now *shader.Expr) *shader.Expr {
	base := toBase2(now)
	return old.Eq(now).If(build.Number(shader.F32, 1), old.Mul(base).Sub(now.Mul(base)).Exp2())
}

// reduceSums adds up the threads' sums of rows.
func (a *attention) reduceSums(rows []*row) {
	root := a.p.Root
	if a.exchanges() {
		root.Barrier() // the maxima in shared memory have been read
		clear(a.p.InUse)
	}
	var sums []build.Reducer
	for _, row := range rows {
		sums = append(sums, row.sums...)
	}
	root.WorkgroupReduce(sums, a.tx, a.across, a.stride)
}

// finishRows completes the reductions of columns from first to end, and stores the results.
func (a *attention) finishRows(first, end *shader.Expr) {
	for _, rows := range a.rowGroups() {
		if !a.apart {
			a.reduceSums(rows)
		}
		for _, row := range rows {
			a.startCommon(row)
			a.repair(row, first, end)
			end := row.Beside("_e")
			for _, x := range row.sums {
				end.Values[x.Instr] = build.Value{x.Acc.Ref()}
			}
			if row.max != nil {
				end.Values[a.Max] = build.Value{row.max.Acc.Ref()}
			}
			if a.parts.n > 1 {
				a.storePart(end, row)
			} else {
				a.storeRow(end, row)
			}
		}
	}
}

// storeRow stores the values of a row: the outputs and, by one thread, the values that a
// row has once.
func (a *attention) storeRow(end *build.Scope, r *row) {
	across := a.Nest.Roles(ir.Width)
	if list := a.Nest.Stores(across, false); len(list) > 0 {
		once := end.When(a.leads())
		once.StoreEach(list)
		once.End()
	}
	quotients := a.quotients(end)
	for _, q := range a.outputs {
		width := a.Nest.Body[q.Cols.Factor].Domain & across
		var list []int
		for _, i := range a.Nest.Stores(across, true) {
			if a.Nest.Body[i].Domain&across == width {
				list = append(list, i)
			}
		}
		for h := range q.Tile.Wide {
			sc := end.Inner()
			columns, results := a.unit.neighbours(q, sc, h, r.results(q, h))
			sc.EnterValid(columns)
			sc.Values[q.Sum] = results
			for _, x := range quotients {
				if a.Nest.Body[x.instr].Domain&across == width {
					x.enter(sc)
				}
			}
			sc.StoreEach(list)
			sc.End()
		}
	}
}
