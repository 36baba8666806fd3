package routines

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// votes reports whether the threads of a subgroup find the updates of a row together: each
// tests one index, and they exchange the results. That pays if they have columns of one row,
// and all columns have the same index.
func (x *scatter) votes(separate bool) bool {
	sub := x.Target.Subgroup()
	return separate && x.sharedIndex() && x.at.View.Len > 0 && sub <= 32 && sub <= x.width && x.count >= 4*sub &&
		x.at.View.Len <= x.Target.Traits().VoteTests*x.Target.Units/x.width/x.count
}

// voteThreads is a number of threads that leaves few without a column.
func (x *scatter) voteThreads() int {
	n := x.Target.Threads()
	for n > x.Target.Subgroup() && ir.CeilDiv(x.width, n)*n > x.width/2*3 {
		n /= 2
	}
	return n
}

// combineVotes adds the pass in which a workgroup goes through the updates for columns of a row.
func (x *scatter) combineVotes() {
	x.AddPass(x.voteThreads(), func(p *build.Pass) {
		p.Subgroup = x.Target.Subgroup()
		chunks := ir.CeilDiv(x.width, p.Threads)
		p.Workgroups = chunks * x.blocks * x.segments
		root, job := p.Root, p.Job()
		row := root.Let("row", job.Div(chunks).Rem(x.blocks).Convert(x.CountType(x.at.View.Len)))
		column := root.Let("column", job.Rem(chunks).Mul(p.Threads).Add(shader.ThreadID))
		root.EnterValid(build.Span{Axes: x.columns, Base: column, Clamp: x.Clamp(x.width, p.Threads)})
		acc, first, last := x.start(root, row, job.Div(chunks*x.blocks))
		ahead := min(4, ir.CeilDiv(x.segment, p.Subgroup))
		loop, u := root.Loop("u", first, last, ahead*p.Subgroup)
		var masks []*shader.Var
		for k := range ahead {
			masks = append(masks, x.vote(loop.Beside(build.Tag("_", k)), row, u.Plus(k*p.Subgroup), last))
		}
		for k, mask := range masks {
			x.takeVotes(loop, acc, mask, u.Plus(k*p.Subgroup), last)
		}
		loop.End()
		root.Under(root.Condition(0), func(sc *build.Scope) {
			part := x.Cell(x.segments, x.blocks, job.Div(chunks*x.blocks), row)
			x.finish(sc, acc, row, x.Cell(x.segments*x.blocks, x.width, part, column))
		})
	})
}

// vote returns which of the next updates, one for each thread of a subgroup, are of a row; the
// first in the highest bit.
func (x *scatter) vote(sc *build.Scope, row, first, last *shader.Expr) *shader.Var {
	lane := shader.ThreadID.Rem(sc.Pass.Subgroup)
	at := sc.Let("at"+sc.Tag, first.Add(lane.Convert(first.Type)))
	sc.EnterValid(build.Span{Axes: x.updates, Base: at, Clamp: last})
	index := sc.Value(x.at.Src[0])
	x.noteBad(sc, index)
	own := at.Lt(last).And(x.CutOff(index[0], x.at.View.Len).Eq(row))
	mask := sc.Var("mask"+sc.Tag, own.If(build.U32(1<<31).Shr(lane), build.U32(0)))
	for m := 1; m < sc.Pass.Subgroup; m *= 2 {
		sc.Set(mask, mask.Ref().Or(mask.Ref().Shuffle(m)))
	}
	return mask
}

// takeVotes combines the updates of a mask in their order, some of which are loaded at once.
func (x *scatter) takeVotes(sc *build.Scope, acc, mask *shader.Var, first, last *shader.Expr) {
	const ahead = 4
	loop := sc.Inner()
	loop.Head = &shader.For{Cond: mask.Ref().Ne(0), Body: loop.Block}
	var found, updates [ahead]*shader.Expr
	for i := range ahead {
		in := loop.Beside(build.Tag("_", i))
		place := in.Let(build.Tag("place", i), mask.Ref().LeadingZeros())
		found[i] = in.Let(build.Tag("found", i), mask.Ref().Ne(0))
		in.Set(mask, mask.Ref().And(build.U32(1<<31).Shr(place.And(31)).Xor(build.Number(shader.U32, 1<<32-1))))
		at := first.Add(place.Convert(first.Type)).Min(last.Sub(1))
		in.Enter(build.Span{Axes: x.updates, Base: at})
		updates[i] = x.updateAt(in, at)
	}
	for i := range ahead {
		loop.Set(acc, found[i].If(x.update(acc.Ref(), updates[i]), acc.Ref()))
	}
	loop.End()
}
