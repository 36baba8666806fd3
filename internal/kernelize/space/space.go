// Package space has axes that may be split, and layouts, which map the axes of tensors to them.
package space

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Space has axes, of which layouts are made. An axis may become two: layouts and coordinates that callers hold
// may still name the old one, see live.
type Space struct {
	Lens   []int   // of every axis, by number, also of those that were split
	Axes   []int   // that are not split, outermost first
	Splits []split // in order
}

// A Layout lists, for each axis of a node, the axes of the group's space that
// make it up, most significant first: none for an axis of length 1.
type Layout [][]int

// A split is an axis that became two: the outer one has number hi, the inner one
// has number hi+1 and length inner.
type split struct{ axis, Hi, inner int }

// New returns a space that has an axis for each of dims that is longer than 1, and the
// layout of a node of that shape.
func New(dims []int) (s Space, l Layout) {
	l = make(Layout, len(dims))
	for i, n := range dims {
		if n != 1 {
			l[i] = []int{s.NewAxis(n)}
		}
	}
	return s, l
}

func (g *Space) NewAxis(n int) int {
	g.Lens = append(g.Lens, n)
	g.Axes = append(g.Axes, len(g.Lens)-1)
	return len(g.Lens) - 1
}

// HasRoom reports whether g may get that many axes more. A split uses two numbers and leaves one
// without an axis.
func (g *Space) HasRoom(axes int) bool { return len(g.Lens)+axes <= ir.MaxAxes }

// SplitAxis replaces an axis by two.
func (g *Space) SplitAxis(axis, inner int) split {
	s := split{axis, len(g.Lens), inner}
	g.Lens = append(g.Lens, g.Lens[axis]/inner, inner)
	g.Splits = append(g.Splits, s)
	g.Axes = s.Axes(g.Axes)
	return s
}

// Split is splitAxis, of which the number of the outer axis is known.
func (g *Space) Split(axis, inner int) (hi int) {
	s := g.SplitAxis(axis, inner)
	return s.Hi
}

func (s *split) Expr(f ir.AffineExpr) ir.AffineExpr {
	return shape.SplitAxis(f, s.axis, s.Hi, s.Hi+1, s.inner)
}

func (s *split) Axes(axes []int) []int {
	if i := slices.Index(axes, s.axis); i >= 0 {
		return slices.Concat(axes[:i], []int{s.Hi, s.Hi + 1}, axes[i+1:])
	}
	return axes
}

func (s *split) Layout(l Layout) {
	for i := range l {
		l[i] = s.Axes(l[i])
	}
}

// Live returns coordinates without axes that were split.
func (g *Space) Live(at []ir.AffineExpr) []ir.AffineExpr {
	if len(g.Splits) == 0 {
		return at
	}
	at = slices.Clone(at)
	for i := range at {
		for _, s := range g.Splits {
			at[i] = s.Expr(at[i])
		}
	}
	return at
}

func (g *Space) LiveGuards(guards []ir.Guard) []ir.Guard {
	if len(g.Splits) == 0 {
		return guards
	}
	guards = slices.Clone(guards)
	for i := range guards {
		for _, s := range g.Splits {
			guards[i].AffineExpr = s.Expr(guards[i].AffineExpr)
		}
	}
	return guards
}

func (g *Space) LiveLayout(l Layout) Layout {
	for _, s := range g.Splits {
		s.Layout(l)
	}
	return l
}

// LiveSet returns axes with those that were split replaced by their parts.
func (g *Space) LiveSet(axes ir.AxisSet) ir.AxisSet {
	for _, s := range g.Splits {
		if axes.Has(s.axis) {
			axes |= ir.Axes(s.Hi, s.Hi+1)
		}
	}
	return axes & ir.Axes(g.Axes...)
}

// Coordinates returns the position along each axis of a node of layout l.
func (g *Space) Coordinates(l Layout) []ir.AffineExpr {
	at, n := make([]ir.AffineExpr, len(l)), len(g.Lens)
	coefs := make([]int, len(l)*n)
	for i, axes := range l {
		at[i] = g.Coordinate(axes, coefs[i*n:(i+1)*n:(i+1)*n])
	}
	return at
}

// Coordinate returns the position along an axis of a node that is made up of axes of
// the group. Coef has a 0 for each axis of the group, and backs the result.
func (g *Space) Coordinate(axes, coef []int) ir.AffineExpr {
	if len(axes) == 0 {
		return shape.Constant(0)
	}
	at := ir.AffineExpr{Coef: coef, Div: 1}
	step := 1
	for _, a := range slices.Backward(axes) {
		at.Coef[a] = step
		step *= g.Lens[a]
	}
	return at
}

// IsAt reports whether at is the coordinates of a node of layout l.
func (g *Space) IsAt(at []ir.AffineExpr, l Layout) bool {
	var buf [8]int
	for i, axes := range l {
		coef := append(buf[:0], make([]int, len(g.Lens))...)
		if !shape.Equal(g.Coordinate(axes, coef), at[i]) {
			return false
		}
	}
	return true
}

// Count is the number of positions along axes.
func (g *Space) Count(axes ir.AxisSet) int {
	n := 1
	for _, a := range g.LiveSet(axes).List() {
		n *= g.Lens[a]
	}
	return n
}

// Reshape takes a layout through a reshape, splitting axes where needed.
func (g *Space) Reshape(l Layout, from, to []int, split func(axis, inner int) (hi int)) (Layout, bool) {
	out := make(Layout, len(to))
	for r := range shape.Groups(from, to) {
		axes := slices.Concat(l[r.From[0]:r.From[1]]...)
		for j := r.To[0]; j < r.To[1]; j++ {
			for rest := to[j]; rest > 1; {
				a := axes[0]
				switch n := g.Lens[a]; {
				case rest%n == 0:
					out[j] = append(out[j], a)
					rest /= n
					axes = axes[1:]
				case n%rest == 0 && g.HasRoom(2):
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

// Permute takes a layout through a permutation.
func Permute(l Layout, ints []int) Layout {
	to := make(Layout, len(l))
	for i, a := range ints {
		to[i] = l[a]
	}
	return to
}

func EqualLayouts(a, b Layout) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }

// TakeReduced moves the axes that a reduction reduces from the layout of its operand, which becomes the
// reduction's, to a layout of their own.
func TakeReduced(l Layout, ints []int) (over Layout) {
	over = make(Layout, len(l))
	for _, a := range ints {
		over[a], l[a] = l[a], nil
	}
	return over
}
