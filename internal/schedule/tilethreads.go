package schedule

import "github.com/tensorken/tensorken/internal/shader"

// byThreads is a unit in which a thread computes squares of 4×4. A tile in shared memory has
// vectors along the side, so that of the left factor is transposed.
var byThreads = unit{
	lanes: 1, square: [2]int{4, 4}, rows: 4, apart: 1, group: 1, buffers: 2, deep: patch{1, 1}, aside: patch{1, 1},
	methods: unitMethods{
		start: (*tilePass).startThreads, stride: (*tilePass).strideThreads, put: (*tilePass).putThreads,
		steps: (*tilePass).multiplySteps, multiply: (*tilePass).multiplyThreads, result: (*tilePass).resultThreads,
	},
}

// startThreads declares a vector for each row of the thread's squares.
func (q *tilePass) startThreads() {
	root, t := q.p.root, q.tile
	q.ty, q.tx = placeThreads(root, t.m/(4*t.high), t.n/(4*t.wide))
	q.acc = q.threadAccumulators(root, "c")
}

// threadAccumulators declares the accumulators of a thread: a vector for each row and square of
// columns.
func (q *tilePass) threadAccumulators(sc *scope, name string) [][]*shader.Var {
	acc := make([][]*shader.Var, 4*q.tile.high)
	for i := range acc {
		for h := range q.tile.wide {
			acc[i] = append(acc[i], q.vector(sc, tag(name, i, h)))
		}
	}
	return acc
}

// laneStride is the distance of threads whose columns are neighbours: see placeThreads.
const laneStride = 2

// placeThreads finds the row and the column of a thread. 32 threads are a rectangle of 4 by 8 if
// they fit: so they read few vectors of both factors together. Neighbouring threads read the same
// vector of the right factor, and threads at a distance of two the same vector of the left factor:
// then an NVIDIA GPU serves half of the 32 threads in a cycle, else a quarter.
func placeThreads(root *scope, down, across int) (ty, tx *shader.Expr) {
	t := shader.ThreadID
	if down%4 > 0 || across%8 > 0 {
		return root.Let("ty", t.Div(across)), root.Let("tx", t.Rem(across))
	}
	row, column := t.Rem(laneStride).Add(t.Div(16).Rem(2).Mul(2)), t.Div(laneStride).Rem(8)
	return root.Let("ty", t.Div(4*across).Mul(4).Add(row)), root.Let("tx", t.Div(32).Rem(across/8).Mul(8).Add(column))
}

func (q *tilePass) resultThreads(g, r, h, j int) (*shader.Var, int) { return q.acc[4*g+r][h], j }

func (q *tilePass) strideThreads(f *factorTile) int {
	if f.alongK || f.turned {
		return f.block/4 + 1 // columns written by neighbours lie in other banks
	}
	return f.block / 4
}

func (q *tilePass) putThreads(sc *scope, f *factorTile, l *tileLoad, block []*shader.Expr, to *shader.Expr) {
	if !f.alongK {
		sc.Put(f.shared, to.Add(l.u.Mul(f.stride)).Add(l.q), block[0])
		return
	}
	at := sc.Let("at", to.Add(l.q.Mul(4*f.stride)).Add(l.u.Div(4)))
	for n := range 4 {
		sc.Do(&shader.StoreShared{Shared: f.shared, Index: at.Add(n * f.stride), Component: l.u.And(3), Value: block[0].At(n)})
	}
}

func (q *tilePass) multiplyThreads(loop *scope, fromM, fromN *shader.Expr) {
	m, n := loop.Let("from_m", fromM.Add(q.ty)), loop.Let("from_n", fromN.Add(q.tx))
	for k := range q.tile.k {
		q.multiplyPlace(loop, k, func(g int) *shader.Expr {
			return q.m.shared.At(m.Add(k*q.m.stride + g*q.tile.m/q.tile.high/4))
		}, n)
	}
}

// multiplyPlace multiplies a column of the left tile, of each square of rows, by a row of the
// right one, at a position of the depth.
func (q *tilePass) multiplyPlace(sc *scope, k int, column func(g int) *shader.Expr, fromN *shader.Expr) {
	t := q.tile
	in := sc.block()
	left, right := make([]*shader.Expr, t.high), make([]*shader.Expr, t.wide)
	for g := range left {
		left[g] = in.Let(tag("x", g), column(g))
	}
	for h := range right {
		right[h] = in.Let(tag("y", h), q.n.shared.At(fromN.Add(k*q.n.stride+h*t.n/t.wide/4)))
	}
	for i, row := range q.acc {
		for h, acc := range row {
			q.multiply(in, acc, left[i/4].At(i%4), right[h])
		}
	}
	in.end()
}
