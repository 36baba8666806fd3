package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
)

// floatsByGroups returns a unit in which 128 threads compute 64 rows of a tile of float32. Its TF32
// instructions read the left factor from registers and the right one from shared memory: see
// shader.MultiplyGroup. If split, three products of heads and tails give a product of floats, as in
// the unit WholeFloats.
//
// Thread t loads rows 2·(t/4) and the next of the left factor, and of each row the eight words of
// the depth that start at 8·(t mod 4). An instruction takes two of these words, v and v+1, from each
// of four threads. So a line of the right factor, the 32 words of a column, has word 8·c + v at place
// c of vector v. The order of the lines puts a thread's results in four neighbouring columns of 16,
// starting at 4·(t mod 4), as in a unit of warps: see floatLine.
func floatsByGroups(split bool, buffers int) *Unit {
	return &Unit{
		lanes: shader.Warpgroup, square: [2]int{64, 16}, rows: 2, Apart: 1, Group: 1, Buffers: buffers, align: 1024,
		deep: patch{1, 4}, aside: patch{4, 1}, Elem: shader.TF32, Split: split, held: true,
		slowdown: 1.5, // a group waits for its products and adds them up, while products of the other run
		Methods: UnitMethods{
			start: (*Pass).startFloats, steps: (*Pass).stepFloats, stride: (*Pass).strideFloats,
			put: (*Pass).putFloats, result: (*Pass).resultFloats,
		},
	}
}

// startFloats finds the thread's place, and declares an accumulator for each eight lines.
func (q *Pass) startFloats() {
	root := q.P.Root
	q.TY = root.Let("ty", shader.ThreadID.Div(4))
	q.TX = root.Let("tx", shader.ThreadID.Rem(4))
	q.Acc = [][]*shader.Var{q.lineAccumulators("c")}
}

func (q *Pass) lineAccumulators(name string) (list []*shader.Var) {
	for j := range q.Tile.N / 8 {
		list = append(list, q.Vector(q.P.Root, build.Tag(name, j)))
	}
	return list
}

// Four neighbouring columns 4·x to 4·x+3 are in lines a quarter of the tile apart. Within each group
// of eight x, number 4·e + c is at 2·c + e, because an instruction gives a thread two neighbouring lines.

// floatLine is the line of column 4·x.
func floatLine(x *shader.Expr) *shader.Expr {
	return x.Shr(3).Shl(3).Or(x.And(3).Shl(1)).Or(x.Shr(2).And(1))
}

// floatColumn is the column of a line of a tile.
func floatColumn(line *shader.Expr, columns int) *shader.Expr {
	at := line.Rem(columns / 4)
	x := at.Shr(3).Shl(3).Or(at.Shr(1).And(3)).Or(at.And(1).Shl(2))
	return x.Mul(4).Add(line.Div(columns / 4))
}

func (q *Pass) resultFloats(g, r, h, j int) (*shader.Var, int) {
	return q.Acc[0][h/2+j*q.Tile.N/32], h%2 + 2*r
}

// strideFloats is the size of the tile of a step: a tile of heads, then a tile of tails.
func (q *Pass) strideFloats(f *Factor) int { return f.Block / 4 * q.Tile.Unit.words() }

// putFloats puts the words of a block in shared memory: a vector of each of four columns, or four
// vectors of one column.
func (q *Pass) putFloats(sc *build.Scope, f *Factor, l *load, block []*shader.Expr, to *shader.Expr) {
	for i := range 4 {
		x := shader.Vec(4, block[0].At(i), block[1].At(i), block[2].At(i), block[3].At(i))
		at := sc.Let(build.Tag("at", i), to.Add(vectorOfFloats(f, l, i)))
		list := q.parts(sc, build.Tag("y", i), x)
		for n, part := range list {
			sc.Put(f.Shared, at.Plus(n*8*f.Block), part)
		}
	}
}

// vectorOfFloats is the position in a tile of the i-th vector of a load.
func vectorOfFloats(f *Factor, l *load, i int) *shader.Expr {
	if f.AlongK {
		return l.u.Mul(8).Add(l.q.Mul(4).Xor(l.u.And(7)).Xor(i))
	}
	line := floatLine(l.q)
	return line.Mul(8).Add(l.u.Xor(line.And(7))).Plus(i * 2 * f.Block)
}

// parts returns the words that stand for floats in products: a head and a tail, or the nearest
// TF32.
func (q *Pass) parts(sc *build.Scope, name string, x *shader.Expr) []*shader.Expr {
	words := shader.U32.Vec(4)
	if !q.Tile.Unit.Split {
		return []*shader.Expr{x.RoundTF32().Bitcast(words)}
	}
	head, tail := splitFloat(sc, name, x.Bitcast(words))
	return []*shader.Expr{head, tail}
}

