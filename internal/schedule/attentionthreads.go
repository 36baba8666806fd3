package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// attentionThreads is attention by threads, each of which has a square of 4×4 scores, and of
// outputs several. A row of a tile in shared memory is vectors along the depth or the width, so
// that one tile can be the right factor of a score and of an output. The left factors of outputs
// go through shared memory.
type attentionThreads struct {
	*attention
	weights *shader.Shared // a left factor of outputs
}

// attentionBlocks are the sizes of a workgroup: rows, columns of a block, and threads that share a
// row.
var attentionBlocks = [][3]int{{64, 32, 8}, {32, 32, 8}, {loopnest.LeastRows, loopnest.LeastColumns, loopnest.LeastAcross}}

func (a *attentionThreads) choose() bool {
	if a.t.Matrices || a.t.traits().products == nil {
		return false
	}
	for _, size := range attentionBlocks {
		rows, columns, across := size[0], size[1], size[2]
		threads := rows / 4 * across
		if a.t.fits(threads, a.ThreadBytes(a.k.Kernel, rows, columns, across)) {
			a.attentionSize = attentionSize{
				threads: threads, height: rows, width: columns, high: 1, wide: columns / (4 * across), square: 4, across: across,
			}
			return true
		}
	}
	return false
}

// inRows is a unit of tiles whose rows are vectors.
var inRows = unit{
	lanes: 1, square: [2]int{4, 4}, rows: 4, group: 1, buffers: 1, deep: patch{1, 1}, aside: patch{1, 1},
	methods: unitMethods{put: (*tilePass).putRows, result: (*tilePass).resultThreads},
}

func (a *attentionThreads) place(root *scope) (ty, tx *shader.Expr) {
	return root.Let("ty", shader.ThreadID.Div(a.across)), root.Let("tx", shader.ThreadID.Rem(a.across))
}

func (a *attentionThreads) declare(q *tilePass, isScore bool) {
	q.tile = tile{m: a.height, high: a.high, unit: &inRows}
	n := q.depth
	if !isScore {
		n = q.cols.n
	}
	n = ir.CeilDiv(max(1, n), 4*a.across) * 4 * a.across
	if isScore {
		q.tile.n, q.tile.wide, q.tile.k = a.width, a.wide, n
		q.m, q.n = a.tile(q, &q.rows, a.height, a.height, n), a.tile(q, &q.cols, a.width, a.width, n)
		return
	}
	q.tile.n, q.tile.wide, q.tile.k = n, n/(4*a.across), a.width
	if s := a.scoreOf(q); s != nil {
		q.n = s.n
	} else {
		q.n = a.tile(q, &q.cols, n, a.width, n)
		q.n.rowsAlongDepth = true
		q.place(a.p.root, &q.n, u32(0))
	}
	if a.weights == nil {
		a.weights = a.p.share(shader.F32.Vec(4), a.height*loopnest.RowVectors(a.width, 1))
	}
}

// scoreOf is the score whose right factor an output shares, or nil.
func (a *attentionThreads) scoreOf(q *tilePass) *tilePass {
	if s := a.SharedTile(a.k.Kernel, slices.Index(a.outputs, q)); s >= 0 {
		return a.scores[s]
	}
	return nil
}

// tile declares a tile of some rows of n elements, for a block of a side.
func (a *attentionThreads) tile(q *tilePass, d *side, block, rows, n int) factorTile {
	stride := loopnest.RowVectors(n, a.across)
	return factorTile{
		side: d, left: d == &q.rows, block: block, lines: patch{1, 1}, depth: q.tile.k,
		stride: stride, shared: a.p.share(shader.F32.Vec(4), rows*stride),
	}
}

// putRows puts a vector into a row, or into four rows. Rows 0, 4, 8 … come first, then 1, 5 …:
// those that neighbouring threads read together follow each other.
func (q *tilePass) putRows(sc *scope, f *factorTile, l *tileLoad, block []*shader.Expr, _ *shader.Expr) {
	row, at, apart := l.side(f), l.depth(f), f.block/4
	if f.rowsAlongDepth {
		row, at, apart = at, row, f.depth/4
	}
	if f.alongK != f.rowsAlongDepth {
		row = row.And(3).Mul(apart).Add(row.Shr(2))
		sc.Put(f.shared, row.Mul(f.stride).Add(at), block[0])
		return
	}
	first := sc.Let("at", row.Mul(f.stride).Add(at.Shr(2)))
	for n := range 4 {
		sc.Do(&shader.StoreShared{Shared: f.shared, Index: first.Plus(n * apart * f.stride), Component: at.And(3), Value: block[0].At(n)})
	}
}

