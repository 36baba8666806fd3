package schedule

import "github.com/tensorken/tensorken/internal/shader"

// floatsByGroups is a unit in which 128 threads compute 64 rows of a tile of float32, by
// instructions of TF32 that read the left factor from registers and the right one from shared
// memory, see shader.MultiplyGroup. If split, three products of heads and tails give one of
// floats, as by wholeFloats.
//
// Thread t loads the left factor's rows 2·(t/4) and the next, of each eight words of the depth
// from 8·(t mod 4) on. An instruction takes two of these from each of four threads: words v and
// v+1 of eight. So a line of the right factor, a column's 32 words, has word 8·c + v at place c
// of vector v. The lines lie in an order in which a thread's results are in four columns from
// 4·(t mod 4) on, of 16, see [floatLine]: as a unit of warps has them.
func floatsByGroups(split bool, buffers int) *unit {
	return &unit{
		lanes: shader.Warpgroup, square: [2]int{64, 16}, rows: 2, group: 1, buffers: buffers, align: 1024,
		deep: patch{1, 4}, aside: patch{4, 1}, elem: shader.TF32, split: split, held: true,
		alone: 1.5, // lanes wait for their products, then add them up, while products of others run
		methods: unitMethods{
			start: (*tilePass).startFloats, steps: (*tilePass).stepFloats, stride: (*tilePass).strideFloats,
			put: (*tilePass).putFloats, end: (*tilePass).repair, result: (*tilePass).resultFloats,
		},
	}
}

// startFloats finds the thread's place, and declares an accumulator for each eight lines.
func (q *tilePass) startFloats() {
	root := q.p.root
	q.ty = root.Let("ty", shader.ThreadID.Div(4))
	q.tx = root.Let("tx", shader.ThreadID.Rem(4))
	q.acc = [][]*shader.Var{q.lineAccumulators("c")}
}

func (q *tilePass) lineAccumulators(name string) (list []*shader.Var) {
	for j := range q.tile.n / 8 {
		list = append(list, q.vector(q.p.root, tag(name, j)))
	}
	return list
}

// Four neighbouring columns 4·x to 4·x+3 are in lines a quarter of the tile apart. Of each eight
// x, number 4·e + c is at 2·c + e, since an instruction gives a thread two neighbouring lines.

// floatLine is the line of column 4·x, in vectors.
func floatLine(x *shader.Expr) *shader.Expr {
	return x.Shr(3).Shl(3).Or(x.And(3).Shl(1)).Or(x.Shr(2).And(1))
}

// floatColumn is the column of a line of a tile.
func floatColumn(line *shader.Expr, columns int) *shader.Expr {
	at := line.Rem(columns / 4)
	x := at.Shr(3).Shl(3).Or(at.Shr(1).And(3)).Or(at.And(1).Shl(2))
	return x.Mul(4).Add(line.Div(columns / 4))
}

func (q *tilePass) resultFloats(g, r, h, j int) (*shader.Var, int) {
	return q.acc[0][h/2+j*q.tile.n/32], h%2 + 2*r
}

// strideFloats: a tile of heads is followed by one of tails.
func (q *tilePass) strideFloats(f *factorTile) int { return f.block / 4 * q.tile.unit.words() }

// putFloats puts a block's words, of four columns or of four vectors of one, which are word v
// of each eight of a column.
func (q *tilePass) putFloats(sc *scope, f *factorTile, l *tileLoad, block []*shader.Expr, to *shader.Expr) {
	for i := range 4 {
		x := shader.Vec(4, block[0].At(i), block[1].At(i), block[2].At(i), block[3].At(i))
		at := sc.Let(tag("at", i), to.Add(vectorOfFloats(f, l, i)))
		list := q.parts(sc, tag("y", i), x)
		for n, part := range list {
			sc.Put(f.shared, at.Plus(n*8*f.block), part)
		}
	}
}

// vectorOfFloats is where a tile has the i-th vector of a load.
func vectorOfFloats(f *factorTile, l *tileLoad, i int) *shader.Expr {
	if f.alongK {
		return l.u.Mul(8).Add(l.q.Mul(4).Xor(l.u.And(7)).Xor(i))
	}
	line := floatLine(l.q)
	return line.Mul(8).Add(l.u.Xor(line.And(7))).Plus(i * 2 * f.block)
}

