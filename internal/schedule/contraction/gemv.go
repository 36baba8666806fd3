package contraction

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A gemv is the layout of a workgroup for a product of a few rows, a GEMV or skinny
// GEMM: across threads along the columns by deep along the depth. Each thread has
// four columns and a part of the depth. Each element of the right factor is read once.
type gemv struct{ across, deep int }

// Threads is the size of a workgroup.
func (g gemv) Threads() int { return g.across * g.deep }

// Bytes is the memory that a workgroup shares, a vector for each thread.
func (g gemv) Bytes(word int) int {
	if g.deep == 1 {
		return 0
	}
	return 4 * word * g.Threads()
}

// The gemvs, the fastest first for equal work, and their cost in seconds. A GPU that
// differs much can search: see package tune.
var (
	gemvCols  = []gemv{{32, 8}, {32, 32}, {16, 16}, {16, 64}, {8, 32}, {8, 128}, {64, 4}, {256, 1}, {8, 4}}  // where neighbours in memory lie along the columns
	gemvDepth = []gemv{{1, 256}, {2, 128}, {4, 64}, {8, 32}, {1, 1024}, {32, 8}, {64, 4}, {256, 1}, {1, 32}} // where they lie along the depth
	gemvCost  = product.Cost{Step: 2e-6, Pass: 5e-6, Part: 0.1e-6, Join: 0.1e-6}
)

// maxRows is the most rows of a gemv.
const maxRows = 4

// fewRows reports whether a product has only a few rows, and makes a side of few
// columns the rows.
func fewRows(x *product.Product, most int) bool {
	if x.Rows.N > most && x.Cols.N <= most {
		x.Rows, x.Cols = x.Cols, x.Rows
		x.Rows.Name, x.Cols.Name = "m", "n"
	}
	return x.Rows.N <= most
}

// gemvOptions lists the gemvs for the workgroups, the fastest first.
func gemvOptions(x *product.Product) []product.Option[gemv] {
	list, cost := gemvCols, gemvCost
	if x.Cols.AlongK {
		list = gemvDepth
	}
	return product.Options(x, list, func(g gemv) (cut product.Cut, time float64) {
		groups := x.Batches * ir.CeilDiv(x.Cols.N, 4*g.across)
		steps := max(1, ir.CeilDiv(x.Depth, 4*g.deep))
		cut.Splits, cut.PerSplit, time = loopnest.Split(steps, min(256, steps), func(splits, each int) float64 {
			load := float64(groups*splits*g.Threads()) / float64(x.Target.Busy())
			time := cost.Step*float64(each)*max(1, load) + cost.Join*math.Log2(float64(g.deep))
			if splits > 1 {
				time += cost.Pass + cost.Part*float64(splits)
			}
			return time
		})
		return cut, time
	})
}

// A gemvPass computes the results of a gemv in each workgroup.
type gemvPass struct {
	*product.Product
	g       gemv
	p       *build.Pass
	columns build.Span
	tk      *shader.Expr // the thread's number along the depth
	stride  int          // from a thread to the next along the depth
	at      product.Place
	acc     []*shader.Var // of each row, four columns
}

// addGemv multiplies in one pass, or two if the depth is split. The threads that
// share columns add their partial sums in shared memory.
func addGemv(x *product.Product, o product.Option[gemv]) {
	g := o.Layout
	x.Split(o.Cut)
	x.AddPass(g.Threads(), func(p *build.Pass) {
		q := &gemvPass{Product: x, g: g, p: p}
		root := p.Root
		q.locate()
		root.Enter(build.Span{Axes: x.Batch, Base: q.at.Batch})
		for r := range x.Rows.N {
			q.acc = append(q.acc, x.Vector(root, fmt.Sprintf("c%d", r)))
		}
		if x.Depth > 0 {
			q.multiplyDepth(root)
			q.Repair(root, q.acc, q.multiplyDepth)
		}
		if g.deep > 1 {
			q.addThreads()
		}
		done := root.When(q.tk.Eq(0))
		in := done.Inner()
		in.EnterValid(q.columns)
		for r := range x.Rows.N {
			row := in.Inner()
			q.at.Row = build.U32(r)
			row.Enter(build.Span{Axes: x.Rows.Axes, Base: q.at.Row})
			x.Finish(row, product.Components(q.acc[r].Ref()), q.at)
			row.End()
		}
		in.End()
		done.End()
	})
	x.AddSplits()
}

