package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// byWarps is a unit in which a warp computes squares of 16×16, by pairs of instructions that
// multiply 16 rows by 8 columns. Thread t has rows 2·(t/4) and the next, and four columns from
// 4·(t mod 4) on: which rows and columns an instruction's are is free, and so is the order of
// the depth if both factors have the same.
//
// A tile in shared memory has blocks of four rows, or columns, by four words of the depth, as
// threads load them: the blocks of 16 words of a column, or of a pair of rows, are next to each
// other. A vector of the left factor is a thread's operand of an instruction: words 2s and 2s+1
// of the block in two rows. One of the right factor has the four words of a column, for two
// instructions. See [Pass.vectorOf] for where they are.
func byWarps(elem shader.Matrix, split bool) *Unit {
	group := elem.PerWord()
	return &Unit{
		lanes: shader.Warp, square: [2]int{16, 16}, rows: 2, Apart: 1, Group: group, Buffers: 2,
		deep: patch{4, group}, aside: patch{4 * group, 1}, Elem: elem, Split: split,
		Methods: UnitMethods{
			start: (*Pass).startWarps, stride: (*Pass).strideWarps, put: (*Pass).putWarps,
			steps: (*Pass).multiplySteps, multiply: (*Pass).multiplyWarps, result: (*Pass).resultWarps,
		},
	}
}

// The units of warps. In WholeFloats an F32 is a head and a tail of TF32. Three products of
// these give the product of floats, with less error than its rounding; the product of the tails
// is left out.
var (
	WholeFloats   = byWarps(shader.TF32, true)
	RoundedFloats = byWarps(shader.TF32, false)
	HalfPairs     = map[ir.DType]*Unit{ir.Float16: byWarps(shader.F16Pairs, false), ir.BFloat16: byWarps(shader.BF16Pairs, false)}
	int8Quads     = byWarps(shader.S8Quads, false)
	uint8Quads    = byWarps(shader.U8Quads, false)
)

// locateWarp finds the thread's lane, and the place of its warp in rows and columns of warps.
func (q *Pass) locateWarp() {
	root, t := q.P.Root, q.Tile
	q.P.Subgroup = shader.Warp
	across := t.N / (16 * t.Wide)
	q.Lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	number := root.Let("warp", shader.ThreadID.Div(shader.Warp))
	q.Warp = [2]*shader.Expr{root.Let("warp_m", number.Div(across)), root.Let("warp_n", number.Rem(across))}
}

// startWarps finds the thread's place, and declares the accumulators.
func (q *Pass) startWarps() {
	root := q.P.Root
	q.locateWarp()
	q.TY = root.Let("ty", q.Warp[0].Mul(8).Add(q.Lane.Div(4)))
	q.TX = root.Let("tx", q.Warp[1].Mul(4).Add(q.Lane.Rem(4)))
	q.Acc = q.Accumulators(root, "c")
}

func (q *Pass) resultWarps(g, r, h, j int) (*shader.Var, int) {
	return q.Acc[g][2*h+j/2], 2*r + j%2
}

func (q *Pass) strideWarps(f *Factor) int { return f.Block / 4 }

// vectorOf is where, in a tile in shared memory, block (side, word) of four by four words has
// its vectors: number (a, b), a and b < 2, is at the result for b, plus 8·a. Readers of eight
// vectors, blocks of four words and b of one side, find them in different banks, and so do
// writers, whether they follow each other along the side or the depth.
func vectorOf(f *Factor, side, word *shader.Expr, b *shader.Expr) *shader.Expr {
	order := side.And(1).Mul(4).Add(side.Div(2).And(3))
	at := side.Mul(16).Add(b.Mul(4).Add(word.And(3)).Xor(order))
	return at.Add(word.Div(4).Mul(4 * f.Block))
}

// putWarps puts a block: its words in the order in which instructions take them.
func (q *Pass) putWarps(sc *build.Scope, f *Factor, l *load, block []*shader.Expr, to *shader.Expr) {
	w := func(side, word int) *shader.Expr { return q.wordOf(f, block, side, word) }
	for b := range 2 {
		at := sc.Let(build.Tag("at", b), to.Add(vectorOf(f, l.side(f), l.depth(f), build.U32(b))))
		for a := range 2 {
			v := shader.Vec(4, w(2*a+b, 0), w(2*a+b, 1), w(2*a+b, 2), w(2*a+b, 3))
			if f.left {
				v = shader.Vec(4, w(2*b, 2*a), w(2*b+1, 2*a), w(2*b, 2*a+1), w(2*b+1, 2*a+1))
			}
			sc.Put(f.Shared, at.Plus(8*a), v)
		}
	}
}

// wordOf is a word of a block.
func (q *Pass) wordOf(f *Factor, block []*shader.Expr, side, word int) *shader.Expr {
	u := q.Tile.Unit
	element := func(deep int) *shader.Expr {
		if f.AlongK {
			return block[side*u.Group+deep/4].At(deep % 4)
		}
		return block[deep].At(side)
	}
	switch x := element(word); {
	case u.Split:
		return x.Bitcast(shader.U32)
	case u.Group == 1:
		return x.RoundTF32().Bitcast(shader.U32)
	case u.Elem.Type.IsInt():
		quad := build.U32(0)
		for i := range 4 {
			quad = quad.Or(element(4*word + i).Bitcast(shader.U32).And(255).Shl(8 * i))
		}
		return quad
	}
	return shader.PackHalves(build.Halves[u.Elem.Type], element(2*word), element(2*word+1))
}

