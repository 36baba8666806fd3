package regions

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/ir"
)

// maxScores is the most scores that a kernel of attention computes for one product.
const maxScores = 8

// findProducts finds the products that read a matrix through an Expand, which adds widths.
func (f *finder) findProducts(n *graph.Node) {
	weights := n.Operand(0)
	l := f.Space.LiveLayout(slices.Clone(f.Layouts[weights]))
	for a, d := range n.Shape {
		if weights.Shape[a] != d {
			l[a] = []int{f.Space.NewAxis(d)}
		}
	}
	f.findFactors(n, weights, l)
}

// findFactors finds the products that read weights as n, of layout l.
func (f *finder) findFactors(n, weights *graph.Node, l space.Layout) {
	f.bad[weights] = f.bad[weights] || f.roots[n]
	for _, u := range f.users[n] {
		if moved, ok := f.moved(u, l); ok {
			f.findFactors(u, weights, moved)
			continue
		}
		if u.Op != ir.Mul || u.Operand(0) == u.Operand(1) || f.roots[u] || len(f.Space.Lens) > ir.MaxAxes/2 {
			f.bad[weights] = true
			continue
		}
		factor := u.Operand(0)
		if factor == n {
			factor = u.Operand(1)
		}
		for _, s := range f.users[u] {
			e := &Product{Sum: s, between: []*graph.Node{u}, Weights: weights, Factor: factor, Layout: f.ownWidths(l)}
			if !f.finish(e) {
				f.bad[weights] = true
				continue
			}
			f.Products = append(f.Products, e)
		}
	}
}

// ownWidths returns a layout with new axes in place of those that matrices do not have: each product has its own.
func (f *finder) ownWidths(l space.Layout) space.Layout {
	own := f.Space.LiveLayout(slices.Clone(l))
	matrix := f.Space.LiveSet(f.matrix)
	for i, axes := range own {
		own[i] = slices.Clone(axes)
		for j, a := range axes {
			if !matrix.Has(a) {
				own[i][j] = f.Space.NewAxis(f.Space.Lens[a])
			}
		}
	}
	return own
}

// finish finds the axis that a product sums over. It reports false if that is neither columns
// nor rows.
func (f *finder) finish(e *Product) bool {
	s := e.Sum
	if s.Op != ir.Sum || s.DType != s.Operand(0).DType || s.DType.ComputeType() != ir.Float32 {
		return false
	}
	e.Out = slices.Clone(e.Layout)
	e.Over = ir.Axes(slices.Concat(space.TakeReduced(e.Out, s.Ints)...)...)
	columns := f.Space.LiveSet(f.Columns)
	if e.Over == columns {
		return true
	}
	e.Swapped = true
	for f.mergesSum(e) {
	}
	return e.Over != 0 && f.areRows(e.Over)
}

// areRows reports whether matrices have some axes, and not as columns.
func (f *finder) areRows(axes ir.AxisSet) bool {
	return axes&^(f.Space.LiveSet(f.matrix)&^f.Space.LiveSet(f.Columns)) == 0
}

// mergesSum makes a sum over rows that reads another one, and nothing else does, the sum of a product.
func (f *finder) mergesSum(e *Product) bool {
	n, l := e.Sum, e.Out
	for !f.roots[n] && len(f.users[n]) == 1 {
		u := f.users[n][0]
		if u.Op == ir.Sum {
			out := f.Space.LiveLayout(slices.Clone(l))
			over := ir.Axes(slices.Concat(space.TakeReduced(out, u.Ints)...)...)
			if !f.areRows(over) {
				return false
			}
			e.between, e.Sum, e.Out, e.Over = append(e.between, e.Sum), u, out, f.Space.LiveSet(e.Over)|over
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
	r := f.Region
	needed, stored := Nodes{}, Nodes{} // by other work: loops compute nodes that are not stored again
	for n := range f.bad {
		if f.bad[n] {
			r.above(n, stored)
		}
	}
	for before := -1; before != len(stored)+len(needed); {
		before = len(stored) + len(needed)
		r.Products = slices.DeleteFunc(r.Products, func(e *Product) bool {
			all := Nodes{}
			r.above(e.Weights, all)
			isStored, scores := false, 0
			for n := range all {
				isStored = isStored || stored[n]
				if f.isScore(n) {
					scores++
				}
			}
			if isStored || scores > maxScores || !r.IsLarge(f.limits) && f.refused[e.Sum] {
				maps.Copy(stored, all)
			} else if f.refused[e.Sum] {
				maps.Copy(needed, all)
			} else {
				return false
			}
			return true
		})
	}
	maps.Copy(needed, stored)
	other := func(n *graph.Node) bool { return f.inside[n] != nil || f.sums[n] } // of another region
	if len(r.Products) == 0 || slices.ContainsFunc(r.Products, func(e *Product) bool { return other(e.Sum) }) {
		return
	}
	for n := range r.Layouts {
		if !r.Rows[n] && other(n) {
			return
		}
	}
	for n := range r.Layouts {
		if !needed[n] && (!r.Rows[n] || n.Op.Class() == ir.Reduction) {
			f.inside[n], r.Inner[n] = r, true
		}
	}
	for _, e := range r.Products {
		f.sums[e.Sum] = true
		for _, n := range e.between {
			f.inside[n], r.Inner[n] = r, true
		}
	}
	f.regions = append(f.regions, r)
}

// above adds to a set the nodes of the region that n depends on, and n.
func (r *Region) above(n *graph.Node, set Nodes) {
	for stack := []*graph.Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for n.Op.Class() == ir.Movement && r.Layouts[n] == nil && n.Src().Len() == 1 {
			n = n.Operand(0)
		}
		if r.Layouts[n] != nil && !set[n] {
			set[n] = true
			stack = append(stack, n.Src().Append(nil)...)
		}
	}
}

// IsLarge reports whether the scores of a region are worth a loop.
func (r *Region) IsLarge(limits ir.LoopLimits) bool {
	return r.Score.DType.Size()*r.Space.Count(r.matrix) >= limits.Scores
}
