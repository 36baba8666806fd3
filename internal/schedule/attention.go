package schedule

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// An attention computes a block of rows in each workgroup as FlashAttention-2 does (Dao, 2023):
// for one block of columns after the other it computes the scores in registers and, from them,
// the left factors of the products, which it adds up in registers. What it keeps of a row grows
// with no length.
type attention struct {
	*compiler
	*loopnest.Attention
	attentionSize
	m, n    []int // axes of rows and columns
	unit    attentionUnit
	p       *pass
	scores  []*tilePass
	outputs []*tilePass
	rows    [][]*attentionRow // by square and row of a thread in it
	columns *shader.Expr      // the first of a block
	lane    *shader.Expr      // of a warp
	tx      *shader.Expr      // the thread's place among those that share its rows
}

// An attentionSize is how the work is divided.
type attentionSize struct {
	threads       int // of a workgroup
	height, width int // rows of a workgroup and columns of a block
	high, wide    int // squares that a thread has a part of
	square        int // rows of a square that a thread has
	across        int // threads that share a row
	stride        int // the distance between these
}

// An attentionUnit computes the products: by threads, warps, or groups of 128 threads. Methods
// that units share are those of attention.
type attentionUnit interface {
	// choose chooses the sizes. It reports false if the unit does not multiply the factors, or
	// their tiles do not fit.
	choose() bool
	// place finds a thread's first row over those of a square, and its place across.
	place(root *scope) (ty, tx *shader.Expr)
	// declare declares the tiles of a product, and finds the thread's part of an output's.
	declare(q *tilePass, isScore bool)
	// loadRows loads the left factor of a score.
	loadRows(q *tilePass)
	// accumulators declares those of a product.
	accumulators(q *tilePass, sc *scope, name string) [][]*shader.Var
	// begin starts to load the first block of columns, and end completes what was started.
	begin(first *shader.Expr)
	end()
	// load loads a block of columns, of the workgroup's from first to end.
	load(loop *scope, first, end *shader.Expr)
	// score computes the scores of a block.
	score(loop *scope)
	// scale multiplies the accumulators of a product by the scales of rows.
	scale(q *tilePass, loop *scope)
	// add adds the products of a block to the outputs.
	add(loop *scope)
	// column is where square h of a block has its columns: how far those of neighbouring threads
	// are apart, and the first.
	column(h int) (step, first int)
	// outputColumns is the span of a thread's columns of an output in square h.
	outputColumns(q *tilePass, sc *scope, h int) span
}

// An attentionRow is a row of a thread, which shares it with others. Each has a part of its
// columns.
type attentionRow struct {
	*scope                            // the row is known
	squareNumber, number int          // its square, and its number there
	max                  *reducer     // nil: there is none
	old                  *shader.Expr // the maximum before a block
	sums                 []reducer    // of this thread's columns
	scale                *shader.Expr
	step                 *scope   // of a block
	points               []*scope // by square
}

func (c *compiler) attention() {
	a := &attention{compiler: c, m: c.k.List(ir.M), n: c.k.List(ir.N)}
	var ok bool
	if a.Attention, ok = loopnest.NewAttention(c.k.Kernel); !ok {
		c.fail("attention that takes several passes")
		return
	}
	if rows, columns := c.k.Size(a.m), c.k.Size(a.n); max(rows, columns) > math.MaxInt32 {
		c.fail("attention of %d rows and %d columns, and a GPU counts to %d: "+PartsAdvice, rows, columns, math.MaxInt32)
		return
	}
	for _, p := range a.Scores {
		a.scores = append(a.scores, a.product(p, c.k.List(ir.N), c.k.Body[p.Sum].Axes.List()))
	}
	for _, p := range a.Outputs {
		across := c.k.Body[p.Right].Domain & c.k.Roles(ir.Width)
		a.outputs = append(a.outputs, a.product(p, across.List(), a.n))
	}
	for _, a.unit = range []attentionUnit{&attentionGroups{attention: a}, &attentionWarps{a}, &attentionThreads{attention: a}} { // the fastest first
		if a.unit.choose() {
			c.pass(a.threads, a.build)
			c.report()
			return
		}
	}
	c.fail("attention whose tiles do not fit in the %d bytes that a workgroup may share", c.t.bytes())
}

// product makes a product of the kernel a contraction.
func (a *attention) product(p loopnest.Product, cols, deep []int) *tilePass {
	c := a.compiler
	x := &contraction{compiler: c, batch: c.k.List(ir.Batch), splits: 1, between: 1, sum: p.Sum, deep: deep, factorType: shader.F32, resultType: shader.F32}
	x.rows, x.cols = side{axes: a.m, factor: p.Left}, side{axes: cols, factor: p.Right}
	x.batches, x.depth = c.k.Size(x.batch), c.k.Size(deep)
	for _, s := range []*side{&x.rows, &x.cols} {
		s.n = c.k.Size(s.axes)
		s.alongK = x.loadsAlong(s)
	}
	return &tilePass{contraction: x}
}

// exchanges reports whether threads that share a row exchange reductions through shared memory, as
// they are not in one subgroup.
func (a *attention) exchanges() bool {
	n := a.t.subgroup()
	return n > a.threads || n < a.across*a.stride
}

