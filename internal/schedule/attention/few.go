package attention

import (
	"math"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
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
	left   map[*tiles.Pass][][]*shader.Expr  // left factors of scores, by row and vector
	values map[*tiles.Pass][][4]*shader.Expr // right factors of outputs, by vector and column
}

const fewThreads = 256

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
	a.apart = true
	best, least := threads, math.Inf(1)
	for n := threads; n >= min(threads, max(sub, depthStep/4*a.deep)); n /= 2 {
		a.divide(n)
		if _, _, time := a.bestParts(); time < least {
			best, least = n, time
		}
	}
	a.divide(best)
	return true
}

// divide divides the work among so many threads.
func (a *few) divide(threads int) {
	across, rows := threads/a.deep, a.Nest.Size(a.m)
	a.size = size{threads: threads, height: rows, width: 4 * across, high: 1, wide: 1, square: rows, across: across, stride: a.deep}
}

// blockTime is the latency of memory: the keys and values of a block are loaded at once.
func (a *few) blockTime() float64 { return tiles.CostOf(a.Target).Block }

// exchanged is the memory in bytes through which subgroups exchange maxima, sums and outputs. One alone exchanges nothing.
func (a *few) exchanged(rows, threads int) int {
	if threads <= a.Target.Subgroup() {
		return 0
	}
	bytes := 4 * rows * len(a.rowReductions())
	for _, q := range a.outputs {
		bytes += 16 * rows * a.deep * a.vectors(q.Cols.N)
	}
	return threads / a.Target.Subgroup() * bytes
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

func (a *few) load(_ *build.Scope, _, _ *shader.Expr) {}

// begin computes the left factors of scores, which are the same for all columns.
func (a *few) begin(_, _, _ *shader.Expr) {
	root := a.p.Root
	a.left = map[*tiles.Pass][][]*shader.Expr{}
	for n, q := range a.scores {
		for _, row := range a.rows[0] {
			var list []*shader.Expr
			for k := range a.vectors(q.Depth) {
				sc := row.On(root.Block, build.Tag("_s", n, k))
				sc.EnterValid(a.part(q, q.Deep, q.Depth, k))
				list = append(list, a.four(sc, sc, q.Rows.Factor, "left"))
			}
			a.left[q] = append(a.left[q], list)
		}
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
	for n, q := range a.scores {
		a.multiplyDepth(loop, q, build.Tag("_s", n), columns)
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
		for r := range a.height {
			for j := range columns {
				q.Multiply(loop, acc[r][j], a.left[q][r][k], right[j])
			}
		}
	}
	for r := range a.height {
		var sums [4]*shader.Expr
		for j := range columns {
			d := acc[r][j].Ref()
			sums[j] = loop.Let(build.Tag("own"+tag, r, j), d.At(0).Add(d.At(1)).Add(d.At(2).Add(d.At(3))))
		}
		for j, sum := range a.addAlong(loop, build.Tag("sum"+tag, r), sums) {
			loop.SetAt(q.Acc[r][0], j, sum)
		}
	}
}

// addAlong adds up four values of threads that share columns. Where four threads do, each adds up one of the values and then gets
// the other sums: that takes half of the shuffles.
func (a *few) addAlong(loop *build.Scope, name string, x [4]*shader.Expr) [4]*shader.Expr {
	number := 0
	let := func(x *shader.Expr) *shader.Expr {
		number++
		return loop.Let(build.Tag(name+"_", number), x)
	}
	if a.deep < len(x) {
		for mask := 1; mask < a.deep; mask *= 2 {
			for j := range x {
				x[j] = let(x[j].Add(x[j].Shuffle(mask)))
			}
		}
		return x
	}
	odd, upper := a.copy.And(1).Eq(1), a.copy.And(2).Eq(2)
	half := func(second, x, y *shader.Expr, mask int) *shader.Expr { // y's sum in the threads that are second, else x's
		return let(second.If(y, x).Add(second.If(x, y).Shuffle(mask)))
	}
	sum := half(upper, half(odd, x[0], x[1], 1), half(odd, x[2], x[3], 1), 2)
	for mask := 4; mask < a.deep; mask *= 2 {
		sum = let(sum.Add(sum.Shuffle(mask)))
	}
	other := let(sum.Shuffle(2))
	for i, own := range []*shader.Expr{let(upper.If(other, sum)), let(upper.If(sum, other))} {
		next := let(own.Shuffle(1))
		x[2*i], x[2*i+1] = let(odd.If(next, own)), let(odd.If(own, next))
	}
	return x
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
		left := a.attention.left(q)[0][0]
		for r, list := range q.Acc {
			for h, acc := range list {
				for j, right := range a.values[q][h] {
					q.Multiply(loop, acc, left[r].Lane(j), right)
				}
			}
		}
	}
}

// A share is a thread's part of a row: its maximum, if there is one, and its sums and vectors of outputs.
type share struct {
	max *build.Reducer
	acc []*accumulator
}

// An accumulator is a maximum, a sum or a vector of sums, and whether these are in proportion to the exponential of the maximum.
type accumulator struct {
	*shader.Var
	scaled bool
	memory *shader.Shared // for all subgroups
	lanes  int            // threads of a subgroup that have different values
}

// shares lists the thread's part of each row.
func (a *few) shares() (list []share) {
	for r, row := range a.rows[0] {
		s := share{max: row.max}
		for _, x := range row.sums {
			s.acc = append(s.acc, &accumulator{Var: x.Acc, scaled: a.Scaled[x.Instr]})
		}
		for _, q := range a.outputs {
			for _, x := range q.Acc[r] {
				s.acc = append(s.acc, &accumulator{Var: x, scaled: a.Scaled[q.Sum]})
			}
		}
		list = append(list, s)
	}
	return list
}

// rescaled is a value of an accumulator times the scale for a maximum that has risen.
func (s *share) rescaled(x *accumulator, value, scale *shader.Expr) *shader.Expr {
	switch {
	case s.max == nil || !x.scaled:
		return value
	case x.Type.Width > 1:
		scale = shader.Vec(int(x.Type.Width), scale)
	}
	return value.Mul(scale)
}

// end combines the parts of threads with different columns: in a subgroup by shuffles, then the parts of all subgroups in the
// threads that store.
func (a *few) end() {
	root, sub, rows := a.p.Root, a.p.Subgroup, a.shares()
	for mask := a.deep; mask < min(sub, a.threads); mask *= 2 {
		for r, row := range rows {
			var scale *shader.Expr
			if row.max != nil {
				old := root.Let(build.Tag("old", mask, r), row.max.Acc.Ref())
				row.max.Add(root.Block, old.Shuffle(mask))
				scale = root.Let(build.Tag("scale", mask, r), rescaling(old, row.max.Acc.Ref()))
			}
			for _, x := range row.acc {
				root.Set(x.Var, row.rescaled(x, x.Ref(), scale))
				other := x.Ref().Shuffle(mask)
				if x.Type.Width > 1 {
					components := product.Components(x.Ref())
					for j, c := range components {
						components[j] = c.Shuffle(mask)
					}
					other = shader.Vec(len(components), components...)
				}
				root.Set(x.Var, x.Ref().Add(other))
			}
		}
	}
	if groups := a.threads / sub; groups > 1 {
		a.combineGroups(rows, groups)
	}
}

// combineGroups combines the parts of subgroups, in the threads that store.
func (a *few) combineGroups(rows []share, groups int) {
	root, sub := a.p.Root, a.p.Subgroup
	maxima := make([]*accumulator, len(rows))
	put := func(x *accumulator) {
		if x.lanes = 1; x.Type.Width > 1 {
			x.lanes = a.deep
		}
		x.memory = a.p.Share(x.Type, groups*x.lanes)
		root.If(shader.ThreadID.Rem(sub).Lt(x.lanes), func(first *shader.Block) {
			first.Put(x.memory, shader.ThreadID.Div(sub).Mul(x.lanes).Add(shader.ThreadID.Rem(sub)), x.Ref())
		})
	}
	for r, row := range rows {
		if row.max != nil {
			maxima[r] = &accumulator{Var: row.max.Acc}
			put(maxima[r])
		}
		for _, x := range row.acc {
			put(x)
		}
	}
	root.Barrier()
	of := func(x *accumulator, group *shader.Expr) *shader.Expr {
		if x.lanes == 1 {
			return x.memory.At(group)
		}
		return x.memory.At(group.Mul(x.lanes).Add(a.copy))
	}
	storing := 1
	for _, q := range a.outputs {
		storing = max(storing, min(q.Tile.Wide, a.across))
	}
	own := root.When(a.tx.Lt(storing))
	greatest, g := own.Loop("g", build.U32(0), build.U32(groups), 1)
	for r, row := range rows {
		if row.max != nil {
			row.max.Add(greatest.Block, of(maxima[r], g))
		}
		for _, x := range row.acc {
			own.Set(x.Var, build.Number(x.Type, 0))
		}
	}
	greatest.End()
	sums, g := own.Loop("g", build.U32(0), build.U32(groups), 1)
	for r, row := range rows {
		var scale *shader.Expr
		if row.max != nil {
			scale = sums.Let(build.Tag("scale", r), rescaling(of(maxima[r], g), row.max.Acc.Ref()))
		}
		for _, x := range row.acc {
			sums.Set(x.Var, x.Ref().Add(row.rescaled(x, of(x, g), scale)))
		}
	}
	sums.End()
	own.End()
}

// stores reports whether a thread stores its vector of an output, which others have too.
func (a *few) stores(h int) *shader.Expr { return a.tx.Eq(h % a.across) }

func (a *few) column(int) (step, first int) { return 4, 0 }

// outputColumns gives each vector of an output to one of the threads that have it.
func (a *few) outputColumns(q *tiles.Pass, sc *build.Scope, h int) build.Span {
	sc.Valid = append(sc.Valid, build.Value{a.stores(h)})
	return a.part(q, q.Cols.Axes, q.Cols.N, h)
}
