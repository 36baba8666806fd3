package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// columns is the span of a thread's four columns in square h, and the first.
func (q *tilePass) columns(sc *scope, h int) (span, *shader.Expr) {
	t := q.tile
	col := sc.Let("col"+sc.tag, q.at.col.Add(q.tx.Mul(4).Convert(q.at.col.Type)).Add(h*t.n/t.wide))
	return span{axes: q.cols.axes, base: col, step: count(4), fours: q.fours(q.cols.axes), clamp: q.clamp(q.cols.n, t.n)}, col
}

// row is the span of a thread's row r in square g, and its number.
func (q *tilePass) row(sc *scope, g, r int) (span, *shader.Expr) {
	t := q.tile
	first, next := q.rowOf(g, r)
	row := sc.Let("row"+sc.tag, q.at.row.Add(first.Convert(q.at.row.Type)).Add(next))
	return span{axes: q.rows.axes, base: row, clamp: q.clamp(q.rows.n, t.m)}, row
}

// rowOf is the number in the tile of a thread's row r in square g: so many after its first one.
func (q *tilePass) rowOf(g, r int) (first *shader.Expr, next int) {
	t := q.tile
	first = q.ty
	if !t.unit.scattered() {
		first = first.Mul(t.unit.rows)
	}
	return first, g*t.m/t.high + r*t.unit.apart
}

// storeTile stores the results.
func (q *tilePass) storeTile() {
	t := q.tile
	if q.packed() {
		q.storeHalves()
		return
	}
	if squares := q.stagedSquares(); squares > 0 {
		for h := 0; h < t.wide; h += squares {
			q.storeStaged(h, min(squares, t.wide-h))
		}
		return
	}
	for h := range t.wide {
		cols := q.p.root.block()
		w, col := q.columns(cols, h)
		cols.enterValid(w)
		for g := range t.high {
			for r := range t.unit.rows {
				rows := cols.block()
				w, row := q.row(rows, g, r)
				rows.enterValid(w)
				q.finish(rows, q.laundered(q.results(g, r, h)), place{batch: q.at.batch, row: row, col: col, split: q.at.split})
				rows.end()
			}
		}
		cols.end()
	}
}

// laundered hides results that are stored as they are. Else a compiler keeps the accumulators of a
// vector in neighbouring registers, and moves them in each step. A launder is one instruction a
// result; it made products 7 to 11 % faster on an NVIDIA GPU through Vulkan.
func (q *tilePass) laundered(list value) value {
	asTheyAre := func(s int) bool { return q.k.Body[s].Src[0] == q.sum }
	if q.tile.unit.lanes > 1 || q.resultType != shader.F32 || q.splits == 1 && !slices.ContainsFunc(q.k.Stores(0, false), asTheyAre) {
		return list
	}
	for i, x := range list {
		list[i] = x.Launder(shader.FirstWay)
	}
	return list
}

// storesSums reports whether the sums of a group are all that is stored, converted at most, in vectors
// of so many columns.
func (q *tilePass) storesSums(width int) bool {
	cols := q.cols.axes
	if !q.tile.unit.scattered() || q.splits > 1 || q.depth == 0 || len(cols) == 0 || q.k.Axes[cols[len(cols)-1]].Len%width > 0 {
		return false
	}
	return !slices.ContainsFunc(q.k.Stores(0, false), func(s int) bool {
		in := &q.k.Body[s]
		x := in.Src[0]
		if q.k.Body[x].Op == ir.Cast {
			x = q.k.Body[x].Src[0]
		}
		return x != q.sum || !q.stepsBy(width, in, cols[len(cols)-1])
	})
}

// stagedSquares is how many squares of columns of a tile have room in the shared memory of the
// right factor; 0 if results are stored from registers. Through shared memory neighbouring
// threads store neighbouring results, and the code for these is a loop: what there is for each
// register apart is more than the cache for instructions holds.
func (q *tilePass) stagedSquares() int {
	t := q.tile
	// Four threads of a group have 16 neighbours of a row: they store sums as well from registers.
	if t.unit.lanes == 1 || q.splits > 1 || q.depth == 0 || q.storesSums(4) {
		return 0
	}
	columns := t.n / t.wide // of all squares of one number
	n := t.unit.buffers * q.n.size(t) * 4 / t.m / columns
	for n = min(n, t.wide); n > 0; n-- {
		if n*columns%32 == 0 && t.wide%n == 0 {
			return n
		}
	}
	return 0
}

// storeStaged stores the results of some squares of columns, from one on.
func (q *tilePass) storeStaged(square, squares int) {
	root, t := q.p.root, q.tile
	columns := t.n / t.wide
	vectors := squares * columns / 4 // of a row
	sc := root.block()
	q.barrier(sc)
	for g := range t.high {
		for r := range t.unit.rows {
			first, next := q.rowOf(g, r)
			row := sc.Let(tag("row", g, r), first.Plus(next))
			for h := range squares {
				x := q.results(g, r, square+h)
				sc.Put(q.n.shared, resultAt(row, q.tx.Plus(h*columns/4), vectors), shader.Vec(4, x...).Bitcast(shader.U32.Vec(4)))
			}
		}
	}
	sc.Barrier()
	stores := q.k.Stores(0, false)
	q.takeVectors(sc, square*columns, vectors, 4, func(in *scope, row, vector *shader.Expr) {
		in.values[q.sum] = components(in.Let("result"+in.tag, q.n.shared.At(resultAt(row, vector, vectors)).Bitcast(q.resultType.Vec(4))))
		in.valueEach(stores)
	}, func(in *scope) { in.storeEach(stores) })
	sc.end()
}

// resultAt is where shared memory has a vector of results of a row, in which there are so many. Threads
// that write or read together find different banks.
func resultAt(row, vector *shader.Expr, vectors int) *shader.Expr {
	return row.Mul(vectors).Add(vector.Xor(row.Xor(row.Shr(1)).And(1).Mul(4)))
}

// takeVectors makes a loop in which each thread takes vectors, of some columns each, that lie in shared memory
// in rows of so many, from a column of the tile on. It takes several before it stores one.
func (q *tilePass) takeVectors(sc *scope, column, vectors, width int, take func(in *scope, row, vector *shader.Expr), store func(in *scope)) {
	t := q.tile
	items, ahead := t.m*vectors, 4
	for items%(ahead*q.p.Threads) > 0 {
		ahead /= 2
	}
	loop, item := sc.loop("item", shader.ThreadID, u32(items), ahead*q.p.Threads)
	var scopes []*scope
	for i := range ahead {
		in := loop.beside(tag("_", i))
		number := in.Let(tag("number", i), item.Plus(i*q.p.Threads))
		row, vector := in.Let(tag("row", i), number.Div(vectors)), in.Let(tag("vector", i), number.Rem(vectors))
		in.enterValid(span{axes: q.rows.axes, base: q.at.row.Add(row.Convert(q.at.row.Type)), clamp: q.clamp(q.rows.n, t.m)})
		base := q.at.col.Plus(column).Add(vector.Mul(width).Convert(q.at.col.Type))
		in.enterValid(span{axes: q.cols.axes, base: base, step: count(width), fours: q.fours(q.cols.axes), clamp: q.clamp(q.cols.n, t.n)})
		take(in, row, vector)
		scopes = append(scopes, in)
	}
	for _, in := range scopes {
		store(in)
	}
	loop.end()
}
