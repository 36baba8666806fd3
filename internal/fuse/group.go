package fuse

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Group is nodes that one kernel computes: each point of the group's space
// computes one element of each, or shares it with the points that differ only
// on axes the node does not have.
type Group struct {
	Template ir.Template
	// Lens has the length of every axis of the space, by number. Axes lists
	// the live ones, outermost first: an axis that was split is dead.
	Lens []int
	Axes []int
	// Reduced are the axes that reductions run over.
	Reduced []int
	// Layouts says where the group's nodes lie in its space.
	Layouts map[*graph.Node]Layout
	// Over has, for each reduction, the axes that stand for those it reduces.
	// A reduction that is here but not in Layouts is part of another one.
	Over map[*graph.Node]Layout
	// Sides are the factors of a contraction, Sum the node that adds them up.
	Sides [2][]Factor
	Sum   *graph.Node
	// Scatter is the node of a special group.
	Scatter *graph.Node
	Stores  []Store

	// inline has the nodes that the group computes on the way to its own. It
	// goes on to, when a later group comes to store one of them.
	inline  map[*graph.Node]bool
	order   int    // a group reads only what groups of lower order store
	reader  int    // the least order of a group that read from this one
	into    *Group // the group this one was merged into
	closed  bool   // nothing joins it
	dropped bool   // its sum became part of another one
}

// A Layout lists, for each axis of a node, the axes of the group's space that
// make it up, most significant first: none for an axis of length 1.
type Layout [][]int

// A Factor is a part of a contraction's product, read at those coordinates,
// 0 where a guard does not hold.
type Factor struct {
	Node   *graph.Node
	At     []ir.AffineExpr
	Guards []ir.Guard
}

// A Store is a value that the group writes: Node, laid out by Layout over the
// group's space, into Target, from position Offset of its axis Axis on.
type Store struct {
	Node, Target *graph.Node
	Layout       Layout
	Axis, Offset int
}

const pending = math.MaxInt // the order of a group that is being made

// newGroup returns a group whose space has an axis for each of shape's that is
// longer than 1, and the layout of a node of that shape.
func newGroup(sk ir.Template, dims []int) (*Group, Layout) {
	g := &Group{
		Template: sk,
		Layouts:  map[*graph.Node]Layout{},
		Over:     map[*graph.Node]Layout{},
		inline:   map[*graph.Node]bool{},
		order:    pending,
		reader:   pending,
	}
	l := make(Layout, len(dims))
	for i, n := range dims {
		if n != 1 {
			l[i] = []int{g.newAxis(n)}
		}
	}
	return g, l
}

// computes notes nodes that g computes on the way to its own.
func (g *Group) computes(nodes []*graph.Node) {
	for _, n := range nodes {
		g.inline[n] = true
	}
}

// numbers is how many numbers g is given, if it computes more nodes.
func (g *Group) numbers(more []*graph.Node) int {
	n := 0
	for x := range g.inline {
		if x.Op == ir.Scalar {
			n++
		}
	}
	for i, x := range more {
		if x.Op == ir.Scalar && !g.inline[x] && !slices.Contains(more[:i], x) {
			n++
		}
	}
	return n
}

func (g *Group) newAxis(n int) int {
	g.Lens = append(g.Lens, n)
	g.Axes = append(g.Axes, len(g.Lens)-1)
	return len(g.Lens) - 1
}

// find is the group that g has become part of.
func (g *Group) find() *Group {
	for g != nil && g.into != nil {
		g = g.into
	}
	return g
}

// gone reports whether nothing is left of g: it is part of another group.
func (g *Group) gone() bool { return g.dropped || g.into != nil }

// split replaces an axis by two, in everything that names it.
func (g *Group) split(s shape.Split) {
	n := len(g.Lens)
	g.Lens = append(g.Lens, g.Lens[s.Axis]/s.Inner, s.Inner)
	parts := []int{n, n + 1}
	replace := func(axes []int) []int {
		if i := slices.Index(axes, s.Axis); i >= 0 {
			return slices.Concat(axes[:i], parts, axes[i+1:])
		}
		return axes
	}
	relay := func(l Layout) {
		for i := range l {
			l[i] = replace(l[i])
		}
	}
	g.Axes, g.Reduced = replace(g.Axes), replace(g.Reduced)
	for _, m := range []map[*graph.Node]Layout{g.Layouts, g.Over} {
		for _, l := range m {
			relay(l)
		}
	}
	for _, st := range g.Stores {
		relay(st.Layout)
	}
	for _, side := range g.Sides {
		for _, f := range side {
			for i := range f.At {
				f.At[i] = shape.SplitAxis(f.At[i], s.Axis, n, n+1, s.Inner)
			}
			for i := range f.Guards {
				f.Guards[i].AffineExpr = shape.SplitAxis(f.Guards[i].AffineExpr, s.Axis, n, n+1, s.Inner)
			}
		}
	}
}

