// Package tiles multiplies by tiles: a workgroup computes a tile of the result through tiles
// of both factors in shared memory. Threads multiply them, or threads together by
// instructions for matrices. Read tiled.go first.
package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Tile is the size of a workgroup's part of the result, and of a step along the depth in
// words of its unit. The lanes of a unit compute high × wide squares, spread evenly over the
// tile.
type Tile struct {
	M, N, K    int
	High, Wide int
	Rate       float64 // speed where there are many tiles; 1 is the fastest by threads
	resident   int     // workgroups that one compute unit runs at once
	Unit       *Unit
}

// A Unit multiplies tiles: a thread, or threads together by matrix instructions.
type Unit struct {
	lanes       int           // threads
	square      [2]int        // rows and columns that the lanes compute at once
	rows        int           // rows of a square that a thread has four results of
	Apart       int           // the distance of these rows
	Group       int           // elements of the depth in a word
	Buffers     int           // tiles of a factor in shared memory
	align       int           // of them, in bytes
	running     int           // steps whose products still run when the next step's start
	deep, aside patch         // the patches of a factor that a thread loads at once, along the depth and along the side
	Elem        shader.Matrix // of the instructions
	Split       bool          // an element is multiplied as a head and a tail
	held        bool          // the left factor is in registers
	shares      bool          // workgroups may have shares of the steps of all tiles
	slowdown    float64       // the slowdown where a compute unit runs these lanes once; 0: none
	fillSteps   int           // steps that a workgroup which runs alone waits for its first tiles; 0: its rate includes them
	Methods     UnitMethods
}

// A LineOrder is where a tile in shared memory has a line; nil: at its number.
type LineOrder func(line *shader.Expr) *shader.Expr

// A patch is lines of vectors of four elements.
type patch struct{ lines, vectors int }

// UnitMethods are the operations that differ between kinds of unit.
type UnitMethods struct {
	// start finds the thread's place and declares its accumulators.
	start func(q *Pass)
	// stride is how far, in vectors, a word of the depth of a factor's tile is from the next.
	stride func(q *Pass, f *Factor) int
	// put moves a block from registers to shared memory, from a vector on.
	put func(q *Pass, sc *build.Scope, f *Factor, l *load, block []*shader.Expr, to *shader.Expr)
	// steps multiplies tile by tile along the depth.
	steps func(q *Pass)
	// multiply adds the product of the tiles that begin at a vector of each shared array.
	multiply func(q *Pass, sc *build.Scope, fromM, fromN *shader.Expr)
	// end completes the accumulators; nil: they are complete.
	end func(q *Pass)
	// result is where a thread has its j-th of four results in row r of square (g, h): a
	// component of an accumulator.
	result func(q *Pass, g, r, h, j int) (acc *shader.Var, component int)
}

// Threads is the size of a workgroup.
func (t Tile) Threads() int {
	return t.M / (t.Unit.square[0] * t.High) * t.N / (t.Unit.square[1] * t.Wide) * t.Unit.lanes
}

// Bytes is the memory that a workgroup shares.
func (t Tile) Bytes(word int) int {
	sides := t.M + 4 + t.N + 4
	if t.Unit.held {
		sides = t.Unit.words() * t.N
	}
	return t.Unit.Buffers * word * t.K * sides
}

// Depth is the number of elements of a step along the depth.
func (t Tile) Depth() int { return t.K * t.Unit.Group }

// load is the time in which a compute unit does a step of some workgroups, in steps at the tile's
// rate. Fewer than busy threads that compute alone do not reach the rate.
func (t Tile) load(groups, busy int) float64 {
	threads := groups * t.Threads()
	switch {
	case t.Unit.slowdown > 0 && threads == t.Unit.lanes:
		return t.Unit.slowdown
	case t.Unit.lanes == 1 && threads < busy:
		idle := 1 - float64(threads)/float64(busy)
		return float64(groups) / (1 - 0.6*idle*idle)
	}
	return float64(groups)
}

// scattered reports whether a thread's rows are not neighbours.
func (u *Unit) scattered() bool { return u.Apart > 1 }

// words is the number of words of an element of the right factor, if the left one is held.
func (u *Unit) words() int {
	if u.Split {
		return 2
	}
	return 1
}

