package schedule

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// attentionRegisters is the most registers of a thread for accumulators and scores.
const attentionRegisters = 160

// An attention computes a block of rows in each workgroup, 16 or 32 in each warp, as
// FlashAttention-2 does (Dao, 2023): for one block of columns after the other it computes the
// scores in registers and, from them, the left factors of the products, which it adds up in
// registers. What it keeps of a row grows with no length.
type attention struct {
	*compiler
	*loopnest.Attention
	m, n    []int // axes of rows and columns
	groups  bool  // of 128 threads multiply, by shader.MultiplyGroup
	warps   int   // of a workgroup
	high    int   // squares of 16 rows of a warp
	wide    int   // columns of a block, in squares of 16
	p       *pass
	scores  []*tilePass
	outputs []*tilePass
	rows    [][]*attentionRow // by square and row of a thread in it
	columns *shader.Expr      // the first of a block
	buffer  *shader.Expr      // of two, that has the tiles of the block
	lane    *shader.Expr
}

// An attentionRow is a row of a thread. The four threads that share it each have a quarter of
// the columns of a square.
type attentionRow struct {
	*scope           // the row is known
	max    *reducer  // nil: there is none
	sums   []reducer // of this thread's columns
	scale  *shader.Expr
	points []*scope // of a block: by square
}

func (c *compiler) attention() {
	a := &attention{compiler: c, m: c.k.List(ir.M), n: c.k.List(ir.N)}
	var ok bool
	if a.Attention, ok = loopnest.NewAttention(c.k.Kernel); !ok || !c.t.Matrices {
		c.fail("attention that takes several passes, or without matrix instructions")
		return
	}
	if rows, columns := c.k.Size(a.m), c.k.Size(a.n); max(rows, columns) > math.MaxInt32 {
		c.fail("attention of %d rows and %d columns, and a GPU counts to %d: "+PartsAdvice, rows, columns, math.MaxInt32)
		return
	}
	for _, p := range a.Scores {
		a.scores = append(a.scores, a.product(p, c.k.List(ir.N), axesIn(c.k, c.k.Body[p.Sum].Axes)))
	}
	for _, p := range a.Outputs {
		across := c.k.Body[p.Right].Domain & c.k.Roles(ir.Width)
		a.outputs = append(a.outputs, a.product(p, axesIn(c.k, across), a.n))
	}
	if a.groups = a.inGroups() && a.chooseGroups(); !a.groups {
		a.choose()
	}
	c.pass(a.warps*shader.Warp, a.build)
}

