package schedule

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// startRows declares what a thread keeps of its rows.
func (a *attention) startRows() {
	root := a.p.root
	a.rows = make([][]*attentionRow, a.high)
	for g := range a.rows {
		for r := range a.square {
			name := tag("_", g, r)
			row := &attentionRow{scope: root.beside(name), squareNumber: g, number: r}
			w, _ := a.scores[0].row(row.scope, g, r)
			row.enterValid(w)
			start := func(i int, name string) reducer {
				x := a.reducer(i)
				x.acc = root.Var(name, x.start)
				return x
			}
			if a.Max >= 0 {
				x := start(a.Max, "max"+name)
				row.max = &x
			}
			for n, i := range a.Sums {
				row.sums = append(row.sums, start(i, tag("sum", n)+name))
			}
			a.rows[g] = append(a.rows[g], row)
		}
	}
}

// rowGroups lists the rows of a thread, in lists of those whose reductions are completed at once:
// where threads exchange them through shared memory all rows, so that there are few barriers.
func (a *attention) rowGroups() [][]*attentionRow {
	every := slices.Concat(a.rows...)
	if a.exchanges() {
		return [][]*attentionRow{every}
	}
	return slices.Collect(slices.Chunk(every, 1))
}

// reduceBlock continues the reductions of rows by a block of columns, in which some conditions
// are decided.
func (a *attention) reduceBlock(loop *scope, decided map[int]int64) {
	for _, rows := range a.rowGroups() {
		var maxima []reducer
		for _, row := range rows {
			a.enterBlock(loop, row, decided)
			if row.max != nil {
				a.raiseMax(loop, row)
				maxima = append(maxima, *row.max)
			}
		}
		clear(a.p.inUse) // there were barriers since the block before
		loop.workgroupReduce(maxima, a.tx, a.across, a.stride)
		for _, row := range rows {
			if row.max != nil {
				a.rescale(loop, row)
			}
			a.addSums(loop, row)
		}
	}
}

// enterBlock enters a block of columns.
func (a *attention) enterBlock(loop *scope, row *attentionRow, decided map[int]int64) {
	row.step = row.on(loop.Block, "_b")
	row.points = nil
	for h := range a.wide {
		sc := row.step.on(loop.Block, tag("_", h))
		step, first := a.unit.column(h)
		col := sc.Let("col"+sc.tag, a.columns.Add(a.tx.Mul(step)).Plus(first))
		sc.enterValid(span{axes: a.n, base: col, step: count(4), fours: a.fours(a.n), clamp: a.clamp(a.k.Size(a.n), a.width)})
		for _, q := range a.scores {
			sc.values[q.sum] = q.results(row.squareNumber, row.number, h)
		}
		for i, holds := range decided {
			sc.values[i] = value{constant(ir.Bool, ir.Int(ir.Bool, holds))}
		}
		row.points = append(row.points, sc)
	}
}

// addSums adds a block to the sums of a row.
func (a *attention) addSums(loop *scope, row *attentionRow) {
	for _, sc := range row.points {
		a.exponentials(sc)
	}
	for n, x := range row.sums {
		in := &a.k.Body[x.instr]
		if a.Scaled[in.Src[0]] {
			loop.Set(x.acc, x.acc.Ref().Mul(row.scale))
		}
		for _, sc := range row.points {
			for _, e := range a.valid(sc, sc.value(in.Src[0]), x.start) {
				row.sums[n].add(loop.Block, e)
			}
		}
	}
}

// raiseMax finds the greatest value of a row in the thread's columns up to a block.
func (a *attention) raiseMax(loop *scope, row *attentionRow) {
	x := row.max
	row.old = loop.Let("old"+row.step.tag, x.acc.Ref())
	var list value
	for _, sc := range row.points {
		list = append(list, a.valid(sc, sc.value(a.k.Body[a.Max].Src[0]), x.start)...)
	}
	x.add(loop.Block, greatestOf(loop, row.step.tag, list))
}

// greatestOf is the greatest of some float32, or a NaN if there is one. Which of two numbers a device
// returns as their maximum if one is a NaN is up to it; the greatest of their bits tells.
func greatestOf(sc *scope, tag string, list value) *shader.Expr {
	const infinity = 0x7f800000
	bits := func(x *shader.Expr) *shader.Expr { return x.Bitcast(shader.U32).And(math.MaxInt32) }
	x, most := list[0], bits(list[0])
	for _, y := range list[1:] {
		x, most = x.Max(y), most.Max(bits(y))
	}
	most = sc.Let("bits"+tag, most)
	return most.Gt(infinity).If(most.Bitcast(shader.F32), x)
}

