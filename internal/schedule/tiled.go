package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A tile is the size of a workgroup's part of the result, and of a step along the depth in
// words of its unit. The lanes of a unit compute high × wide squares, spread evenly over the
// tile.
type tile struct {
	m, n, k    int
	high, wide int
	rate       float64 // speed where there are many tiles; 1 is the fastest by threads
	resident   int     // workgroups that one compute unit runs at once
	unit       *unit
}

// A unit is who multiplies tiles: a thread, or threads together by matrix instructions.
type unit struct {
	lanes       int           // threads
	square      [2]int        // rows and columns that the lanes compute at once
	rows        int           // rows of a square that a thread has four results of
	apart       int           // the distance of these rows
	group       int           // elements of the depth in a word
	buffers     int           // tiles of a factor in shared memory
	align       int           // of them, in bytes
	running     int           // steps whose products still run when the next step's start
	deep, aside patch         // what a thread loads at once of a factor along the depth, and along the side
	elem        shader.Matrix // of the instructions
	split       bool          // an element is multiplied as a head and a tail
	held        bool          // the left factor is in registers
	alone       float64       // the slowdown where a compute unit runs these lanes once; 0: none
	fill        int           // steps that a workgroup which runs alone waits for its first tiles; 0: its rate includes them
	methods     unitMethods
}

// A lineOrder is where a tile in shared memory has a line; nil: at its number.
type lineOrder func(line *shader.Expr) *shader.Expr

// A patch is lines of vectors of four elements.
type patch struct{ lines, vectors int }

// unitMethods are what the kinds of unit do in their own way.
type unitMethods struct {
	// start finds the thread's place and declares its accumulators.
	start func(q *tilePass)
	// stride is how far, in vectors, a word of the depth of a factor's tile is from the next.
	stride func(q *tilePass, f *factorTile) int
	// put moves a block from registers to shared memory, from a vector on.
	put func(q *tilePass, sc *scope, f *factorTile, l *tileLoad, block []*shader.Expr, to *shader.Expr)
	// steps multiplies tile by tile along the depth.
	steps func(q *tilePass)
	// multiply adds the product of the tiles that begin at a vector of each shared array.
	multiply func(q *tilePass, sc *scope, fromM, fromN *shader.Expr)
	// end completes the accumulators; nil: they are complete.
	end func(q *tilePass)
	// result is where a thread has its j-th of four results in row r of square (g, h): a
	// component of an accumulator.
	result func(q *tilePass, g, r, h, j int) (acc *shader.Var, component int)
}

func (t tile) threads() int {
	return t.m / (t.unit.square[0] * t.high) * t.n / (t.unit.square[1] * t.wide) * t.unit.lanes
}

// bytes is the memory that a workgroup shares.
func (t tile) bytes(word int) int {
	sides := t.m + 4 + t.n + 4
	if t.unit.held {
		sides = t.unit.words() * t.n
	}
	return t.unit.buffers * word * t.k * sides
}

// depth is the number of elements of a step along the depth.
func (t tile) depth() int { return t.k * t.unit.group }

// load is the time in which a compute unit does a step of some workgroups, in steps at the
// tile's rate. Fewer than busyThreads that compute alone do not reach the rate: half as many have
// 0.85 of it.
func (t tile) load(groups int) float64 {
	const busyThreads = 512
	threads := groups * t.threads()
	switch {
	case t.unit.alone > 0 && threads == t.unit.lanes:
		return t.unit.alone
	case t.unit.lanes == 1 && threads < busyThreads:
		idle := 1 - float64(threads)/busyThreads
		return float64(groups) / (1 - 0.6*idle*idle)
	}
	return float64(groups)
}

// scattered reports whether a thread's rows are no neighbours.
func (u *unit) scattered() bool { return u.apart > 1 }

// words is the number of words of an element of the right factor, if the left one is held.
func (u *unit) words() int {
	if u.split {
		return 2
	}
	return 1
}

// tileOptions lists the tiles for the workgroups, the fastest first.
func (x *contraction) tileOptions() []option[tile] {
	how := &measuredH200
	split, cost := loopnest.SplitAny, how.threadCost // so that workgroups of threads fill the compute units
	if x.t.Matrices {
		split, cost = loopnest.Split, how.matrixCost
	}
	if x.factorType.IsWide() {
		cost = how.wideCost
	}
	results := x.t.Machine.MoveTime(2 * x.results() * x.resultType.Bytes())
	return options(x, x.tiles(how), func(t tile) (splits, each int, time float64) {
		tiles := x.batches * x.perBatch(ir.CeilDiv(x.rows.n, t.m)*ir.CeilDiv(x.cols.n, t.n))
		steps := max(1, ir.CeilDiv(x.depth, t.depth()))
		work, resident := float64(t.m*t.n*t.depth())/(t.rate*x.t.unitAdds()), x.resident(t) // seconds
		return split(steps, min(64, steps/4), func(splits, each int) float64 {
			time := 0.0
			for left := ir.CeilDiv(tiles*splits, x.t.Units); left > 0; left -= resident {
				groups, fill := min(left, resident), 0
				if groups == 1 {
					fill = t.unit.fill
				}
				time += float64(each+fill) * max(cost.step, work*t.load(groups))
			}
			if splits > 1 {
				time += cost.pass + cost.moves*float64(splits)*results
			}
			return time
		})
	})
}

