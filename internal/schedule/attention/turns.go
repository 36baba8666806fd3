package attention

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// divide chooses between two workgroups for a compute unit, if these have enough registers, and one whose groups of threads take
// turns. Scores are multiplied beside the products of the block before, if that does not take the registers of a second workgroup.
func (a *groups) divide() {
	registers := func(resident int) int { return 256/resident - 32 } // of a thread, less addresses and values of rows
	scores, rows, left, outputs := 8*a.wide*len(a.scores), 0, 4*a.wide*len(a.outputs), 0
	for _, q := range a.scores {
		rows += 4 * ir.CeilDiv(q.Depth, 16)
	}
	for _, q := range a.outputs {
		outputs += 8 * ir.CeilDiv(q.Cols.N, 16)
	}
	a.resident, a.turns, a.holds, a.buffers, a.ahead = 2, false, false, 2, 0
	if scores+outputs > registers(2) {
		a.resident = 1
	}
	if len(a.outputs) == 0 {
		return
	}
	switch {
	case a.resident == 1:
		a.turns, a.holds, a.buffers, a.ahead = true, rows+scores+left+outputs <= registers(1), 5, a.width
	case scores+left+outputs <= registers(2):
		a.buffers, a.ahead = 3, a.width
	}
}

// hold loads rows of scores into registers: products of 64 columns that read both factors in shared memory wait for it.
func (a *groups) hold() {
	root := a.p.Root
	line := root.Let("line", shader.ThreadID.Div(shader.Warp).Mul(16).Add(a.lane.Rem(16)))
	for i, q := range a.scores {
		for k := 0; k < q.Depth; k += 16 {
			v := root.Var(build.Tag("held", i, k/16), shader.Vec(4, build.U32(0), build.U32(0), build.U32(0), build.U32(0)))
			vector := line.Mul(8).Add(a.lane.Div(16).Plus(k % 64 / 8).Xor(line.And(7)))
			root.Do(&shader.LoadMatrices{To: v, Shared: q.M.Shared, From: vector.Plus(k / 64 * 8 * q.M.Block)})
			a.held[q] = append(a.held[q], v)
		}
	}
}

// startWords computes the left factors of outputs for the first block.
func (a *groups) startWords(load, from, end *shader.Expr) {
	root := a.p.Root
	for n, q := range a.outputs {
		var list [][]*shader.Var
		for h := range a.wide {
			list = append(list, nil)
			for i := range 4 {
				list[h] = append(list[h], root.Var(build.Tag("w", n, h, i), build.U32(0)))
			}
		}
		a.words[q] = list
	}
	root.Do(&shader.MultiplyGroup{Products: a.multiplyScores(root, build.U32(0))})
	block := root.Inner()
	a.columns = load
	a.exists = root.Let("exists", from.Lt(end))
	a.reduceBlock(block, nil)
	a.exists = nil
	a.add(block)
	block.End()
}

// loadInTurn is load where groups of threads multiply in turns: scores of one become left factors beside the products of
// the other. A turn sees copies that were complete before the other group passed its turn, and a copy has the time from one turn
// to the next. So the block after the next one is copied, in place of one that the other group had multiplied when it passed
// its turn. That takes four buffers, and five with scores ahead, whose outputs are of the block before.
func (a *groups) loadInTurn(loop *build.Scope, end *shader.Expr) {
	now, pending := loop.Let("now", a.buffer.Ref()), 0
	before := now
	if a.ahead > 0 {
		now, pending = a.next(loop, "ahead", now), 1
	}
	loop.Do(&shader.TakeTurn{}, &shader.MultiplyGroup{Products: a.multiplyScores(loop, now), Pending: shader.NoWait})
	if a.ahead > 0 {
		loop.Do(&shader.MultiplyGroup{Products: a.multiplyOutputs(loop, before), Pending: shader.NoWait})
	}
	loop.Do(&shader.CopyWait{}, &shader.Fence{}, &shader.PassTurn{})
	then := a.next(loop, "then", now)
	following := loop.Let("following", a.following(a.columns, end))
	a.copyBlock(loop, loop.Let("copied", a.following(following, end)), a.next(loop, "second", then))
	loop.Do(&shader.MultiplyGroup{Pending: pending})
	a.now = now
	if a.ahead == 0 {
		now = then
	}
	loop.Set(a.buffer, now)
}

// next is the number of the buffer behind another one.
func (a *groups) next(sc *build.Scope, name string, x *shader.Expr) *shader.Expr {
	return sc.Let(name, x.Eq(a.buffers-1).If(build.U32(0), x.Add(1)))
}