// build makes the pass.
func (a *attention) build(p *pass) {
	a.p = p
	root := p.root
	high := ir.CeilDiv(a.k.Size(a.m), a.height)
	batch := a.k.List(ir.Batch)
	p.groups = high * a.k.Size(batch)
	bounds := a.findBounds()
	at := a.locate(bounds, high, a.k.Size(batch))
	root.enter(span{axes: batch, base: at.batch})
	ty, tx := a.unit.place(root)
	a.tx = tx
	for i, q := range slices.Concat(a.scores, a.outputs) {
		q.p, q.at, q.tx, q.ty = p, at, tx, ty
		q.rows.name, q.cols.name = tag("m", i), tag("n", i)
		a.unit.declare(q, i < len(a.scores))
	}
	for _, q := range a.scores {
		a.unit.loadRows(q)
	}
	for i, q := range a.outputs {
		q.acc = a.unit.accumulators(q, root, tag("o", i)+"_")
	}
	a.startRows()
	first, full, end := a.columnsOf(bounds, at.row)
	a.unit.begin(first)
	if full != nil { // most blocks need no mask
		a.blocks("n0", first, first, full, end, decided(bounds))
		a.blocks("n1", first, full.Max(first), end, end, nil)
	} else {
		a.blocks("n0", first, first, end, end, nil)
	}
	a.unit.end()
	a.finishRows()
}

// locate finds the workgroup's block of rows, of so many of a batch. Where bounds give blocks different
// work, those with the most come first, of about as many batches as run at once: else a compute unit may get
// workgroups of one number in all batches, and so the most work of each.
func (a *attention) locate(bounds []bound, high, batches int) place {
	resident := max(4, 512/a.threads) // workgroups of a compute unit
	root, job := a.p.root, a.p.job()
	if len(bounds) == 0 {
		return place{batch: root.Let("batch", job.Div(high)), row: root.Let("m0", job.Rem(high).Mul(a.height)), col: u32(0)}
	}
	first, count, number := u32(0), u32(batches), job
	if together := ir.CeilDiv(resident*a.t.Units, high); together < batches {
		first = root.Let("first", job.Div(together*high).Mul(together))
		count = root.Let("count", u32(batches).Sub(first).Min(together))
		number = root.Let("number", job.Rem(together*high))
	}
	block := number.Div(count)
	if bounds[0].last { // later rows have more columns
		block = u32(high - 1).Sub(block)
	}
	return place{batch: root.Let("batch", first.Add(number.Rem(count))), row: root.Let("m0", block.Mul(a.height)), col: u32(0)}
}

// blocks computes the blocks of columns from one up to another, of the workgroup's from first to
// end.
func (a *attention) blocks(name string, first, from, to, end *shader.Expr, decided map[int]int64) {
	loop, at := a.p.root.loop(name, from, to, a.width)
	a.columns = at
	a.unit.load(loop, first, end)
	for i, q := range a.scores {
		q.acc = a.unit.accumulators(q, loop, tag("s", i)+"_")
	}
	a.unit.score(loop)
	a.reduceBlock(loop, decided)
	for _, q := range a.outputs {
		if a.Scaled[q.rows.factor] {
			a.unit.scale(q, loop)
		}
	}
	a.unit.add(loop)
	loop.end()
}

func (a *attention) loadRows(q *tilePass) {
	q.place(a.p.root, &q.m, q.at.row)
	start := a.p.root.block()
	q.fill(start, &q.m, u32(0))
	start.end()
}

func (a *attention) begin(first *shader.Expr) {}

func (a *attention) end() {}

// accumulators declares those of instructions.
func (a *attention) accumulators(q *tilePass, sc *scope, name string) [][]*shader.Var {
	return q.accumulators(sc, name)
}

// scale multiplies accumulators of instructions, which have two rows.
func (a *attention) scale(q *tilePass, loop *scope) {
	for g, list := range q.acc {
		x, y := a.rows[g][0].scale, a.rows[g][1].scale
		for _, acc := range list {
			loop.Set(acc, acc.Ref().Mul(shader.Vec(4, x, x, y, y)))
		}
	}
}

func (a *attention) outputColumns(q *tilePass, sc *scope, h int) span {
	w, _ := q.columns(sc, h)
	return w
}

// left is the left factor of an output: by square of rows, square of columns and row.
func (a *attention) left(q *tilePass) [][][]value {
	left := make([][][]value, a.high)
	for g := range left {
		left[g] = make([][]value, a.wide)
		for h := range left[g] {
			for _, row := range a.rows[g] {
				x := a.valid(row.points[h], row.points[h].value(q.rows.factor), number(shader.F32, 0))
				left[g][h] = append(left[g][h], x)
			}
		}
	}
	return left
}

// valid is a value in the lanes of a scope that are valid, and another one elsewhere.
func (a *attention) valid(sc *scope, x value, other *shader.Expr) value {
	list := make(value, 4)
	for l := range list {
		list[l] = x.lane(l)
		if c := allIn(sc.valid, l); c != nil {
			list[l] = c.If(list[l], other)
		}
	}
	return list
}
