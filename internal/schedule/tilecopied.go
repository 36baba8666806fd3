package schedule

import "github.com/tensorken/tensorken/internal/shader"

// byCopies is a unit in which a warp computes squares of 16×16 of products of halves, which it loads as
// matrices of 8×8 from tiles in shared memory: see shader.LoadMatrices. It has no path through registers, so
// that both factors must be copied, see [contraction.copiesBoth]. A thread
// has two rows of a square, eight apart, and two columns of each eight, see shader.Multiply. As in
// byGroups, four neighbours become its own by the order of the columns or by an exchange.
func byCopies(elem shader.Matrix, buffers int) *unit {
	return &unit{
		lanes: shader.Warp, square: [2]int{16, 16}, rows: 2, apart: 8, group: 2, buffers: buffers, fill: 1,
		deep: patch{1, 2}, aside: patch{1, 2}, elem: elem,
		methods: unitMethods{
			start: (*tilePass).startCopies, stride: (*tilePass).strideWarps, steps: (*tilePass).multiplyCopies,
			multiply: (*tilePass).multiplyMatrices, end: (*tilePass).exchangeColumns, result: (*tilePass).resultWarps,
		},
	}
}

// startCopies finds the thread's place, and declares the accumulators.
func (q *tilePass) startCopies() {
	root := q.p.root
	q.locateWarp()
	q.ty = root.Let("ty", q.warp[0].Mul(16).Add(q.lane.Div(4)))
	q.tx = root.Let("tx", q.warp[1].Mul(4).Add(q.quarter()))
	q.acc = q.accumulators(root, "c")
}

// multiplyMatrices multiplies tiles, 16 places of the depth by one instruction.
func (q *tilePass) multiplyMatrices(loop *scope, fromM, fromN *shader.Expr) {
	t := q.tile
	m, n := q.matrices(loop, &q.m, t.high, q.warp[0], fromM), q.matrices(loop, &q.n, t.wide, q.warp[1], fromN)
	for k := 0; k < t.depth(); k += 16 {
		in := loop.block()
		left, right := m(in, k), n(in, k)
		for h, y := range right {
			for g, x := range left {
				a := [4]*shader.Expr{x.At(0), x.At(1), x.At(2), x.At(3)}
				for half := range 2 {
					b := [2]*shader.Expr{y.At(2 * half), y.At(2*half + 1)}
					in.Do(&shader.Multiply{Elem: t.unit.elem, Acc: q.acc[g][2*h+half], A: a, B: b})
				}
			}
		}
		in.end()
	}
}

// matrices returns a function that loads a warp's squares of a side, of 16 places of the depth from a
// number on, of the tile at a vector of shared memory. The second matrix of a left factor has the next eight
// rows, and the third the next eight places of the depth. A right factor has these two in the other order.
// Function lineAt says where a tile has them.
func (q *tilePass) matrices(loop *scope, f *factorTile, squares int, warp, tile *shader.Expr) func(sc *scope, k int) []*shader.Expr {
	apart := f.block / squares // a divisor of 64
	line, side, deep := q.lane.And(7), q.lane.Div(8).And(1), q.lane.Div(16)
	if !f.left {
		side, deep = deep, side
	}
	bases := map[int]*shader.Expr{} // by a number of the vector before the swizzle
	base := func(n int) *shader.Expr {
		if bases[n] == nil {
			at := warp.Mul(16).Add(side.Mul(8)).Add(line).Mul(8).Add(deep.Plus(n).Xor(line))
			if !f.alongK {
				at = deep.Mul(8).Add(line).Mul(8).Add(warp.Mul(2).Add(side).Plus(n).Xor(line))
			}
			bases[n] = loop.Let(tag("from_"+f.name, n), tile.Add(at))
		}
		return bases[n]
	}
	return func(sc *scope, k int) (list []*shader.Expr) {
		for i := range squares {
			at, next := k/8, 8*i*apart
			if !f.alongK {
				at, next = i*apart%64/8, 8*k+i*apart/64*512
			}
			v := sc.Var(tag("matrix_"+f.name, i), shader.Vec(4, u32(0), u32(0), u32(0), u32(0)))
			sc.Do(&shader.LoadMatrices{To: v, Shared: f.shared, From: base(at).Plus(next), Transposed: !f.alongK})
			list = append(list, v.Ref())
		}
		return list
	}
}
