package attention

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/pointwise"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// The parts of columns are computed by workgroups of their own where there are too few blocks of
// rows to fill the compute units, as for a decoder's next token (Flash-Decoding: Dao and others,
// 2023). Each part stores its maxima, sums and outputs in scratch, and more passes combine them.
type parts struct {
	n       int // 1: a workgroup computes all columns of its rows, and stores results
	number  *shader.Expr
	rows    int // of all batches
	scratch int
	first   []int // of an instruction's partial results, in scratch
}

// cut cuts the columns into parts.
func (a *attention) cut() {
	n, words, _ := a.bestParts()
	a.parts.n = n
	if a.parts.n > 1 {
		a.parts.scratch = a.Builder.Scratch(a.parts.n*words, shader.U32)
		for i := range a.parts.first {
			a.parts.first[i] *= a.parts.n
		}
	}
}

// bestParts places the partial results of a row. It returns the best number of parts, the words of one, and the seconds that the
// kernel takes with it.
func (a *attention) bestParts() (n, words int, time float64) {
	cost, block := tiles.CostOf(a.Target), a.unit.blockTime()
	groups := ir.CeilDiv(a.Nest.Size(a.m), a.height) * a.Nest.Size(a.Nest.List(ir.Batch))
	words = a.parts.place(a)
	moves := cost.Moves * a.Target.Machine.MoveTime(2*4*words)
	n, _, time = loopnest.Split(ir.CeilDiv(a.Nest.Size(a.n), a.width), min(mostParts, math.MaxInt32/max(1, words)), func(n, each int) float64 {
		time := float64(ir.CeilDiv(groups*n, a.Target.Units)*each) * block
		if n > 1 {
			time += cost.Pass + (moves+cost.Part)*float64(n)
		}
		return time
	})
	return n, words, time
}

func (a *attention) blockTime() float64 {
	steps := len(a.outputs) * ir.CeilDiv(a.width, depthStep) // along the depth
	for _, q := range a.scores {
		steps += ir.CeilDiv(q.Depth, depthStep)
	}
	return float64(steps) * tiles.CostOf(a.Target).Step
}

const (
	depthStep = 32 // the depth of a step whose time tiles.CostOf has
	mostParts = 64
)

// place gives instructions their place in scratch. It returns the words of a part.
func (x *parts) place(a *attention) (words int) {
	x.first, x.rows = make([]int, len(a.Nest.Body)), a.Nest.Size(a.Nest.List(ir.Batch, ir.M))
	for _, i := range a.rowReductions() {
		x.first[i] = words
		words += x.rows
	}
	for _, q := range a.outputs {
		x.first[q.Sum] = words
		words += x.rows * q.Cols.N
	}
	return words
}

// rowReductions lists the reductions of a row: its maximum, if there is one, and its sums.
func (a *attention) rowReductions() []int {
	if a.Max < 0 {
		return a.Sums
	}
	return slices.Concat([]int{a.Max}, a.Sums)
}

// jobs returns the number of the workgroup's block of rows, of so many.
func (a *attention) jobs(blocks int) *shader.Expr {
	job := a.p.Job()
	if a.parts.n == 1 {
		return job
	}
	a.parts.number = a.p.Root.Let("part", job.Div(blocks))
	return a.p.Root.Let("block", job.Rem(blocks))
}

// within restricts columns to the columns of the workgroup's part. Loads ahead start at a column that exists.
func (a *attention) within(first, full, end *shader.Expr) (load, from, until, to *shader.Expr) {
	if a.parts.n == 1 {
		return first, first, full, end
	}
	root := a.p.Root
	blocks := root.Let("n_blocks", end.Sub(first.Min(end)).Add(a.width-1).Div(a.width))
	each := root.Let("n_each", blocks.Add(a.parts.n-1).Div(a.parts.n).Mul(a.width))
	from = root.Let("n_from", first.Add(a.parts.number.Mul(each)))
	to = root.Let("n_to", end.Min(from.Add(each)))
	if full != nil {
		until = root.Let("n_until", full.Min(to))
	}
	last := (a.Nest.Size(a.n) - 1) / a.width * a.width
	return root.Let("n_load", from.Min(last)), from, until, to
}

// storePart stores the partial results of a row in scratch.
func (a *attention) storePart(end *build.Scope, r *row) {
	row := a.partRow(a.parts.number, end.Rank(a.Nest.List(ir.Batch, ir.M)).Lane(0))
	once := end.When(build.All(a.leads(), end.Condition(0)))
	for _, i := range a.rowReductions() {
		a.p.StoreScratch(once, a.parts.scratch, a.parts.first[i], row, end.Values[i][0])
	}
	once.End()
	for _, q := range a.outputs {
		for h := range q.Tile.Wide {
			sc := end.Inner()
			sc.EnterValid(a.unit.outputColumns(q, sc, h))
			columns, results := sc.Rank(a.widthOf(q)), r.results(q, h)
			for l := range results {
				at := sc.When(sc.Condition(l))
				a.p.StoreScratch(at, a.parts.scratch, a.parts.first[q.Sum], row.Mul(q.Cols.N).Add(columns.Lane(l).Convert(shader.U32)), results.Lane(l))
				at.End()
			}
			sc.End()
		}
	}
}

