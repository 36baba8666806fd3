package schedule

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

func (c *compiler) pointwise() {
	c.points(c.k.List(ir.Parallel), c.k.Stores(0, false), nil)
	c.report()
}

// points adds a pass with a thread for each point along axes, or for four of them,
// which executes the given stores. reduced, if not nil, computes the values of
// reductions.
func (c *compiler) points(axes []int, stores []int, reduced func(sc *scope, i int)) {
	if len(stores) > 0 { // the first of them goes through memory in row-major order
		axes = inMemory(axes, c.k.Body[stores[0]].View)
	}
	if other := c.transposes(axes); other >= 0 {
		c.transposeTiles(axes, other, stores, reduced)
		return
	}
	lanes := 1
	if c.storesFours(axes, stores) {
		lanes = 4
	}
	c.pass(c.t.threads(), func(p *pass) {
		p.reduced = reduced
		n := p.k.Size(axes)
		at := func(item *shader.Expr) span {
			if lanes == 4 {
				return span{axes: axes, base: item.Convert(p.countType(n)).Mul(4), step: count(4), fours: true}
			}
			return span{axes: axes, base: item}
		}
		ahead := c.t.traits().pointsAhead
		if c.t.Matrices || c.isWide() { // through PTX one vector is as fast or faster
			ahead = 1
		}
		if ahead > 1 && lanes == 4 && reduced == nil && n >= c.t.ManyPoints && n%(4*ahead*p.Threads) == 0 {
			p.pointsAhead(n/4, ahead, stores, at)
			return
		}
		sc, item := p.items(n / lanes)
		sc.enter(at(item))
		sc.restrict(c.storesWithin(stores))
		sc.storeEach(stores)
		sc.end()
	})
}

// isWide reports whether an output has elements of 4 bytes or more. A vector of four has 16 bytes or more, as
// much as a store has: on H100s and H200s kernels of float32 take 1 to 3 % longer with two vectors, and
// kernels of halves up to 15 % less. Casts were not measured.
func (c *compiler) isWide() bool {
	return slices.ContainsFunc(c.k.Args, func(a ir.Arg) bool { return a.Kind == ir.Out && a.DType.Size() >= 4 })
}

// pointsAhead executes stores for some items, of which a thread has several: it computes all of
// their values before it stores one, so that their loads are under way at once.
func (p *pass) pointsAhead(items, ahead int, stores []int, at func(item *shader.Expr) span) {
	p.groups = items / (ahead * p.Threads)
	t := p.countType(items)
	root := p.root.when(shader.GroupID.Lt(p.groups)) // others fill up the grid
	first := root.Let("first", shader.GroupID.Convert(t).Mul(ahead*p.Threads).Add(shader.ThreadID.Convert(t)))
	var scopes []*scope
	for i := range ahead {
		sc := root.beside(tag("_", i))
		sc.enter(at(first.Plus(i * p.Threads)))
		sc.restrict(p.storesWithin(stores))
		sc.valueEach(stores)
		scopes = append(scopes, sc)
	}
	for _, sc := range scopes {
		sc.storeEach(stores)
	}
	root.end()
}

// items returns a block that n threads execute, and the number of a thread, counted over
// all workgroups.
func (p *pass) items(n int) (sc *scope, item *shader.Expr) {
	p.groups = ir.CeilDiv(n, p.Threads)
	t := p.countType(n)
	item = p.root.Let("item", shader.GroupID.Convert(t).Mul(p.Threads).Add(shader.ThreadID.Convert(t)))
	return p.root.when(item.Lt(n)), item
}

// transposes returns the axis along which a load that takes large steps along
// the last axis is contiguous, or -1 if there is none.
func (c *compiler) transposes(axes []int) int {
	side := c.t.traits().transpose
	if side == 0 || len(axes) < 2 || c.t.threads() < side*side/4 {
		return -1
	}
	inner := axes[len(axes)-1]
	for i := range c.k.Body {
		in := &c.k.Body[i]
		if in.Op != ir.Load || abs(in.View.Coef[inner]) < side || c.k.Axes[inner].Len < side/2 {
			continue
		}
		for _, a := range axes {
			if abs(in.View.Coef[a]) == 1 && c.k.Axes[a].Len >= side/2 {
				return a
			}
		}
	}
	return -1
}

