package build

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A bad index is reported in two steps, so that every run reports the same one:
// the first by position (see ir.Kernel.CheckStrides). While a program runs, the
// first word of its status holds the least position of a bad index, less 2^31.
// The last pass, of one thread, computes the index at that position again and
// writes the report. A first word above 0 is an earlier report. If positions have
// more than 31 bits, the word has the upper ones, and the last pass tries the others.

// Note notes that instruction i has a bad index in a lane.
func (sc *Scope) Note(i, lane int) {
	b, word := sc.Pass.Output(sc.Pass.status), sc.Pass.Offset(sc.Pass.status)
	if sc.Pass.hasOneIndex() {
		index := sc.Value(sc.Pass.Nest.Body[i].Src[0]).Lane(lane)
		sc.If(b.LoadAtomic(word).Eq(0), func(then *shader.Block) {
			sc.Pass.writeReport(then, i, index, Number(shader.U32, 0))
		})
		return
	}
	strides, over := slices.Clone(sc.Pass.Nest.Rank), ir.IndexDomain(sc.Pass.Nest.Body, i)
	for a := range strides {
		if !over.Has(a) {
			strides[a] = 0
		}
	}
	rank := sc.linear(0, strides)
	sc.If(b.LoadAtomic(word).Le(0), func(then *shader.Block) {
		position := rank.Lane(lane)
		if sc.Pass.markShift() > 0 {
			position = position.Shr(sc.Pass.markShift())
		}
		position = position.Convert(shader.I32).Add(Number(shader.I32, math.MinInt32))
		then.Do(&shader.Atomic{Op: shader.AtomicMin, Buffer: b, Index: word, Value: position})
	})
}

// indexed lists the instructions that use an index.
func (c *Builder) indexed() (list []int) {
	for i := range c.Nest.Body {
		if c.Nest.Body[i].UsesIndex() {
			list = append(list, i)
		}
	}
	return list
}

// hasOneIndex reports whether one instruction uses an index, the same at all points.
func (c *Builder) hasOneIndex() bool {
	return c.Nest.Size(c.checked()) == 1 && len(c.indexed()) == 1
}

// writeReport writes that an index of instruction i at a position is bad.
func (p *Pass) writeReport(to *shader.Block, i int, index, position *shader.Expr) {
	b, word := p.Output(p.status), p.Offset(p.status)
	low, high := index.Convert(shader.I32), Number(shader.I32, 0) // words of the index
	switch index.Type {
	case shader.I32:
		high = index.Shr(31)
	case shader.I64:
		high = index.Shr(32).Convert(shader.I32)
	}
	store := func(at *shader.Expr, x *shader.Expr) {
		to.Do(&shader.Atomic{Op: shader.AtomicStore, Buffer: b, Index: at, Value: x})
	}
	store(word, Number(shader.I32, i+1))
	words := []*shader.Expr{low, high, position.Convert(shader.I32)} // other high words are 0
	if position.Type.IsWide() {
		words = append(words, position.Shr(32).Convert(shader.I32))
	}
	for n, x := range words {
		store(word.Add(2+n), x)
	}
}

// checked lists the axes of the kernel's CheckDomain, in the order of positions.
func (c *Builder) checked() []int {
	var axes []int
	for a, domain := 0, c.Nest.CheckDomain(); a < len(c.Nest.Axes); a++ {
		if domain.Has(a) {
			axes = append(axes, a)
		}
	}
	slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(c.Nest.Rank[b], c.Nest.Rank[a]) })
	return axes
}

// markShift is the number of bits of a position that the word of the status has no room for.
func (c *Builder) markShift() int {
	n := c.Nest.Size(c.checked())
	return max(0, bits.Len(uint(max(n, 1)-1))-bits.Len(uint(c.Target.Positions)))
}

// Report adds the last pass of a kernel that notes bad indices.
func (c *Builder) Report() {
	if c.status < 0 {
		return
	}
	indexed := c.indexed()
	if len(indexed) == 0 || c.hasOneIndex() {
		return
	}
	c.AddPass(1, func(p *Pass) {
		p.Workgroups = 1
		p.Reduced = reduceAlone
		b, word := p.Output(p.status), p.Offset(p.status)
		mark := p.Root.Let("mark", b.LoadAtomic(word))
		sc := p.Root.When(mark.Lt(0))
		point := sc.Let("point", mark.Bitcast(shader.U32).And(math.MaxInt32))
		outer := sc
		var end *shader.Var // of the positions that the mark has
		if n := c.markShift(); n > 0 {
			end = sc.Var("end", Number(c.CountType(c.Nest.Size(c.checked())), 1<<n))
			loop, k := sc.Loop("k", Number(end.Type, 0), end.Ref(), 1)
			point = loop.Let("exact", point.Convert(end.Type).Shl(n).Add(k))
			sc = loop.When(point.Lt(c.Nest.Size(c.checked())))
		}
		sc.Enter(Span{Axes: c.checked(), Base: point})
		found := sc.Var("found", shader.FromBits(shader.Bool, 0))
		for _, i := range indexed {
			in := &c.Nest.Body[i]
			conditions, _, ok := sc.guards(in.View)
			if !ok {
				continue
			}
			index := sc.Value(in.Src[0]).Lane(0)
			bad := found.Ref().Not().And(c.CutOff(index, in.View.Len).Ge(in.View.Len))
			sc.If(All(bad, AllIn(conditions, 0)), func(hit *shader.Block) {
				hit.Set(found, shader.FromBits(shader.Bool, 1))
				if end != nil {
					hit.Set(end, Number(end.Type, 0))
				}
				p.writeReport(hit, i, index, point)
			})
		}
		for ; sc != outer; sc = sc.parent {
			sc.End()
		}
		outer.End()
	})
}
