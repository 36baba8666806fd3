package build

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Reducer is a reduction on accumulators: ArgMax's hold a key and a position.
type Reducer struct {
	Instr    int
	Register shader.Type
	Acc      *shader.Var
	Start    *shader.Expr
	of       func(x, rank *shader.Expr) *shader.Expr // the contribution of an element
	combine  func(a, b *shader.Expr) *shader.Expr
	Result   func(x *shader.Expr) *shader.Expr
}

// reducers has a row for each reduction: a function that fills in a reducer of elements of
// type from. The reducer that it gets has the register of type to, and the identity as of
// and result.
var reducers = [ir.Ops]func(r *Reducer, to, from ir.DType){
	ir.Sum: func(r *Reducer, to, from ir.DType) {
		r.Start = Number(r.Register, 0)
		r.combine = func(a, b *shader.Expr) *shader.Expr { return a.Add(b) }
		r.of = func(x, _ *shader.Expr) *shader.Expr { return cast(to, from, x) }
	},
	ir.Prod: func(r *Reducer, to, _ ir.DType) {
		r.Start = Number(r.Register, 1)
		r.combine = func(a, b *shader.Expr) *shader.Expr { return a.Mul(b) }
		r.Result = func(x *shader.Expr) *shader.Expr { return Wrap(to, x) }
	},
	ir.ReduceMax: func(r *Reducer, to, _ ir.DType) {
		r.Start = Constant(to, ir.Lowest(to))
		r.combine = func(a, b *shader.Expr) *shader.Expr { return a.Max(b) }
		switch r.Register {
		case shader.Bool:
			r.Register, r.Start = shader.U32, U32(0)
			r.of = func(x, _ *shader.Expr) *shader.Expr { return x.If(U32(1), U32(0)) }
			r.Result = func(x *shader.Expr) *shader.Expr { return x.Ne(0) }
		case shader.F32, shader.F64:
			f := shader.Function("max_" + r.Register.String())
			r.combine = func(a, b *shader.Expr) *shader.Expr { return f.Call(a, b) }
		}
	},
	ir.ArgMax: func(r *Reducer, _, from ir.DType) {
		t := shader.Register(from).Unsigned()
		r.Register = t.Vec(2)
		none := Number(t, math.MaxUint32) // the position of no element
		r.Start = shader.Vec(2, Number(t, 0), none)
		f := shader.Function("first_max_" + t.String())
		r.combine = func(a, b *shader.Expr) *shader.Expr { return f.Call(a, b) }
		r.of = func(x, rank *shader.Expr) *shader.Expr { return shader.Vec(2, SortKey(x), rank.Convert(t)) }
		r.Result = func(x *shader.Expr) *shader.Expr {
			return x.At(1).Eq(none).If(Number(t, 0), x.At(1)).Convert(shader.I32)
		}
	},
}

// Reducer returns the reducer of an instruction.
func (c *Builder) Reducer(i int) Reducer {
	in := &c.Nest.Body[i]
	r := Reducer{Instr: i, Register: shader.Register(in.Type)}
	r.of = func(x, _ *shader.Expr) *shader.Expr { return x }
	r.Result = func(x *shader.Expr) *shader.Expr { return x }
	reducers[in.Op](&r, in.Type, c.Nest.Body[in.Src[0]].Type)
	return r
}

// Add combines x with the accumulator.
func (r Reducer) Add(b *shader.Block, x *shader.Expr) { b.Set(r.Acc, r.combine(r.Acc.Ref(), x)) }

// SortKey is a number of the same order as x.
func SortKey(x *shader.Expr) *shader.Expr {
	switch t := x.Type; {
	case t.IsFloat():
		return shader.Function("key_" + t.String()).Call(x)
	case t.IsSigned():
		return x.Bitcast(t.Unsigned()).Xor(shader.FromBits(t.Unsigned(), 1<<(8*t.Bytes()-1)))
	case t == shader.Bool:
		return x.If(U32(1), U32(0))
	}
	return x
}

// Accumulate combines the contributions of the lanes of sc with the accumulator.
func (sc *Scope) Accumulate(r Reducer, lanes int) {
	p := sc.Pass
	in := &p.Nest.Body[r.Instr]
	x := sc.Value(in.Src[0])
	rank := Value{nil}
	if in.Op == ir.ArgMax {
		rank = sc.linear(0, ir.DenseStrides(p.Nest.Axes, in.Axes))
	}
	launder := in.Op == ir.Sum && p.factorable(&p.Nest.Body[in.Src[0]], in.Axes)
	list := make([]*shader.Expr, lanes)
	for l := range list {
		e := x.Lane(l)
		if launder {
			e = e.Launder(shader.FirstWay)
		}
		list[l] = r.of(e, rank.Lane(l))
		if c := AllIn(sc.Valid, l); c != nil {
			list[l] = c.If(list[l], r.Start)
		}
	}
	for len(list) > 1 { // neighbours first: a shallow tree
		half := list[:0]
		for l := 0; l < len(list); l += 2 {
			if l+1 < len(list) {
				half = append(half, r.combine(list[l], list[l+1]))
			} else {
				half = append(half, list[l])
			}
		}
		list = half
	}
	r.Add(sc.Block, list[0])
}

