package schedule

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A reducer is a reduction on accumulators: ArgMax's hold a key and a position.
type reducer struct {
	instr    int
	register shader.Type
	acc      *shader.Var
	start    *shader.Expr
	of       func(x, rank *shader.Expr) *shader.Expr // what an element contributes
	combine  func(a, b *shader.Expr) *shader.Expr
	result   func(x *shader.Expr) *shader.Expr
}

// reducers has a row for each reduction: a function that fills in a reducer of elements of
// type from. The reducer that it gets has the register of type to, and the identity as of
// and result.
var reducers = [ir.Ops]func(r *reducer, to, from ir.DType){
	ir.Sum: func(r *reducer, to, from ir.DType) {
		r.start = number(r.register, 0)
		r.combine = func(a, b *shader.Expr) *shader.Expr { return a.Add(b) }
		r.of = func(x, _ *shader.Expr) *shader.Expr { return cast(to, from, x) }
	},
	ir.Prod: func(r *reducer, to, _ ir.DType) {
		r.start = number(r.register, 1)
		r.combine = func(a, b *shader.Expr) *shader.Expr { return a.Mul(b) }
		r.result = func(x *shader.Expr) *shader.Expr { return wrap(to, x) }
	},
	ir.ReduceMax: func(r *reducer, to, _ ir.DType) {
		r.start = constant(to, ir.Lowest(to))
		r.combine = func(a, b *shader.Expr) *shader.Expr { return a.Max(b) }
		switch r.register {
		case shader.Bool:
			r.register, r.start = shader.U32, u32(0)
			r.of = func(x, _ *shader.Expr) *shader.Expr { return x.If(u32(1), u32(0)) }
			r.result = func(x *shader.Expr) *shader.Expr { return x.Ne(0) }
		case shader.F32, shader.F64:
			f := shader.Function("max_" + r.register.String())
			r.combine = func(a, b *shader.Expr) *shader.Expr { return f.Call(a, b) }
		}
	},
	ir.ArgMax: func(r *reducer, _, from ir.DType) {
		t := shader.Register(from).Unsigned()
		r.register = t.Vec(2)
		none := number(t, math.MaxUint32) // the position of no element
		r.start = shader.Vec(2, number(t, 0), none)
		f := shader.Function("first_max_" + t.String())
		r.combine = func(a, b *shader.Expr) *shader.Expr { return f.Call(a, b) }
		r.of = func(x, rank *shader.Expr) *shader.Expr { return shader.Vec(2, key(x), rank.Convert(t)) }
		r.result = func(x *shader.Expr) *shader.Expr {
			return x.At(1).Eq(none).If(number(t, 0), x.At(1)).Convert(shader.I32)
		}
	},
}

func (c *compiler) reducer(i int) reducer {
	in := &c.k.Body[i]
	r := reducer{instr: i, register: shader.Register(in.Type)}
	r.of = func(x, _ *shader.Expr) *shader.Expr { return x }
	r.result = func(x *shader.Expr) *shader.Expr { return x }
	reducers[in.Op](&r, in.Type, c.k.Body[in.Src[0]].Type)
	return r
}

// add combines x with the accumulator.
func (r reducer) add(b *shader.Block, x *shader.Expr) { b.Set(r.acc, r.combine(r.acc.Ref(), x)) }

// key is a number of the same order as x.
func key(x *shader.Expr) *shader.Expr {
	switch t := x.Type; {
	case t.IsFloat():
		return shader.Function("key_" + t.String()).Call(x)
	case t.IsSigned():
		return x.Bitcast(t.Unsigned()).Xor(shader.FromBits(t.Unsigned(), 1<<(8*t.Bytes()-1)))
	case t == shader.Bool:
		return x.If(u32(1), u32(0))
	}
	return x
}