// tiles lists the tiles that compute the contraction.
func tiles(x *product.Product, how *Table) []Tile {
	switch {
	case x.FactorType.IsWide():
		return how.wide
	case !x.Target.Matrices:
		return how.tiles
	case x.FactorType != shader.F32:
		if left, right := byteOf(x, x.Rows.Factor), byteOf(x, x.Cols.Factor); left == right && left != 0 {
			return how.bytes[left]
		}
		return how.tiles
	}
	left, right := Half(x, x.Rows.Factor), Half(x, x.Cols.Factor)
	switch {
	case left != right || left == 0:
		return how.tilesOfFloats(x.Target)
	case x.Target.SharedMatrices:
		return slices.Concat(how.SharedHalves[left], how.halves[left])
	case CopiesBoth(x):
		return slices.Concat(how.CopiedHalves[left], how.halves[left])
	}
	return how.halves[left]
}

// byteOf is the type of a factor that is an integer of 8 bits, converted to one of 32; else 0.
func byteOf(x *product.Product, factor int) ir.DType {
	if in := &x.Nest.Body[factor]; in.Op == ir.Cast {
		if d := x.Nest.Body[in.Src[0]].Type; d == ir.Int8 || d == ir.Uint8 {
			return d
		}
	}
	return 0
}

// Half is the type of a factor that is read from memory as halves, else 0.
func Half(x *product.Product, factor int) ir.DType {
	return loopnest.HalfOf(x.Nest.Kernel, factor)
}

// A Pass computes a tile in each workgroup. The tiles of the factors are in shared
// memory, in several buffers: while one is multiplied the next is loaded, with one barrier a
// step.
type Pass struct {
	*product.Product
	Tile        Tile
	P           *build.Pass
	M, N        Factor
	TX, TY      *shader.Expr  // the thread's place: its first column over 4, its first row, over rows if these are neighbours
	At          product.Place // of the tile
	Acc         [][]*shader.Var
	Begin       *shader.Expr    // of the first step along the depth; nil: 0
	Steps       int             // so many steps together begin at a multiple of their depth; 0: one
	First, Last *shader.Expr    // steps along the depth
	Lane        *shader.Expr    // of a warp
	Warp        [2]*shader.Expr // in rows and columns of warps
	Negative    *shader.Expr    // the left factor is negated in shared memory, of units by groups; nil: never
	order       LineOrder       // of a right factor along the depth
	Paired      bool            // squares of columns lie two by two: a thread's columns of both are neighbours
}

// Compile adds the passes that multiply by a tile.
func Compile(x *product.Product, o product.Option[Tile]) {
	t := o.Layout
	x.Split(o.Cut)
	x.InFours = (x.Shares > 0 || x.Splits > 1 && t.Unit.lanes > 1) && x.Fours(x.Cols.Axes)
	Tap(x, t)
	x.AddPass(t.Threads(), func(p *build.Pass) {
		p.Resident = resident(x, t)
		q := &Pass{Product: x, Tile: t, P: p}
		end := q.locate()
		p.Root.Enter(build.Span{Axes: x.Batch, Base: q.At.Batch})
		if visible := q.visible(); visible != nil { // else the workgroup ends at once
			loop, skip := end, p.Root.Later(func(b *shader.Block) shader.Stmt { return &shader.If{Cond: visible, Then: b} })
			end = func() { skip(); loop() }
		}
		t.Unit.Methods.start(q)
		if x.Depth > 0 {
			t.Unit.Methods.steps(q)
		}
		if t.Unit.Methods.end != nil {
			t.Unit.Methods.end(q)
		}
		q.repair()
		q.store()
		end()
	})
	if x.Shares > 0 {
		addParts(x, t)
	} else {
		x.AddSplits()
	}
}

// band is the number of rows of tiles that are computed column by column, so that the
// factors that they share are still in the cache.
const band = 8

// locate finds the workgroup's tile, or two of them in turn. The caller calls end at the end of the
// pass.
func (q *Pass) locate() (end func()) {
	end = func() {}
	root, t := q.P.Root, q.Tile
	high, wide := ir.CeilDiv(q.Rows.N, t.M), ir.CeilDiv(q.Cols.N, t.N)
	tiles := high * wide
	per := perBatch(q.Product, tiles)
	var tile *shader.Expr
	if q.Shares > 0 {
		tile, end = q.inShares(tiles)
	} else {
		q.P.Workgroups = per * q.Batches * q.Splits
		job := q.P.Job()
		q.At.Batch = root.Let("batch", job.Div(per).Rem(q.Batches))
		q.At.Split = root.Let("split", job.Div(per*q.Batches))
		tile = root.Let("tile", job.Rem(per))
	}
	if per < tiles {
		tile, end = q.inTurn(tile, tiles)
	}
	first := root.Let("first", tile.Div(band*wide).Mul(band))
	height := root.Let("height", build.U32(high).Sub(first).Min(band))
	q.At.Row = root.Let("m0", first.Add(tile.Rem(band*wide).Rem(height)).Convert(q.CountType(q.Rows.N)).Mul(t.M))
	q.At.Col = root.Let("n0", tile.Rem(band*wide).Div(height).Convert(q.CountType(q.Cols.N)).Mul(t.N))
	return end
}

