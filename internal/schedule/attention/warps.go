package attention

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// attentionRegisters is the most registers of a thread for accumulators and scores.
const attentionRegisters = 160

// warps is attention by matrix instructions of warps, each of which has 16 or 32 rows.
// The four threads that share a row each have a quarter of the columns of a square.
type warps struct{ *attention }

// choose chooses the squares of a warp: as many as its registers hold, preferring rows,
// because these share the loads of the columns.
func (a *warps) choose() bool {
	if !a.Target.Matrices {
		return false
	}
	const warps = 4
	for _, size := range [][2]int{{2, 4}, {2, 2}, {1, 4}, {1, 2}} {
		a.inWarps(warps, size[0], size[1])
		enough := a.Nest.Size(a.m) > 16*warps*(a.high-1) && a.Nest.Size(a.n) > 16*(a.wide/2)
		if enough && a.registers() <= attentionRegisters && a.Target.Fits(a.threads, a.Bytes(a.Nest.Kernel, a.height, a.width)) {
			break
		}
	}
	for _, q := range slices.Concat(a.scores, a.outputs) {
		a.tile(q)
	}
	return a.Target.Fits(a.threads, a.Bytes(a.Nest.Kernel, a.height, a.width))
}

// inWarps divides the work among warps of some squares of 16×16.
func (a *attention) inWarps(warps, high, wide int) {
	a.size = size{
		threads: warps * shader.Warp, height: 16 * high * warps, width: 16 * wide, high: high, wide: wide, square: 2, across: 4, stride: 1,
	}
}

// registers is how many a thread needs for scores, for one left factor and for outputs.
func (a *attention) registers() int {
	n := 8 * a.wide * (len(a.scores) + min(1, len(a.outputs)))
	for _, q := range a.outputs {
		n += 8 * ir.CeilDiv(q.Cols.N, 16)
	}
	return a.high * n
}

// tile sets the tile of a product: its whole depth, or width, in a step.
func (a *warps) tile(q *tiles.Pass) {
	right := tiles.Half(q.Product, q.Cols.Factor)
	left := right
	if slices.Contains(a.scores, q) {
		left = tiles.Half(q.Product, q.Rows.Factor)
	} else if slices.ContainsFunc(a.outputs, func(o *tiles.Pass) bool { return tiles.Half(o.Product, o.Cols.Factor) == 0 }) {
		right = 0 // squares of scores lie in one order for all outputs
	}
	u := *tiles.WholeFloats
	switch {
	case left == right && right != 0:
		u = *tiles.HalfPairs[right]
	case a.Target.TF32:
		u = *tiles.RoundedFloats
	}
	u.Buffers = 1
	block := 16 * u.Group
	q.Tile = tiles.Tile{M: a.height, High: a.high, Unit: &u}
	if slices.Contains(a.scores, q) {
		q.Tile.N, q.Tile.K = a.width, ir.CeilDiv(max(1, q.Depth), block)*16
	} else {
		q.Tile.N, q.Tile.K = ir.CeilDiv(q.Cols.N, 16)*16, a.width/u.Group
	}
	q.Tile.Wide = q.Tile.N / 16
}

// placeInWarp finds a thread's place in its warp.
func (a *attention) placeInWarp(root *build.Scope) (ty, tx *shader.Expr) {
	a.p.Subgroup = shader.Warp
	a.lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	warp := root.Let("warp", shader.ThreadID.Div(shader.Warp))
	for _, q := range slices.Concat(a.scores, a.outputs) {
		q.Lane, q.Warp = a.lane, [2]*shader.Expr{warp, build.U32(0)}
	}
	return root.Let("ty", warp.Mul(8).Add(a.lane.Div(4))), root.Let("tx", a.lane.Rem(4))
}

func (a *warps) place(root *build.Scope) (ty, tx *shader.Expr) { return a.placeInWarp(root) }

func (a *warps) declare(q *tiles.Pass, isScore bool) {
	q.N = q.Declare(&q.Cols, q.Tile.N, 1)
	if isScore {
		q.M = q.Declare(&q.Rows, q.Tile.M, 1)
		q.Paired = a.paired()
	} else {
		q.Place(a.p.Root, &q.N, build.U32(0))
	}
}

// paired reports whether the left factors of products are pairs of halves: then squares
// of scores lie two by two.
func (a *warps) paired() bool {
	return len(a.outputs) > 0 && a.outputs[0].Tile.Unit.Group == 2
}

func (a *warps) load(loop *build.Scope, first, end *shader.Expr) {
	loop.Barrier() // all have read the block before
	for _, q := range a.scores {
		a.loadColumns(loop, q)
	}
	for _, q := range a.outputs {
		a.loadDepth(loop, q)
	}
	loop.Barrier()
}

// loadColumns loads the right factor of a score for a block.
func (a *attention) loadColumns(loop *build.Scope, q *tiles.Pass) {
	in := loop.Inner()
	q.N.Loads = nil
	q.Place(in, &q.N, a.columns)
	q.Fill(in, &q.N, build.U32(0))
	in.End()
}

// loadDepth loads the right factor of an output for a block.
func (a *attention) loadDepth(loop *build.Scope, q *tiles.Pass) {
	in := loop.Inner()
	q.Fill(in, &q.N, a.columns)
	in.End()
}

func (a *warps) score(loop *build.Scope) {
	for _, q := range a.scores {
		m := q.From(loop, &q.M, q.Warp[0], build.U32(0))
		q.MultiplyInto(loop, q.Acc, build.U32(0), func(sc *build.Scope, word, s int) []*shader.Expr {
			return q.Vectors(sc, "x", &q.M, m, a.high, s, word)
		})
	}
}

func (a *warps) add(loop *build.Scope) {
	for _, q := range a.outputs {
		left := a.left(q)
		in := loop.Inner()
		q.AddProducts(in, build.U32(0), func(sc *build.Scope, word, s int) (list []*shader.Expr) {
			for g := range left {
				list = append(list, sc.Let(build.Tag("p", g), shader.Vec(4, words(q, left[g], word, s)...)))
			}
			return list
		})
		in.End()
	}
}

// words are an instruction's operand from a left factor in registers: see Pass.putWarps.
func words(q *tiles.Pass, left [][]build.Value, word, s int) (list []*shader.Expr) {
	u := q.Tile.Unit
	for i := range 2 {
		for r := range 2 {
			switch {
			case u.Group == 2:
				x := left[word/8+s][r]
				list = append(list, shader.PackHalves(build.Halves[u.Elem.Type], x.Lane(2*i), x.Lane(2*i+1)))
			case u.Split:
				list = append(list, left[word/16][r].Lane(2*s+i).Bitcast(shader.U32))
			default:
				list = append(list, left[word/16][r].Lane(2*s+i).RoundTF32().Bitcast(shader.U32))
			}
		}
	}
	return list
}

func (a *warps) column(h int) (step, first int) {
	if a.paired() {
		return 8, h/2*32 + h%2*4
	}
	return 4, 16 * h
}
