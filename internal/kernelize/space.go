package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A space has axes, of which layouts are made. An axis may become two: layouts and coordinates that callers hold
// may still name the old one, see live.
type space struct {
	lens   []int   // of every axis, by number, also of those that were split
	axes   []int   // that are not split, outermost first
	splits []split // in order
}

// A layout lists, for each axis of a node, the axes of the group's space that
// make it up, most significant first: none for an axis of length 1.
type layout [][]int

// A split is an axis that became two: the outer one has number hi, the inner one
// has number hi+1 and length inner.
type split struct{ axis, hi, inner int }

// newSpace returns a space that has an axis for each of dims that is longer than 1, and the
// layout of a node of that shape.
func newSpace(dims []int) (s space, l layout) {
	l = make(layout, len(dims))
	for i, n := range dims {
		if n != 1 {
			l[i] = []int{s.newAxis(n)}
		}
	}
	return s, l
}

func (g *space) newAxis(n int) int {
	g.lens = append(g.lens, n)
	g.axes = append(g.axes, len(g.lens)-1)
	return len(g.lens) - 1
}

// hasRoom reports whether g may get that many axes more. A split uses two numbers and leaves one
// without an axis.
func (g *space) hasRoom(axes int) bool { return len(g.lens)+axes <= ir.MaxAxes }

// splitAxis replaces an axis by two.
func (g *space) splitAxis(axis, inner int) split {
	s := split{axis, len(g.lens), inner}
	g.lens = append(g.lens, g.lens[axis]/inner, inner)
	g.splits = append(g.splits, s)
	g.axes = s.axes(g.axes)
	return s
}

// split is splitAxis, of which the number of the outer axis is known.
func (g *space) split(axis, inner int) (hi int) {
	s := g.splitAxis(axis, inner)
	return s.hi
}

func (s *split) expr(f ir.AffineExpr) ir.AffineExpr {
	return shape.SplitAxis(f, s.axis, s.hi, s.hi+1, s.inner)
}

func (s *split) axes(axes []int) []int {
	if i := slices.Index(axes, s.axis); i >= 0 {
		return slices.Concat(axes[:i], []int{s.hi, s.hi + 1}, axes[i+1:])
	}
	return axes
}

func (s *split) layout(l layout) {
	for i := range l {
		l[i] = s.axes(l[i])
	}
}

// live returns coordinates without axes that were split.
func (g *space) live(at []ir.AffineExpr) []ir.AffineExpr {
	if len(g.splits) == 0 {
		return at
	}
	at = slices.Clone(at)
	for i := range at {
		for _, s := range g.splits {
			at[i] = s.expr(at[i])
		}
	}
	return at
}

func (g *space) liveGuards(guards []ir.Guard) []ir.Guard {
	if len(g.splits) == 0 {
		return guards
	}
	guards = slices.Clone(guards)
	for i := range guards {
		for _, s := range g.splits {
			guards[i].AffineExpr = s.expr(guards[i].AffineExpr)
		}
	}
	return guards
}

func (g *space) liveLayout(l layout) layout {
	for _, s := range g.splits {
		s.layout(l)
	}
	return l
}

// liveSet returns axes with those that were split replaced by their parts.
func (g *space) liveSet(axes ir.AxisSet) ir.AxisSet {
	for _, s := range g.splits {
		if axes.Has(s.axis) {
			axes |= ir.Axes(s.hi, s.hi+1)
		}
	}
	return axes & ir.Axes(g.axes...)
}

// coordinates returns the position along each axis of a node of layout l.
func (g *space) coordinates(l layout) []ir.AffineExpr {
	at, n := make([]ir.AffineExpr, len(l)), len(g.lens)
	coefs := make([]int, len(l)*n)
	for i, axes := range l {
		at[i] = g.coordinate(axes, coefs[i*n:(i+1)*n:(i+1)*n])
	}
	return at
}

// coordinate returns the position along an axis of a node that is made up of axes of
// the group. Coef has a 0 for each axis of the group, and backs the result.
func (g *space) coordinate(axes, coef []int) ir.AffineExpr {
	if len(axes) == 0 {
		return shape.Constant(0)
	}
	at := ir.AffineExpr{Coef: coef, Div: 1}
	step := 1
	for _, a := range slices.Backward(axes) {
		at.Coef[a] = step
		step *= g.lens[a]
	}
	return at
}

// isAt reports whether at is the coordinates of a node of layout l.
func (g *space) isAt(at []ir.AffineExpr, l layout) bool {
	var buf [8]int
	for i, axes := range l {
		coef := append(buf[:0], make([]int, len(g.lens))...)
		if !shape.Equal(g.coordinate(axes, coef), at[i]) {
			return false
		}
	}
	return true
}

// count is the number of positions along axes.
func (g *space) count(axes ir.AxisSet) int {
	n := 1
	for _, a := range g.liveSet(axes).List() {
		n *= g.lens[a]
	}
	return n
}

// reshape takes a layout through a reshape, splitting axes where needed.
func (g *space) reshape(l layout, from, to []int, split func(axis, inner int) (hi int)) (layout, bool) {
	out := make(layout, len(to))
	for r := range shape.Groups(from, to) {
		axes := slices.Concat(l[r.From[0]:r.From[1]]...)
		for j := r.To[0]; j < r.To[1]; j++ {
			for rest := to[j]; rest > 1; {
				a := axes[0]
				switch n := g.lens[a]; {
				case rest%n == 0:
					out[j] = append(out[j], a)
					rest /= n
					axes = axes[1:]
				case n%rest == 0 && g.hasRoom(2):
					hi := split(a, n/rest)
					axes = append([]int{hi, hi + 1}, axes[1:]...)
				default:
					return nil, false
				}
			}
		}
	}
	return out, true
}

// permute takes a layout through a permutation.
func permute(l layout, ints []int) layout {
	to := make(layout, len(l))
	for i, a := range ints {
		to[i] = l[a]
	}
	return to
}

func equalLayouts(a, b layout) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }

// takeReduced moves the axes that a reduction reduces from the layout of its operand, which becomes the
// reduction's, to a layout of their own.
func takeReduced(l layout, ints []int) (over layout) {
	over = make(layout, len(l))
	for _, a := range ints {
		over[a], l[a] = l[a], nil
	}
	return over
}
