package schedule

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// voteTests is the most tests of an update, for each compute unit, with which subgroups find
// the updates of their rows; to sort the updates takes as long.
const voteTests = 8 << 20

// votes reports whether the threads of a subgroup find the updates of a row together: each
// tests one index, and they exchange what they find. That pays if they have columns of one row,
// and all columns have the same index.
func (x *scatter) votes(separate bool) bool {
	sub := x.t.subgroup()
	return separate && x.sharedIndex() && x.at.View.Len > 0 && sub <= 32 && sub <= x.width && x.count >= 4*sub &&
		x.at.View.Len <= voteTests*x.t.Units/x.width/x.count
}

// voteThreads is a number of threads of which few have no column.
func (x *scatter) voteThreads() int {
	n := x.t.threads()
	for n > x.t.subgroup() && ir.CeilDiv(x.width, n)*n > x.width/2*3 {
		n /= 2
	}
	return n
}

// combineVotes adds the pass in which a workgroup goes through the updates for columns of a row.
func (x *scatter) combineVotes() {
	x.pass(x.voteThreads(), func(p *pass) {
		p.Subgroup = x.t.subgroup()
		chunks := ir.CeilDiv(x.width, p.Threads)
		p.groups = chunks * x.blocks * x.segments
		root, job := p.root, p.job()
		row := root.Let("row", job.Div(chunks).Rem(x.blocks).Convert(x.countType(x.at.View.Len)))
		column := root.Let("column", job.Rem(chunks).Mul(p.Threads).Add(shader.ThreadID))
		root.enterValid(span{axes: x.columns, base: column, clamp: x.clamp(x.width, p.Threads)})
		acc, first, last := x.start(root, row, job.Div(chunks*x.blocks))
		ahead := min(4, ir.CeilDiv(x.segment, p.Subgroup))
		loop, u := root.loop("u", first, last, ahead*p.Subgroup)
		var masks []*shader.Var
		for k := range ahead {
			masks = append(masks, x.vote(loop.beside(tag("_", k)), row, u.Plus(k*p.Subgroup), last))
		}
		for k, mask := range masks {
			x.takeVotes(loop, acc, mask, u.Plus(k*p.Subgroup), last)
		}
		loop.end()
		root.under(root.condition(0), func(sc *scope) {
			part := x.cell(x.segments, x.blocks, job.Div(chunks*x.blocks), row)
			x.finish(sc, acc, row, x.cell(x.segments*x.blocks, x.width, part, column))
		})
	})
}

// vote returns which of the next updates, one for each thread of a subgroup, are of a row; the
// first in the highest bit.
func (x *scatter) vote(sc *scope, row, first, last *shader.Expr) *shader.Var {
	lane := shader.ThreadID.Rem(sc.p.Subgroup)
	at := sc.Let("at"+sc.tag, first.Add(lane.Convert(first.Type)))
	sc.enterValid(span{axes: x.updates, base: at, clamp: last})
	index := sc.value(x.at.Src[0])
	x.noteBad(sc, index)
	own := at.Lt(last).And(x.cutOff(index[0], x.at.View.Len).Eq(row))
	mask := sc.Var("mask"+sc.tag, own.If(u32(1<<31).Shr(lane), u32(0)))
	for m := 1; m < sc.p.Subgroup; m *= 2 {
		sc.Set(mask, mask.Ref().Or(mask.Ref().Shuffle(m)))
	}
	return mask
}

// takeVotes combines the updates of a mask in their order, some of which are loaded at once.
func (x *scatter) takeVotes(sc *scope, acc, mask *shader.Var, first, last *shader.Expr) {
	const ahead = 4
	loop := sc.block()
	loop.head = &shader.For{Cond: mask.Ref().Ne(0), Body: loop.Block}
	var found, updates [ahead]*shader.Expr
	for i := range ahead {
		in := loop.beside(tag("_", i))
		place := in.Let(tag("place", i), mask.Ref().LeadingZeros())
		found[i] = in.Let(tag("found", i), mask.Ref().Ne(0))
		in.Set(mask, mask.Ref().And(u32(1<<31).Shr(place.And(31)).Xor(number(shader.U32, 1<<32-1))))
		at := first.Add(place.Convert(first.Type)).Min(last.Sub(1))
		in.enter(span{axes: x.updates, base: at})
		updates[i] = x.updateAt(in, at)
	}
	for i := range ahead {
		loop.Set(acc, found[i].If(x.update(acc.Ref(), updates[i]), acc.Ref()))
	}
	loop.end()
}
