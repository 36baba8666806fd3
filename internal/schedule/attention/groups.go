package attention

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// groups is attention by groups of 128 threads: tiles of halves are copied to shared
// memory and multiplied there; the left factors of outputs are in registers.
type groups struct {
	*attention
	resident int                             // workgroups of a compute unit
	turns    bool                            // groups of 128 threads multiply in turns
	holds    bool                            // rows of scores are in registers
	values   []columnValue                   // that are copied with tiles
	buffers  int                             // of tiles
	buffer   *shader.Var                     // the number of the one whose tiles were multiplied last
	now      *shader.Expr                    // the buffer of the block at hand
	lefts    [][][]build.Value               // of outputs, by square of columns and row; nil: not yet computed
	held     map[*tiles.Pass][]*shader.Var   // rows of scores, by step of the depth
	words    map[*tiles.Pass][][]*shader.Var // operands with these for outputs of the next block, by square of columns
}

// inGroups reports whether all products have factors of halves whose tiles are copied as they are.
func (a *groups) inGroups() bool {
	if !a.Target.SharedMatrices {
		return false
	}
	for _, q := range a.scores {
		half := tiles.Half(q.Product, q.Rows.Factor)
		if half == 0 || half != tiles.Half(q.Product, q.Cols.Factor) || !q.Rows.AlongK || !q.Cols.AlongK || !tiles.Copies(q.Product, &q.Cols) {
			return false
		}
	}
	for _, q := range a.outputs {
		if tiles.Half(q.Product, q.Cols.Factor) == 0 || q.Cols.AlongK || !tiles.Copies(q.Product, &q.Cols) {
			return false
		}
	}
	return true
}

func (a *groups) choose() bool {
	if !a.inGroups() {
		return false
	}
	for _, wide := range []int{8, 4} { // wide blocks take fewer instructions for an element, but not a second workgroup's place
		a.inWarps(8, 1, wide)
		a.setTiles()
		if a.divide(); a.Nest.Size(a.n) > 8*wide && a.resident == 2 && 2*a.bytes() <= a.Target.Bytes() {
			break
		}
	}
	for a.findColumns(); !a.Target.Fits(a.threads, a.bytes()); {
		switch {
		case a.turns && a.ahead > 0:
			a.buffers, a.ahead = 4, 0
		case a.turns:
			a.turns, a.holds, a.buffers, a.ahead = false, false, 3, a.width
		case a.ahead > 0:
			a.buffers, a.ahead = 2, 0
		default:
			return false
		}
	}
	a.makePositive()
	for _, q := range a.outputs {
		a.takeOut(q)
	}
	return true
}

// setTiles sets the tiles of products: their whole depth, or width, in a step.
func (a *groups) setTiles() {
	unit := func(q *tiles.Pass) *tiles.Unit {
		u := tiles.ByGroups(tiles.HalfPairs[tiles.Half(q.Product, q.Cols.Factor)].Elem, 2)
		u.Apart = 1 // by rowOrder
		return u
	}
	for _, q := range a.scores {
		q.Tile = tiles.Tile{M: a.height, N: a.width, K: 32 * ir.CeilDiv(max(1, q.Depth), 64), High: 1, Wide: a.wide, Unit: unit(q)}
	}
	for _, q := range a.outputs {
		squares := ir.CeilDiv(q.Cols.N, 16)
		q.Tile = tiles.Tile{M: a.height, N: 16 * squares, K: 8 * a.wide, High: 1, Wide: squares, Unit: unit(q)}
	}
}

// bytes is the memory that a workgroup shares.
func (a *groups) bytes() int {
	words := len(a.values) * a.buffers * a.width
	for _, q := range a.scores {
		words += q.Tile.K * (q.Tile.M + a.buffers*q.Tile.N)
	}
	for _, q := range a.outputs {
		if a.sharedTile(q) == nil {
			words += a.buffers * q.Tile.K * 64 * ir.CeilDiv(q.Tile.N, 64)
		}
	}
	return 4 * words
}

// rowOrder returns the row of scores at position x. A thread has rows g and g+8 of an instruction's
// 16, which lie at the neighbouring positions 2g and 2g+1.
func rowOrder(x *shader.Expr) *shader.Expr {
	return x.Shr(4).Shl(4).Or(x.And(1).Shl(3)).Or(x.Shr(1).And(7))
}

func (a *groups) place(root *build.Scope) (ty, tx *shader.Expr) {
	a.p.Resident = a.resident
	for i := range a.values {
		a.values[i].shared = a.p.Share(shader.U32.Vec(4), a.buffers*a.width/4)
	}
	return a.placeInWarp(root)
}

func (a *groups) declare(q *tiles.Pass, isScore bool) {
	block := q.Tile.N
	if !isScore {
		block = ir.CeilDiv(block, 64) * 64
	}
	if s := a.sharedTile(q); !isScore && s != nil {
		q.N = q.NewFactor(&q.Cols, block, s.N.Shared)
	} else {
		q.N = q.Declare(&q.Cols, block, a.buffers)
	}
	if isScore {
		q.M = q.Declare(&q.Rows, q.Tile.M, 1)
	}
	q.M.Order, q.N.Order = rowOrder, tiles.ColumnOrder
	if !isScore {
		q.Place(a.p.Root, &q.N, build.U32(0))
	}
}