// parts are the words that floats are multiplied as: a head and a tail, or the nearest in TF32.
func (q *tilePass) parts(sc *scope, name string, x *shader.Expr) []*shader.Expr {
	words := shader.U32.Vec(4)
	if !q.tile.unit.split {
		return []*shader.Expr{x.RoundTF32().Bitcast(words)}
	}
	head, tail := splitFloat(sc, name, x.Bitcast(words))
	return []*shader.Expr{head, tail}
}

// stepFloats multiplies tile by tile along the depth. While the products of a step run, the
// tile of the right factor for the next is put into another buffer. A group of threads may
// still run products of the step before: so there are three.
func (q *tilePass) stepFloats() {
	root, t := q.p.root, q.tile
	rows := q.rows
	rows.alongK = true
	q.m = factorTile{side: &rows, left: true, block: t.m, lines: patch{2, 2}, depth: t.depth()}
	q.place(root, &q.m, q.at.row)
	q.n = q.declare(&q.cols, t.n, t.unit.buffers)
	q.n.spread = true
	q.n.column = func(line *shader.Expr) *shader.Expr { return floatColumn(line, t.n) }
	q.place(root, &q.n, q.at.col)
	q.bounds()
	left := make([][]*shader.Var, t.unit.words()) // of heads and of tails: those of an instruction
	for n := range left {
		for i := range t.depth() / 8 {
			left[n] = append(left[n], root.Var(tag("x", n, i), shader.Vec(4, u32(0))))
		}
	}
	sums := q.acc[0]
	if t.unit.split {
		sums = q.lineAccumulators("sum")
	}
	start := root.block()
	first := q.load(start, q.first)
	q.putTile(start, &q.n, first[1], u32(0))
	q.hold(start, left, first[0][0])
	now := root.Var("now", u32(0)) // the first vector of the buffer that is multiplied
	loop, step := root.loop("step", q.first, q.last, 1)
	then := loop.Let("then", now.Ref().Add(q.n.size(t)))
	then = loop.Let("to", then.Lt(t.unit.buffers*q.n.size(t)).If(then, u32(0)))
	// The last step loads its own tiles again: a condition would cost more.
	next := q.load(loop, loop.Let("next", step.Add(1).Min(q.last.Sub(1))))
	loop.Do(&shader.MultiplyGroup{
		Products: q.floatProducts(left, sums, now.Ref()), Pending: 1,
	})
	q.putTile(loop, &q.n, next[1], then)
	loop.Do(q.barrier(), &shader.MultiplyGroup{})
	if t.unit.split { // an instruction rounds towards zero, which would add up
		for j, acc := range q.acc[0] {
			loop.Set(acc, acc.Ref().Add(sums[j].Ref()))
		}
	}
	q.hold(loop, left, next[0][0])
	loop.Set(now, then)
	root.Do(start.Stmts...)
	root.Do(q.barrier())
	loop.end()
}

// hold sets the left factor of the instructions of a step from a block: two rows of eight words.
func (q *tilePass) hold(sc *scope, left [][]*shader.Var, block []*shader.Expr) {
	for i := range left[0] {
		word := func(row, v int) *shader.Expr { return block[2*row+v/4].At(v % 4) }
		x := shader.Vec(4, word(0, 2*i), word(1, 2*i), word(0, 2*i+1), word(1, 2*i+1))
		for n, part := range q.parts(sc, tag("x", i), x) {
			sc.Set(left[n][i], part)
		}
	}
}

// floatProducts are those of a step, with a tile of the right factor from a vector on: of tails
// first, so that little is lost where sums are rounded. That of tails with tails is too small.
func (q *tilePass) floatProducts(left [][]*shader.Var, sums []*shader.Var, from *shader.Expr) (list []shader.MultiplyShared) {
	pairs := [][2]int{{0, 0}}
	if q.tile.unit.split {
		pairs = [][2]int{{1, 0}, {0, 1}, {0, 0}}
	}
	for _, p := range pairs {
		for i, x := range left[p[0]] {
			list = append(list, shader.MultiplyShared{
				Elem: shader.TF32, Acc: sums, Init: q.tile.unit.split && len(list) == 0, Left: components(x.Ref()),
				B: shader.SharedMatrix{Shared: q.n.shared, First: from.Plus(p[1] * 8 * q.n.block), Depth: 8 * i},
			})
		}
	}
	return list
}