func axesIn(k *loopnest.Nest, s ir.AxisSet) (list []int) {
	for a := range k.Axes {
		if s.Has(a) {
			list = append(list, a)
		}
	}
	return list
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

// choose chooses the squares of a warp: as many as its registers hold, rather of rows, as
// these share what is read of the columns.
func (a *attention) choose() {
	a.warps = 4
	for _, size := range [][2]int{{2, 4}, {2, 2}, {1, 4}, {1, 2}} {
		a.high, a.wide = size[0], size[1]
		enough := a.k.Size(a.m) > 16*a.warps*(a.high-1) && a.k.Size(a.n) > 16*(a.wide/2)
		if enough && a.registers() <= attentionRegisters && a.t.fits(a.warps*shader.Warp, a.Bytes(a.k.Kernel, 16*a.high*a.warps, 16*a.wide)) {
			return
		}
	}
}

// registers is how many a thread needs for scores, for one left factor and for outputs.
func (a *attention) registers() int {
	n := 8 * a.wide * (len(a.scores) + min(1, len(a.outputs)))
	for _, q := range a.outputs {
		n += 8 * ir.CeilDiv(q.cols.n, 16)
	}
	return a.high * n
}

// tile sets the tile of a product: its whole depth, or width, in a step.
func (a *attention) tile(q *tilePass) {
	right := q.half(q.cols.factor)
	left := right
	if slices.Contains(a.scores, q) {
		left = q.half(q.rows.factor)
	} else if slices.ContainsFunc(a.outputs, func(o *tilePass) bool { return o.half(o.cols.factor) == 0 }) {
		right = 0 // squares of scores lie in one order for all outputs
	}
	u := *wholeFloats
	switch {
	case left == right && right != 0:
		u = *unitsOfHalves[right]
	case a.t.TF32:
		u = *roundedFloats
	}
	u.buffers = 1
	block := 16 * u.group
	q.tile = tile{m: 16 * a.high * a.warps, high: a.high, unit: &u}
	if slices.Contains(a.scores, q) {
		q.tile.n, q.tile.k = 16*a.wide, ir.CeilDiv(max(1, q.depth), block)*16
	} else {
		q.tile.n, q.tile.k = ir.CeilDiv(q.cols.n, 16)*16, 16*a.wide/u.group
	}
	q.tile.wide = q.tile.n / 16
}

// unitsOfHalves has the units of warps by the type that they multiply.
var unitsOfHalves = map[ir.DType]*unit{ir.Float16: float16Pairs, ir.BFloat16: bfloat16Pairs}

// build makes the pass.
func (a *attention) build(p *pass) {
	a.p = p
	root := p.root
	p.Subgroup = shader.Warp
	if a.groups {
		p.Resident = 1
		if a.registers() <= 88 {
			p.Resident = 2
		}
	}
	rows := 16 * a.high * a.warps
	high := ir.CeilDiv(a.k.Size(a.m), rows)
	batch := a.k.List(ir.Batch)
	p.groups = high * a.k.Size(batch)
	bounds := a.findBounds()
	job := p.job()
	block := job.Rem(high)
	if len(bounds) > 0 && bounds[0].last { // later rows have more columns: they come first
		block = u32(high - 1).Sub(block)
	}
	at := place{batch: root.Let("batch", job.Div(high)), row: root.Let("m0", block.Mul(rows)), col: u32(0)}
	root.enter(span{axes: batch, base: at.batch})
	a.lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	warp := root.Let("warp", shader.ThreadID.Div(shader.Warp))
	ty := root.Let("ty", warp.Mul(8).Add(a.lane.Div(4)))
	tx := root.Let("tx", a.lane.Rem(4))
	for i, q := range slices.Concat(a.scores, a.outputs) {
		if !a.groups {
			a.tile(q)
		}
		q.p, q.at, q.lane, q.warp, q.tx, q.ty = p, at, a.lane, [2]*shader.Expr{warp, u32(0)}, tx, ty
		q.rows.name, q.cols.name = tag("m", i), tag("n", i)
		a.declare(q)
	}
	for _, q := range a.scores {
		q.place(root, &q.m, at.row)
		start := root.block()
		q.putTile(start, &q.m, q.loadTile(start, &q.m, u32(0)), u32(0))
		start.end()
		q.paired = a.paired()
	}
	for i, q := range a.outputs {
		q.acc = q.accumulators(root, tag("o", i)+"_")
		q.place(root, &q.n, u32(0))
	}
	a.startRows()
	first, full, end := a.columnsOf(bounds, at.row, rows)
	if a.groups {
		a.copyBlock(root, first, u32(0))
	}
	if full != nil { // most blocks need no mask
		a.blocks("n0", first, first, full, end, decided(bounds))
		a.blocks("n1", first, full.Max(first), end, end, nil)
	} else {
		a.blocks("n0", first, first, end, end, nil)
	}
	if a.groups {
		root.Do(&shader.CopyWait{})
	}
	a.finishRows()
}

// declare declares the tiles of a product.
func (a *attention) declare(q *tilePass) {
	isScore := slices.Contains(a.scores, q)
	block, buffers := q.tile.n, 1
	if a.groups {
		buffers = 2
		if !isScore {
			block = ir.CeilDiv(block, 64) * 64
		}
	}
	q.n = q.declare(&q.cols, block, buffers)
	if isScore {
		q.m = q.declare(&q.rows, q.tile.m, 1)
	}
	if a.groups {
		q.m.order, q.n.order = rowOrder, columnOrder
	}
}

// paired reports whether the left factors of products are pairs of halves: then squares
// of scores lie two by two.
func (a *attention) paired() bool {
	return !a.groups && len(a.outputs) > 0 && a.outputs[0].tile.unit.group == 2
}

// loadBlock loads the tiles of a block of columns.
func (a *attention) loadBlock(loop *scope) {
	loop.Barrier() // what was read of the block before
	for _, q := range a.scores {
		in := loop.block()
		q.n.loads = nil
		q.place(in, &q.n, a.columns)
		q.putTile(in, &q.n, q.loadTile(in, &q.n, u32(0)), u32(0))
		in.end()
	}
	for _, q := range a.outputs {
		in := loop.block()
		q.putTile(in, &q.n, q.loadTile(in, &q.n, a.columns), u32(0))
		in.end()
	}
	loop.Barrier()
}

// blocks computes the blocks of columns from one up to another; the first of all and the end are
// those of the workgroup.
func (a *attention) blocks(name string, first, from, to, end *shader.Expr, decided map[int]int64) {
	loop, at := a.p.root.loop(name, from, to, 16*a.wide)
	a.columns = at
	if a.groups {
		a.copyBlocks(loop, first, end)
	} else {
		a.loadBlock(loop)
	}
	a.block(loop, decided)
	loop.end()
}

// block computes a block of columns.
func (a *attention) block(loop *scope, decided map[int]int64) {
	for i, q := range a.scores {
		q.acc = q.accumulators(loop, tag("s", i)+"_")
	}
	if a.groups {
		a.startScores(loop)
	} else {
		for _, q := range a.scores {
			m := q.from(loop, &q.m, q.warp[0], u32(0))
			q.multiplyInto(loop, q.acc, u32(0), func(sc *scope, word, s int) []*shader.Expr {
				return q.vectors(sc, "x", &q.m, m, a.high, s, word)
			})
		}
	}
	for g := range a.rows {
		for r, row := range a.rows[g] {
			a.reduceBlock(loop, row, g, r, decided)
		}
	}
	a.addBlock(loop)
}

// addBlock adds the products of a block to the outputs.
func (a *attention) addBlock(loop *scope) {
	group := &shader.MultiplyGroup{}
	for _, q := range a.outputs {
		if a.Scaled[q.rows.factor] {
			for g, list := range q.acc {
				for _, acc := range list {
					x, y := a.rows[g][0].scale, a.rows[g][1].scale
					loop.Set(acc, acc.Ref().Mul(shader.Vec(4, x, x, y, y)))
				}
			}
		}
		left := a.left(q)
		if a.groups {
			group.Products = append(group.Products, a.groupProducts(q, left[0])...)
			continue
		}
		in := loop.block()
		q.addProducts(in, u32(0), func(sc *scope, word, s int) (list []*shader.Expr) {
			for g := range left {
				list = append(list, sc.Let(tag("p", g), shader.Vec(4, q.words(left[g], word, s)...)))
			}
			return list
		})
		in.end()
	}
	if a.groups && len(a.outputs) > 0 {
		loop.Do(group)
	}
}

// left is the left factor of an output: by square of rows, square of columns and row.
func (a *attention) left(q *tilePass) [][][2]value {
	left := make([][][2]value, a.high)
	for g := range left {
		left[g] = make([][2]value, a.wide)
		for h := range left[g] {
			for r, row := range a.rows[g] {
				left[g][h][r] = a.valid(row.points[h], row.points[h].value(q.rows.factor), number(shader.F32, 0))
			}
		}
	}
	return left
}

// words are what an instruction takes of a left factor in registers: see tilePass.putWarps.
func (q *tilePass) words(left [][2]value, word, s int) (list []*shader.Expr) {
	u := q.tile.unit
	for i := range 2 {
		for r := range 2 {
			switch {
			case u.group == 2:
				x := left[word/8+s][r]
				list = append(list, shader.PackHalves(halfOf[u.elem], x.lane(2*i), x.lane(2*i+1)))
			case u.split:
				list = append(list, left[word/16][r].lane(2*s+i).Bitcast(shader.U32))
			default:
				list = append(list, left[word/16][r].lane(2*s+i).RoundTF32().Bitcast(shader.U32))
			}
		}
	}
	return list
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
