package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/ir"
)

// deriveLayout returns the layout of n, a member or a movement of one. A movement has
// a layout if each element of the member appears once in it: Permute, Reshape, and
// Expand along reduced axes of the group. Nodes share layouts: callers change none.
func (g *group) deriveLayout(n *node) (space.Layout, bool) {
	if g.template == ir.Routine || g.closed { // a routine's layout is the updates' layout
		return nil, false
	}
	if n.owner() == g {
		return n.layout, true
	}
	if n.Op != ir.Permute && n.Op != ir.Reshape && n.Op != ir.Expand {
		return nil, false
	}
	x := n.src[0]
	from, ok := g.deriveLayout(x)
	if !ok {
		return nil, false
	}
	switch n.Op {
	case ir.Reshape:
		return g.Reshape(from, x.Shape, n.Shape, g.split)
	case ir.Permute:
		return space.Permute(from, n.Ints), true
	}
	from = slices.Clone(from)
	used := slices.Concat(from...)
	for i, d := range n.Shape {
		if x.Shape[i] == d {
			continue
		}
		if from[i] = g.reducedRun(d, used); from[i] == nil {
			return nil, false
		}
		used = append(used, from[i]...)
	}
	return from, true
}

// reducedRun finds reduced axes, none of them used, that together have length
// n.
func (g *group) reducedRun(n int, used []int) []int {
	var run []int
	p := 1
	for _, a := range g.reduced {
		if g.template != ir.Reduce || slices.Contains(used, a) {
			continue
		}
		run = append(run, a)
		if p *= g.Lens[a]; p >= n {
			break
		}
	}
	if p != n {
		return nil
	}
	return run
}

// transposes reports whether a node of that layout has all axes of g and ends in
// another one than g: a reduction would step through its memory by whole rows.
func (g *group) transposes(l space.Layout) bool {
	axes := slices.Concat(l...)
	return len(axes) == len(g.Axes) && len(axes) > 1 && axes[len(axes)-1] != g.Axes[len(g.Axes)-1]
}

// covers reports whether a node of that layout may be computed in g: it has
// every parallel axis once, and in a reduction all reduced axes or none.
func (g *group) covers(l space.Layout) bool {
	parallel, reduced := 0, 0
	for _, axes := range l {
		for _, a := range axes {
			if slices.Contains(g.reduced, a) {
				reduced++
			} else {
				parallel++
			}
		}
	}
	if parallel != len(g.Axes)-len(g.reduced) && g.template != ir.Attention {
		return false
	}
	switch g.template {
	case ir.Pointwise, ir.Contraction:
		return reduced == 0
	case ir.Attention:
		return reduced == 0 && g.hasRows(l)
	case ir.Reduce:
		return reduced == 0 || reduced == len(g.reduced)
	}
	return false
}
