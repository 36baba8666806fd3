package contraction

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A skinny is the layout of a workgroup for a skinny GEMM: a product of up to 16 rows of halves, as of a few tokens.
// Its warps have the same columns, in squares of eight, and take turns along the depth. Instructions multiply elements
// as they come from memory: no tile fills shared memory with rows that do not exist, and each thread has many loads
// under way. Which places of the depth an instruction takes is free, so a thread takes eight neighbours. There may be
// several sums.
type skinny struct{ sums, rows, squares, warps, deep int }

// Threads is the size of a workgroup.
func (s skinny) Threads() int { return s.warps * shader.Warp }

// Bytes is the memory that a workgroup shares, the sums of each warp.
func (s skinny) Bytes(word int) int { return word * s.sums * s.warps * s.rows * s.columns() }

func (s skinny) columns() int { return square * s.squares }

const (
	square      = 8  // rows or columns that a thread of a warp has one of
	skinnyDepth = 32 // of two instructions, for which a thread has a vector of each row and column
	skinnyAhead = 8  // such vectors of columns that a thread loads at once
	skinnyWarps = 8
)

// skinnyCost has the costs of skinny products in seconds.
var skinnyCost = product.Cost{Step: 0.7e-6, Pass: 2.4e-6}

// isSkinny reports whether a product is one of few rows of halves, both factors along the depth, and makes a side of few
// columns the rows.
func isSkinny(x *product.Product) bool {
	half := tiles.Half(x, x.Rows.Factor)
	return half != 0 && half == tiles.Half(x, x.Cols.Factor) && x.Target.Matrices && x.FactorType == shader.F32 && x.Weight < 0 && x.Depth > 0 &&
		x.Rows.AlongK && x.Cols.AlongK && tiles.CopiesBoth(x) && fewRows(x, loopnest.SkinnyRows)
}

// siblings returns the products of a kernel that are sums of products of few rows by several matrices.
func siblings(c *build.Builder) (list []*product.Product) {
	deep, kept := c.Nest.List(ir.Reduced), c.Nest.Roles(ir.Parallel)
	if c.Nest.Template != ir.Reduce || len(c.Nest.Stores(ir.Axes(deep...), true)) > 0 {
		return nil
	}
	domain := func(i int) ir.AxisSet { return c.Nest.Body[i].Domain & kept }
	points := func(i int) int { return c.Nest.Size(domain(i).List()) }
	for i, in := range c.Nest.Body {
		if in.Op.Class() != ir.Reduction {
			continue
		}
		m := &c.Nest.Body[in.Src[0]]
		if in.Op != ir.Sum || m.Op != ir.Mul {
			return nil
		}
		l, r := m.Src[0], m.Src[1]
		if points(l) > points(r) {
			l, r = r, l
		}
		if len(list) > 0 && (domain(l) != domain(list[0].Rows.Factor) || domain(r) != domain(list[0].Cols.Factor)) || domain(l) == 0 || domain(l)&domain(r) != 0 || domain(l)|domain(r) != kept {
			return nil
		}
		x := product.Of(c, i, product.Side{Name: "m", Axes: domain(l).List(), Factor: l}, product.Side{Name: "n", Axes: domain(r).List(), Factor: r}, deep)
		if !isSkinny(x) {
			return nil
		}
		list = append(list, x)
	}
	return list
}

// CompileSiblings adds the pass of a kernel of several products of few rows, and reports false for other kernels.
func CompileSiblings(c *build.Builder) bool {
	if !build.HasMatrices {
		return false
	}
	list := siblings(c)
	if len(list) < 2 {
		return false
	}
	options := skinnyOptions(list)
	if len(options) == 0 {
		return false
	}
	addSkinny(list, options[0])
	c.Report()
	return true
}

