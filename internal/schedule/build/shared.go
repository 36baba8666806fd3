package build

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Shared reductions are of a vector that all rows of a kernel read, as the norm of a token whose product is a
// kernel's: a workgroup computes them once, with all of its threads.

// mostShared is the most points of the vector that a thread has.
const mostShared = 64

// SharedLevels returns the levels of instructions without shared reductions, and the number of levels of these: 0 means that a
// workgroup has none, or too many points.
func (c *Builder) SharedLevels(threads int) (levels []int, shared int) {
	if c.Nest.Size(c.Nest.List(ir.Reduced, ir.K)) > mostShared*threads {
		return loopnest.Levels(c.Nest.Body), 0
	}
	return loopnest.SharedLevels(c.Nest.Kernel)
}

// A Vector is the points of a vector that a thread has: lanes of scopes, which cover it once.
type Vector struct {
	Scopes []*Scope
	Lanes  int
}

// Vector returns the points along axes of the threads of a pass, as neighbours.
func (p *Pass) Vector(axes []int) Vector {
	unit, n := 1, p.Nest.Size(axes)
	w := Span{Axes: axes, Base: shader.ThreadID}
	if w.Fours = p.Fours(axes); w.Fours {
		unit, w.Base = 4, shader.ThreadID.Mul(4)
	}
	lanes := ir.CeilDiv(n, unit*p.Threads) * unit
	for l := range lanes {
		w.Step = append(w.Step, l/unit*unit*p.Threads+l%unit)
	}
	if lanes*p.Threads > n {
		w.Clamp = p.Total(n)
	}
	sc := p.Root.Beside("_s")
	sc.EnterValid(w)
	return Vector{Scopes: []*Scope{sc}, Lanes: lanes}
}

// LoadAhead loads operands that shared reductions of so many levels do not need, as the weight of a norm. Such an operand is
// probably no result of the kernels before, for which the pass need not wait.
func (v Vector) LoadAhead(shared int) {
	p := v.Scopes[0].Pass
	levels, along := loopnest.Levels(p.Nest.Body), ir.AxisSet(0)
	for a := range v.Scopes[0].Axes {
		along |= ir.Axes(a)
	}
	var roots []int
	for i, in := range p.Nest.Body {
		if in.Op.Class() == ir.Reduction && levels[i] <= shared {
			roots = append(roots, i)
		}
	}
	need := p.Nest.Needs(roots, nil)
	for i, in := range p.Nest.Body {
		if in.Op == ir.Load && in.Domain == along && len(in.Src)+len(in.View.Guards) == 0 && !need[i] {
			for _, sc := range v.Scopes {
				sc.Value(i)
			}
		}
	}
}

// Reduce computes shared reductions of so many levels.
func (v Vector) Reduce(shared int) {
	p := v.Scopes[0].Pass
	levels := loopnest.Levels(p.Nest.Body)
	for level := 1; level <= shared; level++ {
		var rs []Reducer
		for _, i := range p.Nest.Reductions(levels, level) {
			r := p.Reducer(i)
			r.Acc = p.Root.Var(Tag("r", i), r.Start)
			for _, sc := range v.Scopes {
				sc.Accumulate(r, v.Lanes)
			}
			rs = append(rs, r)
		}
		p.Root.reduceAll(rs)
		for _, r := range rs {
			p.Root.Values[r.Instr] = p.Root.Define(r.Instr, r.Result(r.Acc.Ref()))
		}
	}
}

// reduceAll combines the accumulators of all threads of a workgroup: of whole subgroups, or of a power of two.
func (sc *Scope) reduceAll(rs []Reducer) {
	p := sc.Pass
	sub := p.Target.Subgroup()
	if sub > p.Threads {
		sc.WorkgroupReduce(rs, shader.ThreadID, p.Threads, 1)
		return
	}
	sc.WorkgroupReduce(rs, shader.ThreadID.Rem(sub), sub, 1)
	parts := p.Threads / sub
	if parts == 1 {
		return
	}
	sc.batches(rs, parts, func(rs []Reducer, shared []*shader.Shared) {
		sc.If(shader.ThreadID.Rem(sub).Eq(0), func(first *shader.Block) {
			for k, r := range rs {
				first.Put(shared[k], shader.ThreadID.Div(sub), r.Acc.Ref())
			}
		})
		sc.Barrier()
		for k, r := range rs {
			sc.Set(r.Acc, shared[k].At(U32(0)))
			for n := 1; n < parts; n++ {
				r.Add(sc.Block, shared[k].At(U32(n)))
			}
		}
	})
}

// A SharedVector is an instruction that varies along the vector alone, and needs shared reductions, in shared memory.
type SharedVector struct {
	instr  int
	shared *shader.Shared
}

// Share puts those instructions that others than such read into shared memory, where it has room.
func (v Vector) Share(axes []int) (list []SharedVector) {
	sc := v.Scopes[0]
	p := sc.Pass
	n, along, body := p.Nest.Size(axes), ir.Axes(axes...), p.Nest.Body
	depends := make([]bool, len(body))
	var found []int
	room := min(p.Target.SharedBytes/4*3, p.Target.SharedBytes-p.reduceBytes())
	for i, in := range body {
		depends[i] = in.Op.Class() == ir.Reduction && p.Root.Values[i] != nil || slices.ContainsFunc(in.Src, func(j int) bool { return depends[j] })
		for _, j := range in.Src {
			if in.Domain != along && body[j].Domain == along && depends[j] && in.Op.Class() != ir.Reduction && !slices.Contains(found, j) {
				found = append(found, j)
			}
		}
	}
	rank := sc.Rank(axes)
	for _, i := range found {
		t := shader.Register(body[i].Type)
		if !p.Fours(axes) || t.IsWide() || t == shader.Bool || (len(list)+1)*n*t.Bytes() > room {
			continue
		}
		y := SharedVector{i, p.Share(t.Vec(4), n/4)}
		x := sc.Value(i)
		for l := 0; l < len(rank); l += 4 {
			sc.Under(AllIn(sc.Valid, l), func(in *Scope) {
				in.Put(y.shared, rank.Lane(l).Convert(shader.U32).Shr(2), shader.Vec(4, x.Lane(l), x.Lane(l+1), x.Lane(l+2), x.Lane(l+3)))
			})
		}
		list = append(list, y)
	}
	if len(list) > 0 {
		sc.Barrier()
	}
	return list
}

// ReadVectors gives a scope, whose lanes are fours along the vector, the values of instructions in shared memory.
func (sc *Scope) ReadVectors(list []SharedVector, axes []int) {
	for _, v := range list {
		rank := sc.Rank(axes)
		var all Value
		for l := 0; l < len(rank); l += 4 {
			x := sc.Let(sc.NameOf(v.instr, l, len(rank))+"f", v.shared.At(rank.Lane(l).Convert(shader.U32).Shr(2)))
			for k := range 4 {
				all = append(all, x.At(k))
			}
		}
		sc.Values[v.instr] = all
	}
}
