package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// ByThreads is a unit in which a thread computes squares of 4×4. A tile in shared memory has
// vectors along the side, so the left factor's is transposed.
var ByThreads = Unit{
	lanes: 1, square: [2]int{4, 4}, rows: 4, Apart: 1, Group: 1, Buffers: 2, deep: patch{1, 1}, aside: patch{1, 1},
	Methods: UnitMethods{
		start: (*Pass).startThreads, stride: (*Pass).strideThreads, put: (*Pass).putThreads,
		steps: (*Pass).multiplySteps, multiply: (*Pass).MultiplyThreads, result: (*Pass).resultThreads,
	},
}

// startThreads declares a vector for each row of the thread's squares.
func (q *Pass) startThreads() {
	root, t := q.P.Root, q.Tile
	q.TY, q.TX = PlaceThreads(root, t.M/(4*t.High), t.N/(4*t.Wide))
	q.Acc = q.ThreadAccumulators(root, "c")
}

// ThreadAccumulators declares the accumulators of a thread: a vector for each row and square of
// columns.
func (q *Pass) ThreadAccumulators(sc *build.Scope, name string) [][]*shader.Var {
	acc := make([][]*shader.Var, 4*q.Tile.High)
	for i := range acc {
		for h := range q.Tile.Wide {
			acc[i] = append(acc[i], q.Vector(sc, build.Tag(name, i, h)))
		}
	}
	return acc
}

// LaneStride is the distance of threads whose columns are neighbours: see PlaceThreads.
const LaneStride = 2

// PlaceThreads finds the row and the column of a thread. 32 threads are a rectangle of 4 by 8 if
// they fit: so they read few vectors of both factors together. Neighbouring threads read the same
// vector of the right factor, and threads at a distance of two the same vector of the left factor:
// then an NVIDIA GPU serves half of the 32 threads in a cycle, else a quarter.
func PlaceThreads(root *build.Scope, down, across int) (ty, tx *shader.Expr) {
	t := shader.ThreadID
	if down%4 > 0 || across%8 > 0 {
		return root.Let("ty", t.Div(across)), root.Let("tx", t.Rem(across))
	}
	row, column := t.Rem(LaneStride).Add(t.Div(16).Rem(2).Mul(2)), t.Div(LaneStride).Rem(8)
	return root.Let("ty", t.Div(4*across).Mul(4).Add(row)), root.Let("tx", t.Div(32).Rem(across/8).Mul(8).Add(column))
}

func (q *Pass) resultThreads(g, r, h, j int) (*shader.Var, int) { return q.Acc[4*g+r][h], j }

func (q *Pass) strideThreads(f *Factor) int {
	if f.AlongK || f.Turned {
		return f.Block/4 + 1 // columns written by neighbours lie in other banks
	}
	return f.Block / 4
}

func (q *Pass) putThreads(sc *build.Scope, f *Factor, l *load, block []*shader.Expr, to *shader.Expr) {
	if !f.AlongK {
		sc.Put(f.Shared, to.Add(l.u.Mul(f.stride)).Add(l.q), block[0])
		return
	}
	at := sc.Let("at", to.Add(l.q.Mul(4*f.stride)).Add(l.u.Div(4)))
	for n := range 4 {
		sc.Do(&shader.StoreShared{Shared: f.Shared, Index: at.Add(n * f.stride), Component: l.u.And(3), Value: block[0].At(n)})
	}
}

// MultiplyThreads is the method multiply of threads.
func (q *Pass) MultiplyThreads(loop *build.Scope, fromM, fromN *shader.Expr) {
	m, n := loop.Let("from_m", fromM.Add(q.TY)), loop.Let("from_n", fromN.Add(q.TX))
	for k := range q.Tile.K {
		q.MultiplyPlace(loop, k, func(g int) *shader.Expr {
			return q.M.Shared.At(m.Add(k*q.M.stride + g*q.Tile.M/q.Tile.High/4))
		}, n)
	}
}

// MultiplyPlace multiplies a column of the left tile, of each square of rows, by a row of the
// right one, at a position of the depth.
func (q *Pass) MultiplyPlace(sc *build.Scope, k int, column func(g int) *shader.Expr, fromN *shader.Expr) {
	t := q.Tile
	in := sc.Inner()
	left, right := make([]*shader.Expr, t.High), make([]*shader.Expr, t.Wide)
	for g := range left {
		left[g] = in.Let(build.Tag("x", g), column(g))
	}
	for h := range right {
		right[h] = in.Let(build.Tag("y", h), q.N.Shared.At(fromN.Add(k*q.N.stride+h*t.N/t.Wide/4)))
	}
	for i, row := range q.Acc {
		for h, acc := range row {
			q.Multiply(in, acc, left[i/4].At(i%4), right[h])
		}
	}
	in.End()
}