// resident is the number of workgroups that a compute unit runs at once: fewer than usual if it has less
// shared memory than those that were measured.
func (x *contraction) resident(t tile) int {
	if x.t.TileBytes == 0 {
		return t.resident
	}
	return max(1, min(t.resident, x.t.TileBytes/t.bytes(x.resultType.Bytes())))
}

// tiles lists the tiles that compute the contraction.
func (x *contraction) tiles(how *table) []tile {
	switch {
	case x.factorType.IsWide():
		return how.wide
	case !x.t.Matrices:
		return how.tiles
	case x.factorType != shader.F32:
		if left, right := x.byteOf(x.rows.factor), x.byteOf(x.cols.factor); left == right && left != 0 {
			return how.bytes[left]
		}
		return how.tiles
	}
	left, right := x.half(x.rows.factor), x.half(x.cols.factor)
	switch {
	case left != right || left == 0:
		return how.tilesOfFloats(x.t)
	case x.t.SharedMatrices:
		return slices.Concat(how.sharedHalves[left], how.halves[left])
	case x.copiesBoth():
		return slices.Concat(how.copiedHalves[left], how.halves[left])
	}
	return how.halves[left]
}

// byteOf is the type of a factor that is an integer of 8 bits, converted to one of 32; else 0.
func (x *contraction) byteOf(factor int) ir.DType {
	if in := &x.k.Body[factor]; in.Op == ir.Cast {
		if d := x.k.Body[in.Src[0]].Type; d == ir.Int8 || d == ir.Uint8 {
			return d
		}
	}
	return 0
}

// half is the type of a factor that is read from memory as halves, else 0.
func (x *contraction) half(factor int) ir.DType {
	return loopnest.HalfOf(x.k.Kernel, factor)
}

// A tilePass computes a tile in each workgroup. The tiles of the factors are in shared
// memory, in several buffers: while one is multiplied the next is loaded, with one barrier a
// step.
type tilePass struct {
	*contraction
	tile        tile
	p           *pass
	m, n        factorTile
	tx, ty      *shader.Expr // the thread's place: its first column over 4, its first row, over rows if these are neighbours
	at          place        // of the tile
	acc         [][]*shader.Var
	begin       *shader.Expr    // of the first step along the depth; nil: 0
	steps       int             // of which some together begin at a multiple of their depth; 0: one
	first, last *shader.Expr    // steps along the depth
	lane        *shader.Expr    // of a warp
	warp        [2]*shader.Expr // in rows and columns of warps
	order       lineOrder       // of a right factor along the depth
	paired      bool            // squares of columns lie two by two: a thread's columns of both are neighbours
}

func (x *contraction) tiled(o option[tile]) {
	t := o.layout
	x.split(o.splits, o.perSplit)
	x.tap(t)
	x.pass(t.threads(), func(p *pass) {
		p.Resident = x.resident(t)
		q := &tilePass{contraction: x, tile: t, p: p}
		end := q.locate()
		p.root.enter(span{axes: x.batch, base: q.at.batch})
		if visible := q.visible(); visible != nil { // else the workgroup ends at once
			loop, skip := end, p.root.later(func(b *shader.Block) shader.Stmt { return &shader.If{Cond: visible, Then: b} })
			end = func() { skip(); loop() }
		}
		t.unit.methods.start(q)
		if x.depth > 0 {
			t.unit.methods.steps(q)
		}
		if t.unit.methods.end != nil {
			t.unit.methods.end(q)
		}
		q.storeTile()
		end()
	})
	x.addSplits()
}

// band is the number of rows of tiles that are computed column by column, so that the
// factors that they share are still in the cache.
const band = 8

