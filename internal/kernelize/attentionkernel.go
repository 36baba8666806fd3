package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// role returns the role of an axis in a kernel of attention.
func (g *group) role(a int) ir.Role {
	switch {
	case slices.Contains(g.reduced, a):
		return ir.N
	case slices.Contains(g.depths, a):
		return ir.K
	case slices.Contains(g.widths, a):
		return ir.Width
	case g.LiveSet(g.attending.batch).Has(a):
		return ir.Batch
	}
	return ir.M
}

// axesOf returns the axes of roles in a kernel of attention.
func (g *group) axesOf(roles ...ir.Role) (s ir.AxisSet) {
	for _, a := range g.Axes {
		if slices.Contains(roles, g.role(a)) {
			s |= 1 << a
		}
	}
	return s
}

// refuseMisfits refuses the products of kernels of attention that the device does not run, or should not.
func (p *placer) refuseMisfits() {
	var misfits refusal
	for _, r := range p.regions {
		for _, g := range r.groups {
			k := (&writer{}).kernel(g)
			fits := p.fits(k.Kernel, g)
			loop := fits && g.cut && p.prefersLoop(r, g, k.Kernel)
			if fits && !loop {
				continue
			}
			for _, e := range r.products {
				// A loop computes the scores once for all products that it has: the gradient's, and those on which the
				// gradient does not depend.
				if o := e.sum.owner(); o == g || o == nil || o.cut || !g.cut || loop && !r.dependsOn(g, e) {
					misfits = append(misfits, e)
				}
			}
		}
	}
	if len(misfits) > 0 {
		panic(misfits)
	}
}

// dependsOn reports whether a product of a group depends on another.
func (r *region) dependsOn(g *group, other *product) bool {
	seen := nodeSet{}
	return slices.ContainsFunc(r.products, func(e *product) bool { return e.sum.owner() == g && e.sum.dependsOn(other.sum, seen) })
}

// dependsOn reports whether n depends on m. Nodes that have been seen do not.
func (n *node) dependsOn(m *node, seen nodeSet) bool {
	if n == m {
		return true
	}
	if n.number < m.number || seen[n] {
		return false
	}
	seen[n] = true
	return slices.ContainsFunc(n.src, func(s *node) bool { return s.dependsOn(m, seen) })
}

// fits reports whether the device runs a kernel of attention.
func (p *placer) fits(k *ir.Kernel, g *group) bool {
	buffers, bindings := g.buffers(), p.Bindings
	if g.checks() {
		buffers++ // the status
	} else {
		bindings = max(bindings, p.Loops.AttentionBindings)
	}
	if p.Bindings > 0 && buffers > bindings || len(k.Axes) > ir.MaxAxes || ir.Verify(k) != nil {
		return false
	}
	a, ok := loopnest.NewAttention(k)
	switch {
	case !ok:
		return false
	case loopnest.Size(k, k.Roles(ir.M)) <= loopnest.FewRows && a.Widest(k) <= p.Loops.AttentionFew:
		return true
	}
	for _, a := range k.Axes {
		if (a.Role == ir.K || a.Role == ir.Width) && a.Len > p.Loops.Attention {
			return false
		}
	}
	return a.Fits(k, p.Machine.Halves > 0, p.Loops.AttentionBytes)
}

// prefersLoop reports whether the gradient of large scores is faster in a loop, where threads multiply: the tiles
// of a contraction are larger, and a loop multiplies five matrices where kernels of attention multiply seven. But
// these compute little where masks hide most of the scores, as a window does.
func (p *placer) prefersLoop(r *region, g *group, k *ir.Kernel) bool {
	rows, columns := ir.M, ir.N
	if g.swapped {
		rows, columns = columns, rows
	}
	if p.Machine.Halves > 0 || !r.IsLarge(p.Loops) || loopnest.Points(k.Axes, k.Roles(rows)) < leastRows {
		return false
	}
	if !slices.ContainsFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Index }) {
		return true
	}
	a, _ := loopnest.NewAttention(k)
	var list []loopnest.Bounds
	for _, o := range a.Outputs {
		list = append(list, loopnest.Nonzero(k, o.Left).Fixed())
	}
	causal := false
	for _, b := range loopnest.Common(list...) {
		for _, axis := range k.Roles(rows).List() {
			slope := b.Slope(k, axis)
			if slope < 0 { // a row does not need the first columns
				return false
			}
			causal = causal || slope > 0 && 2*k.Axes[axis].Len >= int(loopnest.Points(k.Axes, k.Roles(columns)))
		}
	}
	return causal
}

// has reports whether kernels of attention compute n in place.
func (r *region) has(n *node) bool {
	return n.row == nil && (r.Layouts[n.Node] != nil || r.Inner[n.Node])
}

// hasRows reports whether a node of that layout has all rows, and beside them widths alone.
func (g *group) hasRows(l space.Layout) bool {
	rows := 0
	for _, a := range slices.Concat(l...) {
		switch g.role(a) {
		case ir.Batch, ir.M:
			rows++
		case ir.K:
			return false
		}
	}
	return rows == len(g.Axes)-len(g.reduced)-len(g.widths)-len(g.depths)
}

// attentionAxes gives a kernel of attention its axes.
func (w *writer) attentionAxes() {
	g := w.g
	w.position = make([]int, len(g.Lens))
	used := g.usedAxes()
	for _, r := range []ir.Role{ir.Batch, ir.M, ir.N, ir.K, ir.Width} {
		for _, a := range g.Axes {
			if g.role(a) == r && (r != ir.K && r != ir.Width || used.Has(a)) {
				w.position[a] = len(w.k.Axes)
				w.k.Axes = append(w.k.Axes, ir.Axis{Len: g.Lens[a], Role: r})
			}
		}
	}
}

// usedAxes returns the axes that loads vary over: trials that failed leave others.
func (g *group) usedAxes() (s ir.AxisSet) {
	for i := range g.body {
		if v := g.body[i].View; v != nil {
			for a, c := range v.Coef {
				if c != 0 {
					s |= 1 << a
				}
			}
		}
	}
	return s
}

// axisSet converts axes of the group to axes of the kernel.
func (w *writer) axisSet(axes ir.AxisSet) (s ir.AxisSet) {
	for _, a := range w.g.LiveSet(axes).List() {
		s |= 1 << w.position[a]
	}
	return s
}
