package packed

import (
	"math"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// A worker is a thread: t of those along the depth, with columns from the first on.
type worker struct {
	*product
	p        *build.Pass
	t, first *shader.Expr
	acc      [][][]build.Reducer // by sum, row and column
	blocks   [][]*shader.Expr    // by sum and column: the first block
	digits   digits
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

// locate finds the first block of each column. Columns past the last are the last.
func (w *worker) locate() {
	root := w.p.Root
	var known []*build.Scope
	for c := range w.columns {
		sc := root.Beside(build.Tag("_n", c))
		at := w.first.Plus(c)
		if w.n%w.columns != 0 {
			at = at.Min(w.n - 1)
		}
		sc.Enter(build.Span{Axes: w.cols, Base: at})
		sc.Enter(build.Span{Axes: []int{w.deep}, Base: build.U32(0)})
		known = append(known, sc)
	}
	for i, s := range w.sums {
		in := &w.Nest.Body[s.right]
		var list []*shader.Expr
		for c, sc := range known {
			place := sc.Place(in.View, w.p.Offset(in.Arg))[0]
			list = append(list, root.Let(build.Tag("b", i, c), build.Shifted(place, w.format(s).Len)))
		}
		w.blocks = append(w.blocks, list)
	}
}

// A column is a vector of a column of a sum: its codes, and the scale and offset of each segment.
type column struct {
	codes
	scale, offset []*shader.Expr
}

// A loaded is a vector of each column, by sum and column, and where it is along the depth.
type loaded struct {
	columns       [][]column
	number, depth *shader.Expr
}

// loadAll reads a vector of each column.
func (w *worker) loadAll(sc *build.Scope, number *shader.Expr) loaded {
	f := w.format(w.sums[0])
	per := f.Len / w.elements()
	block := sc.Let("block", build.Shifted(number, per))
	at := w.position(sc, f, sc.Let("vector", number.And(per-1)))
	depth := sc.Let("depth", number.Sub(at.number).Mul(w.elements()).Add(at.first))
	all, places := make([][]column, len(w.sums)), build.Places{}
	for i := range w.sums {
		for c := range w.columns {
			all[i] = append(all[i], w.load(sc, i, c, block, at, places))
		}
	}
	return loaded{all, number, depth}
}

// multiplyAll adds the products of vectors.
func (w *worker) multiplyAll(sc *build.Scope, x loaded) {
	for n := range w.segments {
		if w.inDigits {
			w.multiplyDigits(sc, x.columns, n, x.number)
		} else {
			w.multiplySegment(sc, x.columns, n, x.depth.Plus(n*w.apart))
		}
	}
}

// load reads a vector of a column.
func (w *worker) load(sc *build.Scope, i, c int, block *shader.Expr, at position, places build.Places) (v column) {
	s := w.sums[i]
	name := build.Tag("q", i, c)
	first := w.blocks[i][c]
	b := sc.BlockAt(w.Nest.Body[s.right].Arg, sc.Let(name+"b", first.Add(block.Convert(first.Type))))
	b.Places = places
	sc.Hold(&b, name+"f")
	v.codes = w.shape.load(sc, &b, name, at)
	runs := b.Len / b.Codes.Run
	for n := range w.segments {
		v.scale = append(v.scale, sc.Factor(&b, &b.Codes.Scale, build.Tag(name+"s", n), at.runs[n], runs))
		if o := b.Codes.Offset; o != nil {
			v.offset = append(v.offset, sc.Factor(&b, o, build.Tag(name+"o", n), at.runs[n], runs))
		}
	}
	return v
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
			lanes := w.lanes(one, &f.Code, v.codes, n, name)
			for r, row := range rows {
				x := row.Value(s.left)
				value := one.Let(build.Tag(name+"v", r), scaled(one, build.Tag(name+"p", r), lanes, x, v.scale[n]))
				acc := w.acc[i][r][c].Acc
				one.Set(acc, value.Add(acc.Ref()))
				if v.offset == nil {
					continue
				}
				total := totals[[2]int{r, s.left}]
				if total == nil {
					total = in.Let(build.Tag("total", r, i), addUp(x))
					totals[[2]int{r, s.left}] = total
				}
				one.Set(acc, shader.MulAdd(total, v.offset[n], acc.Ref()))
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

// finish adds up the sums of threads. Thread t stores the results of row t.
func (w *worker) finish() {
	root := w.p.Root
	var all []build.Reducer
	for _, rows := range w.acc {
		for _, list := range rows {
			all = append(all, list...)
		}
	}
	root.WorkgroupReduce(all, w.t, w.along, 1)
	span := build.Span{Axes: w.cols, Base: w.first, Clamp: w.Clamp(w.n, w.columns)}
	if w.columns > 1 {
		span.Step, span.Fours = build.Lanes(w.columns), w.columns%4 == 0 && w.Fours(w.cols)
	}
	for r := range w.m {
		sc := root.When(w.t.Eq(r))
		sc.Enter(build.Span{Axes: w.rows, Base: build.U32(r)})
		sc.EnterValid(span)
		for i, s := range w.sums {
			var list build.Value
			for _, acc := range w.acc[i][r] {
				list = append(list, acc.Result(acc.Acc.Ref()))
			}
			sc.Values[s.instr] = list
		}
		sc.StoreEach(w.Nest.Stores(0, false))
		sc.End()
	}
}
