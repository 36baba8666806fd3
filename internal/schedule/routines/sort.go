package routines

import (
	"math"
	"math/bits"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A sort finds the positions of the first places of each row. Pairs of a key and a
// position are all different, so the result is the same whatever the order of threads:
// equal keys are in the order of their positions. Rows that fit into the memory of a
// workgroup are sorted there; of longer rows, few places are selected and many sorted
// digit by digit.
type sort struct {
	*build.Builder
	operand  int      // instruction
	view     *ir.View // of the result
	result   int      // scratch that has the result instead, of one row, if there is no view
	most     int      // if not 0, keys are the elements themselves, from 0 on and cut off at most
	parallel []int
	reduced  []int
	rows     int
	cols     int
	places   int
	fit      int // pairs in the memory of a workgroup, a power of two
}

func addSort(c *build.Builder) {
	in := &c.Nest.Body[len(c.Nest.Body)-1]
	s := &sort{Builder: c, operand: in.Src[0], view: in.View, parallel: c.Nest.List(ir.Parallel), reduced: c.Nest.List(ir.Reduced), places: in.View.Len}
	s.run()
	c.Report()
}

// run adds the passes.
func (s *sort) run() {
	s.rows, s.cols = s.Nest.Size(s.parallel), s.Nest.Size(s.reduced)
	s.fit = min(4096, build.FloorPow2(s.Target.SharedBytes/(s.keyType().Bytes()+4)))
	switch {
	case s.rows*s.places == 0:
	case s.cols <= s.fit:
		s.bitonic()
	case s.places <= s.Target.Threads()/4:
		s.sel()
	default:
		s.radix()
	}
}

// key is a number in the order of x, an element of the operand; bits is its number of bits.
func (s *sort) key(x *shader.Expr) *shader.Expr {
	d := s.Nest.Body[s.operand].Type
	switch {
	case s.most > 0:
		return s.CutOff(x, s.most).Min(s.most)
	case d.IsSigned() && d.Size() < 4: // from 0 on, so that the digits above are 0
		return x.Add(1 << (8*d.Size() - 1)).Convert(shader.U32)
	}
	return build.SortKey(x)
}

// keyType is the type of keys.
func (s *sort) keyType() shader.Type {
	if s.most > 0 {
		return s.CountType(s.most)
	}
	return shader.Register(s.Nest.Body[s.operand].Type).Unsigned()
}

func (s *sort) bits() int {
	switch d := s.Nest.Body[s.operand].Type; {
	case s.most > 0:
		return bits.Len(uint(s.most))
	case d == ir.Bool:
		return 1
	default:
		return 8 * d.Size()
	}
}

// none is a key or a position that comes after every element's.
func none(t shader.Type) *shader.Expr { return shader.FromBits(t, math.MaxUint64) }

// candidates adds scratch for n pairs.
func (s *sort) candidates(n int) candidates {
	return candidates{s.Scratch(n, s.keyType()), s.Scratch(n, shader.U32)}
}

// element is the key of a row's element, where row and at are within their bounds.
func (s *sort) element(sc *build.Scope, row, at *shader.Expr) *shader.Expr {
	sc.Enter(build.Span{Axes: s.parallel, Base: row})
	sc.Enter(build.Span{Axes: s.reduced, Base: at})
	return s.key(sc.Value(s.operand).Lane(0))
}

// put stores a position as a place of the row that sc knows.
func (s *sort) put(sc *build.Scope, place, position *shader.Expr) {
	if s.view == nil {
		sc.StoreAt(sc.Pass.Words(s.result, shader.U32, true), place, position)
		return
	}
	at := sc.Place(s.view).Lane(0)
	sc.StoreAt(sc.Pass.Output(0), at.Add(build.Number(at.Type, s.view.Stride).Mul(place.Convert(at.Type))), position.Convert(shader.I32))
}

// A pairs is keys and positions that a workgroup shares.
type pairs struct{ key, at *shader.Shared }

func newPairs(p *build.Pass, n int, key shader.Type) pairs {
	return pairs{p.Share(key, n), p.Share(shader.U32, n)}
}

func (x pairs) put(b *shader.Block, i, key, at *shader.Expr) {
	b.Put(x.key, i, key)
	b.Put(x.at, i, at)
}

// sort sorts n pairs in runs of size, a power of two, by Batcher's bitonic network. There
// must be a barrier after the writes of the pairs; the result is behind a barrier too.
func (x pairs) sort(sc *build.Scope, n, size int) {
	threads := sc.Pass.Threads
	merged := &shader.Var{Name: "merged", Type: shader.U32, Mutable: true} // pairs in order after the round
	outer := sc.Inner()
	outer.Head = &shader.For{Var: merged, Init: build.U32(2), Cond: merged.Ref().Le(size), Next: merged.Ref().Mul(2), Body: outer.Block}
	step := &shader.Var{Name: "step", Type: shader.U32, Mutable: true}
	round := outer.Inner()
	round.Head = &shader.For{Var: step, Init: merged.Ref().Div(2), Cond: step.Ref().Gt(0), Next: step.Ref().Div(2), Body: round.Block}
	loop, i := round.Loop("i", shader.ThreadID, build.U32(n/2), threads)
	lo := loop.Let("lo", i.Sub(i.And(step.Ref().Sub(1))).Mul(2).Add(i.And(step.Ref().Sub(1))))
	hi := loop.Let("hi", lo.Add(step.Ref()))
	a, b := loop.Let("a", x.key.At(lo)), loop.Let("b", x.key.At(hi))
	c, d := loop.Let("c", x.at.At(lo)), loop.Let("d", x.at.At(hi))
	ascends := lo.And(size - 1).And(merged.Ref()).Eq(0)
	swap := loop.When(before(b, d, a, c).Eq(ascends))
	x.put(swap.Block, lo, b, d)
	x.put(swap.Block, hi, a, c)
	swap.End()
	loop.End()
	round.Barrier()
	round.End()
	outer.End()
}

// before reports whether pair a, c comes before pair b, d.
func before(a, c, b, d *shader.Expr) *shader.Expr { return a.Lt(b).Or(a.Eq(b).And(c.Lt(d))) }

// bitonic sorts rows that fit into the memory of a workgroup.
func (s *sort) bitonic() {
	size := max(2, build.CeilPow2(s.cols))
	group := max(1, min(s.fit, 2*s.Target.Threads())/size) // rows of a workgroup
	s.AddPass(min(s.Target.Threads(), group*size/2), func(p *build.Pass) {
		p.Workgroups = ir.CeilDiv(s.rows, group)
		first := p.Root.Let("first", p.Job().Convert(s.CountType(s.rows)).Mul(group))
		x := newPairs(p, group*size, s.keyType())
		loop, i := p.Root.Loop("i", shader.ThreadID, build.U32(group*size), p.Threads)
		row, at := loop.Let("row", first.Add(i.Div(size).Convert(first.Type))), loop.Let("at", i.Rem(size))
		key := s.element(loop, loop.Let("r", row.Min(s.rows-1)), loop.Let("c", at.Min(s.cols-1)))
		x.put(loop.Block, i, at.Lt(s.cols).If(key, none(key.Type)), at)
		loop.End()
		p.Root.Barrier()
		x.sort(p.Root, group*size, size)
		loop, i = p.Root.Loop("i", shader.ThreadID, build.U32(group*s.places), p.Threads)
		row = loop.Let("row", first.Add(i.Div(s.places).Convert(first.Type)))
		in := loop.When(row.Lt(s.rows))
		place := in.Let("place", i.Rem(s.places))
		in.Enter(build.Span{Axes: s.parallel, Base: row})
		s.put(in, place, x.at.At(i.Div(s.places).Mul(size).Add(place)))
		in.End()
		loop.End()
	})
}
