// Package attention schedules attention: a block of rows in each workgroup, which computes
// its products by package tiles. Read attention.go first.
package attention

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// An attention computes a block of rows in each workgroup as FlashAttention-2 does (Dao, 2023):
// for one block of columns after the other it computes the scores in registers and, from them,
// the left factors of the products, which it adds up in registers. Its registers for a row do
// not depend on any length.
type attention struct {
	*build.Builder
	*loopnest.Attention
	size
	m, n     []int // axes of rows and columns
	unit     unit
	parts    parts
	p        *build.Pass
	scores   []*tiles.Pass
	outputs  []*tiles.Pass
	positive *multiple               // scores whose maximum is found before they are multiplied by a factor, see makePositive
	factor   *shader.Expr            // the absolute value of theirs
	common   map[*tiles.Pass]*common // factors that are taken out of outputs
	rows     [][]*row                // by square and row of a thread in it
	ahead    int                     // columns that begin computes
	exists   *shader.Expr            // a condition for the block to exist; nil: it does
	columns  *shader.Expr            // the first of a block
	apart    bool                    // threads with different columns of a row have maxima and sums of their own until the end
	lane     *shader.Expr            // of a warp
	tx       *shader.Expr            // the thread's place among those that share its rows
	copy     *shader.Expr            // its number among those with the same columns of its rows; nil: it is the only one
}

// A size is how the work is divided.
type size struct {
	threads       int // of a workgroup
	height, width int // rows of a workgroup and columns of a block
	high, wide    int // squares that a thread has a part of
	square        int // rows of a square that a thread has
	across        int // threads that share a row
	stride        int // the distance between these
}

// A unit computes the products: from memory for a few rows, else by threads, warps, or groups of 128 threads. Methods that
// units share are methods of attention.
type unit interface {
	// choose chooses the sizes. It reports false if the unit does not multiply the factors, or
	// their tiles do not fit.
	choose() bool
	// blockTime estimates the seconds that a workgroup takes for a block of columns.
	blockTime() float64
	// place finds a thread's first row within a square, and its place across.
	place(root *build.Scope) (ty, tx *shader.Expr)
	// declare declares the tiles of a product, and finds the thread's part of an output's.
	declare(q *tiles.Pass, isScore bool)
	// loadRows loads the left factor of a score.
	loadRows(q *tiles.Pass)
	// accumulators declares the accumulators of a product.
	accumulators(q *tiles.Pass, sc *build.Scope, name string) [][]*shader.Var
	// begin starts to load the block of columns at load, which is from, unless there are no columns from there to the end. Method
	// end completes pending loads.
	begin(load, from, end *shader.Expr)
	end()
	// load loads a block of columns, of the workgroup's from first to end.
	load(loop *build.Scope, first, end *shader.Expr)
	// score computes the scores of a block.
	score(loop *build.Scope)
	// scale multiplies the accumulators of a product by the scales of rows.
	scale(q *tiles.Pass, loop *build.Scope)
	// add adds the products of a block to the outputs.
	add(loop *build.Scope)
	// column locates the columns of square h of a block: the distance between neighbouring
	// threads' columns, and the first column.
	column(h int) (step, first int)
	// enterColumns gives a scope the values of columns that shared memory has, of square h of a block.
	enterColumns(loop, sc *build.Scope, h int)
	// outputColumns is the span of a thread's columns of an output in square h.
	outputColumns(q *tiles.Pass, sc *build.Scope, h int) build.Span
	// neighbours are the span of columns in square h that a thread stores and their results, from those at outputColumns.
	neighbours(q *tiles.Pass, sc *build.Scope, h int, results build.Value) (build.Span, build.Value)
}

// A row is a row of a thread, which shares it with others. Each has a part of its
// columns.
type row struct {
	*build.Scope                         // the row is known
	squareNumber, number int             // its square, and its number there
	max                  *build.Reducer  // nil without a maximum
	old                  *shader.Expr    // the maximum before a block
	sums                 []build.Reducer // of this thread's columns
	scale                *shader.Expr
	step                 *build.Scope                // of a block
	points               []*build.Scope              // by square
	common               map[*tiles.Pass]*shader.Var // of outputs
}

