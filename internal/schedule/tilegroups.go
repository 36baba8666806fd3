package schedule

import "github.com/tensorken/tensorken/internal/shader"

// byGroups is a unit in which 128 threads compute 64 rows of a tile, by instructions that read
// both factors from shared memory and run beside others: see shader.MultiplyGroup. While the
// products of a step run, those of the step before end, and tiles are copied to the other
// buffers.
//
// A thread has two rows of a square, and two columns of each eight, see shader.MultiplyShared. So
// that four neighbours are its own, the columns of a right factor along the depth lie in
// columnOrder; of another one, threads exchange results at the end.
func byGroups(elem shader.Matrix, buffers int) *unit {
	return &unit{
		lanes: shader.Warpgroup, square: [2]int{64, 16}, rows: 2, apart: 8, group: 2, buffers: buffers, running: 1, align: 1024,
		deep: patch{1, 2}, aside: patch{1, 2}, elem: elem,
		methods: unitMethods{
			start: (*tilePass).startGroups, stride: (*tilePass).strideWarps, put: (*tilePass).putGroups,
			steps: (*tilePass).stepGroups, multiply: (*tilePass).multiplyGroups, end: (*tilePass).endGroups, result: (*tilePass).resultWarps,
		},
	}
}

// startGroups finds the thread's place, and declares an accumulator for each eight columns.
func (q *tilePass) startGroups() {
	root := q.p.root
	q.p.Subgroup = shader.Warp
	q.lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	q.ty = root.Let("ty", shader.ThreadID.Div(shader.Warp).Mul(16).Add(q.lane.Div(4)))
	q.tx = root.Let("tx", q.quarter())
	q.acc = make([][]*shader.Var, 1)
	for j := range 2 * q.tile.wide {
		q.acc[0] = append(q.acc[0], q.vector(root, tag("c", j)))
	}
}

// quarter is which four of 16 columns a thread has in the end, and chooses how they become its own.
func (q *tilePass) quarter() *shader.Expr {
	switch {
	case !q.cols.alongK:
		return q.lane.And(1).Mul(2).Add(q.lane.Shr(1).And(1)) // see exchangeColumns
	case !q.packed():
		q.order = columnOrder
	}
	return q.lane.And(3)
}

// stepGroups copies the tiles of both factors to shared memory, or moves them through registers.
func (q *tilePass) stepGroups() {
	if q.copiesBoth() {
		q.multiplyCopies()
	} else {
		q.multiplySteps()
	}
}

// putGroups puts eight neighbours, a vector of words, into their line of 64.
func (q *tilePass) putGroups(sc *scope, f *factorTile, l *tileLoad, block []*shader.Expr, to *shader.Expr) {
	words := make([]*shader.Expr, 4)
	for i := range words {
		x := block[i/2]
		words[i] = shader.PackHalves(halves[q.tile.unit.elem.Type], x.At(2*(i%2)), x.At(2*(i%2)+1))
	}
	sc.Put(f.shared, to.Add(lineAt(f, l)), shader.Vec(4, words...))
}

// multiplyGroups starts the products of a step.
func (q *tilePass) multiplyGroups(loop *scope, fromM, fromN *shader.Expr) {
	const rows = 64 * 8 // vectors of the rows of 128 threads
	left := loop.Let("from_m", fromM.Add(shader.ThreadID.Div(shader.Warpgroup).Mul(rows)))
	right := loop.Let("from_n", fromN)
	group := &shader.MultiplyGroup{Pending: 1}
	for k := 0; k < q.tile.depth(); k += 16 {
		group.Products = append(group.Products, shader.MultiplyShared{
			Elem: q.tile.unit.elem, Acc: q.acc[0],
			A: shader.SharedMatrix{Shared: q.m.shared, First: left, AlongSide: !q.m.alongK, Depth: k},
			B: shader.SharedMatrix{Shared: q.n.shared, First: right, AlongSide: !q.n.alongK, Depth: k},
		})
	}
	loop.Do(group)
}

// endGroups waits for the last products.
func (q *tilePass) endGroups() {
	q.p.root.Do(&shader.MultiplyGroup{})
	q.exchangeColumns()
}

// exchangeColumns lets neighbours exchange results if columns lie as they are: of 16 columns a thread of an
// even number takes four of the first eight, the other one four of the last.
func (q *tilePass) exchangeColumns() {
	root := q.p.root
	if q.cols.alongK || q.packed() {
		return
	}
	odd := root.Let("odd", q.lane.And(1).Eq(1))
	for i := range len(q.acc) * q.tile.wide {
		in := root.block()
		row, h := q.acc[i/q.tile.wide], i%q.tile.wide
		first, last := row[2*h], row[2*h+1]
		var left, right [4]*shader.Expr // two columns of both rows
		for i := range 4 {
			x, y := first.Ref().At(i), last.Ref().At(i)
			got := in.Let(tag("got", i), odd.If(x, y).Shuffle(1))
			left[i], right[i] = in.Let(tag("left", i), odd.If(got, x)), in.Let(tag("right", i), odd.If(y, got))
		}
		in.Set(first, shader.Vec(4, left[:]...))
		in.Set(last, shader.Vec(4, right[:]...))
		in.end()
	}
}

// An instruction has of 16 columns 2c, 2c+1, 2c+8 and 2c+9 in a thread. Columns lie in an order in
// which these are 4c to 4c+3.
func columnOrder(x *shader.Expr) *shader.Expr {
	return x.Shr(4).Shl(4).Or(x.And(2).Shl(2)).Or(x.Shr(1).And(6)).Or(x.And(1))
}
