package schedule

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A gemv is the layout of a workgroup for a product of a few rows, a GEMV or skinny
// GEMM: across threads along the columns by deep along the depth. Each thread has
// four columns and a part of the depth. Each element of the right factor is read once.
type gemv struct{ across, deep int }

func (g gemv) threads() int { return g.across * g.deep }

// bytes is the memory that a workgroup shares, a vector for each thread.
func (g gemv) bytes(word int) int {
	if g.deep == 1 {
		return 0
	}
	return 4 * word * g.threads()
}

// The gemvs and their cost, measured on an NVIDIA H200.
var (
	gemvCols  = []gemv{{32, 8}, {32, 32}, {16, 16}, {16, 64}, {8, 32}, {8, 128}, {64, 4}, {256, 1}, {8, 4}}  // where neighbours in memory lie along the columns
	gemvDepth = []gemv{{1, 256}, {2, 128}, {4, 64}, {8, 32}, {1, 1024}, {32, 8}, {64, 4}, {256, 1}, {1, 32}} // where they lie along the depth
	gemvCost  = productCost{step: 2e-6, pass: 5e-6, part: 0.1e-6, join: 0.1e-6}
)

// skinny reports whether a product has only a few rows, and makes a side of few
// columns the rows.
func (x *contraction) skinny() bool {
	const most = 4
	if x.rows.n > most && x.cols.n <= most {
		x.rows, x.cols = x.cols, x.rows
		x.rows.name, x.cols.name = "m", "n"
	}
	return x.rows.n <= most
}

// gemvOptions lists the gemvs for the workgroups, the fastest first.
func (x *contraction) gemvOptions() []option[gemv] {
	list, cost := gemvCols, gemvCost
	if x.cols.alongK {
		list = gemvDepth
	}
	return options(x, list, func(g gemv) (splits, each int, time float64) {
		groups := x.batches * ir.CeilDiv(x.cols.n, 4*g.across)
		steps := max(1, ir.CeilDiv(x.depth, 4*g.deep))
		return loopnest.Split(steps, min(256, steps), func(splits, each int) float64 {
			load := float64(groups*splits*g.threads()) / float64(x.t.busy())
			time := cost.step*float64(each)*max(1, load) + cost.join*math.Log2(float64(g.deep))
			if splits > 1 {
				time += cost.pass + cost.part*float64(splits)
			}
			return time
		})
	})
}

// A gemvPass computes the results of a gemv in each workgroup.
type gemvPass struct {
	*contraction
	g       gemv
	p       *pass
	columns span
	tk      *shader.Expr // the thread's number along the depth
	stride  int          // from a thread to the next along the depth
	at      place
	acc     []*shader.Var // of each row, four columns
}

// gemv multiplies in one pass, or two if the depth is split. The threads that
// share columns add their partial sums in shared memory.
func (x *contraction) gemv(o option[gemv]) {
	g := o.layout
	x.split(o.splits, o.perSplit)
	x.pass(g.threads(), func(p *pass) {
		q := &gemvPass{contraction: x, g: g, p: p}
		root := p.root
		q.locate()
		root.enter(span{axes: x.batch, base: q.at.batch})
		for r := range x.rows.n {
			q.acc = append(q.acc, x.vector(root, fmt.Sprintf("c%d", r)))
		}
		if x.depth > 0 {
			q.multiplyDepth()
		}
		if g.deep > 1 {
			q.addThreads()
		}
		done := root.when(q.tk.Eq(0))
		in := done.block()
		in.enterValid(q.columns)
		for r := range x.rows.n {
			row := in.block()
			q.at.row = u32(r)
			row.enter(span{axes: x.rows.axes, base: q.at.row})
			x.finish(row, components(q.acc[r].Ref()), q.at)
			row.end()
		}
		in.end()
		done.end()
	})
	x.addSplits()
}

// locate finds a thread's columns and its part of the depth.
func (q *gemvPass) locate() {
	root, g := q.p.root, q.g
	wide := ir.CeilDiv(q.cols.n, 4*g.across)
	q.p.groups = wide * q.batches * q.splits
	job := q.p.job()
	q.at.batch = root.Let("batch", job.Div(wide).Rem(q.batches))
	q.at.split = root.Let("split", job.Div(wide*q.batches))
	var tn *shader.Expr
	if q.cols.alongK {
		q.stride = 1
		q.tk = root.Let("tk", shader.ThreadID.Rem(g.deep))
		tn = root.Let("tn", shader.ThreadID.Div(g.deep))
	} else {
		q.stride = g.across
		q.tk = root.Let("tk", shader.ThreadID.Div(g.across))
		tn = root.Let("tn", shader.ThreadID.Rem(g.across))
	}
	q.columns = span{axes: q.cols.axes, step: count(4), fours: q.fours(q.cols.axes), clamp: q.clamp(q.cols.n, 4*g.across)}
	t := q.countType(q.cols.n)
	group := job.Rem(wide).Convert(t)
	tn = tn.Convert(t)
	if q.columns.fours || q.cols.alongK {
		q.at.col = root.Let("col", group.Mul(g.across).Add(tn).Mul(4))
	} else { // neighbouring threads have neighbouring columns
		q.between = g.across
		for l := range q.columns.step {
			q.columns.step[l] *= g.across
		}
		q.at.col = root.Let("col", group.Mul(4*g.across).Add(tn))
	}
	q.columns.base = q.at.col
}

