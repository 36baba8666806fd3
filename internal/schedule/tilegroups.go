package schedule

import "github.com/tensorken/tensorken/internal/shader"

// byGroups is a unit in which 128 threads compute 64 rows of a tile, by instructions that read
// both factors from shared memory and run beside others: see shader.MultiplyGroup. While the
// products of a step run, those of the step before end, and tiles are copied to the other
// buffers.
func byGroups(elem shader.Matrix, buffers int) *unit {
	return &unit{
		lanes: shader.Warpgroup, square: [2]int{64, 8}, rows: 1, group: 2, buffers: buffers, align: 1024,
		deep: patch{1, 2}, aside: patch{1, 2}, elem: elem,
		methods: unitMethods{
			start: (*tilePass).startGroups, stride: (*tilePass).strideWarps, put: (*tilePass).putGroups,
			steps: (*tilePass).stepGroups, multiply: (*tilePass).multiplyGroups, end: (*tilePass).endGroups, result: (*tilePass).resultGroups,
		},
	}
}

// startGroups declares an accumulator for each eight columns. A thread has two results in two
// rows, see shader.MultiplyShared, and exchanges half of them with its neighbour: so it has
// four in a row to store.
func (q *tilePass) startGroups() {
	root := q.p.root
	q.p.Subgroup = shader.Warp
	q.lane = root.Let("lane", shader.ThreadID.Rem(shader.Warp))
	q.ty = root.Let("ty", shader.ThreadID.Div(shader.Warp).Mul(16).Add(q.lane.Div(4)).Add(q.lane.And(1).Mul(8)))
	q.tx = root.Let("tx", q.lane.Rem(4).Div(2))
	q.acc = make([][]*shader.Var, 1)
	for j := range q.tile.wide {
		q.acc[0] = append(q.acc[0], q.vector(root, tag("c", j)))
	}
}

// stepGroups copies the tiles of both factors to shared memory, or moves them through registers.
func (q *tilePass) stepGroups() {
	if q.copies(&factorTile{side: &q.rows}) && q.copies(&factorTile{side: &q.cols}) {
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
		words[i] = shader.PackHalves(halfOf[q.tile.unit.elem], x.At(2*(i%2)), x.At(2*(i%2)+1))
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

// endGroups waits for the last products, and exchanges results.
func (q *tilePass) endGroups() {
	root := q.p.root
	root.Do(&shader.MultiplyGroup{})
	odd := root.Let("odd", q.lane.And(1).Eq(1))
	for _, acc := range q.acc[0] {
		x := acc.Ref()
		var got [2]*shader.Expr
		for i := range got {
			got[i] = root.Let(acc.Name+tag("_", i), odd.If(x.At(i), x.At(2+i)).Shuffle(1))
		}
		list := []*shader.Expr{odd.If(got[0], x.At(0)), odd.If(got[1], x.At(1)), odd.If(x.At(2), got[0]), odd.If(x.At(3), got[1])}
		root.Set(acc, shader.Vec(4, list...))
	}
}

func (q *tilePass) resultGroups(g, r, h, j int) (*shader.Var, int) { return q.acc[0][h], j }