// multiplyWarps multiplies tiles. Products of floats sum up a step by themselves: an
// instruction rounds towards zero, which would add up.
func (q *Pass) multiplyWarps(loop *build.Scope, fromM, fromN *shader.Expr) {
	m := q.From(loop, &q.M, q.Warp[0], fromM)
	q.AddProducts(loop, fromN, func(sc *build.Scope, word, s int) []*shader.Expr {
		return q.Vectors(sc, "x", &q.M, m, q.Tile.High, s, word)
	})
}

// AddProducts adds the product of a left factor and the tile from a vector of the right one on
// to the accumulators. Left gives the vectors of an instruction, by the first of 16 words of
// the depth and the half of each four.
func (q *Pass) AddProducts(loop *build.Scope, fromN *shader.Expr, left func(sc *build.Scope, word, s int) []*shader.Expr) {
	if !q.Tile.Unit.Split {
		q.MultiplyInto(loop, q.Acc, fromN, left)
		return
	}
	sums := q.Accumulators(loop, "sum")
	q.MultiplyInto(loop, sums, fromN, left)
	for i, row := range q.Acc {
		for j, to := range row {
			loop.Set(to, to.Ref().Add(sums[i][j].Ref()))
		}
	}
}

// Accumulators declares the accumulators of instructions: one by two for each square.
func (q *Pass) Accumulators(sc *build.Scope, name string) [][]*shader.Var {
	acc := make([][]*shader.Var, q.Tile.High)
	for i := range acc {
		for j := range 2 * q.Tile.Wide {
			acc[i] = append(acc[i], q.Vector(sc, build.Tag(name, i, j)))
		}
	}
	return acc
}

// MultiplyInto adds products to accumulators: 16 words of the depth by two instructions.
func (q *Pass) MultiplyInto(loop *build.Scope, acc [][]*shader.Var, fromN *shader.Expr, left func(sc *build.Scope, word, s int) []*shader.Expr) {
	t := q.Tile
	n := q.From(loop, &q.N, q.Warp[1], fromN)
	for word := 0; word < t.K; word += 16 {
		in := loop.Inner()
		right := [2][]*shader.Expr{q.Vectors(in, "y", &q.N, n, t.Wide, 0, word), q.Vectors(in, "y", &q.N, n, t.Wide, 1, word)}
		for s := range 2 {
			step := in.Inner()
			q.multiplyWords(step, acc, left(step, word, s), right, s)
			step.End()
		}
		in.End()
	}
}

// Vectors reads vector a of each square that a warp has along a side, from a word on.
func (q *Pass) Vectors(sc *build.Scope, name string, f *Factor, from [2]*shader.Expr, squares, a, word int) (list []*shader.Expr) {
	warps := f.Block / 16 / squares
	for g := range squares {
		at := from[g*warps%2].Add(g*warps*64 + 8*a + word/4*f.Block)
		list = append(list, sc.Let(build.Tag(name, g, a), f.Shared.At(at)))
	}
	return list
}

// From is where a thread finds its first vectors of a tile: for squares of an even number,
// and of an odd one.
func (q *Pass) From(sc *build.Scope, f *Factor, warp, tile *shader.Expr) (from [2]*shader.Expr) {
	for odd := range from {
		side := warp.Mul(4).Add(q.Lane.Div(8)).Plus(4 * odd)
		if q.Paired && f == &q.N {
			side = q.Lane.Div(8).Mul(2).Plus(odd)
		}
		at := vectorOf(f, side, q.Lane.And(3), q.Lane.Div(4).And(1))
		from[odd] = sc.Let(build.Tag("from_"+f.Name, odd), tile.Add(at).Sub(64*odd))
	}
	return from
}

// multiplyWords multiplies 16 rows each by 8 words by 8 columns: the words of the left factor
// and, of each vector of the right one, half s.
func (q *Pass) multiplyWords(sc *build.Scope, acc [][]*shader.Var, left []*shader.Expr, right [2][]*shader.Expr, s int) {
	multiply := func(acc *shader.Var, x, y *shader.Expr) {
		a, b := [4]*shader.Expr{x.At(0), x.At(1), x.At(2), x.At(3)}, [2]*shader.Expr{y.At(0), y.At(1)}
		sc.Do(&shader.Multiply{Elem: q.Tile.Unit.Elem, Acc: acc, A: a, B: b})
	}
	var heads, tails []*shader.Expr
	if q.Tile.Unit.Split {
		for i, x := range left {
			head, tail := splitFloat(sc, build.Tag("x", i), x)
			heads, tails = append(heads, head), append(tails, tail)
		}
	}
	for j := range 2 * q.Tile.Wide {
		y := right[j%2][j/2]
		y = shader.Vec(2, y.At(2*s), y.At(2*s+1))
		if !q.Tile.Unit.Split {
			for i, x := range left {
				multiply(acc[i][j], x, y)
			}
			continue
		}
		head, tail := splitFloat(sc, build.Tag("y", j), y)
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
func splitFloat(sc *build.Scope, name string, x *shader.Expr) (head, tail *shader.Expr) {
	f := x.Bitcast(shader.F32.Vec(int(x.Type.Width)))
	h := sc.Let(name+"_head", f.RoundTF32())
	return h.Bitcast(x.Type), sc.Let(name+"_tail", f.Sub(h).Bitcast(x.Type))
}