// skinnyOptions lists the skinny products for the workgroups, the fastest first. The depth of several sums is not split.
func skinnyOptions(all []*product.Product) []product.Option[skinny] {
	x := all[0]
	var list []skinny
	for _, squares := range []int{2, 1} {
		s := skinny{sums: len(all), rows: square * ir.CeilDiv(x.Rows.N, square), squares: squares}
		s.deep = min(ir.CeilDiv(skinnyAhead, s.squares*s.sums), skinnyAhead/2, ir.CeilDiv(x.Depth, skinnyDepth)) * skinnyDepth
		turns := ir.CeilDiv(x.Depth, s.deep)
		s.warps = ir.CeilDiv(turns, ir.CeilDiv(turns, min(skinnyWarps, x.Target.MaxThreads/shader.Warp)))
		list = append(list, s)
	}
	return product.Options(x, list, func(s skinny) (cut product.Cut, time float64) {
		groups, steps := x.Batches*ir.CeilDiv(x.Cols.N, s.columns()), ir.CeilDiv(x.Depth, s.warps*s.deep)
		bytes, most := s.sums*s.columns()*s.warps*s.deep*ir.BFloat16.Size(), steps // of a step
		if s.sums > 1 {
			most = 1
		}
		cut.Splits, cut.PerSplit, time = loopnest.Split(steps, most, func(splits, each int) float64 {
			time := float64(each) * max(skinnyCost.Step, float64(ir.CeilDiv(groups*splits, x.Target.Units)*bytes)/x.Target.UnitBandwidth())
			if splits > 1 {
				time += skinnyCost.Pass
			}
			return time
		})
		return cut, time
	})
}

// A skinnyPass computes the results of a skinny in each workgroup.
type skinnyPass struct {
	*product.Product                    // the first one
	all              []*product.Product // of each sum
	skinny
	elem         shader.Matrix
	p            *build.Pass
	warp         *shader.Expr
	line, column *shader.Expr // the thread's row of the left operand, or column of the right one; and its vectors of the depth
	at           product.Place
	acc          []*shader.Var // of each square of each sum
}

// addSkinny multiplies in one pass, or two if the depth is split. Warps add their sums in shared memory.
func addSkinny(all []*product.Product, o product.Option[skinny]) {
	x := all[0]
	x.Split(o.Cut)
	x.AddPass(o.Layout.Threads(), func(p *build.Pass) {
		q := &skinnyPass{Product: x, all: all, skinny: o.Layout, p: p, elem: tiles.HalfPairs[tiles.Half(x, x.Rows.Factor)].Elem}
		root := p.Root
		q.locate()
		root.Enter(build.Span{Axes: x.Batch, Base: q.at.Batch})
		for j := range q.sums * q.squares {
			q.acc = append(q.acc, x.Vector(root, build.Tag("c", j)))
		}
		q.multiplyDepth()
		q.addWarps()
	})
	x.AddSplits()
}

// locate finds the workgroup's columns and the thread's place.
func (q *skinnyPass) locate() {
	root, wide := q.p.Root, ir.CeilDiv(q.Cols.N, q.columns())
	q.p.Subgroup, q.p.Workgroups = shader.Warp, wide*q.Batches*q.Splits
	job, lane := q.p.Job(), root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	q.at.Batch = root.Let("batch", job.Div(wide).Rem(q.Batches))
	q.at.Split = root.Let("split", job.Div(wide*q.Batches))
	q.at.Col = root.Let("col", job.Rem(wide).Convert(q.CountType(q.Cols.N)).Mul(q.columns()))
	q.warp = root.Let("warp", shader.ThreadID.Div(shader.Warp))
	q.line, q.column = root.Let("line", lane.Div(4)), root.Let("column", lane.Rem(4))
}

