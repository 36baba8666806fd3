package schedule

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A tile is the size of a workgroup's part of the result, and of a step along the depth. A
// thread computes high × wide squares of 4×4.
type tile struct {
	m, n, k    int
	high, wide int
	rate       float64 // relative speed where there are many tiles
	resident   int     // workgroups that one unit runs at once
}

func (t tile) threads() int { return t.m / (4 * t.high) * t.n / (4 * t.wide) }

// bytes is the memory that a workgroup shares, twice two tiles.
func (t tile) bytes() int { return 2 * 4 * t.k * (t.m + 4 + t.n + 4) }

// chooseTile returns the fastest tile for the workgroups.
func (x *contraction) chooseTile(how *products) tile {
	cost := how.tileCost
	results := float64(x.batches * x.rows.n * x.cols.n)
	return fastest(x, how.tiles, func(t tile) (splits, each int, time float64) {
		tiles := x.batches * ir.CeilDiv(x.rows.n, t.m) * ir.CeilDiv(x.cols.n, t.n)
		steps := max(1, ir.CeilDiv(x.depth, t.k))
		work := float64(t.m*t.n*t.k) / t.rate
		return loopnest.Split(steps, min(64, steps/4), func(splits, each int) float64 {
			time := 0.0
			for left := ir.CeilDiv(tiles*splits, x.t.Units); left > 0; left -= t.resident {
				time += float64(each) * max(cost.step, float64(min(left, t.resident))*work)
			}
			if splits > 1 {
				time += cost.pass + cost.part*float64(splits)*results
			}
			return time
		})
	})
}

// A tilePass computes a tile in each workgroup. The tiles of the factors are in
// shared memory, in vectors of four along the side: the left one is transposed. They
// are double-buffered: while one is multiplied the next is loaded, with one barrier
// a step.
type tilePass struct {
	*contraction
	tile   tile
	p      *pass
	m, n   factorTile
	tx, ty *shader.Expr // the thread's place in the tile
	at     place        // of the tile
	acc    [][4][]*shader.Var
}

func (x *contraction) tiled(t tile) {
	x.split()
	x.pass(t.threads(), func(p *pass) {
		q := &tilePass{contraction: x, tile: t, p: p}
		q.locate()
		p.root.enter(span{axes: x.batch, base: q.at.batch})
		q.acc = make([][4][]*shader.Var, t.high)
		for g := range t.high {
			for r := range 4 {
				for h := range t.wide {
					q.acc[g][r] = append(q.acc[g][r], x.vector(p.root, fmt.Sprintf("c%d%d%d", g, r, h)))
				}
			}
		}
		if x.depth > 0 {
			q.multiplySteps()
		}
		q.storeTile()
	})
	x.addSplits()
}

// band is the number of rows of tiles that are computed column by column, so that the
// factors that they share are still in the cache.
const band = 8

// locate finds the workgroup's tile and the thread's place in it.
func (q *tilePass) locate() {
	root, t := q.p.root, q.tile
	high, wide := ir.CeilDiv(q.rows.n, t.m), ir.CeilDiv(q.cols.n, t.n)
	per := high * wide
	q.p.groups = per * q.batches * q.splits
	job := q.p.job()
	q.at.batch = root.Let("batch", job.Div(per).Rem(q.batches))
	q.at.split = root.Let("split", job.Div(per*q.batches))
	tile := root.Let("tile", job.Rem(per))
	first := root.Let("first", tile.Div(band*wide).Mul(band))
	height := root.Let("height", u32(high).Sub(first).Min(band))
	q.at.row = root.Let("m0", first.Add(tile.Rem(band*wide).Rem(height)).Mul(t.m))
	q.at.col = root.Let("n0", tile.Rem(band*wide).Div(height).Mul(t.n))
	across := t.n / (4 * t.wide)
	q.tx = root.Let("tx", shader.ThreadID.Rem(across))
	q.ty = root.Let("ty", shader.ThreadID.Div(across))
}

// multiplySteps multiplies tile by tile along the depth.
func (q *tilePass) multiplySteps() {
	root, t := q.p.root, q.tile
	q.m = q.prepare(&q.rows, t.m, q.at.row)
	q.n = q.prepare(&q.cols, t.n, q.at.col)
	first, last := u32(0), u32(ir.CeilDiv(q.depth, t.k))
	if q.splits > 1 {
		first = root.Let("begin", q.at.split.Mul(q.perSplit))
		last = root.Let("end", first.Add(q.perSplit).Min(last))
	}
	start := root.block()
	q.load(start, &q.m, first)
	q.load(start, &q.n, first)
	q.m.put(start, u32(0))
	q.n.put(start, u32(0))
	loop, step := root.loop("step", first, last, 1)
	odd := loop.Let("odd", step.Sub(first).And(1))
	// The last step loads its own tiles again: a condition would cost more.
	next := loop.Let("next", step.Add(1).Min(last.Sub(1)))
	q.load(loop, &q.m, next)
	q.load(loop, &q.n, next)
	sizes := [2]int{t.k * q.m.stride, t.k * q.n.stride}
	fromM := loop.Let("from_m", odd.Mul(sizes[0]).Add(q.ty))
	fromN := loop.Let("from_n", odd.Mul(sizes[1]).Add(q.tx))
	for k := range t.k {
		q.multiplyPlace(loop, k, fromM, fromN)
	}
	q.m.put(loop, odd.Xor(1).Mul(sizes[0]))
	q.n.put(loop, odd.Xor(1).Mul(sizes[1]))
	loop.Barrier()
	root.Do(start.Stmts...)
	root.Barrier()
	loop.end()
}

// multiplyPlace multiplies a column of the left tile by a row of the right one, at a
// position of the depth.
func (q *tilePass) multiplyPlace(sc *scope, k int, fromM, fromN *shader.Expr) {
	t := q.tile
	in := sc.block()
	left, right := make([]*shader.Expr, t.high), make([]*shader.Expr, t.wide)
	for g := range left {
		left[g] = in.Let(fmt.Sprintf("x%d", g), q.m.shared.At(fromM.Add(k*q.m.stride+g*t.m/t.high/4)))
	}
	for h := range right {
		right[h] = in.Let(fmt.Sprintf("y%d", h), q.n.shared.At(fromN.Add(k*q.n.stride+h*t.n/t.wide/4)))
	}
	for g, rows := range q.acc {
		for r := range rows {
			for h, acc := range rows[r] {
				q.multiply(in, acc, left[g].At(r), right[h])
			}
		}
	}
	in.end()
}

// storeTile stores a thread's results.
func (q *tilePass) storeTile() {
	t := q.tile
	for h := range t.wide {
		cols := q.p.root.block()
		col := cols.Let("col", q.at.col.Add(q.tx.Mul(4)).Add(h*t.n/t.wide))
		w := span{axes: q.cols.axes, base: col, step: count(4), fours: q.fours(q.cols.axes), clamp: clamp(q.cols.n, t.n)}
		cols.enterValid(w)
		for g := range t.high {
			for r := range 4 {
				rows := cols.block()
				row := rows.Let("row", q.at.row.Add(q.ty.Mul(4)).Add(g*t.m/t.high+r))
				w := span{axes: q.rows.axes, base: row, clamp: clamp(q.rows.n, t.m)}
				rows.enterValid(w)
				q.finish(rows, q.acc[g][r][h].Ref(), place{q.at.batch, row, col, q.at.split})
				rows.end()
			}
		}
		cols.end()
	}
}
