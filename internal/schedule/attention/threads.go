package attention

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// threads is the unit without matrix instructions. Each thread computes squares of 4×4 scores in
// its four rows. As in a contraction, shared memory holds tiles of the factors for one step of
// the depth at a time, and all products use this memory in turn. Only the left factor of an
// output, the weights, is there as a whole, as vectors along the rows.
type threads struct {
	*attention
	lefts   *shader.Shared // a step of left factors of scores
	rights  *shader.Shared // a step of right factors
	weights *shader.Shared // the left factor of an output, in column-major order
}

// A block is a choice of the block of scores that a workgroup computes at a time.
type block struct {
	rows, columns   int
	minGroups       int // the least number of workgroups for each compute unit
	maxAccumulators int // the most registers of a thread for scores and outputs
}

// blocks are the choices, the fastest first. The last one needs the least shared memory.
var blocks = []block{
	{128, 64, 4, 96},
	{64, 32, 0, 32},
	{loopnest.LeastRows, loopnest.LeastColumns, 0, 64},
	{loopnest.LeastRows, 64, 0, math.MaxInt},
	{loopnest.LeastRows, loopnest.LeastColumns, 0, math.MaxInt},
}

func (a *threads) choose() bool {
	if a.Target.Matrices || !a.Target.Traits().Concurrent {
		return false
	}
	const across = loopnest.Across
	for _, b := range blocks {
		a.size = size{
			threads: b.rows / 4 * across, height: b.rows, width: b.columns, high: 1, wide: b.columns / (4 * across), square: 4, across: across, stride: tiles.LaneStride,
		}
		bytes := a.ThreadBytes(a.Nest.Kernel, b.rows, b.columns)
		if a.exchanges() {
			bytes += a.ExchangeBytes(b.rows)
		}
		groups := ir.CeilDiv(a.Nest.Size(a.m), b.rows) * a.Nest.Size(a.Nest.List(ir.Batch))
		if a.Target.Fits(a.threads, bytes) && groups >= b.minGroups*a.Target.Units && a.numAccumulators() <= b.maxAccumulators {
			return true
		}
	}
	return false
}

// numAccumulators is the number of a thread's registers for scores and outputs.
func (a *threads) numAccumulators() int {
	squares := a.wide * len(a.scores)
	for _, q := range a.outputs {
		squares += ir.CeilDiv(q.Cols.N, 4*a.across)
	}
	return 16 * squares
}

func (a *threads) place(root *build.Scope) (ty, tx *shader.Expr) {
	return tiles.PlaceThreads(root, a.height/4, a.across)
}

func (a *threads) declare(q *tiles.Pass, isScore bool) {
	columns := a.width
	if !isScore {
		columns = loopnest.AcrossColumns(q.Cols.N)
	}
	q.Tile = tiles.Tile{M: a.height, N: columns, K: loopnest.Step, High: 1, Wide: columns / (4 * a.across), Unit: &tiles.ByThreads}
	if a.lefts == nil {
		vectors := shader.F32.Vec(4)
		left, right, weights := a.ThreadVectors(a.Nest.Kernel, a.height, a.width)
		a.lefts, a.rights = a.p.Share(vectors, left), a.p.Share(vectors, right)
		if weights > 0 {
			a.weights = a.p.Share(vectors, weights)
		}
	}
	q.N = q.NewFactor(&q.Cols, columns, a.rights)
	q.First, q.Last = build.U32(0), build.U32(ir.CeilDiv(q.Depth, loopnest.Step))
	if isScore {
		q.M = q.NewFactor(&q.Rows, a.height, a.lefts)
	} else {
		q.Steps = a.width / loopnest.Step
		q.Last = build.U32(q.Steps)
		q.Place(a.p.Root, &q.N, build.U32(0))
	}
}

// loadRows loads nothing: score loads the left factor step by step.
func (a *threads) loadRows(q *tiles.Pass) { q.Place(a.p.Root, &q.M, q.At.Row) }

func (a *threads) accumulators(q *tiles.Pass, sc *build.Scope, name string) [][]*shader.Var {
	return q.ThreadAccumulators(sc, name)
}

// load loads nothing: Pass.Stepwise loads, and has barriers. Without a score that calls it, load has
// the barrier before which threads have read the values that they exchange.
func (a *threads) load(loop *build.Scope, first, end *shader.Expr) {
	if !slices.ContainsFunc(a.scores, func(q *tiles.Pass) bool { return q.Depth > 0 }) {
		loop.Barrier()
	}
}

func (a *threads) score(loop *build.Scope) {
	for _, q := range a.scores {
		if q.Depth == 0 {
			continue
		}
		in := loop.Inner()
		q.N.Loads = nil
		q.Place(in, &q.N, a.columns)
		q.Stepwise(in, 1, func(sc *build.Scope, _, now *shader.Expr) {
			q.MultiplyThreads(sc, now.Mul(q.M.Size(q.Tile)), now.Mul(q.N.Size(q.Tile)))
		})
		in.End()
	}
}

func (a *threads) scale(q *tiles.Pass, loop *build.Scope) {
	for i, list := range q.Acc {
		for _, acc := range list {
			loop.Set(acc, acc.Ref().Mul(shader.Vec(4, a.rows[0][i].scale)))
		}
	}
}

func (a *threads) add(loop *build.Scope) {
	for _, q := range a.outputs {
		in := loop.Inner()
		// Store the weights of all columns of the block, a vector of four rows at a time.
		for h, rows := range a.left(q)[0] {
			for j := range 4 {
				column := q.TX.Mul(4).Plus(4*h*a.across + j)
				in.Put(a.weights, column.Mul(a.height/4).Add(a.weightsRow(q, q.TX)), shader.Vec(4, rows[0].Lane(j), rows[1].Lane(j), rows[2].Lane(j), rows[3].Lane(j)))
			}
		}
		q.Begin = a.columns
		q.Stepwise(in, 1, func(sc *build.Scope, step, now *shader.Expr) {
			right := sc.Let("from_n", now.Mul(q.N.Size(q.Tile)).Add(q.TX))
			var left *shader.Expr // the index of the weights, for four columns at a time
			for k := range loopnest.Step {
				if k%4 == 0 {
					row := a.weightsRow(q, step.Mul(loopnest.Step/4).Plus(k/4))
					left = sc.Let(build.Tag("from_w", k/4), step.Mul(loopnest.Step*a.height/4).Add(row))
				}
				q.MultiplyPlace(sc, k, func(int) *shader.Expr { return a.weights.At(left.Plus(k * a.height / 4)) }, right)
			}
		})
		in.End()
	}
}

// weightsRow is the index of a thread's rows in a column of weights. It depends on the quarter of
// the column, so that eight threads that write at once, in two rows and four quarters, write to
// different banks.
func (a *threads) weightsRow(q *tiles.Pass, quarter *shader.Expr) *shader.Expr {
	return q.TY.Xor(quarter.Mul(tiles.LaneStride).And(7))
}

func (a *threads) column(h int) (step, first int) { return 4, 4 * h * a.across }