// multiplyDepth multiplies along the depth. The columns of the first step are loaded before other kernels have ended, and
// columns of a step before the products of its predecessor. Rows and columns past the end are the last ones again, and are
// not stored.
func (q *skinnyPass) multiplyDepth() {
	root := q.p.Root
	var rows, columns []*build.Scope
	enter := func(list *[]*build.Scope, s *product.Side, first *shader.Expr, n int) {
		for j := range n {
			sc := root.Beside(build.Tag("_"+s.Name, j))
			sc.Enter(build.Span{Axes: s.Axes, Base: first.Add(q.line.Convert(first.Type)).Plus(j * square), Clamp: q.Clamp(s.N, n*square)})
			*list = append(*list, sc)
		}
	}
	enter(&rows, &q.Rows, build.Number(q.CountType(q.Rows.N), 0), q.rows/square)
	enter(&columns, &q.Cols, q.at.Col, q.squares)
	steps := ir.CeilDiv(q.Depth, q.warps*q.deep)
	first, last := build.U32(0), build.U32(steps)
	if q.Splits > 1 {
		first = root.Let("begin", q.at.Split.Mul(q.PerSplit))
		last = root.Let("end", first.Add(q.PerSplit).Min(steps))
	}
	now := q.carried(root, q.load(root, &q.Cols, columns, first))
	q.p.AwaitOthers()
	loop, step := root.Loop("step", first, last.Sub(1), 1)
	next := q.load(loop, &q.Cols, columns, loop.Let("next", step.Add(1)))
	q.multiplyStep(loop, q.load(loop, &q.Rows, rows, step), now)
	for i, v := range now {
		loop.Set(v, next[i])
	}
	loop.End()
	end := root.Inner()
	q.multiplyStep(end, q.load(end, &q.Rows, rows, end.Let("step", last.Sub(1))), now)
	end.End()
}

// carried declares variables for words of a step that are loaded before the products of the step before.
func (q *skinnyPass) carried(sc *build.Scope, words []*shader.Expr) (list []*shader.Var) {
	for i, w := range words {
		list = append(list, sc.Var(build.Tag("carry", i), w))
	}
	return list
}

// load loads a warp's part of a step: of each line of a side, vectors of eight neighbours along the depth, as four words
// each. Positions past the end count as 0.
func (q *skinnyPass) load(sc *build.Scope, s *product.Side, lines []*build.Scope, step *shader.Expr) (words []*shader.Expr) {
	t := q.CountType(q.Depth)
	k := sc.Let("k_"+s.Name, step.Convert(t).Mul(q.warps*q.deep).Add(q.warp.Mul(q.deep).Add(q.column.Mul(8)).Convert(t)))
	for n := range q.deep / skinnyDepth {
		for _, known := range lines {
			in := known.On(sc.Block, build.Tag("_", n))
			in.EnterValid(build.Span{Axes: q.Deep, Base: k.Plus(n * skinnyDepth), Step: build.Lanes(4), Fours: q.Fours(q.Deep), Clamp: q.Clamp(q.Depth, q.warps*q.deep)})
			for i, factor := range q.factors(s) {
				words = append(words, q.loadVector(in, &q.Nest.Body[factor], i)...)
			}
		}
	}
	return words
}

// factors lists the factors of a side: of rows each once, of columns each sum's.
func (q *skinnyPass) factors(s *product.Side) (list []int) {
	for _, x := range q.all {
		switch {
		case s != &q.Rows:
			list = append(list, x.Cols.Factor)
		case !slices.Contains(list, x.Rows.Factor):
			list = append(list, x.Rows.Factor)
		}
	}
	return list
}

// loadVector loads eight halves, as words.
func (q *skinnyPass) loadVector(in *build.Scope, body *ir.Instr, factor int) (words []*shader.Expr) {
	valid, index := in.Condition(0), in.Place(body.View, q.p.Offset(body.Arg)).Lane(0)
	if valid != nil {
		index = valid.If(index, build.Number(index.Type, 0)) // an address that is a multiple of 16
	}
	load := &shader.Load{Declare: true, Buffer: q.p.Input(body.Arg), Index: index}
	for i := range square {
		load.Dst = append(load.Dst, &shader.Var{Name: build.Tag("x"+in.Tag+"_", factor, i), Type: shader.F32})
	}
	in.Do(load)
	for i := 0; i+1 < len(load.Dst); i += 2 {
		w := shader.PackHalves(build.Halves[q.elem.Type], load.Dst[i].Ref(), load.Dst[i+1].Ref())
		if valid != nil {
			w = valid.If(w, build.U32(0))
		}
		words = append(words, w)
	}
	return words
}

