package schedule

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// attentionThreads is attention by threads, each of which has squares of 4×4 scores in four rows.
// Tiles of the factors go through shared memory step by step along the depth, as those of a
// contraction do; all products use the same memory in turn. The left factor of an output is there
// as a whole, as vectors along the rows.
type attentionThreads struct {
	*attention
	lefts   *shader.Shared // a step of left factors of scores
	rights  *shader.Shared // a step of right factors
	weights *shader.Shared // the left factor of an output: a column after the other
}

// An attentionBlock is the size of a workgroup.
type attentionBlock struct {
	rows, columns   int // columns of a block
	minGroups       int // workgroups of a compute unit
	maxAccumulators int // registers of a thread for scores and outputs
}

// attentionBlocks are the sizes to choose from, the fastest first. The last one needs the least
// shared memory.
var attentionBlocks = []attentionBlock{
	{128, 64, 4, 96},
	{64, 32, 0, 32},
	{loopnest.LeastRows, loopnest.LeastColumns, 0, 64},
	{loopnest.LeastRows, 64, 0, math.MaxInt},
	{loopnest.LeastRows, loopnest.LeastColumns, 0, math.MaxInt},
}

func (a *attentionThreads) choose() bool {
	if a.t.Matrices || !a.t.traits().concurrent {
		return false
	}
	const across = loopnest.Across
	for _, b := range attentionBlocks {
		a.attentionSize = attentionSize{
			threads: b.rows / 4 * across, height: b.rows, width: b.columns, high: 1, wide: b.columns / (4 * across), square: 4, across: across, stride: laneStride,
		}
		bytes := a.ThreadBytes(a.k.Kernel, b.rows, b.columns)
		if a.exchanges() {
			bytes += a.ExchangeBytes(b.rows)
		}
		groups := ir.CeilDiv(a.k.Size(a.m), b.rows) * a.k.Size(a.k.List(ir.Batch))
		if a.t.fits(a.threads, bytes) && groups >= b.minGroups*a.t.Units && a.accumulatorsOf() <= b.maxAccumulators {
			return true
		}
	}
	return false
}

// accumulatorsOf is the number of registers of a thread's scores and outputs.
func (a *attentionThreads) accumulatorsOf() int {
	squares := a.wide * len(a.scores)
	for _, q := range a.outputs {
		squares += ir.CeilDiv(q.cols.n, 4*a.across)
	}
	return 16 * squares
}

func (a *attentionThreads) place(root *scope) (ty, tx *shader.Expr) {
	return placeThreads(root, a.height/4, a.across)
}

func (a *attentionThreads) declare(q *tilePass, isScore bool) {
	n := a.width
	if !isScore {
		n = loopnest.AcrossColumns(q.cols.n)
	}
	q.tile = tile{m: a.height, n: n, k: loopnest.Step, high: 1, wide: n / (4 * a.across), unit: &byThreads}
	if a.lefts == nil {
		vectors := shader.F32.Vec(4)
		left, right, weights := a.ThreadVectors(a.k.Kernel, a.height, a.width)
		a.lefts, a.rights = a.p.share(vectors, left), a.p.share(vectors, right)
		if weights > 0 {
			a.weights = a.p.share(vectors, weights)
		}
	}
	q.n = q.factorTile(&q.cols, n, a.rights)
	q.first, q.last = u32(0), u32(ir.CeilDiv(q.depth, loopnest.Step))
	if isScore {
		q.m = q.factorTile(&q.rows, a.height, a.lefts)
	} else {
		q.steps = a.width / loopnest.Step
		q.last = u32(q.steps)
		q.place(a.p.root, &q.n, u32(0))
	}
}

// loadRows loads nothing: the left factor of a score is loaded step by step.
func (a *attentionThreads) loadRows(q *tilePass) { q.place(a.p.root, &q.m, q.at.row) }

func (a *attentionThreads) accumulators(q *tilePass, sc *scope, name string) [][]*shader.Var {
	return q.threadAccumulators(sc, name)
}

// load loads nothing: see tilePass.stepwise, which has barriers.
func (a *attentionThreads) load(loop *scope, first, end *shader.Expr) {
	if !slices.ContainsFunc(a.scores, func(q *tilePass) bool { return q.depth > 0 }) {
		loop.Barrier() // threads have read what they exchanged before
	}
}

func (a *attentionThreads) score(loop *scope) {
	for _, q := range a.scores {
		if q.depth == 0 {
			continue
		}
		in := loop.block()
		q.n.loads = nil
		q.place(in, &q.n, a.columns)
		q.stepwise(in, 1, func(sc *scope, _, now *shader.Expr) {
			q.multiplyThreads(sc, now.Mul(q.m.size(q.tile)), now.Mul(q.n.size(q.tile)))
		})
		in.end()
	}
}

func (a *attentionThreads) scale(q *tilePass, loop *scope) {
	for i, list := range q.acc {
		for _, acc := range list {
			loop.Set(acc, acc.Ref().Mul(shader.Vec(4, a.rows[0][i].scale)))
		}
	}
}

func (a *attentionThreads) add(loop *scope) {
	for _, q := range a.outputs {
		in := loop.block()
		for h, rows := range a.left(q)[0] {
			for j := range 4 {
				column := q.tx.Mul(4).Plus(4*h*a.across + j)
				in.Put(a.weights, column.Mul(a.height/4).Add(a.weightsRow(q, q.tx)), shader.Vec(4, rows[0].lane(j), rows[1].lane(j), rows[2].lane(j), rows[3].lane(j)))
			}
		}
		q.begin = a.columns
		q.stepwise(in, 1, func(sc *scope, step, now *shader.Expr) {
			right := sc.Let("from_n", now.Mul(q.n.size(q.tile)).Add(q.tx))
			var left *shader.Expr // of four columns
			for k := range loopnest.Step {
				if k%4 == 0 {
					row := a.weightsRow(q, step.Mul(loopnest.Step/4).Plus(k/4))
					left = sc.Let(tag("from_w", k/4), step.Mul(loopnest.Step*a.height/4).Add(row))
				}
				q.multiplyPlace(sc, k, func(int) *shader.Expr { return a.weights.At(left.Plus(k * a.height / 4)) }, right)
			}
		})
		in.end()
	}
}

// weightsRow is where a column of weights has a thread's rows. Those of columns whose quarters differ
// lie in other banks: eight threads that write at once have two rows and four quarters.
func (a *attentionThreads) weightsRow(q *tilePass, quarter *shader.Expr) *shader.Expr {
	return q.ty.Xor(quarter.Mul(laneStride).And(7))
}

func (a *attentionThreads) column(h int) (step, first int) { return 4, 4 * h * a.across }
