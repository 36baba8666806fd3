package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// The products of one vector, or of few rows of halves, by several matrices, as a token's queries, keys and values, are
// one kernel where kernels run one after the other: each alone is too short to occupy a GPU. A matrix of more rows is cut
// into several.
const (
	maxMatrices = 8 // of a kernel
	maxCuts     = 4 // of a matrix
)

// mergeProducts merges products of one vector or of few rows.
func (p *placer) mergeProducts() {
	merged := false
	for i, g := range p.groups {
		for _, h := range p.groups[:i] {
			if h.into == nil && g.into == nil && p.mergeProduct(h, g) {
				merged = true
			}
		}
	}
	if merged {
		p.groups = slices.DeleteFunc(p.groups, func(g *group) bool { return g.into != nil })
		sorts.Stable(p.groups, func(a, b *group) int { return a.order - b.order })
	}
}

// mergeProduct makes h, which comes earlier, part of g if both multiply the same vector.
func (p *placer) mergeProduct(h, g *group) bool {
	if len(h.reduced) == 0 || len(g.reduced) == 0 || !sharesVector(h, g) || !compatible(h, g) {
		return false
	}
	if h.readsFailed() || g.readsFailed() || h.checks() || g.checks() || h.buffersWith(g) > p.maxArgs {
		return false
	}
	early := h.reader <= g.order
	if early && !g.canPrecede(h, nil) {
		return false
	}
	rows, more := h.rows(), g.rows()
	large, cuts := h, rows/max(1, more)
	if rows < more {
		large, cuts = g, more/max(1, rows)
	}
	if max(rows, more) != cuts*min(rows, more) || cuts > maxCuts || h.countMatrices()+g.countMatrices()+(cuts-1)*large.countMatrices() > maxMatrices {
		return false
	}
	if cuts > 1 && !large.cutRows(cuts) {
		return false
	}
	few := func(g *group) []int { return g.LiveSet(g.few).List() }
	to, ok := pair(h, g, slices.Concat(few(h), h.columns(), h.reduced), slices.Concat(few(g), g.columns(), g.reduced))
	if !ok || !g.pairFew(h, to) {
		return false
	}
	if early {
		g.setOrder(h.order)
	}
	g.take(h, to)
	return true
}

// buffersWith is the number of buffers that g and h read and write, without the status.
func (h *group) buffersWith(g *group) int {
	of := g.loads()
	shared := slices.DeleteFunc(h.loads(), func(n *node) bool { return !slices.Contains(of, n) })
	return h.buffers() + g.buffers() - len(shared)
}

// parallel lists the axes that are not reduced.
func (g *group) parallel() []int {
	return slices.DeleteFunc(slices.Clone(g.Axes), func(a int) bool { return slices.Contains(g.reduced, a) })
}

// columns lists the parallel axes over which a shared vector, or few rows, do not vary.
func (g *group) columns() []int {
	few := g.LiveSet(g.few)
	return slices.DeleteFunc(g.parallel(), func(a int) bool { return few.Has(a) })
}

// rows is the number of rows of a matrix.
func (g *group) rows() int { return g.Count(ir.Axes(g.columns()...)) }

// sharesVector reports whether two groups load the same node along their reduced axes and few rows alone.
func sharesVector(h, g *group) bool {
	vectors := h.vectors()
	return slices.ContainsFunc(g.vectors(), func(n *node) bool { return slices.Contains(vectors, n) })
}

// vectors lists the nodes that g loads along all of its reduced axes and few rows, and along no other.
func (g *group) vectors() []*node { return g.loadsAlong(ir.Axes(g.reduced...) | g.LiveSet(g.few)) }

// countMatrices is the number of loads along all columns and reduced axes.
func (g *group) countMatrices() int {
	return len(g.loadsAlong(ir.Axes(g.columns()...) | ir.Axes(g.reduced...)))
}

// loadsAlong lists the nodes of loads that vary over some axes, all of them.
func (g *group) loadsAlong(axes ir.AxisSet) (list []*node) {
	for i := range g.body {
		in := &g.body[i]
		if in.Op != ir.Load || len(in.Src) > 0 {
			continue
		}
		var along ir.AxisSet
		for a, c := range in.View.Coef {
			if c != 0 {
				along |= ir.Axes(a)
			}
		}
		if along == axes {
			list = append(list, in.reads)
		}
	}
	return list
}

// cutRows cuts the rows of g into so many parts, each with instructions of its own.
func (g *group) cutRows(parts int) bool {
	a := g.columns()[0]
	switch n := g.Lens[a]; {
	case n%parts != 0 || n > parts && !g.HasRoom(2):
		return false
	case n > parts:
		a = g.split(a, n/parts)
	}
	body := make([]instr, 0, parts*len(g.body))
	for part := range parts {
		first := len(body)
		for _, in := range g.body {
			in.Src = slices.Clone(in.Src)
			for i := range in.Src {
				in.Src[i] += first
			}
			at := func(f ir.AffineExpr) ir.AffineExpr {
				if a < len(f.Coef) {
					f.Off += part * f.Coef[a]
					f.Coef = slices.Clone(f.Coef)
					f.Coef[a] = 0
				}
				return f
			}
			if in.position != nil {
				f := at(*in.position)
				in.position = &f
			}
			if in.View != nil {
				v := *in.View
				f := at(ir.AffineExpr{Off: v.Off, Coef: v.Coef})
				v.Off, v.Coef, v.Guards = f.Off, f.Coef, slices.Clone(v.Guards)
				for i := range v.Guards {
					v.Guards[i].AffineExpr = at(v.Guards[i].AffineExpr)
				}
				in.View = &v
			}
			body = append(body, in)
		}
	}
	g.body, g.emitted, g.several = body, nil, g.few != 0
	g.Axes = slices.DeleteFunc(slices.Clone(g.Axes), func(x int) bool { return x == a })
	return true
}
