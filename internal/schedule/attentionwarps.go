package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// attentionRegisters is the most registers of a thread for accumulators and scores.
const attentionRegisters = 160

// attentionWarps is attention by matrix instructions of warps, each of which has 16 or 32 rows.
// The four threads that share a row each have a quarter of the columns of a square.
type attentionWarps struct{ *attention }

// choose chooses the squares of a warp: as many as its registers hold, rather of rows, as
// these share what is read of the columns.
func (a *attentionWarps) choose() bool {
	if !a.t.Matrices {
		return false
	}
	const warps = 4
	for _, size := range [][2]int{{2, 4}, {2, 2}, {1, 4}, {1, 2}} {
		a.inWarps(warps, size[0], size[1])
		enough := a.k.Size(a.m) > 16*warps*(a.high-1) && a.k.Size(a.n) > 16*(a.wide/2)
		if enough && a.registers() <= attentionRegisters && a.t.fits(a.threads, a.Bytes(a.k.Kernel, a.height, a.width)) {
			break
		}
	}
	for _, q := range slices.Concat(a.scores, a.outputs) {
		a.tile(q)
	}
	return a.t.fits(a.threads, a.Bytes(a.k.Kernel, a.height, a.width))
}

// inWarps divides the work among warps of some squares of 16×16.
func (a *attention) inWarps(warps, high, wide int) {
	a.attentionSize = attentionSize{
		threads: warps * shader.Warp, height: 16 * high * warps, width: 16 * wide, high: high, wide: wide, square: 2, across: 4, stride: 1,
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
func (a *attentionWarps) tile(q *tilePass) {
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
	q.tile = tile{m: a.height, high: a.high, unit: &u}
	if slices.Contains(a.scores, q) {
		q.tile.n, q.tile.k = a.width, ir.CeilDiv(max(1, q.depth), block)*16
	} else {
		q.tile.n, q.tile.k = ir.CeilDiv(q.cols.n, 16)*16, a.width/u.group
	}
	q.tile.wide = q.tile.n / 16
}

// unitsOfHalves has the units of warps by the type that they multiply.
var unitsOfHalves = map[ir.DType]*unit{ir.Float16: float16Pairs, ir.BFloat16: bfloat16Pairs}

// placeInWarp finds a thread's place in its warp.
func (a *attention) placeInWarp(root *scope) (ty, tx *shader.Expr) {
	a.p.Subgroup = shader.Warp
	a.lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	warp := root.Let("warp", shader.ThreadID.Div(shader.Warp))
	for _, q := range slices.Concat(a.scores, a.outputs) {
		q.lane, q.warp = a.lane, [2]*shader.Expr{warp, u32(0)}
	}
	return root.Let("ty", warp.Mul(8).Add(a.lane.Div(4))), root.Let("tx", a.lane.Rem(4))
}

func (a *attentionWarps) place(root *scope) (ty, tx *shader.Expr) { return a.placeInWarp(root) }

func (a *attentionWarps) declare(q *tilePass, isScore bool) {
	q.n = q.declare(&q.cols, q.tile.n, 1)
	if isScore {
		q.m = q.declare(&q.rows, q.tile.m, 1)
		q.paired = a.paired()
	} else {
		q.place(a.p.root, &q.n, u32(0))
	}
}

// paired reports whether the left factors of products are pairs of halves: then squares
// of scores lie two by two.
func (a *attentionWarps) paired() bool {
	return len(a.outputs) > 0 && a.outputs[0].tile.unit.group == 2
}

func (a *attentionWarps) load(loop *scope, first, end *shader.Expr) {
	loop.Barrier() // what was read of the block before
	for _, q := range a.scores {
		a.loadColumns(loop, q)
	}
	for _, q := range a.outputs {
		a.loadDepth(loop, q)
	}
	loop.Barrier()
}

// loadColumns loads the right factor of a score for a block.
func (a *attention) loadColumns(loop *scope, q *tilePass) {
	in := loop.block()
	q.n.loads = nil
	q.place(in, &q.n, a.columns)
	q.fill(in, &q.n, u32(0))
	in.end()
}

// loadDepth loads the right factor of an output for a block.
func (a *attention) loadDepth(loop *scope, q *tilePass) {
	in := loop.block()
	q.fill(in, &q.n, a.columns)
	in.end()
}

func (a *attentionWarps) score(loop *scope) {
	for _, q := range a.scores {
		m := q.from(loop, &q.m, q.warp[0], u32(0))
		q.multiplyInto(loop, q.acc, u32(0), func(sc *scope, word, s int) []*shader.Expr {
			return q.vectors(sc, "x", &q.m, m, a.high, s, word)
		})
	}
}

func (a *attentionWarps) add(loop *scope) {
	for _, q := range a.outputs {
		left := a.left(q)
		in := loop.block()
		q.addProducts(in, u32(0), func(sc *scope, word, s int) (list []*shader.Expr) {
			for g := range left {
				list = append(list, sc.Let(tag("p", g), shader.Vec(4, q.words(left[g], word, s)...)))
			}
			return list
		})
		in.end()
	}
}

// words are what an instruction takes of a left factor in registers: see tilePass.putWarps.
func (q *tilePass) words(left [][]value, word, s int) (list []*shader.Expr) {
	u := q.tile.unit
	for i := range 2 {
		for r := range 2 {
			switch {
			case u.group == 2:
				x := left[word/8+s][r]
				list = append(list, shader.PackHalves(halves[u.elem.Type], x.lane(2*i), x.lane(2*i+1)))
			case u.split:
				list = append(list, left[word/16][r].lane(2*s+i).Bitcast(shader.U32))
			default:
				list = append(list, left[word/16][r].lane(2*s+i).RoundTF32().Bitcast(shader.U32))
			}
		}
	}
	return list
}

func (a *attentionWarps) column(h int) (step, first int) {
	if a.paired() {
		return 8, h/2*32 + h%2*4
	}
	return 4, 16 * h
}
