// Package pointwise schedules kernels of one point after the other, and the points that other kernels end with.
package pointwise

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Compile adds the passes of a pointwise kernel.
func Compile(c *build.Builder) {
	Points(c, c.Nest.List(ir.Parallel), c.Nest.Stores(0, false), nil)
	c.Report()
}

// Points adds a pass with a thread for each point along axes, or for four of them,
// which executes the given stores. reduced, if not nil, computes the values of
// reductions.
func Points(c *build.Builder, axes []int, stores []int, reduced func(sc *build.Scope, i int)) {
	if len(stores) > 0 { // the first of them goes through memory in row-major order
		axes = build.InMemory(axes, c.Nest.Body[stores[0]].View)
	}
	if other := transposes(c, axes); other >= 0 {
		transposeTiles(c, axes, other, stores, reduced)
		return
	}
	lanes := 1
	if storesFours(c, axes, stores) {
		lanes = 4
	}
	c.AddPass(c.Target.Threads(), func(p *build.Pass) {
		p.Reduced = reduced
		n := p.Nest.Size(axes)
		at := func(item *shader.Expr) build.Span {
			if lanes == 4 {
				return build.Span{Axes: axes, Base: item.Convert(p.CountType(n)).Mul(4), Step: build.Lanes(4), Fours: true}
			}
			return build.Span{Axes: axes, Base: item}
		}
		ahead := c.Target.Traits().PointsAhead
		if c.Target.Matrices || isWide(c) { // through PTX one vector at a time hides latency as well
			ahead = 1
		}
		if ahead > 1 && lanes == 4 && reduced == nil && n >= c.Target.ManyPoints && n%(4*ahead*p.Threads) == 0 {
			pointsAhead(p, n/4, ahead, stores, at)
			return
		}
		sc, item := p.Items(n / lanes)
		sc.Enter(at(item))
		sc.Restrict(c.StoresWithin(stores))
		sc.StoreEach(stores)
		sc.End()
	})
}

// isWide reports whether an output has elements of 4 bytes or more. A vector of four then fills a store, so that a
// second vector gains nothing.
func isWide(c *build.Builder) bool {
	return slices.ContainsFunc(c.Nest.Args, func(a ir.Arg) bool { return a.Kind == ir.Out && a.DType.Size() >= 4 })
}

// PointsAhead executes stores for several items of each thread: it computes all of their values
// before it stores one, so that their loads are under way at once.
func pointsAhead(p *build.Pass, items, ahead int, stores []int, at func(item *shader.Expr) build.Span) {
	p.Workgroups = items / (ahead * p.Threads)
	t := p.CountType(items)
	root := p.Root.When(shader.GroupID.Lt(p.Workgroups)) // others fill up the grid
	first := root.Let("first", shader.GroupID.Convert(t).Mul(ahead*p.Threads).Add(shader.ThreadID.Convert(t)))
	var scopes []*build.Scope
	for i := range ahead {
		sc := root.Beside(build.Tag("_", i))
		sc.Enter(at(first.Plus(i * p.Threads)))
		sc.Restrict(p.StoresWithin(stores))
		sc.ValueEach(stores)
		scopes = append(scopes, sc)
	}
	for _, sc := range scopes {
		sc.StoreEach(stores)
	}
	root.End()
}

// transposes returns the axis along which a load that takes large steps along the last axis
// is contiguous, or -1.
func transposes(c *build.Builder, axes []int) int {
	side := c.Target.Traits().Transpose
	if side == 0 || len(axes) < 2 || c.Target.Threads() < side*side/4 {
		return -1
	}
	inner := axes[len(axes)-1]
	for i := range c.Nest.Body {
		in := &c.Nest.Body[i]
		if in.Op != ir.Load || build.Abs(in.View.Coef[inner]) < side || c.Nest.Axes[inner].Len < side/2 {
			continue
		}
		for _, a := range axes {
			if build.Abs(in.View.Coef[a]) == 1 && c.Nest.Axes[a].Len >= side/2 {
				return a
			}
		}
	}
	return -1
}

// transposeTiles is points for a kernel that reads along another axis than it
// writes: a workgroup computes a square tile. Neighbouring threads lie along one of
// the axes, and each thread computes four points along the other.
func transposeTiles(c *build.Builder, axes []int, other int, stores []int, reduced func(sc *build.Scope, i int)) {
	inner := axes[len(axes)-1]
	var outer []int
	for _, a := range axes[:len(axes)-1] {
		if a != other {
			outer = append(outer, a)
		}
	}
	side := c.Target.Traits().Transpose
	c.AddPass(side*side/4, func(p *build.Pass) {
		p.Reduced = reduced
		high, wide := ir.CeilDiv(c.Nest.Axes[other].Len, side), ir.CeilDiv(c.Nest.Axes[inner].Len, side)
		p.Workgroups = high * wide * c.Nest.Size(outer)
		job := p.Job()
		rest := p.Root.Let("rest", job.Div(high*wide))
		column, row := p.CountType(c.Nest.Axes[other].Len), p.CountType(c.Nest.Axes[inner].Len)
		across := p.Root.Let("across", job.Div(wide).Rem(high).Convert(column).Mul(side).Add(shader.ThreadID.Rem(side).Convert(column)))
		along := p.Root.Let("along", job.Rem(wide).Convert(row).Mul(side).Add(shader.ThreadID.Div(side).Mul(4).Convert(row)))
		p.Root.Enter(build.Span{Axes: outer, Base: rest})
		for _, w := range []build.Span{
			{Axes: []int{other}, Base: across},
			{Axes: []int{inner}, Base: along, Step: build.Lanes(4), Fours: c.Nest.Axes[inner].Len%4 == 0},
		} {
			if n := c.Nest.Axes[w.Axes[0]].Len; n%side != 0 {
				w.Clamp = c.Total(n)
			}
			p.Root.EnterValid(w)
		}
		p.Root.StoreEach(stores)
	})
}

// storesFours reports whether all stores can write four points along the last
// axis at once.
func storesFours(c *build.Builder, axes, stores []int) bool {
	if !c.Fours(axes) {
		return false
	}
	inner := axes[len(axes)-1]
	for _, i := range stores {
		v := c.Nest.Body[i].View
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