// Compile adds the pass of an attention kernel.
func Compile(c *build.Builder) {
	a := &attention{Builder: c, common: map[*tiles.Pass]*common{}, m: c.Nest.List(ir.M), n: c.Nest.List(ir.N)}
	var ok bool
	if a.Attention, ok = loopnest.NewAttention(c.Nest.Kernel); !ok {
		c.Fail("attention that takes several passes")
		return
	}
	if rows, columns := c.Nest.Size(a.m), c.Nest.Size(a.n); max(rows, columns) > math.MaxInt32 {
		c.Fail("attention of %d rows and %d columns, and a GPU counts to %d: "+build.PartsAdvice, rows, columns, math.MaxInt32)
		return
	}
	for _, p := range a.Scores {
		a.scores = append(a.scores, a.product(p, c.Nest.List(ir.N), c.Nest.Body[p.Sum].Axes.List()))
	}
	for _, p := range a.Outputs {
		across := c.Nest.Body[p.Right].Domain & c.Nest.Roles(ir.Width)
		a.outputs = append(a.outputs, a.product(p, across.List(), a.n))
	}
	for _, a.unit = range a.units() {
		if a.unit.choose() {
			a.cut()
			c.AddPass(a.threads, a.build)
			if a.parts.n > 1 {
				a.combine()
			}
			c.Report()
			return
		}
	}
	c.Fail("attention whose tiles do not fit in the %d bytes that a workgroup may share", c.Target.Bytes())
}

// units lists the units, the fastest first.
func (a *attention) units() []unit {
	list := []unit{&few{attention: a}}
	if build.HasMatrices {
		list = append(list, &groups{attention: a, held: map[*tiles.Pass][]*shader.Var{}, words: map[*tiles.Pass][][]*shader.Var{}}, &warps{a})
	}
	return append(list, &threads{attention: a})
}

// product returns the pass of a product of the kernel.
func (a *attention) product(p loopnest.Product, cols, deep []int) *tiles.Pass {
	rows, across := product.Side{Axes: a.m, Factor: p.Left}, product.Side{Axes: cols, Factor: p.Right}
	return &tiles.Pass{Product: product.Of(a.Builder, p.Sum, rows, across, deep)}
}

// leads reports whether a thread stores the values that a row has once.
func (a *attention) leads() *shader.Expr {
	if a.copy == nil {
		return a.tx.Eq(0)
	}
	return a.tx.Eq(0).And(a.copy.Eq(0))
}

// exchanges reports whether threads that share a row exchange reductions through shared memory, as
// they are not in one subgroup.
func (a *attention) exchanges() bool {
	n := a.Target.Subgroup()
	return n > a.threads || n < a.across*a.stride
}

// build makes the pass.
func (a *attention) build(p *build.Pass) {
	a.p = p
	p.Finite = a.Nest.Roles(ir.N)
	root := p.Root
	high := ir.CeilDiv(a.Nest.Size(a.m), a.height)
	batch := a.Nest.List(ir.Batch)
	p.Workgroups = high * a.Nest.Size(batch) * a.parts.n
	bounds := a.findBounds()
	at := a.locate(bounds, high, a.Nest.Size(batch))
	root.Enter(build.Span{Axes: batch, Base: at.Batch})
	ty, tx := a.unit.place(root)
	a.tx = tx
	for i, q := range slices.Concat(a.scores, a.outputs) {
		q.P, q.At, q.TX, q.TY = p, at, tx, ty
		q.Rows.Name, q.Cols.Name = build.Tag("m", i), build.Tag("n", i)
		a.unit.declare(q, i < len(a.scores))
	}
	for _, q := range a.scores {
		a.unit.loadRows(q)
	}
	for i, q := range a.outputs {
		q.Acc = a.unit.accumulators(q, root, build.Tag("o", i)+"_")
	}
	a.startRows()
	load, from, full, end := a.within(a.columnsOf(bounds, at.Row))
	a.unit.begin(load, from, end)
	first := root.Let("n_next", from.Add(a.ahead))
	if full != nil && !a.splits() { // most blocks need no mask
		before, after := decided(bounds)
		a.blocks("n0", first, first, full, end, before)
		a.blocks("n1", first, full.Max(first), end, end, after)
	} else {
		a.blocks("n0", first, first, end, end, nil)
	}
	a.unit.end()
	a.finishRows(from, end)
}

// splits reports whether a product has factors of float32 in two parts. Three instructions for each product take
// longer than a mask, and a driver twice as long to compile two such loops.
func (a *attention) splits() bool {
	return slices.ContainsFunc(slices.Concat(a.scores, a.outputs), func(q *tiles.Pass) bool { return q.Tile.Unit != nil && q.Tile.Unit.Split })
}