// stepFloats multiplies tile by tile along the depth. In each step it puts the right factor's tile
// of the next step in a buffer, loads the tile of the step after that, and starts products. Two
// groups of threads take turns to start products, so that the products of one run while the other
// waits for its products, adds them up and puts the next tile. One group may be a step ahead: so two
// groups need four buffers, and a single group three.
func (q *Pass) stepFloats() {
	root, t := q.P.Root, q.Tile
	rows := q.Rows
	rows.AlongK = true
	q.M = Factor{Side: &rows, left: true, Block: t.M, lines: patch{2, 2}, depth: t.Depth()}
	q.Place(root, &q.M, q.At.Row)
	q.N = q.Declare(&q.Cols, t.N, t.Unit.Buffers)
	q.N.spread = true
	q.N.column = func(line *shader.Expr) *shader.Expr { return floatColumn(line, t.N) }
	q.Place(root, &q.N, q.At.Col)
	q.bounds()
	left, right := make(registers, t.Unit.words()), make(registers, len(q.N.Loads)) // left: heads and tails of instructions
	left.declare(root, "x", t.Depth()/8, shader.U32.Vec(4))
	right.declare(root, "y", 4, shader.F32.Vec(4))
	sums := q.Acc[0]
	if t.Unit.Split {
		sums = q.lineAccumulators("sum")
	}
	load := func(sc *build.Scope, f *Factor, step *shader.Expr) [][]*shader.Expr {
		step = sc.Let("step_"+f.Name, step.Min(q.Last.Sub(1))) // the last tiles again: a condition would cost more
		return q.loadFactor(sc, f, q.depthAt(step))
	}
	start := root.Inner()
	q.putFactor(start, &q.N, load(start, &q.N, q.First), build.U32(0))
	q.hold(start, left, load(start, &q.M, q.First)[0])
	second := start.Inner()
	right.set(second, load(second, &q.N, q.First.Add(1)))
	second.End()
	start.Do(&shader.Fence{}, &shader.PassTurn{Before: true})

	now := root.Var("now", build.U32(0)) // the first vector of the buffer that is multiplied
	loop, step := root.Loop("step", q.First, q.Last, 1)
	next := loop.Let("next", now.Ref().Add(q.N.Size(t)))
	next = loop.Let("then", next.Lt(t.Unit.Buffers*q.N.Size(t)).If(next, build.U32(0)))
	q.putFactor(loop, &q.N, right.values(), next)
	loop.Do(&shader.Fence{})
	right.set(loop, load(loop, &q.N, step.Add(2)))
	block := load(loop, &q.M, step.Add(1))[0]
	loop.Do(
		&shader.TakeTurn{},
		&shader.MultiplyGroup{Products: q.floatProducts(left, sums, now.Ref()), Pending: 1},
		&shader.PassTurn{},
		&shader.MultiplyGroup{},
	)
	if t.Unit.Split { // an instruction rounds towards zero, which would add up
		for j, acc := range q.Acc[0] {
			loop.Set(acc, acc.Ref().Add(sums[j].Ref()))
		}
	}
	q.hold(loop, left, block)
	loop.Set(now, next)
	root.Do(start.Stmts...)
	loop.End()
	root.Do(&shader.TakeTurn{After: true})
}

// registers are rows of variables.
type registers [][]*shader.Var

// declare declares variables of a type in each row.
func (r registers) declare(sc *build.Scope, name string, n int, t shader.Type) {
	for i := range r {
		for j := range n {
			r[i] = append(r[i], sc.Var(build.Tag(name, i, j), build.Number(t, 0)))
		}
	}
}

// set assigns values.
func (r registers) set(sc *build.Scope, list [][]*shader.Expr) {
	for i, row := range list {
		for j, x := range row {
			sc.Set(r[i][j], x)
		}
	}
}

// values are the variables' values.
func (r registers) values() [][]*shader.Expr {
	list := make([][]*shader.Expr, len(r))
	for i, row := range r {
		for _, v := range row {
			list[i] = append(list[i], v.Ref())
		}
	}
	return list
}

// hold sets the left factor of the instructions of a step from a block: two rows of eight words.
func (q *Pass) hold(sc *build.Scope, left registers, block []*shader.Expr) {
	for i := range left[0] {
		word := func(row, v int) *shader.Expr { return block[2*row+v/4].At(v % 4) }
		x := shader.Vec(4, word(0, 2*i), word(1, 2*i), word(0, 2*i+1), word(1, 2*i+1))
		for n, part := range q.parts(sc, build.Tag("x", i), x) {
			sc.Set(left[n][i], part)
		}
	}
}

// floatProducts returns the products of a step, where the tile of the right factor starts at vector
// from. Products with tails come first, so that rounding of sums loses little. The product of tails
// and tails is too small to matter.
func (q *Pass) floatProducts(left registers, sums []*shader.Var, from *shader.Expr) (list []shader.MultiplyShared) {
	pairs := [][2]int{{0, 0}}
	if q.Tile.Unit.Split {
		pairs = [][2]int{{1, 0}, {0, 1}, {0, 0}}
	}
	for _, p := range pairs {
		for i, x := range left[p[0]] {
			list = append(list, shader.MultiplyShared{
				Elem: shader.TF32, Acc: sums, Init: q.Tile.Unit.Split && len(list) == 0, Left: product.Components(x.Ref()),
				B: shader.SharedMatrix{Shared: q.N.Shared, First: from.Plus(p[1] * 8 * q.N.Block), Depth: 8 * i},
			})
		}
	}
	return list
}