// rescale finds the factor for what is proportional to the exponential of the difference to the
// greatest value of a row, which may have been raised.
func (a *attention) rescale(loop *scope, row *attentionRow) {
	now := loop.Let("now"+row.step.tag, row.max.acc.Ref())
	// Without a number above -Inf so far exponentials are 0, and no NaN.
	row.step.values[a.Max] = value{loop.Let("shift"+row.step.tag, isLowest(now).If(number(shader.F32, 0), now))}
	if slices.ContainsFunc(a.Sums, func(i int) bool { return a.Scaled[i] }) || slices.ContainsFunc(a.outputs, func(q *tilePass) bool { return a.Scaled[q.sum] }) {
		base := toBase2(now)
		smaller := row.old.Mul(base).Sub(now.Mul(base)).Exp2() // it rounds the products as exponential does; 0 if old is -Inf, as nothing was added
		row.scale = loop.Let("scale"+row.step.tag, row.old.Eq(now).If(number(shader.F32, 1), smaller))
	}
}

// exponentials computes those of differences to a value of rows, or of columns, which take two
// instructions so. What that value's multiple lacks by rounding, all exponentials of a row lack.
func (a *attention) exponentials(sc *scope) {
	for i := range a.k.Body {
		in := &a.k.Body[i]
		if in.Op != ir.Exp {
			continue
		}
		d := &a.k.Body[in.Src[0]]
		ofPoint := a.k.Roles(ir.M, ir.N)
		if d.Op != ir.Sub || in.Domain&ofPoint != ofPoint || a.k.Body[d.Src[1]].Domain&ofPoint == ofPoint {
			continue
		}
		x, y := sc.value(d.Src[0]), sc.value(d.Src[1])
		list := make([]*shader.Expr, 4)
		for l := range list {
			list[l] = exponential(x.lane(l), y.lane(l))
		}
		sc.values[i] = sc.let(i, list...)
	}
}

// exponential is that of x-y.
func exponential(x, y *shader.Expr) *shader.Expr {
	base := toBase2(y)
	return shader.MulAdd(x, base, y.Mul(base).Neg()).Exp2()
}

// toBase2 is the factor of differences to y, as exponents of 2. From 2³⁰ on, as of a mask of -1e30, the
// rounding error of y's multiple may be greater than any exponent. There a difference is 0 or so great
// that the base makes no difference: the factor is 1.
func toBase2(y *shader.Expr) *shader.Expr {
	return y.Abs().Lt(1<<30).If(shader.Number(shader.F32, math.Log2E), shader.Number(shader.F32, 1))
}

// finishRows completes the reductions, and stores the results.
func (a *attention) finishRows() {
	root := a.p.root
	for _, rows := range a.rowGroups() {
		if len(rows) > 1 {
			root.Barrier() // the maxima in shared memory have been read
			clear(a.p.inUse)
		}
		var sums []reducer
		for _, row := range rows {
			sums = append(sums, row.sums...)
		}
		root.workgroupReduce(sums, a.tx, a.across, a.stride)
		for _, row := range rows {
			end := row.beside("_e")
			for _, x := range row.sums {
				end.values[x.instr] = value{x.acc.Ref()}
			}
			if row.max != nil {
				end.values[a.Max] = value{row.max.acc.Ref()}
			}
			a.storeRow(end, row.squareNumber, row.number)
		}
	}
}

// storeRow stores the values of a row: the outputs, and by one thread what there is once.
func (a *attention) storeRow(end *scope, g, r int) {
	across := a.k.Roles(ir.Width)
	if list := a.k.Stores(across, false); len(list) > 0 {
		once := end.when(a.tx.Eq(0))
		once.storeEach(list)
		once.end()
	}
	for _, q := range a.outputs {
		width := a.k.Body[q.cols.factor].Domain & across
		var list []int
		for _, i := range a.k.Stores(across, true) {
			if a.k.Body[i].Domain&across == width {
				list = append(list, i)
			}
		}
		for h := range q.tile.wide {
			sc := end.block()
			sc.enterValid(a.unit.outputColumns(q, sc, h))
			sc.values[q.sum] = q.results(g, r, h)
			sc.storeEach(list)
			sc.end()
		}
	}
}