// multiplyDepth multiplies a thread's columns along its part of the depth. If memory is
// contiguous along the depth, each row and column has a vector of four sums, each of every
// fourth product.
func (q *gemvPass) multiplyDepth() {
	root := q.p.root
	var rows, columns []*scope
	for r := range q.rows.n {
		sc := root.beside(fmt.Sprintf("_m%d", r))
		sc.enter(span{axes: q.rows.axes, base: u32(r)})
		rows = append(rows, sc)
	}
	acc := make([][]*shader.Var, len(rows))
	if q.cols.alongK {
		for j := range min(4, q.cols.n) {
			sc := root.beside(fmt.Sprintf("_n%d", j))
			sc.enter(span{axes: q.cols.axes, base: q.at.col.Add(j), clamp: q.columns.clamp})
			columns = append(columns, sc)
			for r := range rows {
				acc[r] = append(acc[r], q.vector(root, fmt.Sprintf("d%d%d", r, j)))
			}
		}
	} else {
		sc := root.beside("_n")
		sc.enter(q.columns)
		columns = append(columns, sc)
	}
	step := 4 * q.g.deep
	last := q.total(q.depth)
	first := number(last.Type, 0)
	if q.splits > 1 {
		first = root.Let("begin", q.at.split.Convert(last.Type).Mul(q.perSplit*step))
		last = root.Let("end", first.Add(q.perSplit*step).Min(last))
	}
	root.steps("k0", first, last, step, q.depth%step != 0, func(sc *scope, k0, clamp *shader.Expr) {
		if clamp != nil { // only the last split may end within a step, at the end of the depth
			clamp = q.total(q.depth)
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
func (q *gemvPass) multiplyStep(sc *scope, k0 *shader.Expr, rows, columns []*scope, acc [][]*shader.Var, clamp *shader.Expr) {
	tk := q.tk.Convert(k0.Type)
	w := span{axes: q.deep, base: k0.Add(tk), step: count(4), fours: q.fours(q.deep), clamp: clamp}
	if w.fours {
		w.base = k0.Add(tk.Mul(4))
	} else {
		for l := range w.step {
			w.step[l] *= q.g.deep
		}
	}
	sc.enterValid(w)
	places := sc.axes
	// four is a factor at those four positions, or at one of them and four columns.
	four := func(d *side, along *scope, place int) *shader.Expr {
		in := along.block()
		in.axes = places
		if place >= 0 {
			in.axes = inLane(places, place)
			in.tag += fmt.Sprintf("_k%d", place)
		}
		v := in.value(d.factor)
		list := make(value, 4)
		for l := range list {
			at := l
			if place >= 0 {
				at = place
			}
			list[l] = q.distinct(d, v.lane(l), k0, at)
			if valid := allIn(sc.valid, at); valid != nil {
				list[l] = valid.If(list[l], number(q.factorType, 0))
			}
		}
		x := in.Let(d.name+in.tag, shader.Vec(4, list...))
		sc.Do(in.Stmts...)
		return x
	}
	left := make([]*shader.Expr, len(rows))
	for r, at := range rows {
		left[r] = four(&q.rows, at, -1)
	}
	if q.cols.alongK {
		for j, at := range columns {
			right := four(&q.cols, at, -1)
			for r := range rows {
				q.multiply(sc, acc[r][j], left[r], right)
			}
		}
		return
	}
	for place := range 4 {
		right := four(&q.cols, columns[0], place)
		for r := range rows {
			q.multiply(sc, q.acc[r], left[r].At(place), right)
		}
	}
}

// distinct is a side's factor at a position of a step. A factor that is the same at
// several positions is laundered at each: compilers would factor it out of the sum.
func (x *contraction) distinct(d *side, factor, k0 *shader.Expr, place int) *shader.Expr {
	if !x.factorType.IsFloat() || !x.invariantAlong(d.factor, x.k.Roles(ir.K)) {
		return factor
	}
	return factor.LaunderAt(k0.Add(place).Convert(shader.U32))
}

// inLane gives positions in one lane.
func inLane(axes map[int]coord, l int) map[int]coord {
	one := map[int]coord{}
	for a, c := range axes {
		one[a] = coord{at: value{c.at.lane(l)}}
	}
	return one
}

// addThreads adds the partial sums of the threads of each column: the first of them
// gets the sum.
func (q *gemvPass) addThreads() {
	root := q.p.root
	shared := q.p.share(q.resultType.Vec(4), q.g.threads())
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