// locate finds a thread's columns and its part of the depth.
func (q *gemvPass) locate() {
	root, g := q.p.Root, q.g
	wide := ir.CeilDiv(q.Cols.N, 4*g.across)
	q.p.Workgroups = wide * q.Batches * q.Splits
	job := q.p.Job()
	q.at.Batch = root.Let("batch", job.Div(wide).Rem(q.Batches))
	q.at.Split = root.Let("split", job.Div(wide*q.Batches))
	var tn *shader.Expr
	if q.Cols.AlongK {
		q.stride = 1
		q.tk = root.Let("tk", shader.ThreadID.Rem(g.deep))
		tn = root.Let("tn", shader.ThreadID.Div(g.deep))
	} else {
		q.stride = g.across
		q.tk = root.Let("tk", shader.ThreadID.Div(g.across))
		tn = root.Let("tn", shader.ThreadID.Rem(g.across))
	}
	q.columns = build.Span{Axes: q.Cols.Axes, Step: build.Lanes(4), Fours: q.Fours(q.Cols.Axes), Clamp: q.Clamp(q.Cols.N, 4*g.across)}
	t := q.CountType(q.Cols.N)
	group := job.Rem(wide).Convert(t)
	tn = tn.Convert(t)
	if q.columns.Fours || q.Cols.AlongK {
		q.at.Col = root.Let("col", group.Mul(g.across).Add(tn).Mul(4))
	} else { // neighbouring threads have neighbouring columns
		q.Between = g.across
		for l := range q.columns.Step {
			q.columns.Step[l] *= g.across
		}
		q.at.Col = root.Let("col", group.Mul(4*g.across).Add(tn))
	}
	q.columns.Base = q.at.Col
}

// multiplyDepth multiplies a thread's columns along its part of the depth. If memory is
// contiguous along the depth, each row and column has a vector of four sums, each of every
// fourth product.
func (q *gemvPass) multiplyDepth(root *build.Scope) {
	var rows, columns []*build.Scope
	for r := range q.Rows.N {
		sc := root.Beside(fmt.Sprintf("_m%d", r))
		sc.Enter(build.Span{Axes: q.Rows.Axes, Base: build.U32(r)})
		rows = append(rows, sc)
	}
	acc := make([][]*shader.Var, len(rows))
	if q.Cols.AlongK {
		for j := range min(4, q.Cols.N) {
			sc := root.Beside(fmt.Sprintf("_n%d", j))
			sc.Enter(build.Span{Axes: q.Cols.Axes, Base: q.at.Col.Add(j), Clamp: q.columns.Clamp})
			columns = append(columns, sc)
			for r := range rows {
				acc[r] = append(acc[r], q.Vector(root, fmt.Sprintf("d%d%d", r, j)))
			}
		}
	} else {
		sc := root.Beside("_n")
		sc.Enter(q.columns)
		columns = append(columns, sc)
	}
	step := 4 * q.g.deep
	last := q.Total(q.Depth)
	first := build.Number(last.Type, 0)
	if q.Splits > 1 {
		first = root.Let("begin", q.at.Split.Convert(last.Type).Mul(q.PerSplit*step))
		last = root.Let("end", first.Add(q.PerSplit*step).Min(last))
	}
	root.Steps("k0", first, last, step, q.Depth%step != 0, func(sc *build.Scope, k0, clamp *shader.Expr) {
		if clamp != nil { // only the last split may end within a step, at the end of the depth
			clamp = q.Total(q.Depth)
		}
		q.multiplyStep(sc, k0, rows, columns, acc, clamp)
	})
	for r := range acc {
		for j, d := range acc[r] {
			d := d.Ref()
			root.SetAt(q.acc[r], j, d.At(0).Add(d.At(1)).Add(d.At(2).Add(d.At(3))))
		}
	}
}