// partRow is the number of a part's row among the rows of all parts.
func (a *attention) partRow(part, row *shader.Expr) *shader.Expr {
	return part.Mul(a.parts.rows).Add(row.Convert(shader.U32))
}

// widthOf lists the axes of an output's columns.
func (a *attention) widthOf(q *tiles.Pass) []int {
	return (a.Nest.Body[q.Cols.Factor].Domain & a.Nest.Roles(ir.Width)).List()
}

// combine adds passes that store the results from the partial ones.
func (a *attention) combine() {
	across, rows := a.Nest.Roles(ir.Width), a.Nest.List(ir.Batch, ir.M)
	if list := a.Nest.Stores(across, false); len(list) > 0 {
		pointwise.Points(a.Builder, rows, list, a.loadParts)
	}
	done := ir.AxisSet(0)
	for _, i := range a.Nest.Stores(across, true) {
		width := a.Nest.Body[i].Domain & across
		if width&^done == 0 {
			continue
		}
		done |= width
		list := slices.DeleteFunc(a.Nest.Stores(across, true), func(i int) bool { return a.Nest.Body[i].Domain&across != width })
		pointwise.Points(a.Builder, slices.Concat(rows, width.List()), list, a.loadParts)
	}
}

// loadParts combines the partial results of a reduction: the greatest maximum, and the sums scaled to it.
func (a *attention) loadParts(sc *build.Scope, i int) {
	rows, width := a.Nest.List(ir.Batch, ir.M), []int(nil)
	for _, q := range a.outputs {
		if q.Sum == i {
			width = a.widthOf(q)
		}
	}
	owner := sc.Owner(ir.Axes(slices.Concat(rows, width)...))
	rank, column := owner.Rank(rows), owner.Rank(width)
	n := max(len(rank), len(column))
	if len(width) == 0 {
		n = len(rank)
	}
	values := make([]*shader.Expr, n)
	for l := range values {
		x := a.Reducer(i)
		name := build.Tag("k", i, l) + owner.Tag
		x.Acc = owner.Var(name, x.Start)
		var most *shader.Expr
		if a.Scaled[i] {
			most = owner.Value(a.Max).Lane(l)
		}
		at := func(row *shader.Expr) *shader.Expr { return row }
		if len(width) > 0 {
			at = func(row *shader.Expr) *shader.Expr {
				return row.Mul(a.Nest.Size(width)).Add(column.Lane(l).Convert(shader.U32))
			}
		}
		a.eachPart(owner, name, func(loop *build.Scope, tag string, part *shader.Expr) func(valid *shader.Expr) {
			row := loop.Let("row"+tag, a.partRow(part, rank.Lane(l)))
			value := a.loadPart(loop, i, "part"+tag, at(row))
			var own *shader.Expr
			if most != nil {
				own = a.loadPart(loop, a.Max, "max"+tag, row)
			}
			return func(valid *shader.Expr) {
				if most != nil {
					value = value.Mul(rescaling(own, most))
				}
				if valid != nil {
					value = valid.If(value, x.Start)
				}
				x.Add(loop.Block, value)
			}
		})
		values[l] = x.Acc.Ref()
	}
	owner.Values[i] = owner.Define(i, values...)
}

// partsAhead is the number of parts that are loaded at once, to hide the latency of memory.
const partsAhead = 16

// eachPart calls load for each part, some at once, and then the functions that it has returned, with a condition
// under which the part exists, if it may not.
func (a *attention) eachPart(owner *build.Scope, name string, load func(loop *build.Scope, tag string, part *shader.Expr) (add func(valid *shader.Expr))) {
	ahead := min(partsAhead, a.parts.n)
	loop, first := owner.Inner(), build.U32(0)
	if ahead < a.parts.n {
		loop, first = owner.Loop("n"+name, first, build.U32(a.parts.n), ahead)
	}
	var adds []func(valid *shader.Expr)
	for i := range ahead {
		part := first.Plus(i)
		if a.parts.n%ahead != 0 {
			part = part.Min(a.parts.n - 1)
		}
		adds = append(adds, load(loop, build.Tag(name+"_", i), part))
	}
	for i, add := range adds {
		if a.parts.n%ahead == 0 {
			add(nil)
		} else {
			add(first.Plus(i).Lt(a.parts.n))
		}
	}
	loop.End()
}

// loadPart loads a partial result.
func (a *attention) loadPart(sc *build.Scope, i int, name string, at *shader.Expr) *shader.Expr {
	return sc.Pass.LoadScratch(sc, a.parts.scratch, shader.F32, name, a.parts.first[i], at)
}
