package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Columns is the span of a thread's four columns in square h, and the first.
func (q *Pass) Columns(sc *build.Scope, h int) (build.Span, *shader.Expr) {
	t := q.Tile
	col := sc.Let("col"+sc.Tag, q.At.Col.Add(q.TX.Mul(4).Convert(q.At.Col.Type)).Add(h*t.N/t.Wide))
	return build.Span{Axes: q.Cols.Axes, Base: col, Step: build.Lanes(4), Fours: q.Fours(q.Cols.Axes), Clamp: q.Clamp(q.Cols.N, t.N)}, col
}

// Row is the span of a thread's row r in square g, and its number.
func (q *Pass) Row(sc *build.Scope, g, r int) (build.Span, *shader.Expr) {
	t := q.Tile
	first, next := q.rowOf(g, r)
	row := sc.Let("row"+sc.Tag, q.At.Row.Add(first.Convert(q.At.Row.Type)).Add(next))
	return build.Span{Axes: q.Rows.Axes, Base: row, Clamp: q.Clamp(q.Rows.N, t.M)}, row
}

// rowOf is the number in the tile of a thread's row r in square g: so many after its first one.
func (q *Pass) rowOf(g, r int) (first *shader.Expr, next int) {
	t := q.Tile
	first = q.TY
	if !t.Unit.scattered() {
		first = first.Mul(t.Unit.rows)
	}
	return first, g*t.M/t.High + r*t.Unit.Apart
}

// store stores the results.
func (q *Pass) store() {
	t := q.Tile
	if q.packed() {
		q.storeHalves()
		return
	}
	if squares := q.stagedSquares(); squares > 0 {
		for h := 0; h < t.Wide; h += squares {
			q.storeStaged(h, min(squares, t.Wide-h))
		}
		return
	}
	for h := range t.Wide {
		cols := q.P.Root.Inner()
		w, col := q.Columns(cols, h)
		cols.EnterValid(w)
		for g := range t.High {
			for r := range t.Unit.rows {
				rows := cols.Inner()
				w, row := q.Row(rows, g, r)
				rows.EnterValid(w)
				q.Finish(rows, q.laundered(q.Results(g, r, h)), product.Place{Batch: q.At.Batch, Row: row, Col: col, Split: q.At.Split})
				rows.End()
			}
		}
		cols.End()
	}
}

// laundered hides results that are stored as they are. Else a compiler keeps the accumulators of a
// vector in neighbouring registers, and moves them in each step. A launder is one instruction a
// result.
func (q *Pass) laundered(list build.Value) build.Value {
	asTheyAre := func(s int) bool { return q.Nest.Body[s].Src[0] == q.Sum }
	if q.Tile.Unit.lanes > 1 || q.ResultType != shader.F32 || q.Splits == 1 && !slices.ContainsFunc(q.Nest.Stores(0, false), asTheyAre) {
		return list
	}
	for i, x := range list {
		list[i] = x.Launder(shader.FirstWay)
	}
	return list
}

// storesSums reports whether the sums of a group are all that is stored, converted at most, in vectors
// of so many columns.
func (q *Pass) storesSums(width int) bool {
	cols := q.Cols.Axes
	if !q.Tile.Unit.scattered() || q.Splits > 1 || q.Depth == 0 || len(cols) == 0 || q.Nest.Axes[cols[len(cols)-1]].Len%width > 0 {
		return false
	}
	return !slices.ContainsFunc(q.Nest.Stores(0, false), func(s int) bool {
		in := &q.Nest.Body[s]
		x := in.Src[0]
		if q.Nest.Body[x].Op == ir.Cast {
			x = q.Nest.Body[x].Src[0]
		}
		return x != q.Sum || !q.StepsBy(width, in, cols[len(cols)-1])
	})
}

// stagedSquares is how many squares of columns of a tile have room in the shared memory of the
// right factor; 0 if results are stored from registers. Through shared memory neighbouring
// threads store neighbouring results, and the code is a loop: code for each register apart
// would exceed the instruction cache.
func (q *Pass) stagedSquares() int {
	t := q.Tile
	// Four threads of a group have 16 neighbours of a row: they store sums as well from registers.
	if t.Unit.lanes == 1 || q.Splits > 1 || q.Depth == 0 || q.storesSums(4) {
		return 0
	}
	columns := t.N / t.Wide // of all squares of one number
	n := t.Unit.Buffers * q.N.Size(t) * 4 / t.M / columns
	for n = min(n, t.Wide); n > 0; n-- {
		if n*columns%32 == 0 && t.Wide%n == 0 {
			return n
		}
	}
	return 0
}