// loadRows leaves loads to begin.
func (a *groups) loadRows(q *tiles.Pass) { a.negate(q) }

// begin copies tiles, and computes the left factors that are ahead of them.
func (a *groups) begin(load, from, end *shader.Expr) {
	root := a.p.Root
	for i, q := range a.scores {
		q.Acc = a.unit.accumulators(q, root, build.Tag("s", i)+"_")
	}
	a.buffer, a.now = root.Var("buffer", build.U32(0)), build.U32(0)
	a.copyBlock(root, load, build.U32(0))
	for _, q := range a.scores { // while the block is copied
		a.attention.loadRows(q)
	}
	if a.ahead == 0 && !a.turns {
		return
	}
	second := root.Let("second", a.following(load, end))
	a.copyBlock(root, second, build.U32(1))
	if a.turns && a.ahead > 0 {
		a.copyBlock(root, root.Let("third", a.following(second, end)), build.U32(2))
	}
	root.Do(&shader.CopyWait{Pending: 1}, &shader.Fence{}, &shader.Barrier{})
	if a.holds {
		a.hold()
	}
	if a.ahead > 0 {
		a.startWords(load, from, end)
	}
	if a.turns {
		root.Do(&shader.PassTurn{Before: true})
	}
}

// end adds the last block to the outputs.
func (a *groups) end() {
	root := a.p.Root
	if a.turns {
		root.Do(&shader.TakeTurn{After: true})
	}
	if a.ahead > 0 {
		root.Do(&shader.MultiplyGroup{Products: a.multiplyOutputs(root, a.buffer.Ref())})
	}
	root.Do(&shader.CopyWait{})
}

// following is where the block after another one begins, or that one if it is the last: then its scores are not used.
func (a *groups) following(at, end *shader.Expr) *shader.Expr {
	return at.Add(a.width).Lt(end).If(at.Add(a.width), at)
}

// accumulators declares accumulators of scores once.
func (a *groups) accumulators(q *tiles.Pass, sc *build.Scope, name string) [][]*shader.Var {
	if q.Acc == nil {
		q.Acc = q.Accumulators(sc, name)
	}
	return q.Acc
}

// load starts to copy the next block, in place of one that all threads have multiplied, and multiplies the scores of this one.
// With scores ahead the products of the block before begin too, and go on while the left factors of outputs are computed
// (FlashAttention-3: Shah and others, 2024): then there are three buffers.
func (a *groups) load(loop *build.Scope, first, end *shader.Expr) {
	if a.turns {
		a.loadInTurn(loop, end)
		return
	}
	now := loop.Let("now", a.buffer.Ref())
	before := now
	if a.ahead > 0 {
		now = a.next(loop, "ahead", now)
	}
	then := a.next(loop, "then", now)
	loop.Do(&shader.CopyWait{}, &shader.Fence{}, &shader.Barrier{})
	a.copyBlock(loop, loop.Let("copied", a.following(a.columns, end)), then)
	scores := &shader.MultiplyGroup{Products: a.multiplyScores(loop, now)}
	if a.ahead == 0 {
		loop.Do(scores)
	} else {
		scores.Pending = shader.NoWait
		loop.Do(scores, &shader.MultiplyGroup{Products: a.multiplyOutputs(loop, before), Pending: 1})
		then = now
	}
	loop.Set(a.buffer, then)
	a.now = now
}

// copyBlock starts to copy the tiles of a block to a buffer.
func (a *groups) copyBlock(sc *build.Scope, at, buffer *shader.Expr) {
	for _, q := range a.scores {
		in := sc.Inner()
		q.N.Loads = nil
		q.Place(in, &q.N, at)
		q.CopyFactor(in, &q.N, build.U32(0), buffer.Mul(q.N.Size(q.Tile)))
		in.End()
	}
	for _, q := range a.outputs {
		if a.sharedTile(q) != nil {
			continue
		}
		in := sc.Inner()
		q.CopyFactor(in, &q.N, at, buffer.Mul(q.N.Size(q.Tile)))
		in.End()
	}
	a.copyColumns(sc, at, buffer)
	sc.Do(&shader.CopyCommit{})
}

// sharedTile returns the score whose right factor loads the elements of an output's, as in gradients, so that both have the
// same tiles, or nil.
func (a *groups) sharedTile(q *tiles.Pass) *tiles.Pass {
	body, y := a.Nest.Body, &a.Nest.Body[q.Cols.Factor]
	for _, s := range a.scores {
		x := &body[s.Cols.Factor]
		if x.Arg != y.Arg || x.View.Off != y.View.Off || s.Depth != q.Cols.N || s.Depth%64 != 0 || s.Depth > 64 && a.width > 64 || len(s.Deep) != 1 || len(q.Cols.Axes) != 1 {
			continue
		}
		coef := slices.Clone(y.View.Coef)
		coef[s.Deep[0]], coef[q.Cols.Axes[0]] = coef[q.Cols.Axes[0]], 0
		if slices.Equal(coef, x.View.Coef) {
			return s
		}
	}
	return nil
}