// reduceAlone computes a reduction in one thread.
func reduceAlone(sc *Scope, i int) {
	p := sc.Pass
	in := &p.Nest.Body[i]
	owner := sc.Owner(in.Domain)
	r := p.Reducer(i)
	r.Acc = owner.Var(fmt.Sprintf("r%d%s", i, owner.Tag), r.Start)
	inner := owner
	for a := range p.Nest.Axes {
		if in.Axes.Has(a) {
			loop, at := inner.Loop(inner.axisName(a, 0, 1), Number(inner.axisType(a), 0), Number(inner.axisType(a), p.Nest.Axes[a].Len), 1)
			loop.Axes[a] = coord{at: Value{at}}
			inner = loop
		}
	}
	inner.Accumulate(r, 1)
	for ; inner != owner; inner = inner.parent {
		inner.End()
	}
	owner.Values[i] = owner.Define(i, r.Result(r.Acc.Ref()))
}

// WorkgroupReduce combines the accumulators of along threads, whose distance is
// stride, so that all of them have the result: t is a thread's number among
// them.
func (sc *Scope) WorkgroupReduce(rs []Reducer, t *shader.Expr, along, stride int) {
	p := sc.Pass
	if along == 1 {
		return
	}
	if sub := p.Target.Subgroup(); sub <= p.Threads && (along*stride <= sub || stride == 1 && along <= sub*sub) {
		sc.subgroupReduce(rs, along, stride, sub)
		return
	}
	sc.batches(rs, p.Threads, func(rs []Reducer, shared []*shader.Shared) {
		for n, r := range rs {
			sc.Put(shared[n], shader.ThreadID, r.Acc.Ref())
		}
		sc.Barrier()
		for d := along / 2; d > 0; d /= 2 {
			sc.If(t.Lt(d), func(step *shader.Block) {
				for n, r := range rs {
					other := shared[n].At(shader.ThreadID.Add(d * stride))
					step.Put(shared[n], shader.ThreadID, r.combine(shared[n].At(shader.ThreadID), other))
				}
			})
			sc.Barrier()
		}
		for n, r := range rs {
			sc.Set(r.Acc, shared[n].At(shader.ThreadID.Sub(t.Mul(stride))))
		}
	})
}

// batches calls do for reducers with shared memory for n registers of each: for all
// reducers at once if the memory is large enough for one of each thread, otherwise for one
// batch after the other in the same memory.
func (sc *Scope) batches(rs []Reducer, n int, do func(rs []Reducer, shared []*shader.Shared)) {
	p := sc.Pass
	most := max(1, p.Target.SharedBytes/(p.Threads*p.RegisterBytes())) // of a type
	for len(rs) > 0 {
		var batch []*shader.Shared
		for _, r := range rs {
			used := p.InUse[r.Register]
			if used == most && len(batch) > 0 {
				break
			}
			if used == most { // all threads have read the memory
				sc.Barrier()
				clear(p.InUse)
				used = 0
			}
			if used == len(p.SharedPool[r.Register]) {
				p.SharedPool[r.Register] = append(p.SharedPool[r.Register], p.Share(r.Register, n))
			}
			x := p.SharedPool[r.Register][used]
			x.Len = max(x.Len, n)
			batch = append(batch, x)
			p.InUse[r.Register]++
		}
		do(rs[:len(batch)], batch)
		rs = rs[len(batch):]
	}
}

// reduceBytes is the most memory of batches of all reductions, without strides.
func (p *Pass) reduceBytes() (bytes int) {
	n, sub := p.Threads, p.Target.Subgroup()
	if sub <= n && n <= sub*sub {
		n /= sub
	}
	for i, in := range p.Nest.Body {
		if in.Op.Class() == ir.Reduction {
			bytes += n * p.Reducer(i).Register.Bytes()
		}
	}
	return bytes
}

// RegisterBytes is the size of one accumulator of each type that the kernel's
// reductions have.
func (c *Builder) RegisterBytes() int {
	types := map[shader.Type]bool{}
	n := 0
	for i := range c.Nest.Body {
		if c.Nest.Body[i].Op.Class() != ir.Reduction {
			continue
		}
		if t := c.Reducer(i).Register; !types[t] {
			types[t] = true
			n += t.Bytes()
		}
	}
	return n
}

// subgroupReduce is WorkgroupReduce through subgroups of a size: each combines the
// accumulators of its threads, and then the results of all subgroups of the row. With a
// stride a row has no more than one subgroup.
// It takes a subgroup to be threads in a row, in order: WebGPU does not promise
// that, but no adapter is known to do otherwise with a workgroup of one
// dimension.
func (sc *Scope) subgroupReduce(rs []Reducer, along, stride, sub int) {
	p := sc.Pass
	p.Subgroup = sub
	exchange := func(rs []Reducer, n int) {
		for mask := 1; mask < n; mask *= 2 {
			for _, r := range rs {
				r.Add(sc.Block, r.Acc.Ref().Shuffle(mask*stride))
			}
		}
	}
	exchange(rs, min(along, sub))
	if along <= sub {
		return
	}
	parts := along / sub
	sc.batches(rs, p.Threads/sub, func(rs []Reducer, shared []*shader.Shared) {
		number := shader.ThreadID.Div(sub)
		sc.If(shader.ThreadID.Rem(sub).Eq(0), func(first *shader.Block) {
			for k, r := range rs {
				first.Put(shared[k], number, r.Acc.Ref())
			}
		})
		sc.Barrier()
		for k, r := range rs {
			part := shader.ThreadID.Div(along).Mul(parts).Add(shader.ThreadID.Rem(parts))
			sc.Set(r.Acc, shared[k].At(part))
		}
		exchange(rs, parts)
	})
}