// Forms are the coordinates that a layout means.
func (g *Group) Forms(l Layout) []ir.AffineExpr {
	at := make([]ir.AffineExpr, len(l))
	for i, axes := range l {
		at[i] = shape.Constant(0)
		for _, a := range axes {
			at[i] = shape.Combine(at[i], g.Lens[a], shape.Axis(a, 1), 1, 0)
		}
	}
	return at
}

// Operand is where a reduction that is read at those coordinates reads its
// operand.
func (g *Group) Operand(n *graph.Node, at []ir.AffineExpr) []ir.AffineExpr {
	src := slices.Clone(at)
	over := g.Forms(g.Over[n])
	for _, a := range n.Ints {
		src[a] = over[a]
	}
	return src
}

// take moves the axes that n reduces from the layout of its operand, which
// becomes that of n, to a layout of their own.
func take(l Layout, n *graph.Node) (over Layout) {
	over = make(Layout, len(l))
	for _, a := range n.Ints {
		over[a], l[a] = l[a], nil
	}
	return over
}

func clone(l Layout) Layout {
	c := make(Layout, len(l))
	for i := range l {
		c[i] = slices.Clone(l[i])
	}
	return c
}

// derive returns the layout of n as it follows from that of the member which
// n is a movement of, or is. Only movements that lose and repeat nothing have
// one, and Expand along the axes that the member was reduced over.
func (g *Group) derive(n *graph.Node) (Layout, bool) {
	if g.Template == ir.Routine || g.closed { // a special group's layouts are those of updates
		return nil, false
	}
	if l, ok := g.Layouts[n]; ok {
		return clone(l), true
	}
	if n.Op != ir.Permute && n.Op != ir.Reshape && n.Op != ir.Expand {
		return nil, false
	}
	x := n.Src()[0]
	from, ok := g.derive(x)
	if !ok {
		return nil, false
	}
	l := make(Layout, len(n.Shape))
	switch n.Op {
	case ir.Permute:
		for i, a := range n.Ints {
			l[i] = from[a]
		}
	case ir.Reshape:
		return g.regroup(from, x.Shape, n.Shape)
	case ir.Expand:
		var used []int
		for i := range from {
			l[i] = from[i]
			used = append(used, from[i]...)
		}
		for i := range from {
			if x.Shape[i] == n.Shape[i] {
				continue
			}
			if l[i] = g.reducedRun(n.Shape[i], used); l[i] == nil {
				return nil, false
			}
			used = append(used, l[i]...)
		}
	}
	return l, true
}

// reducedRun finds reduced axes, none of them used, that together have length
// n.
func (g *Group) reducedRun(n int, used []int) []int {
	var run []int
	p := 1
	for _, a := range g.Reduced {
		if g.Template != ir.Reduce || slices.Contains(used, a) {
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

// regroup takes a layout through a reshape, splitting axes where needed.
func (g *Group) regroup(l Layout, from, to []int) (Layout, bool) {
	out := make(Layout, len(to))
	for _, r := range shape.Groups(from, to) {
		var axes []int
		for i := r.From[0]; i < r.From[1]; i++ {
			axes = append(axes, l[i]...)
		}
		for j := r.To[0]; j < r.To[1]; j++ {
			for rest := to[j]; rest > 1; {
				a := axes[0]
				switch n := g.Lens[a]; {
				case rest%n == 0:
					out[j] = append(out[j], a)
					rest /= n
					axes = axes[1:]
				case n%rest == 0:
					g.split(shape.Split{Axis: a, Inner: n / rest})
					hi := len(g.Lens) - 2
					axes = append([]int{hi, hi + 1}, axes[1:]...)
				default:
					return nil, false
				}
			}
		}
	}
	return out, true
}

// transposes reports whether a node of that layout has all axes of g, but ends
// in another one: a row kernel would step through its memory by whole rows.
func (g *Group) transposes(l Layout) bool {
	axes := slices.Concat(l...)
	return len(axes) == len(g.Axes) && len(axes) > 1 && axes[len(axes)-1] != g.Axes[len(g.Axes)-1]
}

// covers reports whether a node of that layout may be computed in g: it has
// every kept axis once, and in a row group all reduced axes or none.
func (g *Group) covers(l Layout) bool {
	var count, reduced int
	for _, axes := range l {
		for _, a := range axes {
			count++
			if slices.Contains(g.Reduced, a) {
				reduced++
			}
		}
	}
	kept := len(g.Axes) - len(g.Reduced)
	switch g.Template {
	case ir.Pointwise:
		return count == len(g.Axes)
	case ir.Reduce:
		return count-reduced == kept && (reduced == 0 || reduced == len(g.Reduced))
	case ir.Contraction:
		return reduced == 0 && count == kept
	}
	return false
}
