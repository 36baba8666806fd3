package kernelize

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// findProducts finds the products that read a matrix through an Expand, which adds widths.
func (f *finder) findProducts(n *graph.Node) {
	weights := n.Operand(0)
	l := f.space.liveLayout(slices.Clone(f.layouts[weights]))
	for a, d := range n.Shape {
		if weights.Shape[a] != d {
			l[a] = []int{f.space.newAxis(d)}
		}
	}
	f.findFactors(n, weights, l)
}

// findFactors finds the products that read weights as n, of layout l.
func (f *finder) findFactors(n, weights *graph.Node, l layout) {
	f.bad[weights] = f.bad[weights] || f.roots[n]
	for _, u := range f.users[n] {
		if moved, ok := f.moved(u, l); ok {
			f.findFactors(u, weights, moved)
			continue
		}
		if u.Op != ir.Mul || u.Operand(0) == u.Operand(1) || f.roots[u] || len(f.space.lens) > ir.MaxAxes/2 {
			f.bad[weights] = true
			continue
		}
		factor := u.Operand(0)
		if factor == n {
			factor = u.Operand(1)
		}
		for _, s := range f.users[u] {
			e := &foundProduct{sum: s, between: []*graph.Node{u}, weights: weights, factor: factor, layout: f.ownWidths(l)}
			if !f.finish(e) {
				f.bad[weights] = true
				continue
			}
			f.products = append(f.products, e)
		}
	}
}

// ownWidths returns a layout with new axes in place of those that matrices do not have: each product has its own.
func (f *finder) ownWidths(l layout) layout {
	own := f.space.liveLayout(slices.Clone(l))
	matrix := f.space.liveSet(f.matrix)
	for i, axes := range own {
		own[i] = slices.Clone(axes)
		for j, a := range axes {
			if !matrix.Has(a) {
				own[i][j] = f.space.newAxis(f.space.lens[a])
			}
		}
	}
	return own
}

// finish finds the axis that a product sums over. It reports false if that is neither columns
// nor rows.
func (f *finder) finish(e *foundProduct) bool {
	s := e.sum
	if s.Op != ir.Sum || s.DType != s.Operand(0).DType || s.DType.ComputeType() != ir.Float32 {
		return false
	}
	e.out = slices.Clone(e.layout)
	e.over = ir.Axes(slices.Concat(takeReduced(e.out, s.Ints)...)...)
	columns := f.space.liveSet(f.columns)
	if e.over == columns {
		return true
	}
	e.swapped = true
	for f.mergesSum(e) {
	}
	return e.over != 0 && f.areRows(e.over)
}

// areRows reports whether matrices have some axes, and not as columns.
func (f *finder) areRows(axes ir.AxisSet) bool {
	return axes&^(f.space.liveSet(f.matrix)&^f.space.liveSet(f.columns)) == 0
}

// mergesSum makes a sum over rows that reads another one, and nothing else does, the sum of a product.
func (f *finder) mergesSum(e *foundProduct) bool {
	n, l := e.sum, e.out
	for !f.roots[n] && len(f.users[n]) == 1 {
		u := f.users[n][0]
		if u.Op == ir.Sum {
			out := f.space.liveLayout(slices.Clone(l))
			over := ir.Axes(slices.Concat(takeReduced(out, u.Ints)...)...)
			if !f.areRows(over) {
				return false
			}
			e.between, e.sum, e.out, e.over = append(e.between, e.sum), u, out, f.space.liveSet(e.over)|over
			return true
		}
		moved, ok := f.moved(u, l)
		if !ok {
			return false
		}
		n, l = u, moved
	}
	return false
}

// settle decides which products kernels of attention compute, and which nodes only these compute.
func (f *finder) settle() {
	r := f.foundRegion
	needed, stored := nodes{}, nodes{} // by other work: loops compute nodes that are not stored again
	for n := range f.bad {
		if f.bad[n] {
			r.above(n, stored)
		}
	}
	for before := -1; before != len(stored)+len(needed); {
		before = len(stored) + len(needed)
		r.products = slices.DeleteFunc(r.products, func(e *foundProduct) bool {
			all := nodes{}
			r.above(e.weights, all)
			isStored, scores := false, 0
			for n := range all {
				isStored = isStored || stored[n]
				if f.isScore(n) {
					scores++
				}
			}
			if isStored || scores > maxScores || !r.isLarge(f.limits) && f.refused[e.sum] {
				maps.Copy(stored, all)
			} else if f.refused[e.sum] {
				maps.Copy(needed, all)
			} else {
				return false
			}
			return true
		})
	}
	maps.Copy(needed, stored)
	other := func(n *graph.Node) bool { return f.inside[n] != nil || f.sums[n] } // of another region
	if len(r.products) == 0 || slices.ContainsFunc(r.products, func(e *foundProduct) bool { return other(e.sum) }) {
		return
	}
	for n := range r.layouts {
		if !r.rows[n] && other(n) {
			return
		}
	}
	for n := range r.layouts {
		if !needed[n] && (!r.rows[n] || n.Op.Class() == ir.Reduction) {
			f.inside[n], r.inner[n] = r, true
		}
	}
	for _, e := range r.products {
		f.sums[e.sum] = true
		for _, n := range e.between {
			f.inside[n], r.inner[n] = r, true
		}
	}
	f.regions = append(f.regions, r)
}

// above adds to a set the nodes of the region that n depends on, and n.
func (r *foundRegion) above(n *graph.Node, set nodes) {
	for stack := []*graph.Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for n.Op.Class() == ir.Movement && r.layouts[n] == nil && n.Src().Len() == 1 {
			n = n.Operand(0)
		}
		if r.layouts[n] != nil && !set[n] {
			set[n] = true
			stack = append(stack, n.Src().Append(nil)...)
		}
	}
}

// isLarge reports whether the scores of a region are worth a loop.
func (r *foundRegion) isLarge(limits ir.LoopLimits) bool {
	return r.score.DType.Size()*r.space.count(r.matrix) >= limits.Scores
}