// bounds finds the workgroup's steps along the depth of a tile.
func (q *Pass) bounds() {
	if q.Shares > 0 { // inShares has found them
		return
	}
	q.First, q.Last = build.U32(0), build.U32(ir.CeilDiv(q.Depth, q.Tile.Depth()))
	q.narrow()
	switch root := q.P.Root; {
	case q.Splits > 1 && len(q.DeepWithin) > 0:
		each := root.Let("each", q.Last.Sub(q.First.Min(q.Last)).Add(2*q.Splits-1).Div(2*q.Splits).Mul(2))
		q.First = root.Let("begin", q.First.Add(q.At.Split.Mul(each)))
		q.Last = root.Let("end", q.First.Add(each).Min(q.Last))
	case q.Splits > 1:
		q.First = root.Let("begin", q.At.Split.Mul(q.PerSplit))
		q.Last = root.Let("end", q.First.Add(q.PerSplit).Min(q.Last))
	}
}

// multiplySteps multiplies tile by tile, through registers.
func (q *Pass) multiplySteps() {
	root, t := q.P.Root, q.Tile
	q.M = q.prepare(&q.Rows, t.M, q.At.Row)
	q.N = q.prepare(&q.Cols, t.N, q.At.Col)
	q.bounds()
	even := ir.CeilDiv(q.Depth, t.Depth())%2 == 0 && (q.Splits == 1 || q.PerSplit%2 == 0)
	turn := 1
	if even && t.Unit.lanes == 1 {
		turn = 2
	}
	q.Stepwise(root, turn, func(sc *build.Scope, _, now *shader.Expr) {
		t.Unit.Methods.multiply(q, sc, now.Mul(q.M.Size(t)), now.Mul(q.N.Size(t)))
	})
}

// Stepwise loads the tiles of each step while the tiles of the step before, in buffer now, are
// multiplied. A turn of the loop does one step or, if the number of steps is a multiple of the
// buffers, as many as there are buffers.
func (q *Pass) Stepwise(sc *build.Scope, turn int, multiply func(sc *build.Scope, step, now *shader.Expr)) {
	buffers := q.Tile.Unit.Buffers
	start := sc.Inner()
	q.put(start, q.load(start, q.First), build.U32(0))
	loop, first := sc.Loop("step", q.First, q.Last, turn)
	for i := range turn {
		in, step, now := loop, first, build.U32(i)
		if turn == 1 {
			now = loop.Let("now", step.Sub(q.First).Rem(buffers))
		} else {
			in, step = loop.Inner(), first.Plus(i)
		}
		// The last step loads its own tiles again: a condition would cost more.
		next := q.load(in, in.Let("next", step.Add(1).Min(q.Last.Sub(1))))
		multiply(in, step, now)
		then := build.U32((i + 1) % buffers)
		if turn == 1 {
			then = loop.Let("then", step.Sub(q.First).Add(1).Rem(buffers))
		}
		q.put(in, next, then)
		q.barrier(in)
		if turn > 1 {
			in.End()
		}
	}
	var some *shader.Expr // nil: there are steps
	if len(q.DeepWithin) > 0 {
		some = q.First.Lt(q.Last)
	}
	sc.Under(some, func(sc *build.Scope) { sc.Do(start.Stmts...) })
	q.barrier(sc)
	loop.End()
}

// Results are a thread's four in row r of square (g, h).
func (q *Pass) Results(g, r, h int) build.Value {
	list := make(build.Value, 4)
	for j := range list {
		acc, component := q.Result(g, r, h, j)
		list[j] = acc.Ref().At(component)
	}
	return list
}

// Result is where a thread has its j-th of four results in row r of square (g, h).
func (q *Pass) Result(g, r, h, j int) (acc *shader.Var, component int) {
	return q.Tile.Unit.Methods.result(q, g, r, h, j)
}

// depthAt is where a step begins along the depth.
func (q *Pass) depthAt(step *shader.Expr) *shader.Expr {
	at := step.Convert(q.CountType(q.Depth)).Mul(q.Tile.Depth())
	if q.Begin != nil {
		at = q.Begin.Convert(at.Type).Add(at)
	}
	return at
}

// barrier waits until all threads have moved their parts of tiles to shared memory.
func (q *Pass) barrier(sc *build.Scope) {
	if q.Tile.Unit.align > 0 {
		sc.Do(&shader.Fence{})
	}
	sc.Barrier()
}