// accumulate combines the contributions of the lanes of sc with the accumulator.
func (sc *scope) accumulate(r reducer, lanes int) {
	p := sc.p
	in := &p.k.Body[r.instr]
	x := sc.value(in.Src[0])
	rank := value{nil}
	if in.Op == ir.ArgMax {
		rank = sc.linear(0, ir.DenseStrides(p.k.Axes, in.Axes))
	}
	launder := in.Op == ir.Sum && p.factorable(&p.k.Body[in.Src[0]], in.Axes)
	list := make([]*shader.Expr, lanes)
	for l := range list {
		e := x.lane(l)
		if launder {
			e = e.Launder(shader.FirstWay)
		}
		list[l] = r.of(e, rank.lane(l))
		if c := allIn(sc.valid, l); c != nil {
			list[l] = c.If(list[l], r.start)
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
	r.add(sc.Block, list[0])
}

// reduceAlone computes a reduction in one thread.
func reduceAlone(sc *scope, i int) {
	p := sc.p
	in := &p.k.Body[i]
	owner := sc.owner(in.Domain)
	r := p.reducer(i)
	r.acc = owner.Var(fmt.Sprintf("r%d%s", i, owner.tag), r.start)
	inner := owner
	for a := range p.k.Axes {
		if in.Axes.Has(a) {
			loop, at := inner.loop(inner.axisName(a, 0, 1), number(inner.axisType(a), 0), number(inner.axisType(a), p.k.Axes[a].Len), 1)
			loop.axes[a] = coord{at: value{at}}
			inner = loop
		}
	}
	inner.accumulate(r, 1)
	for ; inner != owner; inner = inner.parent {
		inner.end()
	}
	owner.values[i] = owner.let(i, r.result(r.acc.Ref()))
}

// workgroupReduce combines the accumulators of along threads, whose distance is
// stride, so that all of them have the result: t is a thread's number among
// them.
func (sc *scope) workgroupReduce(rs []reducer, t *shader.Expr, along, stride int) {
	p := sc.p
	if along == 1 {
		return
	}
	if sub := p.t.subgroup(); sub <= p.Threads && (along*stride <= sub || stride == 1 && along <= sub*sub) {
		sc.subgroupReduce(rs, along, stride, sub)
		return
	}
	sc.batches(rs, p.Threads, func(rs []reducer, shared []*shader.Shared) {
		for n, r := range rs {
			sc.Put(shared[n], shader.ThreadID, r.acc.Ref())
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
			sc.Set(r.acc, shared[n].At(shader.ThreadID.Sub(t.Mul(stride))))
		}
	})
}

// batches calls do for reducers with shared memory for n registers of each: for all
// reducers at once if the memory is large enough, otherwise for one batch after the
// other in the same memory.
func (sc *scope) batches(rs []reducer, n int, do func(rs []reducer, shared []*shader.Shared)) {
	p := sc.p
	most := max(1, p.t.SharedBytes/(n*p.registerBytes())) // of a type
	for len(rs) > 0 {
		var batch []*shader.Shared
		for _, r := range rs {
			used := p.inUse[r.register]
			if used == most && len(batch) > 0 {
				break
			}
			if used == most { // all threads have read the memory
				sc.Barrier()
				clear(p.inUse)
				used = 0
			}
			if used == len(p.sharedPool[r.register]) {
				p.sharedPool[r.register] = append(p.sharedPool[r.register], p.share(r.register, n))
			}
			batch = append(batch, p.sharedPool[r.register][used])
			p.inUse[r.register]++
		}
		do(rs[:len(batch)], batch)
		rs = rs[len(batch):]
	}
}

// registerBytes is the size of one accumulator of each type that the kernel's
// reductions have.
func (c *compiler) registerBytes() int {
	types := map[shader.Type]bool{}
	n := 0
	for i := range c.k.Body {
		if c.k.Body[i].Op.Class() != ir.Reduction {
			continue
		}
		if t := c.reducer(i).register; !types[t] {
			types[t] = true
			n += t.Bytes()
		}
	}
	return n
}

// subgroupReduce is workgroupReduce through subgroups of a size: each combines the
// accumulators of its threads, and then the results of all subgroups of the row. With a
// stride a row has no more than one subgroup.
// It takes a subgroup to be threads in a row, in order: WebGPU does not promise
// that, but no adapter is known to do otherwise with a workgroup of one
// dimension.
func (sc *scope) subgroupReduce(rs []reducer, along, stride, sub int) {
	p := sc.p
	p.Subgroup = sub
	exchange := func(rs []reducer, n int) {
		for mask := 1; mask < n; mask *= 2 {
			for _, r := range rs {
				r.add(sc.Block, r.acc.Ref().Shuffle(mask*stride))
			}
		}
	}
	exchange(rs, min(along, sub))
	if along <= sub {
		return
	}
	parts := along / sub
	sc.batches(rs, p.Threads/sub, func(rs []reducer, shared []*shader.Shared) {
		number := shader.ThreadID.Div(sub)
		sc.If(shader.ThreadID.Rem(sub).Eq(0), func(first *shader.Block) {
			for k, r := range rs {
				first.Put(shared[k], number, r.acc.Ref())
			}
		})
		sc.Barrier()
		for k, r := range rs {
			part := shader.ThreadID.Div(along).Mul(parts).Add(shader.ThreadID.Rem(parts))
			sc.Set(r.acc, shared[k].At(part))
		}
		exchange(rs, parts)
	})
}
