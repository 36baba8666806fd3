package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// ByGroups is a unit in which 128 threads compute 64 rows of a tile, by instructions that read
// both factors from shared memory and run beside others: see shader.MultiplyGroup. While the
// products of a step run, the products of the step before end, and tiles are copied to the
// other buffers.
//
// A thread has two rows of a square, and two columns of each eight, see shader.MultiplyShared. So
// that four neighbours are its own, the columns of a right factor along the depth lie in
// ColumnOrder; of another one, threads exchange results at the end.
func ByGroups(elem shader.Matrix, buffers int) *Unit {
	return &Unit{
		lanes: shader.Warpgroup, square: [2]int{64, 16}, rows: 2, Apart: 8, Group: 2, Buffers: buffers, running: 1, align: 1024, shares: true,
		deep: ofEight, aside: ofEight, Elem: elem,
		Methods: UnitMethods{
			start: (*Pass).startGroups, stride: (*Pass).strideWarps, put: (*Pass).putGroups,
			steps: (*Pass).stepGroups, multiply: (*Pass).multiplyGroups, end: (*Pass).endGroups, result: (*Pass).resultWarps,
		},
	}
}

// startGroups finds the thread's place, and declares an accumulator for each eight columns.
func (q *Pass) startGroups() {
	root := q.P.Root
	q.P.Subgroup = shader.Warp
	q.Lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	q.TY = root.Let("ty", shader.ThreadID.Div(shader.Warp).Mul(16).Add(q.Lane.Div(4)))
	q.TX = root.Let("tx", q.quarter())
	q.Acc = make([][]*shader.Var, 1)
	for j := range 2 * q.Tile.Wide {
		q.Acc[0] = append(q.Acc[0], q.Vector(root, build.Tag("c", j)))
	}
}

// quarter is which four of 16 columns a thread has in the end, and chooses how they become its own.
func (q *Pass) quarter() *shader.Expr {
	switch {
	case !q.Cols.AlongK:
		return q.Lane.And(1).Mul(2).Add(q.Lane.Shr(1).And(1)) // see exchangeColumns
	case !q.packed():
		q.order = ColumnOrder
	}
	return q.Lane.And(3)
}

// stepGroups copies the tiles of both factors to shared memory, or moves them through registers.
func (q *Pass) stepGroups() {
	if CopiesBoth(q.Product) {
		q.multiplyCopies()
	} else {
		q.multiplySteps()
	}
}

// putGroups puts eight neighbours, a vector of words, into their line of 64.
func (q *Pass) putGroups(sc *build.Scope, f *Factor, l *load, block []*shader.Expr, to *shader.Expr) {
	words := make([]*shader.Expr, 4)
	for i := range words {
		x := block[i/2]
		words[i] = shader.PackHalves(build.Halves[q.Tile.Unit.Elem.Type], x.At(2*(i%2)), x.At(2*(i%2)+1))
		if f.left && q.Negative != nil {
			words[i] = words[i].Xor(q.Negative.If(build.U32(0x80008000), build.U32(0)))
		}
	}
	sc.Put(f.Shared, to.Add(lineAt(f, l)), shader.Vec(4, words...))
}

// multiplyGroups starts the products of a step.
func (q *Pass) multiplyGroups(loop *build.Scope, fromM, fromN *shader.Expr) {
	const rows = 64 * 8 // vectors of the rows of 128 threads
	left := loop.Let("from_m", fromM.Add(shader.ThreadID.Div(shader.Warpgroup).Mul(rows)))
	right := loop.Let("from_n", fromN)
	group := &shader.MultiplyGroup{Pending: 1}
	for k := 0; k < q.Tile.Depth(); k += 16 {
		group.Products = append(group.Products, shader.MultiplyShared{
			Elem: q.Tile.Unit.Elem, Acc: q.Acc[0],
			A: shader.SharedMatrix{Shared: q.M.Shared, First: left, AlongSide: !q.M.AlongK, Depth: k},
			B: shader.SharedMatrix{Shared: q.N.Shared, First: right, AlongSide: !q.N.AlongK, Depth: k},
		})
	}
	loop.Do(group)
}

// endGroups waits for the last products.
func (q *Pass) endGroups() {
	q.P.Root.Do(&shader.MultiplyGroup{})
	q.exchangeColumns()
}

// exchangeColumns lets neighbours exchange results if columns lie as they are: of 16 columns a thread of an
// even number takes four of the first eight, the other one four of the last.
func (q *Pass) exchangeColumns() {
	root := q.P.Root
	if q.Cols.AlongK || q.packed() {
		return
	}
	odd := root.Let("odd", q.Lane.And(1).Eq(1))
	for i := range len(q.Acc) * q.Tile.Wide {
		in := root.Inner()
		row, h := q.Acc[i/q.Tile.Wide], i%q.Tile.Wide
		first, last := row[2*h], row[2*h+1]
		var left, right [4]*shader.Expr // two columns of both rows
		for i := range 4 {
			x, y := first.Ref().At(i), last.Ref().At(i)
			got := in.Let(build.Tag("got", i), odd.If(x, y).Shuffle(1))
			left[i], right[i] = in.Let(build.Tag("left", i), odd.If(got, x)), in.Let(build.Tag("right", i), odd.If(y, got))
		}
		in.Set(first, shader.Vec(4, left[:]...))
		in.Set(last, shader.Vec(4, right[:]...))
		in.End()
	}
}

// ColumnOrder returns the column at position x. A thread has columns 2c, 2c+1, 2c+8 and 2c+9 of an
// instruction's 16, which lie at the neighbouring positions 4c to 4c+3.
func ColumnOrder(x *shader.Expr) *shader.Expr {
	return x.Shr(4).Shl(4).Or(x.And(2).Shl(2)).Or(x.Shr(1).And(6)).Or(x.And(1))
}
