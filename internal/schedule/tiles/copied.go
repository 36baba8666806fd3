package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// byCopies is a unit in which a warp computes squares of 16×16 of products of halves, which it loads as
// matrices of 8×8 from tiles in shared memory: see shader.LoadMatrices. It has no path through registers, so
// that both factors must be copied, see [contraction.CopiesBoth]. A thread
// has two rows of a square, eight apart, and two columns of each eight, see shader.Multiply. As in
// ByGroups, four neighbours become its own by the order of the columns or by an exchange.
func byCopies(elem shader.Matrix, buffers int) *Unit {
	return &Unit{
		lanes: shader.Warp, square: [2]int{16, 16}, rows: 2, Apart: 8, Group: 2, Buffers: buffers, fillSteps: 1,
		deep: ofEight, aside: ofEight, Elem: elem,
		Methods: UnitMethods{
			start: (*Pass).startCopies, stride: (*Pass).strideWarps, steps: (*Pass).multiplyCopies,
			multiply: (*Pass).multiplyMatrices, end: (*Pass).exchangeColumns, result: (*Pass).resultWarps,
		},
	}
}

// startCopies finds the thread's place, and declares the accumulators.
func (q *Pass) startCopies() {
	root := q.P.Root
	q.locateWarp()
	q.TY = root.Let("ty", q.Warp[0].Mul(16).Add(q.Lane.Div(4)))
	q.TX = root.Let("tx", q.Warp[1].Mul(4).Add(q.quarter()))
	q.Acc = q.Accumulators(root, "c")
}

// multiplyMatrices multiplies tiles, 16 places of the depth by one instruction.
func (q *Pass) multiplyMatrices(loop *build.Scope, fromM, fromN *shader.Expr) {
	t := q.Tile
	m, n := q.matrices(loop, &q.M, t.High, q.Warp[0], fromM), q.matrices(loop, &q.N, t.Wide, q.Warp[1], fromN)
	for k := 0; k < t.Depth(); k += 16 {
		in := loop.Inner()
		left, right := m(in, k), n(in, k)
		for h, y := range right {
			for g, x := range left {
				a := [4]*shader.Expr{x.At(0), x.At(1), x.At(2), x.At(3)}
				for half := range 2 {
					b := [2]*shader.Expr{y.At(2 * half), y.At(2*half + 1)}
					in.Do(&shader.Multiply{Elem: t.Unit.Elem, Acc: q.Acc[g][2*h+half], A: a, B: b})
				}
			}
		}
		in.End()
	}
}

// matrices returns a function that loads a warp's squares of a side, of 16 places of the depth from a
// number on, of the tile at a vector of shared memory. The second matrix of a left factor has the next eight
// rows, and the third the next eight places of the depth. A right factor has these two in the other order.
// Function lineAt says where a tile has them.
func (q *Pass) matrices(loop *build.Scope, f *Factor, squares int, warp, tile *shader.Expr) func(sc *build.Scope, k int) []*shader.Expr {
	apart := f.Block / squares // a divisor of 64
	line, side, deep := q.Lane.And(7), q.Lane.Div(8).And(1), q.Lane.Div(16)
	if !f.left {
		side, deep = deep, side
	}
	bases := map[int]*shader.Expr{} // by a number of the vector before the swizzle
	base := func(n int) *shader.Expr {
		if bases[n] == nil {
			at := warp.Mul(16).Add(side.Mul(8)).Add(line).Mul(8).Add(deep.Plus(n).Xor(line))
			if !f.AlongK {
				at = deep.Mul(8).Add(line).Mul(8).Add(warp.Mul(2).Add(side).Plus(n).Xor(line))
			}
			bases[n] = loop.Let(build.Tag("from_"+f.Name, n), tile.Add(at))
		}
		return bases[n]
	}
	return func(sc *build.Scope, k int) (list []*shader.Expr) {
		for i := range squares {
			at, next := k/8, 8*i*apart
			if !f.AlongK {
				at, next = i*apart%64/8, 8*k+i*apart/64*512
			}
			v := sc.Var(build.Tag("matrix_"+f.Name, i), shader.Vec(4, build.U32(0), build.U32(0), build.U32(0), build.U32(0)))
			sc.Do(&shader.LoadMatrices{To: v, Shared: f.Shared, From: base(at).Plus(next), Transposed: !f.AlongK})
			list = append(list, v.Ref())
		}
		return list
	}
}