// transposeTiles is points for a kernel that reads along another axis than it
// writes: a workgroup computes a square tile. Neighbouring threads lie along one of
// the axes, and each thread computes four points along the other.
func (c *compiler) transposeTiles(axes []int, other int, stores []int, reduced func(sc *scope, i int)) {
	inner := axes[len(axes)-1]
	var outer []int
	for _, a := range axes[:len(axes)-1] {
		if a != other {
			outer = append(outer, a)
		}
	}
	side := c.t.traits().transpose
	c.pass(side*side/4, func(p *pass) {
		p.reduced = reduced
		high, wide := ir.CeilDiv(c.k.Axes[other].Len, side), ir.CeilDiv(c.k.Axes[inner].Len, side)
		p.groups = high * wide * c.k.Size(outer)
		job := p.job()
		rest := p.root.Let("rest", job.Div(high*wide))
		column, row := p.countType(c.k.Axes[other].Len), p.countType(c.k.Axes[inner].Len)
		across := p.root.Let("across", job.Div(wide).Rem(high).Convert(column).Mul(side).Add(shader.ThreadID.Rem(side).Convert(column)))
		along := p.root.Let("along", job.Rem(wide).Convert(row).Mul(side).Add(shader.ThreadID.Div(side).Mul(4).Convert(row)))
		p.root.enter(span{axes: outer, base: rest})
		for _, w := range []span{
			{axes: []int{other}, base: across},
			{axes: []int{inner}, base: along, step: count(4), fours: c.k.Axes[inner].Len%4 == 0},
		} {
			if n := c.k.Axes[w.axes[0]].Len; n%side != 0 {
				w.clamp = c.total(n)
			}
			p.root.enterValid(w)
		}
		p.root.storeEach(stores)
	})
}

// job is the number of the workgroup. Workgroups that only fill up the grid have the
// number of the last one, and repeat its work.
func (p *pass) job() *shader.Expr { return p.repeating("job", shader.GroupID, p.groups) }

// repeating names a number below n. Where x is more, it is the last number, whose work is
// repeated; but what replaces elements that it has read is stored once.
func (p *pass) repeating(name string, x *shader.Expr, n int) *shader.Expr {
	if p.replaces() {
		p.root.valid = append(p.root.valid, value{x.Lt(n)})
	}
	return p.root.Let(name, x.Min(n-1))
}

// replaces reports whether the kernel reads elements that it replaces.
func (c *compiler) replaces() bool {
	return slices.ContainsFunc(c.k.Body, func(in ir.Instr) bool { return c.loadsOld(&in) })
}

// loadsOld reports whether an instruction reads elements that the kernel replaces.
func (c *compiler) loadsOld(in *ir.Instr) bool {
	return in.Op == ir.Load && c.k.Args[in.Arg].Kind == ir.Out
}

// inMemory sorts axes so that a view goes through memory in row-major order.
func inMemory(axes []int, v *ir.View) []int {
	list := slices.Clone(axes)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(abs(v.Coef[b]), abs(v.Coef[a])) })
	return list
}

// storesFours reports whether all stores can write four points along the last
// axis at once.
func (c *compiler) storesFours(axes, stores []int) bool {
	if !c.fours(axes) {
		return false
	}
	inner := axes[len(axes)-1]
	for _, i := range stores {
		v := c.k.Body[i].View
		if v.Coef[inner] != 1 || v.Off%4 != 0 {
			return false
		}
		for _, a := range axes[:len(axes)-1] {
			if v.Coef[a]%4 != 0 {
				return false
			}
		}
	}
	return true
}

// fours reports whether four neighbours along axes never wrap to the next row: the
// last axis is a multiple of four long.
func (c *compiler) fours(axes []int) bool {
	return len(axes) > 0 && c.k.Axes[axes[len(axes)-1]].Len%4 == 0
}