// multiplyStep multiplies four positions of the depth from k0 on. Positions past
// clamp count as 0.
func (q *gemvPass) multiplyStep(sc *build.Scope, k0 *shader.Expr, rows, columns []*build.Scope, acc [][]*shader.Var, clamp *shader.Expr) {
	tk := q.tk.Convert(k0.Type)
	w := build.Span{Axes: q.Deep, Base: k0.Add(tk), Step: build.Lanes(4), Fours: q.Fours(q.Deep), Clamp: clamp}
	if w.Fours {
		w.Base = k0.Add(tk.Mul(4))
	} else {
		for l := range w.Step {
			w.Step[l] *= q.g.deep
		}
	}
	sc.EnterValid(w)
	places := sc.Axes
	// four is a factor at those four positions, or at one of them and four columns.
	four := func(d *product.Side, along *build.Scope, place int) *shader.Expr {
		in := along.Inner()
		in.Axes = places
		if place >= 0 {
			in.Axes = build.InLane(places, place)
			in.Tag += fmt.Sprintf("_k%d", place)
		}
		v := in.Value(d.Factor)
		list := make(build.Value, 4)
		for l := range list {
			at := l
			if place >= 0 {
				at = place
			}
			list[l] = distinct(q.Product, d, v.Lane(l), k0, at)
			if valid := build.AllIn(sc.Valid, at); valid != nil {
				list[l] = valid.If(list[l], build.Number(q.FactorType, 0))
			}
		}
		x := in.Let(d.Name+in.Tag, shader.Vec(4, list...))
		sc.Do(in.Stmts...)
		return x
	}
	left := make([]*shader.Expr, len(rows))
	for r, at := range rows {
		left[r] = four(&q.Rows, at, -1)
	}
	if q.Cols.AlongK {
		for j, at := range columns {
			right := four(&q.Cols, at, -1)
			for r := range rows {
				q.Multiply(sc, acc[r][j], left[r], right)
			}
		}
		return
	}
	for place := range 4 {
		right := four(&q.Cols, columns[0], place)
		for r := range rows {
			q.Multiply(sc, q.acc[r], left[r].At(place), right)
		}
	}
}

// distinct is a side's factor at a position of a step. A factor that is the same at
// several positions is laundered at each: compilers would factor it out of the sum.
func distinct(x *product.Product, d *product.Side, factor, k0 *shader.Expr, place int) *shader.Expr {
	if !x.FactorType.IsFloat() || !x.InvariantAlong(d.Factor, x.Nest.Roles(ir.K)) {
		return factor
	}
	return factor.LaunderAt(k0.Add(place).Convert(shader.U32))
}

// addThreads adds the partial sums of the threads of each column: the first of them
// gets the sum.
func (q *gemvPass) addThreads() {
	root := q.p.Root
	shared := q.p.Share(q.ResultType.Vec(4), q.g.Threads())
	own := shared.At(shader.ThreadID)
	for r, acc := range q.acc {
		if r > 0 {
			root.Barrier()
		}
		root.Put(shared, shader.ThreadID, acc.Ref())
		for d := q.g.deep / 2; d > 0; d /= 2 {
			root.Barrier()
			root.If(q.tk.Lt(d), func(step *shader.Block) {
				step.Put(shared, shader.ThreadID, own.Add(shared.At(shader.ThreadID.Add(d*q.stride))))
			})
		}
		root.Set(acc, own)
	}
}
