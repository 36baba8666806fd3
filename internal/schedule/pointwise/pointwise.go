// Package pointwise schedules kernels that compute each point by itself, and the epilogues of other
// kernels.
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

// Points adds a pass that executes the given stores at all points along axes. A thread has one
// point, four neighbours, or several times four. reduced, if not nil, computes the values of reductions.
func Points(c *build.Builder, axes []int, stores []int, reduced func(sc *build.Scope, i int)) {
	if len(stores) > 0 { // neighbouring threads write neighbouring elements in the first store
		axes = build.InMemory(axes, c.Nest.Body[stores[0]].View)
	}
	if readAxis := transposedAxis(c, axes); readAxis >= 0 {
		transposeTiles(c, axes, readAxis, stores, reduced)
		return
	}
	lanes := 1
	if storesFours(c, axes, stores) {
		lanes = 4
	}
	c.AddPass(c.Target.Threads(), func(p *build.Pass) {
		p.Reduced = reduced
		n := p.Nest.Size(axes)
		spanOf := func(item *shader.Expr) build.Span { // an item is a point, or four
			if lanes == 4 {
				return build.Span{Axes: axes, Base: item.Convert(p.CountType(n)).Mul(4), Step: build.Lanes(4), Fours: true}
			}
			return build.Span{Axes: axes, Base: item}
		}
		items := itemsAhead(c)
		if items > 1 && lanes == 4 && reduced == nil && n >= c.Target.ManyPoints && n%(4*items*p.Threads) == 0 {
			pointsAhead(p, n/4, items, stores, spanOf)
			return
		}
		sc, item := p.Items(n / lanes)
		sc.Enter(spanOf(item))
		sc.Restrict(c.StoresWithin(stores))
		sc.StoreEach(stores)
		sc.End()
	})
}

// itemsAhead returns how many items a thread loads before its first store. More than one hides
// latency only where stores are narrow (outputs of 1 or 2 bytes). Targets with the matrix
// instructions of PTX gain nothing.
func itemsAhead(c *build.Builder) int {
	isWide := func(a ir.Arg) bool { return a.Kind == ir.Out && a.DType.Size() >= 4 }
	if c.Target.Matrices || slices.ContainsFunc(c.Nest.Args, isWide) {
		return 1
	}
	return c.Target.Traits().PointsAhead
}

// pointsAhead executes stores for several items of each thread: it computes the values of all
// items before it stores one, so that their loads are under way at once.
func pointsAhead(p *build.Pass, total, items int, stores []int, spanOf func(item *shader.Expr) build.Span) {
	p.Workgroups = total / (items * p.Threads)
	t := p.CountType(total)
	root := p.Root.When(shader.GroupID.Lt(p.Workgroups)) // the grid may have more workgroups
	first := root.Let("first", shader.GroupID.Convert(t).Mul(items*p.Threads).Add(shader.ThreadID.Convert(t)))
	var scopes []*build.Scope
	for i := range items {
		sc := root.Beside(build.Tag("_", i))
		sc.Enter(spanOf(first.Plus(i * p.Threads)))
		sc.Restrict(p.StoresWithin(stores))
		sc.ValueEach(stores)
		scopes = append(scopes, sc)
	}
	for _, sc := range scopes {
		sc.StoreEach(stores)
	}
	root.End()
}

// transposedAxis looks for a load that is contiguous along one of axes, but strided along the last,
// along which the kernel stores. It returns the contiguous axis, or -1.
func transposedAxis(c *build.Builder, axes []int) int {
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

// transposeTiles is Points for a kernel that reads contiguously along readAxis and writes
// contiguously along the last of axes. A workgroup computes a square tile of both: neighbouring
// threads lie along readAxis, and each thread computes four points along the last axis.
func transposeTiles(c *build.Builder, axes []int, readAxis int, stores []int, reduced func(sc *build.Scope, i int)) {
	inner := axes[len(axes)-1]
	var outer []int
	for _, a := range axes[:len(axes)-1] {
		if a != readAxis {
			outer = append(outer, a)
		}
	}
	side := c.Target.Traits().Transpose
	c.AddPass(side*side/4, func(p *build.Pass) {
		p.Reduced = reduced
		tileRows, tileCols := ir.CeilDiv(c.Nest.Axes[readAxis].Len, side), ir.CeilDiv(c.Nest.Axes[inner].Len, side)
		p.Workgroups = tileRows * tileCols * c.Nest.Size(outer)
		job := p.Job()
		outerIndex := p.Root.Let("outerIndex", job.Div(tileRows*tileCols))
		readType, innerType := p.CountType(c.Nest.Axes[readAxis].Len), p.CountType(c.Nest.Axes[inner].Len)
		readIndex := p.Root.Let("readIndex", job.Div(tileCols).Rem(tileRows).Convert(readType).Mul(side).Add(shader.ThreadID.Rem(side).Convert(readType)))
		innerIndex := p.Root.Let("innerIndex", job.Rem(tileCols).Convert(innerType).Mul(side).Add(shader.ThreadID.Div(side).Mul(4).Convert(innerType)))
		p.Root.Enter(build.Span{Axes: outer, Base: outerIndex})
		for _, span := range []build.Span{
			{Axes: []int{readAxis}, Base: readIndex},
			{Axes: []int{inner}, Base: innerIndex, Step: build.Lanes(4), Fours: c.Nest.Axes[inner].Len%4 == 0},
		} {
			if n := c.Nest.Axes[span.Axes[0]].Len; n%side != 0 {
				span.Clamp = c.Total(n)
			}
			p.Root.EnterValid(span)
		}
		p.Root.StoreEach(stores)
	})
}

// storesFours reports whether all stores can write four points along the last of axes at once.
func storesFours(c *build.Builder, axes, stores []int) bool {
	if !c.Fours(axes) {
		return false
	}
	inner := axes[len(axes)-1]
	for _, i := range stores {
		view := c.Nest.Body[i].View
		if view.Coef[inner] != 1 || view.Off%4 != 0 {
			return false
		}
		for _, a := range axes[:len(axes)-1] {
			if view.Coef[a]%4 != 0 {
				return false
			}
		}
	}
	return true
}
