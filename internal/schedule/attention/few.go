package attention

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// few is the unit of a few rows, as of the heads that share the keys of a decoder's next token. It has no
// tiles: threads read keys and values from memory, once, as neighbours along the depth and the width. So many
// threads share four columns: each has a part of the depth of a score and of the width of an output. Each has
// all rows.
type few struct {
	*attention
	deep   int                               // threads that share four columns
	values map[*tiles.Pass][][4]*shader.Expr // right factors of outputs, by vector and column
}

const fewThreads = 512

func (a *few) choose() bool {
	rows, sub := a.Nest.Size(a.m), a.Target.Subgroup()
	threads := build.FloorPow2(min(fewThreads, a.Target.MaxThreads))
	if rows > loopnest.FewRows || !a.Target.Traits().Concurrent || sub > threads {
		return false
	}
	widest := 0
	for _, q := range a.scores {
		widest = max(widest, q.Depth)
	}
	for _, q := range a.outputs {
		widest = max(widest, q.Cols.N)
	}
	a.deep = min(sub, build.FloorPow2(max(1, widest/4)))
	for threads > sub && !a.Target.Fits(threads, a.exchanged(rows, threads)) {
		threads /= 2
	}
	best := math.Inf(1)
	for least := min(threads, max(sub, depthStep/4*a.deep)); threads >= least; threads /= 2 { // down to the depth of a step
		across, old := threads/a.deep, a.size
		a.size = size{threads: threads, height: rows, width: 4 * across, high: 1, wide: 1, square: rows, across: across, stride: a.deep}
		if _, time := a.bestParts(); time < best {
			best = time
		} else {
			a.size = old
		}
	}
	return true
}

// exchanged is the memory in bytes through which subgroups exchange sums and outputs. One alone exchanges nothing.
func (a *few) exchanged(rows, threads int) int {
	if threads <= a.Target.Subgroup() {
		return 0
	}
	bytes := 4 * rows * threads * max(1, len(a.Sums))
	for _, q := range a.outputs {
		bytes += 16 * rows * threads / a.Target.Subgroup() * a.deep * a.vectors(q.Cols.N)
	}
	return bytes
}

// vectors is the number of vectors of a thread along a length that threads share.
func (a *few) vectors(length int) int { return ir.CeilDiv(length, 4*a.deep) }

func (a *few) place(root *build.Scope) (ty, tx *shader.Expr) {
	a.p.Subgroup = a.Target.Subgroup()
	a.copy = root.Let("tk", shader.ThreadID.Rem(a.deep))
	return build.U32(0), root.Let("tx", shader.ThreadID.Div(a.deep))
}

func (a *few) declare(q *tiles.Pass, isScore bool) {
	q.Tile = tiles.Tile{M: a.height, N: a.width, K: 4, High: 1, Wide: 1, Unit: &tiles.ByThreads}
	if !isScore {
		q.Tile.Wide = a.vectors(q.Cols.N)
		q.Tile.N = 4 * a.deep * q.Tile.Wide
	}
}

func (a *few) loadRows(*tiles.Pass) {}

func (a *few) accumulators(q *tiles.Pass, sc *build.Scope, name string) [][]*shader.Var {
	acc := make([][]*shader.Var, a.height)
	for r := range acc {
		for h := range q.Tile.Wide {
			acc[r] = append(acc[r], q.Vector(sc, build.Tag(name, r, h)))
		}
	}
	return acc
}

// load has the barrier after which threads exchange values in the same memory again.
func (a *few) load(loop *build.Scope, _, _ *shader.Expr) {
	if a.exchanges() {
		loop.Barrier()
	}
}

// part is a thread's four neighbours of axes, of a length that threads share.
func (a *few) part(q *tiles.Pass, axes []int, length, number int) build.Span {
	return build.Span{
		Axes: axes, Base: a.copy.Mul(4).Plus(4 * a.deep * number), Step: build.Lanes(4), Fours: a.Fours(axes), Clamp: q.Clamp(length, 4*a.deep),
	}
}

// four is a factor in four lanes, 0 in those that are not valid in sc or in one scope around it.
func (a *few) four(sc, around *build.Scope, factor int, name string) *shader.Expr {
	list, v := make([]*shader.Expr, 4), sc.Value(factor)
	for l := range list {
		list[l] = v.Lane(l)
		if c := build.All(build.AllIn(sc.Valid, l), build.AllIn(around.Valid, l)); c != nil {
			list[l] = c.If(list[l], build.Number(shader.F32, 0))
		}
	}
	return sc.Let(name+sc.Tag, shader.Vec(4, list...))
}