// locate finds the workgroup's tile, or two of them in turn. End is to be called at the end of the pass.
func (q *tilePass) locate() (end func()) {
	end = func() {}
	root, t := q.p.root, q.tile
	high, wide := ir.CeilDiv(q.rows.n, t.m), ir.CeilDiv(q.cols.n, t.n)
	tiles := high * wide
	per := q.perBatch(tiles)
	q.p.groups = per * q.batches * q.splits
	job := q.p.job()
	q.at.batch = root.Let("batch", job.Div(per).Rem(q.batches))
	q.at.split = root.Let("split", job.Div(per*q.batches))
	tile := root.Let("tile", job.Rem(per))
	if per < tiles {
		tile, end = q.inTurn(tile, tiles)
	}
	first := root.Let("first", tile.Div(band*wide).Mul(band))
	height := root.Let("height", u32(high).Sub(first).Min(band))
	q.at.row = root.Let("m0", first.Add(tile.Rem(band*wide).Rem(height)).Convert(q.countType(q.rows.n)).Mul(t.m))
	q.at.col = root.Let("n0", tile.Rem(band*wide).Div(height).Convert(q.countType(q.cols.n)).Mul(t.n))
	return end
}

// bounds finds the workgroup's steps along the depth.
func (q *tilePass) bounds() {
	q.first, q.last = u32(0), u32(ir.CeilDiv(q.depth, q.tile.depth()))
	q.narrow()
	switch root := q.p.root; {
	case q.splits > 1 && len(q.deepWithin) > 0:
		each := root.Let("each", q.last.Sub(q.first.Min(q.last)).Add(2*q.splits-1).Div(2*q.splits).Mul(2))
		q.first = root.Let("begin", q.first.Add(q.at.split.Mul(each)))
		q.last = root.Let("end", q.first.Add(each).Min(q.last))
	case q.splits > 1:
		q.first = root.Let("begin", q.at.split.Mul(q.perSplit))
		q.last = root.Let("end", q.first.Add(q.perSplit).Min(q.last))
	}
}

// multiplySteps multiplies tile by tile, through registers.
func (q *tilePass) multiplySteps() {
	root, t := q.p.root, q.tile
	q.m = q.prepare(&q.rows, t.m, q.at.row)
	q.n = q.prepare(&q.cols, t.n, q.at.col)
	q.bounds()
	even := ir.CeilDiv(q.depth, t.depth())%2 == 0 && (q.splits == 1 || q.perSplit%2 == 0)
	turn := 1
	if even && t.unit.lanes == 1 {
		turn = 2
	}
	q.stepwise(root, turn, func(sc *scope, _, now *shader.Expr) {
		t.unit.methods.multiply(q, sc, now.Mul(q.m.size(t)), now.Mul(q.n.size(t)))
	})
}

// stepwise loads the tiles of each step while those of the one before are multiplied, in a buffer
// now. A turn of the loop does one step, or as many as there are buffers, of a multiple of these.
func (q *tilePass) stepwise(sc *scope, turn int, multiply func(sc *scope, step, now *shader.Expr)) {
	buffers := q.tile.unit.buffers
	start := sc.block()
	q.put(start, q.load(start, q.first), u32(0))
	loop, first := sc.loop("step", q.first, q.last, turn)
	for i := range turn {
		in, step, now := loop, first, u32(i)
		if turn == 1 {
			now = loop.Let("now", step.Sub(q.first).Rem(buffers))
		} else {
			in, step = loop.block(), first.Plus(i)
		}
		// The last step loads its own tiles again: a condition would cost more.
		next := q.load(in, in.Let("next", step.Add(1).Min(q.last.Sub(1))))
		multiply(in, step, now)
		then := u32((i + 1) % buffers)
		if turn == 1 {
			then = loop.Let("then", step.Sub(q.first).Add(1).Rem(buffers))
		}
		q.put(in, next, then)
		q.barrier(in)
		if turn > 1 {
			in.end()
		}
	}
	var some *shader.Expr // nil: there are steps
	if len(q.deepWithin) > 0 {
		some = q.first.Lt(q.last)
	}
	sc.under(some, func(sc *scope) { sc.Do(start.Stmts...) })
	q.barrier(sc)
	loop.end()
}

// results are a thread's four in row r of square (g, h).
func (q *tilePass) results(g, r, h int) value {
	list := make(value, 4)
	for j := range list {
		acc, component := q.tile.unit.methods.result(q, g, r, h, j)
		list[j] = acc.Ref().At(component)
	}
	return list
}

// depthAt is where a step begins along the depth.
func (q *tilePass) depthAt(step *shader.Expr) *shader.Expr {
	at := step.Convert(q.countType(q.depth)).Mul(q.tile.depth())
	if q.begin != nil {
		at = q.begin.Convert(at.Type).Add(at)
	}
	return at
}

// barrier waits until all threads have moved their parts of tiles to shared memory.
func (q *tilePass) barrier(sc *scope) {
	if q.tile.unit.align > 0 {
		sc.Do(&shader.Fence{})
	}
	sc.Barrier()
}

// tag is a name with numbers.
func tag(name string, n ...int) string {
	for i, x := range n {
		if i > 0 {
			name += "_"
		}
		name += fmt.Sprint(x)
	}
	return name
}
