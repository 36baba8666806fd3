package schedule

import "github.com/tensorken/tensorken/internal/shader"

// byWarps is a unit in which a warp computes squares of 16×16, by pairs of instructions that
// multiply 16 rows by 8 columns. Thread t has rows 2·(t/4) and the next, and four columns from
// 4·(t mod 4) on: which rows and columns an instruction's are is free, and so is the order of
// the depth if both factors have the same.
//
// A tile in shared memory has blocks of four rows, or columns, by four words of the depth, as
// threads load them: those of 16 words of a column, or of a pair of rows, are next to each
// other. A vector of the left factor has what a thread takes of it for an instruction: words 2s
// and 2s+1 of the block in two rows. One of the right factor has the four words of a column,
// for two instructions. See [tilePass.vectorOf] for where they are.
func byWarps(elem shader.Matrix, split bool) *unit {
	group := elem.PerWord()
	return &unit{
		lanes: shader.Warp, square: [2]int{16, 16}, rows: 2, apart: 1, group: group, buffers: 2,
		deep: patch{4, group}, aside: patch{4 * group, 1}, elem: elem, split: split,
		methods: unitMethods{
			start: (*tilePass).startWarps, stride: (*tilePass).strideWarps, put: (*tilePass).putWarps,
			steps: (*tilePass).multiplySteps, multiply: (*tilePass).multiplyWarps, end: (*tilePass).repair, result: (*tilePass).resultWarps,
		},
	}
}

// The units of warps. Of wholeFloats an F32 is a head and a tail of TF32. Three products of
// these give that of floats with less error than their rounding has: without that of the tails.
var (
	wholeFloats   = byWarps(shader.TF32, true)
	roundedFloats = byWarps(shader.TF32, false)
	float16Pairs  = byWarps(shader.F16Pairs, false)
	bfloat16Pairs = byWarps(shader.BF16Pairs, false)
	int8Quads     = byWarps(shader.S8Quads, false)
	uint8Quads    = byWarps(shader.U8Quads, false)
)

// locateWarp finds the thread's lane, and the place of its warp in rows and columns of warps.
func (q *tilePass) locateWarp() {
	root, t := q.p.root, q.tile
	q.p.Subgroup = shader.Warp
	across := t.n / (16 * t.wide)
	q.lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	number := root.Let("warp", shader.ThreadID.Div(shader.Warp))
	q.warp = [2]*shader.Expr{root.Let("warp_m", number.Div(across)), root.Let("warp_n", number.Rem(across))}
}

// startWarps finds the thread's place, and declares the accumulators.
func (q *tilePass) startWarps() {
	root := q.p.root
	q.locateWarp()
	q.ty = root.Let("ty", q.warp[0].Mul(8).Add(q.lane.Div(4)))
	q.tx = root.Let("tx", q.warp[1].Mul(4).Add(q.lane.Rem(4)))
	q.acc = q.accumulators(root, "c")
}

func (q *tilePass) resultWarps(g, r, h, j int) (*shader.Var, int) {
	return q.acc[g][2*h+j/2], 2*r + j%2
}

func (q *tilePass) strideWarps(f *factorTile) int { return f.block / 4 }

// vectorOf is where, in a tile in shared memory, block (side, word) of four by four words has
// its vectors: number (a, b), a and b < 2, is at the result for b, plus 8·a. Readers of eight
// vectors, blocks of four words and b of one side, find them in different banks, and so do
// writers, whether they follow each other along the side or the depth.
func vectorOf(f *factorTile, side, word *shader.Expr, b *shader.Expr) *shader.Expr {
	order := side.And(1).Mul(4).Add(side.Div(2).And(3))
	at := side.Mul(16).Add(b.Mul(4).Add(word.And(3)).Xor(order))
	return at.Add(word.Div(4).Mul(4 * f.block))
}

// putWarps puts a block: its words in the order in which instructions take them.
func (q *tilePass) putWarps(sc *scope, f *factorTile, l *tileLoad, block []*shader.Expr, to *shader.Expr) {
	w := func(side, word int) *shader.Expr { return q.wordOf(f, block, side, word) }
	for b := range 2 {
		at := sc.Let(tag("at", b), to.Add(vectorOf(f, l.side(f), l.depth(f), u32(b))))
		for a := range 2 {
			v := shader.Vec(4, w(2*a+b, 0), w(2*a+b, 1), w(2*a+b, 2), w(2*a+b, 3))
			if f.left {
				v = shader.Vec(4, w(2*b, 2*a), w(2*b+1, 2*a), w(2*b, 2*a+1), w(2*b+1, 2*a+1))
			}
			sc.Put(f.shared, at.Plus(8*a), v)
		}
	}
}

// wordOf is a word of a block.
func (q *tilePass) wordOf(f *factorTile, block []*shader.Expr, side, word int) *shader.Expr {
	u := q.tile.unit
	element := func(deep int) *shader.Expr {
		if f.alongK {
			return block[side*u.group+deep/4].At(deep % 4)
		}
		return block[deep].At(side)
	}
	switch x := element(word); {
	case u.split:
		return x.Bitcast(shader.U32)
	case u.group == 1:
		return x.RoundTF32().Bitcast(shader.U32)
	case u.elem.Type.IsInt():
		quad := u32(0)
		for i := range 4 {
			quad = quad.Or(element(4*word + i).Bitcast(shader.U32).And(255).Shl(8 * i))
		}
		return quad
	}
	return shader.PackHalves(halves[u.elem.Type], element(2*word), element(2*word+1))
}