// score computes scores, and reads the right factors of outputs, so that they are under way meanwhile.
func (a *few) score(loop *build.Scope) {
	var columns [4]*build.Scope
	for j := range columns {
		columns[j] = loop.Beside(build.Tag("_c", j))
		at := columns[j].Let("col"+columns[j].Tag, a.columns.Add(a.tx.Mul(4)).Plus(j))
		columns[j].EnterValid(build.Span{Axes: a.n, Base: at, Step: []int{0}, Clamp: a.Clamp(a.Nest.Size(a.n), a.width)})
	}
	for n, q := range a.scores {
		a.multiplyDepth(loop, q, build.Tag("_s", n), columns)
	}
	a.values = map[*tiles.Pass][][4]*shader.Expr{}
	for n, q := range a.outputs {
		list := make([][4]*shader.Expr, q.Tile.Wide)
		for h := range list {
			for j, column := range columns {
				sc := column.Beside(build.Tag("_o", n, h))
				sc.EnterValid(a.part(q, q.Cols.Axes, q.Cols.N, h))
				list[h][j] = a.four(sc, column, q.Cols.Factor, "right")
			}
		}
		a.values[q] = list
	}
}

// multiplyDepth computes a score: threads add up the products along their parts of the depth.
func (a *few) multiplyDepth(loop *build.Scope, q *tiles.Pass, tag string, columns [4]*build.Scope) {
	var acc [loopnest.FewRows][4]*shader.Var
	for r := range a.height {
		for j := range columns {
			acc[r][j] = q.Vector(loop, build.Tag("d"+tag, r, j))
		}
	}
	for k := range a.vectors(q.Depth) {
		span := a.part(q, q.Deep, q.Depth, k)
		var right [4]*shader.Expr
		for j, column := range columns {
			sc := column.Beside(build.Tag(tag, k))
			sc.EnterValid(span)
			right[j] = a.four(sc, column, q.Cols.Factor, "right")
		}
		for r, row := range a.rows[0] {
			sc := row.On(loop.Block, build.Tag(tag, k))
			sc.EnterValid(span)
			left := a.four(sc, sc, q.Rows.Factor, "left")
			for j := range columns {
				q.Multiply(loop, acc[r][j], left, right[j])
			}
		}
	}
	for r := range a.height {
		for j := range columns {
			d := acc[r][j].Ref()
			sum := loop.Var(build.Tag("sum"+tag, r, j), d.At(0).Add(d.At(1)).Add(d.At(2).Add(d.At(3))))
			for mask := 1; mask < a.deep; mask *= 2 {
				loop.Set(sum, sum.Ref().Add(sum.Ref().Shuffle(mask)))
			}
			loop.SetAt(q.Acc[r][0], j, sum.Ref())
		}
	}
}

func (a *few) scale(q *tiles.Pass, loop *build.Scope) {
	for r, list := range q.Acc {
		for _, acc := range list {
			loop.Set(acc, acc.Ref().Mul(shader.Vec(4, a.rows[0][r].scale)))
		}
	}
}

func (a *few) add(loop *build.Scope) {
	for _, q := range a.outputs {
		left := a.left(q)[0][0]
		for r, list := range q.Acc {
			for h, acc := range list {
				for j, right := range a.values[q][h] {
					q.Multiply(loop, acc, left[r].Lane(j), right)
				}
			}
		}
	}
}

// end adds up the outputs of the threads that have different columns.
func (a *few) end() {
	root, sub := a.p.Root, a.p.Subgroup
	var all []*shader.Var
	for _, q := range a.outputs {
		all = slices.Concat(all, slices.Concat(q.Acc...))
	}
	for _, acc := range all {
		for mask := a.deep; mask < min(sub, a.threads); mask *= 2 {
			for j := range 4 {
				x := acc.Ref().At(j)
				root.SetAt(acc, j, x.Add(x.Shuffle(mask)))
			}
		}
	}
	groups := a.threads / sub
	if groups <= 1 || len(all) == 0 {
		return
	}
	shared := a.p.Share(shader.F32.Vec(4), groups*a.deep*len(all))
	own := root.Let("own", shader.ThreadID.Div(sub).Mul(a.deep).Add(a.copy).Mul(len(all)))
	root.If(shader.ThreadID.Rem(sub).Lt(a.deep), func(first *shader.Block) {
		for i, acc := range all {
			first.Put(shared, own.Plus(i), acc.Ref())
		}
	})
	root.Barrier()
	item := 0
	for _, q := range a.outputs {
		for _, list := range q.Acc {
			for h, acc := range list {
				sum := shared.At(a.copy.Mul(len(all)).Plus(item))
				for g := 1; g < groups; g++ {
					sum = sum.Add(shared.At(a.copy.Mul(len(all)).Plus(g*a.deep*len(all) + item)))
				}
				root.If(a.stores(h), func(own *shader.Block) { own.Set(acc, sum) })
				item++
			}
		}
	}
}

// stores reports whether a thread stores its vector of an output, which others have too.
func (a *few) stores(h int) *shader.Expr { return a.tx.Eq(h % a.across) }

func (a *few) column(int) (step, first int) { return 4, 0 }

// outputColumns gives each vector of an output to one of the threads that have it.
func (a *few) outputColumns(q *tiles.Pass, sc *build.Scope, h int) build.Span {
	sc.Valid = append(sc.Valid, build.Value{a.stores(h)})
	return a.part(q, q.Cols.Axes, q.Cols.N, h)
}