// multiplyScores are the products of the scores of the block in a buffer.
func (a *groups) multiplyScores(sc *build.Scope, buffer *shader.Expr) (list []shader.MultiplyShared) {
	for i, q := range a.scores {
		rows := sc.Let(build.Tag("left", i), shader.ThreadID.Div(shader.Warpgroup).Mul(64*8))
		cols := sc.Let(build.Tag("right", i), buffer.Mul(q.N.Size(q.Tile)))
		for k := 0; k < q.Depth; k += 16 {
			m := shader.MultiplyShared{
				Elem: q.Tile.Unit.Elem, Acc: q.Acc[0], Init: k == 0,
				B: shader.SharedMatrix{Shared: q.N.Shared, First: cols.Plus(k / 64 * 8 * q.N.Block), Depth: k % 64},
			}
			if a.holds {
				for i := range 4 {
					m.Left = append(m.Left, a.held[q][k/16].Ref().At(i))
				}
			} else {
				m.A = shader.SharedMatrix{Shared: q.M.Shared, First: rows.Plus(k / 64 * 8 * q.M.Block), Depth: k % 64}
			}
			list = append(list, m)
		}
	}
	return list
}

// multiplyOutputs are the products that outputs add up for the block in a buffer.
func (a *groups) multiplyOutputs(sc *build.Scope, buffer *shader.Expr) (list []shader.MultiplyShared) {
	for n, q := range a.outputs {
		first := sc.Let(build.Tag("from", n), buffer.Mul(q.N.Size(q.Tile)))
		for h := range a.wide {
			k := 16 * h
			m := shader.MultiplyShared{
				Elem: q.Tile.Unit.Elem, Acc: q.Acc[0],
				B: shader.SharedMatrix{Shared: q.N.Shared, First: first.Plus(k / 64 * 8 * q.N.Block), AlongSide: true, Depth: k % 64},
			}
			if a.ahead == 0 {
				m.Left = words(q, a.lefts[n], 8*h, 0)
			} else {
				for _, w := range a.words[q][h] {
					m.Left = append(m.Left, w.Ref())
				}
			}
			list = append(list, m)
		}
	}
	return list
}

func (a *groups) score(loop *build.Scope) {}

func (a *groups) scale(q *tiles.Pass, loop *build.Scope) {
	a.settle(loop)
	a.attention.scale(q, loop)
}

// settle computes the left factors of outputs, and waits for products of the block before.
func (a *groups) settle(loop *build.Scope) {
	if a.lefts != nil {
		return
	}
	for n, q := range a.outputs {
		left := a.left(q)[0]
		for h, rows := range left {
			for r, x := range rows {
				for l := range x {
					x[l] = loop.Let(build.Tag("p", n, h, r, l), x[l])
				}
			}
		}
		a.lefts = append(a.lefts, left)
	}
	if a.ahead > 0 {
		loop.Do(&shader.MultiplyGroup{})
	}
}

// add adds the products of a block or, with scores ahead, sets the left factors that load multiplies.
func (a *groups) add(loop *build.Scope) {
	a.settle(loop)
	if a.ahead == 0 {
		if products := a.multiplyOutputs(loop, a.now); len(products) > 0 {
			loop.Do(&shader.MultiplyGroup{Products: products})
		}
	}
	for n, q := range a.outputs {
		for h, list := range a.words[q] {
			for i, x := range words(q, a.lefts[n], 8*h, 0) {
				loop.Set(list[i], x)
			}
		}
	}
	a.lefts = nil
}

func (a *groups) column(h int) (step, first int) { return 4, 16 * h }

// outputColumns has the columns of an instruction, which are the factor's columns in order.
func (a *groups) outputColumns(q *tiles.Pass, sc *build.Scope, h int) build.Span {
	w, _ := q.Columns(sc, h)
	w.Base, w.Step, w.Fours = a.tx.Mul(2).Plus(16*h), []int{0, 1, 8, 9}, false
	return w
}

// neighbours exchanges two of a thread's four results with the next thread, so that each has four columns side by side: a thread
// that stored two at a time would write parts of a line of memory.
func (a *groups) neighbours(q *tiles.Pass, sc *build.Scope, h int, results build.Value) (build.Span, build.Value) {
	w, _ := q.Columns(sc, h)
	second := a.tx.And(1)
	w.Base = sc.Let("first"+sc.Tag, second.Mul(8).Add(a.tx.And(2).Mul(2)).Plus(16*h))
	isSecond, list := second.Eq(1), make(build.Value, 4)
	for i := range 2 {
		name := build.Tag(sc.Tag, i)
		sent := sc.Let("sent"+name, isSecond.If(results[i], results[2+i]))
		got := sc.Let("got"+name, sent.Shuffle(1))
		list[i], list[2+i] = isSecond.If(got, results[i]), isSecond.If(results[2+i], got)
	}
	return w, list
}