// rowAt is where the tile of a left factor has a thread's row.
func (a *attentionThreads) rowAt(q *tilePass, row, stride int) *shader.Expr {
	g, r := row/4, row%4
	return q.ty.Plus(r*a.height/4 + g*a.height/(4*a.high)).Mul(stride)
}

func (a *attentionThreads) accumulators(q *tilePass, sc *scope, name string) [][]*shader.Var {
	acc := make([][]*shader.Var, 4*a.high)
	for i := range acc {
		for h := range q.tile.wide {
			acc[i] = append(acc[i], q.vector(sc, tag(name, i, h)))
		}
	}
	return acc
}

func (a *attentionThreads) load(loop *scope, first, end *shader.Expr) {
	loop.Barrier() // what was read of the block before
	for _, q := range a.scores {
		a.loadColumns(loop, q)
	}
	for _, q := range a.outputs {
		if a.scoreOf(q) == nil {
			a.loadDepth(loop, q)
		}
	}
	loop.Barrier()
}

// unrolled is a loop over n vectors, each of which takes some instructions. A step has a few
// vectors, with at most 128 instructions if it has several.
func unrolled(sc *scope, name string, n, instructions int, body func(sc *scope, at *shader.Expr)) {
	some := 4
	for some > 1 && (n%some > 0 || some*instructions > 128) {
		some /= 2
	}
	loop, at := sc.loop(name, u32(0), u32(n), some)
	for i := range some {
		in := loop.block()
		body(in, at.Plus(i))
		in.end()
	}
	loop.end()
}

func (a *attentionThreads) score(loop *scope) {
	for _, q := range a.scores {
		unrolled(loop, "v", ir.CeilDiv(max(1, q.depth), 4), 64*a.high*a.wide, func(sc *scope, at *shader.Expr) {
			x, y := make([]*shader.Expr, 4*a.high), make([]*shader.Expr, 4*a.wide)
			for i := range x {
				x[i] = sc.Let(tag("x", i), q.m.shared.At(a.rowAt(q, i, q.m.stride).Add(at)))
			}
			for j := range y {
				row := q.tx.Plus(j/4*a.across + j%4*a.width/4)
				y[j] = sc.Let(tag("y", j), q.n.shared.At(row.Mul(q.n.stride).Add(at)))
			}
			for k := range 4 {
				for h := range a.wide {
					right := sc.Let(tag("z", k, h), shader.Vec(4, y[4*h].At(k), y[4*h+1].At(k), y[4*h+2].At(k), y[4*h+3].At(k)))
					for i := range x {
						q.multiply(sc, q.acc[i][h], x[i].At(k), right)
					}
				}
			}
		})
	}
}

func (a *attentionThreads) scale(q *tilePass, loop *scope) {
	for i, list := range q.acc {
		for _, acc := range list {
			loop.Set(acc, acc.Ref().Mul(shader.Vec(4, a.rows[i/4][i%4].scale)))
		}
	}
}

func (a *attentionThreads) add(loop *scope) {
	stride := loopnest.RowVectors(a.width, 1)
	for n, q := range a.outputs {
		if n > 0 {
			loop.Barrier() // the weights before have been read
		}
		for g, squares := range a.left(q) {
			for h, rows := range squares {
				for r, x := range rows {
					at := a.rowAt(q, 4*g+r, stride).Add(q.tx).Plus(h * a.across)
					loop.Put(a.weights, at, shader.Vec(4, x...))
				}
			}
		}
		loop.Barrier()
		unrolled(loop, "v", a.width/4, 64*a.high*q.tile.wide, func(sc *scope, at *shader.Expr) {
			x := make([]*shader.Expr, 4*a.high)
			for i := range x {
				x[i] = sc.Let(tag("x", i), a.weights.At(a.rowAt(q, i, stride).Add(at)))
			}
			for k := range 4 {
				for h := range q.tile.wide {
					y := sc.Let(tag("y", k, h), q.n.shared.At(at.Plus(k*a.width/4).Mul(q.n.stride).Add(q.tx).Plus(h*a.across)))
					for i := range x {
						q.multiply(sc, q.acc[i][h], x[i].At(k), y)
					}
				}
			}
		})
	}
}

func (a *attentionThreads) column(h int) (step, first int) { return 4, 4 * h * a.across }