// multiplyWarps multiplies tiles. Products of floats sum up a step by themselves: an
// instruction rounds towards zero, which would add up.
func (q *tilePass) multiplyWarps(loop *scope, fromM, fromN *shader.Expr) {
	m := q.from(loop, &q.m, q.warp[0], fromM)
	q.addProducts(loop, fromN, func(sc *scope, word, s int) []*shader.Expr {
		return q.vectors(sc, "x", &q.m, m, q.tile.high, s, word)
	})
}

// addProducts adds the product of a left factor and the tile from a vector of the right one on
// to the accumulators. Left gives the vectors of an instruction, by the first of 16 words of
// the depth and the half of each four.
func (q *tilePass) addProducts(loop *scope, fromN *shader.Expr, left func(sc *scope, word, s int) []*shader.Expr) {
	if !q.tile.unit.split {
		q.multiplyInto(loop, q.acc, fromN, left)
		return
	}
	sums := q.accumulators(loop, "sum")
	q.multiplyInto(loop, sums, fromN, left)
	for i, row := range q.acc {
		for j, to := range row {
			loop.Set(to, to.Ref().Add(sums[i][j].Ref()))
		}
	}
}

// accumulators declares those of instructions: one by two for each square.
func (q *tilePass) accumulators(sc *scope, name string) [][]*shader.Var {
	acc := make([][]*shader.Var, q.tile.high)
	for i := range acc {
		for j := range 2 * q.tile.wide {
			acc[i] = append(acc[i], q.vector(sc, tag(name, i, j)))
		}
	}
	return acc
}

// multiplyInto adds products to accumulators: 16 words of the depth by two instructions.
func (q *tilePass) multiplyInto(loop *scope, acc [][]*shader.Var, fromN *shader.Expr, left func(sc *scope, word, s int) []*shader.Expr) {
	t := q.tile
	n := q.from(loop, &q.n, q.warp[1], fromN)
	for word := 0; word < t.k; word += 16 {
		in := loop.block()
		right := [2][]*shader.Expr{q.vectors(in, "y", &q.n, n, t.wide, 0, word), q.vectors(in, "y", &q.n, n, t.wide, 1, word)}
		for s := range 2 {
			step := in.block()
			q.multiplyWords(step, acc, left(step, word, s), right, s)
			step.end()
		}
		in.end()
	}
}

// vectors reads vector a of each square that a warp has along a side, from a word on.
func (q *tilePass) vectors(sc *scope, name string, f *factorTile, from [2]*shader.Expr, squares, a, word int) (list []*shader.Expr) {
	warps := f.block / 16 / squares
	for g := range squares {
		at := from[g*warps%2].Add(g*warps*64 + 8*a + word/4*f.block)
		list = append(list, sc.Let(tag(name, g, a), f.shared.At(at)))
	}
	return list
}

// from is where a thread finds its first vectors of a tile: for squares of an even number,
// and of an odd one.
func (q *tilePass) from(sc *scope, f *factorTile, warp, tile *shader.Expr) (from [2]*shader.Expr) {
	for odd := range from {
		side := warp.Mul(4).Add(q.lane.Div(8)).Plus(4 * odd)
		if q.paired && f == &q.n {
			side = q.lane.Div(8).Mul(2).Plus(odd)
		}
		at := vectorOf(f, side, q.lane.And(3), q.lane.Div(4).And(1))
		from[odd] = sc.Let(tag("from_"+f.name, odd), tile.Add(at).Sub(64*odd))
	}
	return from
}

// multiplyWords multiplies 16 rows each by 8 words by 8 columns: the words of the left factor
// and, of each vector of the right one, half s.
func (q *tilePass) multiplyWords(sc *scope, acc [][]*shader.Var, left []*shader.Expr, right [2][]*shader.Expr, s int) {
	multiply := func(acc *shader.Var, x, y *shader.Expr) {
		a, b := [4]*shader.Expr{x.At(0), x.At(1), x.At(2), x.At(3)}, [2]*shader.Expr{y.At(0), y.At(1)}
		sc.Do(&shader.Multiply{Elem: q.tile.unit.elem, Acc: acc, A: a, B: b})
	}
	var heads, tails []*shader.Expr
	if q.tile.unit.split {
		for i, x := range left {
			head, tail := splitFloat(sc, tag("x", i), x)
			heads, tails = append(heads, head), append(tails, tail)
		}
	}
	for j := range 2 * q.tile.wide {
		y := right[j%2][j/2]
		y = shader.Vec(2, y.At(2*s), y.At(2*s+1))
		if !q.tile.unit.split {
			for i, x := range left {
				multiply(acc[i][j], x, y)
			}
			continue
		}
		head, tail := splitFloat(sc, tag("y", j), y)
		for i := range left {
			multiply(acc[i][j], tails[i], head)
		}
		for i := range left {
			multiply(acc[i][j], heads[i], tail)
		}
		for i := range left {
			multiply(acc[i][j], heads[i], head)
		}
	}
}

// splitFloat names the head of floats, rounded to TF32, and the tail that is left, all in U32.
func splitFloat(sc *scope, name string, x *shader.Expr) (head, tail *shader.Expr) {
	f := x.Bitcast(shader.F32.Vec(int(x.Type.Width)))
	h := sc.Let(name+"_head", f.RoundTF32())
	return h.Bitcast(x.Type), sc.Let(name+"_tail", f.Sub(h).Bitcast(x.Type))
}