// locate finds the workgroup's block of rows, of so many of a batch. Where bounds give blocks different
// work, the blocks with the most come first, taken from about as many batches as run at once: else a
// compute unit may get the block with the most work of every batch.
func (a *attention) locate(bounds []build.Bound, high, batches int) product.Place {
	resident := max(4, 512/a.threads) // workgroups of a compute unit
	root, job := a.p.Root, a.jobs(high*batches)
	if len(bounds) == 0 {
		return product.Place{Batch: root.Let("batch", job.Div(high)), Row: root.Let("m0", job.Rem(high).Mul(a.height)), Col: build.U32(0)}
	}
	first, count, number := build.U32(0), build.U32(batches), job
	if together := ir.CeilDiv(resident*a.Target.Units, high); together < batches {
		first = root.Let("first", job.Div(together*high).Mul(together))
		count = root.Let("count", build.U32(batches).Sub(first).Min(together))
		number = root.Let("number", job.Rem(together*high))
	}
	block := number.Div(count)
	if bounds[0].Last { // later rows have more columns
		block = build.U32(high - 1).Sub(block)
	}
	return product.Place{Batch: root.Let("batch", first.Add(number.Rem(count))), Row: root.Let("m0", block.Mul(a.height)), Col: build.U32(0)}
}

// blocks computes the blocks of columns from one up to another, of the workgroup's from first to
// end.
func (a *attention) blocks(name string, first, from, to, end *shader.Expr, decided map[int]int64) {
	loop, at := a.p.Root.Loop(name, from, to, a.width)
	a.columns = at
	a.unit.load(loop, first, end)
	for i, q := range a.scores {
		q.Acc = a.unit.accumulators(q, loop, build.Tag("s", i)+"_")
	}
	a.unit.score(loop)
	a.reduceBlock(loop, decided)
	for _, q := range a.outputs {
		if a.Scaled[q.Rows.Factor] {
			a.unit.scale(q, loop)
		}
	}
	a.unit.add(loop)
	loop.End()
}

func (a *attention) loadRows(q *tiles.Pass) {
	q.Place(a.p.Root, &q.M, q.At.Row)
	start := a.p.Root.Inner()
	q.Fill(start, &q.M, build.U32(0))
	start.End()
}

func (a *attention) enterColumns(loop, sc *build.Scope, h int) {}

func (a *attention) begin(load, from, end *shader.Expr) {}

func (a *attention) end() {}

// accumulators declares the accumulators of the matrix instructions.
func (a *attention) accumulators(q *tiles.Pass, sc *build.Scope, name string) [][]*shader.Var {
	return q.Accumulators(sc, name)
}

// scale multiplies accumulators of instructions, which have two rows.
func (a *attention) scale(q *tiles.Pass, loop *build.Scope) {
	for g, list := range q.Acc {
		x, y := a.rows[g][0].scale, a.rows[g][1].scale
		for _, acc := range list {
			loop.Set(acc, acc.Ref().Mul(shader.Vec(4, x, x, y, y)))
		}
	}
}

func (a *attention) outputColumns(q *tiles.Pass, sc *build.Scope, h int) build.Span {
	w, _ := q.Columns(sc, h)
	return w
}

func (a *attention) neighbours(q *tiles.Pass, sc *build.Scope, h int, results build.Value) (build.Span, build.Value) {
	return a.unit.outputColumns(q, sc, h), results
}

// left is the left factor of an output: by square of rows, square of columns and row.
func (a *attention) left(q *tiles.Pass) [][][]build.Value {
	left := make([][][]build.Value, a.high)
	for g := range left {
		left[g] = make([][]build.Value, a.wide)
		for h := range left[g] {
			for _, row := range a.rows[g] {
				a.leaveOut(q, row.points[h])
				x := a.valid(row.points[h], row.points[h].Value(q.Rows.Factor), build.Number(shader.F32, 0))
				left[g][h] = append(left[g][h], x)
			}
		}
	}
	return left
}

// valid is a value in the lanes of a scope that are valid, and another one elsewhere.
func (a *attention) valid(sc *build.Scope, x build.Value, other *shader.Expr) build.Value {
	list := make(build.Value, 4)
	for l := range list {
		list[l] = x.Lane(l)
		if c := build.AllIn(sc.Valid, l); c != nil {
			list[l] = c.If(list[l], other)
		}
	}
	return list
}