// storeStaged stores the results of some squares of columns, from one on.
func (q *Pass) storeStaged(square, squares int) {
	root, t := q.P.Root, q.Tile
	columns := t.N / t.Wide
	vectors := squares * columns / 4 // of a row
	sc := root.Inner()
	q.barrier(sc)
	for g := range t.High {
		for r := range t.Unit.rows {
			first, next := q.rowOf(g, r)
			row := sc.Let(build.Tag("row", g, r), first.Plus(next))
			for h := range squares {
				x := q.Results(g, r, square+h)
				sc.Put(q.N.Shared, resultAt(row, q.TX.Plus(h*columns/4), vectors), shader.Vec(4, x...).Bitcast(shader.U32.Vec(4)))
			}
		}
	}
	sc.Barrier()
	stores := q.Nest.Stores(0, false)
	q.takeVectors(sc, square*columns, vectors, 4, func(in *build.Scope, row, vector *shader.Expr) {
		in.Values[q.Sum] = product.Components(in.Let("result"+in.Tag, q.N.Shared.At(resultAt(row, vector, vectors)).Bitcast(q.ResultType.Vec(4))))
		in.ValueEach(stores)
	}, func(in *build.Scope) { in.StoreEach(stores) })
	sc.End()
}

// resultAt is where shared memory has a vector of results of a row, in which there are so many. Threads
// that write or read together find different banks.
func resultAt(row, vector *shader.Expr, vectors int) *shader.Expr {
	return row.Mul(vectors).Add(vector.Xor(row.Xor(row.Shr(1)).And(1).Mul(4)))
}

// heldElements is how many elements of matrices a thread holds in registers beside results.
const heldElements = 64

// vectorsAhead is how many vectors of some columns a thread takes before it stores one. Where results need elements of
// matrices, many loads are under way.
func (q *Pass) vectorsAhead(width int) int {
	ahead, loads := 4, width*len(reads(q.Product))
	if loads > 0 && q.Tile.Unit.lanes == shader.Warpgroup {
		ahead = max(ahead, build.FloorPow2(max(1, heldElements/loads)))
	}
	return ahead
}

// takeVectors makes a loop in which each thread takes vectors, of some columns each, that lie in shared memory
// in rows of so many, from a column of the tile on. It takes several before it stores one. A thread has the same columns
// in each turn, so that a bias is loaded before the loop.
func (q *Pass) takeVectors(sc *build.Scope, column, vectors, width int, take func(in *build.Scope, row, vector *shader.Expr), store func(in *build.Scope)) {
	t := q.Tile
	per := vectors & -vectors // threads that take neighbours of a row: a power of two
	for q.P.Threads%per > 0 {
		per /= 2
	}
	lines, parts := q.P.Threads/per, vectors/per
	rows := max(1, q.vectorsAhead(width)/parts) // of a turn
	for t.M%(rows*lines) > 0 {
		rows /= 2
	}
	vector := sc.Let("vector", shader.ThreadID.Rem(per))
	columns := make([]*build.Scope, parts)
	for j := range columns {
		columns[j] = sc.Beside(build.Tag("_", j))
		base := q.At.Col.Plus(column).Add(vector.Plus(j * per).Mul(width).Convert(q.At.Col.Type))
		columns[j].EnterValid(build.Span{Axes: q.Cols.Axes, Base: base, Step: build.Lanes(width), Fours: q.Fours(q.Cols.Axes), Clamp: q.Clamp(q.Cols.N, t.N)})
	}
	loop, first := sc.Loop("line", shader.ThreadID.Div(per), build.U32(t.M), rows*lines)
	var scopes []*build.Scope
	for i := range rows {
		row := loop.Let(build.Tag("row", i), first.Plus(i*lines))
		for j, cols := range columns {
			in := cols.On(loop.Block, build.Tag("_", i))
			in.EnterValid(build.Span{Axes: q.Rows.Axes, Base: q.At.Row.Add(row.Convert(q.At.Row.Type)), Clamp: q.Clamp(q.Rows.N, t.M)})
			take(in, row, vector.Plus(j*per))
			scopes = append(scopes, in)
		}
	}
	for _, in := range scopes {
		store(in)
	}
	loop.End()
}
