package packed

import (
	"math"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A worker is a thread: t of those along the depth.
type worker struct {
	*product
	p      *build.Pass
	t      *shader.Expr
	only   *shader.Expr        // the first column, if there is one turn
	acc    [][][]build.Reducer // by sum, row and column
	digits digits
	loads  int // of steps, so far
}

// first is a thread's first column in a turn.
func (w *worker) first(sc *build.Scope, turn *shader.Expr) *shader.Expr {
	count := ir.CeilDiv(w.n, w.columns)
	group, t := shader.GroupID.Mul(w.groups).Add(shader.ThreadID.Div(w.along)), w.CountType(w.n)
	if w.turns > 1 {
		group = sc.Let("own"+sc.Tag, group.Add(turn.Mul(w.groups*w.p.Workgroups)).Min(count-1))
		return sc.Let("first"+sc.Tag, group.Convert(t).Mul(w.columns))
	}
	if w.only == nil {
		w.only = w.p.Root.Let("first", w.p.Repeating("own", group, count).Convert(t).Mul(w.columns))
	}
	return w.only
}

// within is whether a strip is one, nil if all are.
func (w *worker) within(number *shader.Expr) *shader.Expr {
	if w.strips%w.along == 0 {
		return nil
	}
	return number.Lt(w.strips)
}

// accumulators declares them.
func (w *worker) accumulators() {
	for i, s := range w.sums {
		w.acc = append(w.acc, nil)
		for r := range w.m {
			var list []build.Reducer
			for c := range w.columns {
				acc := w.Reducer(s.instr)
				acc.Acc = w.p.Root.Var(build.Tag("c", i, r, c), acc.Start)
				list = append(list, acc)
			}
			w.acc[i] = append(w.acc[i], list)
		}
	}
}

// locate finds the first block of each column, by sum and column. Columns past the last are the last.
func (w *worker) locate(sc *build.Scope, first *shader.Expr) (blocks [][]*shader.Expr) {
	var known []*build.Scope
	for c := range w.columns {
		one := sc.Beside(build.Tag("_n", c))
		at := first.Plus(c)
		if w.n%w.columns != 0 {
			at = at.Min(w.n - 1)
		}
		one.Enter(build.Span{Axes: w.cols, Base: at})
		one.Enter(build.Span{Axes: []int{w.deep}, Base: build.U32(0)})
		known = append(known, one)
	}
	for i, s := range w.sums {
		in := &w.Nest.Body[s.right]
		var list []*shader.Expr
		for c, one := range known {
			place := one.Place(in.View, w.p.Offset(in.Arg))[0]
			list = append(list, sc.Let(build.Tag("b"+sc.Tag, i, c), build.Shifted(place, w.format(s).Len)))
		}
		blocks = append(blocks, list)
	}
	return blocks
}

// A loaded is a strip of each column, by sum and column, and its first element along the depth.
type loaded struct {
	columns [][]column
	depth   *shader.Expr
}

// loadAll reads a strip of each column, some steps of the threads behind a strip of a number.
func (w *worker) loadAll(sc *build.Scope, blocks [][]*shader.Expr, number, step *shader.Expr) loaded {
	s := w.strip(sc, number)
	s.step = step
	all, places := make([][]column, len(w.sums)), build.Places{}
	runs := map[*ir.Format][]*shader.Expr{}
	for i := range w.sums {
		f := w.format(w.sums[i])
		if runs[f] == nil {
			runs[f] = w.locateRuns(sc, f, s)
		}
		s.runs = runs[f]
		for c := range w.columns {
			all[i] = append(all[i], w.load(sc, i, c, blocks[i][c], s, places))
		}
	}
	return loaded{all, s.depth}
}

// multiplySegment adds the products of a segment, whose first element of a row has a number.
func (w *worker) multiplySegment(sc *build.Scope, all [][]column, n int, first *shader.Expr) {
	in := sc.Inner()
	span := build.Span{Axes: []int{w.deep}, Base: first, Step: build.Lanes(segment), Fours: true}
	var rows []*build.Scope
	for r := range w.m {
		row := in.Beside(build.Tag("_m", r))
		row.Enter(build.Span{Axes: w.rows, Base: build.U32(r)})
		row.Enter(span)
		rows = append(rows, row)
	}
	totals := map[[2]int]*shader.Expr{} // of elements of rows, by row and instruction
	for i, s := range w.sums {
		f := w.format(s).Codes
		for c, v := range all[i] {
			name := build.Tag("k", i, c)
			one := in.Inner()
			lanes := w.lanes(one, &f.Code, v.codes[0], n, name)
			for r, row := range rows {
				x := row.Value(s.left)
				value := one.Let(build.Tag(name+"v", r), scaled(one, build.Tag(name+"p", r), lanes, x, v.scale[0][n]))
				acc := w.acc[i][r][c].Acc
				one.Set(acc, value.Add(acc.Ref()))
				offset := v.offset[0][n]
				if offset == nil {
					continue
				}
				total := totals[[2]int{r, s.left}]
				if total == nil {
					total = in.Let(build.Tag("total", r, i), addUp(x))
					totals[[2]int{r, s.left}] = total
				}
				one.Set(acc, shader.MulAdd(total, offset, acc.Ref()))
			}
			one.End()
		}
	}
	in.End()
}

// scaled is the sum of products of lanes and elements of a row, times a scale. Lanes of one power are added up
// first.
func scaled(sc *build.Scope, name string, lanes []lane, x build.Value, scale *shader.Expr) *shader.Expr {
	var sums [2]*shader.Expr // of the least power, and of the other one
	least, other := lanes[0].power, lanes[0].power
	for l, y := range lanes {
		n := 0
		if y.power != least {
			n, other = 1, y.power
		}
		if sums[n] == nil {
			sums[n] = x.Lane(l).Mul(y.Expr)
		} else {
			sums[n] = shader.MulAdd(x.Lane(l), y.Expr, sums[n])
		}
		sums[n] = sc.Let(build.Tag(name+"_", l), sums[n])
	}
	total := sums[0]
	if sums[1] != nil {
		total = shader.MulAdd(sums[1], power(least-other), total)
	}
	if least > 0 {
		scale = scale.Mul(power(-least))
	}
	return total.Mul(scale)
}

func power(n int) *shader.Expr { return shader.Number(shader.F32, math.Ldexp(1, n)) }

// addUp is the sum of elements, neighbours first.
func addUp(x build.Value) *shader.Expr {
	for len(x) > 1 {
		var half build.Value
		for l := 0; l < len(x); l += 2 {
			half = append(half, x[l].Add(x[l+1]))
		}
		x = half
	}
	return x[0]
}

// results are scopes that know a thread's results from a first column on, by row. They load the other operands of
// the results.
func (w *worker) results(sc *build.Scope, first *shader.Expr) (rows []*build.Scope) {
	span := build.Span{Axes: w.cols, Base: first, Clamp: w.Clamp(w.n, w.columns)}
	if w.columns > 1 {
		span.Step, span.Fours = build.Lanes(w.columns), w.columns%4 == 0 && w.Fours(w.cols)
	}
	for r := range w.m {
		row := sc.Beside(build.Tag("_r", r))
		row.Enter(build.Span{Axes: w.rows, Base: build.U32(r)})
		row.EnterValid(span)
		for i := range w.Nest.Body {
			if in := &w.Nest.Body[i]; in.Op == ir.Load && len(in.Src) == 0 && !in.Domain.Has(w.deep) && !w.Replaces() {
				row.Value(i)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// finish adds up the sums of threads. Thread t stores the results of row t.
func (w *worker) finish(sc *build.Scope, rows []*build.Scope) {
	var all []build.Reducer
	for _, rows := range w.acc {
		for _, list := range rows {
			all = append(all, list...)
		}
	}
	sc.WorkgroupReduce(all, w.t, w.along, 1)
	for r, row := range rows {
		own := row.When(w.t.Eq(r))
		for i, s := range w.sums {
			var list build.Value
			for _, acc := range w.acc[i][r] {
				list = append(list, acc.Result(acc.Acc.Ref()))
			}
			own.Values[s.instr] = list
		}
		own.StoreEach(w.Nest.Stores(0, false))
		own.End()
	}
}