// multiplyStep multiplies words of rows by words of columns, each vector by two instructions.
func (q *skinnyPass) multiplyStep(sc *build.Scope, rows []*shader.Expr, columns []*shader.Var) {
	lines, factors := q.rows/square, q.factors(&q.Rows)
	for n := range q.deep / skinnyDepth {
		left := func(line, factor, h int) *shader.Expr { return rows[4*((lines*n+line)*len(factors)+factor)+h] }
		for j, acc := range q.acc {
			right := columns[4*(len(q.acc)*n+j):]
			f := slices.Index(factors, q.all[j%q.sums].Rows.Factor)
			for h := range 2 {
				a := [4]*shader.Expr{left(0, f, 2*h), build.U32(0), left(0, f, 2*h+1), build.U32(0)}
				if lines > 1 {
					a[1], a[3] = left(1, f, 2*h), left(1, f, 2*h+1)
				}
				sc.Do(&shader.Multiply{Elem: q.elem, Acc: acc, A: a, B: [2]*shader.Expr{right[2*h].Ref(), right[2*h+1].Ref()}})
			}
		}
	}
}

// addWarps adds the sums of the warps, each thread of four neighbouring columns, and finishes them.
func (q *skinnyPass) addWarps() {
	root, fours := q.p.Root, q.columns()/4
	shared := q.p.Share(q.ResultType.Vec(2), q.Bytes(1)/2)
	place := func(sum int, warp, row, pair *shader.Expr) *shader.Expr {
		return warp.Plus(sum * q.warps).Mul(q.rows).Add(row).Mul(2 * fours).Add(pair)
	}
	for j, acc := range q.acc {
		for h := range q.rows / square {
			to := place(j%q.sums, q.warp, q.line.Plus(h*square), q.column.Plus(j/q.sums*square/2))
			root.Put(shared, to, shader.Vec(2, acc.Ref().At(2*h), acc.Ref().At(2*h+1)))
		}
	}
	root.Barrier()
	loop, item := root.Loop("item", shader.ThreadID, build.U32(min(q.rows, q.Rows.N)*fours), q.p.Threads)
	row, four := loop.Let("row", item.Div(fours)), loop.Let("mine", item.Rem(fours))
	sums := make([]*shader.Var, q.sums)
	for i := range sums {
		sums[i] = q.Vector(loop, build.Tag("sum", i))
		for w := range q.warps {
			from := loop.Let(build.Tag("from", i, w), place(i, build.U32(w), row, four.Mul(2)))
			x, y := shared.At(from), shared.At(from.Plus(1))
			loop.Set(sums[i], sums[i].Ref().Add(shader.Vec(4, x.At(0), x.At(1), y.At(0), y.At(1))))
		}
	}
	q.at.Row = row.Convert(q.CountType(q.Rows.N))
	q.at.Col = loop.Let("first", q.at.Col.Add(four.Mul(4).Convert(q.at.Col.Type)))
	in := loop.Inner()
	in.EnterValid(build.Span{Axes: q.Cols.Axes, Base: q.at.Col, Step: build.Lanes(4), Fours: q.Fours(q.Cols.Axes), Clamp: q.Clamp(q.Cols.N, q.columns())})
	in.Enter(build.Span{Axes: q.Rows.Axes, Base: q.at.Row})
	for i, x := range q.all {
		in.Values[x.Sum] = product.Components(sums[i].Ref())
	}
	q.Finish(in, in.Values[q.Sum], q.at)
	in.End()
	loop.End()
}
