package build

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// InLane gives positions in one lane.
func InLane(axes map[int]coord, l int) map[int]coord {
	one := map[int]coord{}
	for a, c := range axes {
		one[a] = coord{at: Value{c.at.Lane(l)}}
	}
	return one
}

// A Span is points along axes, the last of which is the inner one: lane l is at the
// row-major number base + step[l], a U32 or a U64. With fours, each four lanes are neighbours
// from a multiple of four on, and the inner axis is a multiple of four long; with eights also,
// if there are fours, each eight lanes from a multiple of eight on. Clamp is the number of points,
// if some lanes may be past them.
type Span struct {
	Axes   []int
	Base   *shader.Expr
	Step   []int // nil: one lane
	Fours  bool
	Eights bool
	Clamp  *shader.Expr
}

// At is the number of lane l.
func (w *Span) At(l int) *shader.Expr {
	if w.Step == nil {
		return w.Base
	}
	return w.Base.Plus(w.Step[l])
}

// group is the number of lanes that are neighbours.
func (w *Span) group() int {
	if w.Fours {
		return 4
	}
	return 1
}

// validity returns the conditions under which lanes are not past the end.
func (w *Span) validity() Value {
	v := make(Value, max(1, len(w.Step)))
	for l := range v {
		if w.Fours && l%4 > 0 {
			v[l] = v[l-1]
		} else {
			v[l] = w.At(l).Lt(w.Clamp)
		}
	}
	return v
}

// EnterValid enters a span; lanes past its end are not valid.
func (sc *Scope) EnterValid(w Span) {
	if w = sc.counted(w); w.Clamp != nil {
		sc.Valid = append(sc.Valid, w.validity())
	}
	sc.Enter(w)
}

// counted is the span with numbers of the type that counts its points.
func (sc *Scope) counted(w Span) Span {
	t := sc.Pass.CountType(sc.Pass.Nest.Size(w.Axes))
	w.Base = w.Base.Convert(t)
	if w.Clamp != nil {
		w.Clamp = w.Clamp.Convert(t)
	}
	return w
}

// Enter makes the positions along a span's axes known in sc.
func (sc *Scope) Enter(w Span) {
	switch w = sc.counted(w); {
	case len(w.Axes) == 0:
	case len(w.Axes) == 1 && w.Clamp == nil:
		sc.enterAxis(&w)
	default:
		sc.enterAxes(&w)
	}
}

// enterAxis enters a span along one axis: it names the base, and lanes are
// steps from it.
func (sc *Scope) enterAxis(w *Span) {
	a := w.Axes[0]
	base := sc.Let(sc.axisName(a, 0, 1), w.Base.Convert(sc.axisType(a)))
	co := coord{at: Value{base}}
	if w.Step != nil {
		co.step, co.at = w.Step, make(Value, len(w.Step))
		for l, n := range w.Step {
			co.at[l] = base.Plus(n)
		}
		if w.Fours {
			co.fours, co.eights = contiguous, w.Eights
		}
	}
	sc.Axes[a] = co
}

// enterAxes enters any span: it names the positions of each lane, or four.
func (sc *Scope) enterAxes(w *Span) {
	group := w.group()
	lanes := max(1, len(w.Step))
	units := lanes / group
	inner := len(w.Axes) - 1
	coords := make([]coord, len(w.Axes))
	for u := range units {
		rest := w.At(u * group)
		if w.Clamp != nil {
			rest = rest.Min(w.Clamp.Sub(group))
		}
		for n := inner; n >= 0; n-- {
			name := sc.axisName(w.Axes[n], u, units)
			at := rest
			if n > 0 {
				length := max(1, sc.Pass.Nest.Axes[w.Axes[n]].Len)
				f := sc.Let("f"+name, rest)
				at, rest = f.Rem(length), f.Div(length).Convert(sc.Pass.CountType(sc.Pass.Nest.Size(w.Axes[:n])))
			}
			x := sc.Let(name, at.Convert(sc.axisType(w.Axes[n])))
			for l := range group {
				if n < inner {
					l = 0
				}
				coords[n].at = append(coords[n].at, x.Plus(l))
			}
		}
	}
	for n, a := range w.Axes {
		co := coords[n]
		switch {
		case lanes == 1:
		case w.Fours && n == inner:
			co.fours = contiguous
			if units == 1 {
				co.step = []int{0, 1, 2, 3}
			}
		case w.Fours && units == 1:
			co.at = co.at[:1]
		case w.Fours:
			co.fours = uniform
		}
		sc.Axes[a] = co
	}
}

// axisType is the type of positions along an axis.
func (sc *Scope) axisType(a int) shader.Type { return sc.Pass.PositionType(sc.Pass.Nest.Axes[a].Len) }

func (sc *Scope) axisName(a, unit, units int) string {
	if units == 1 {
		return fmt.Sprintf("i%d%s", a, sc.Tag)
	}
	return fmt.Sprintf("i%d%s_%d", a, sc.Tag, unit)
}

// Rank is the number of a point along axes, in row-major order, in each lane.
func (sc *Scope) Rank(axes []int) Value {
	coef := make([]int, len(sc.Pass.Nest.Axes))
	n := 1
	for _, a := range slices.Backward(axes) {
		coef[a] = n
		n *= max(1, sc.Pass.Nest.Axes[a].Len)
	}
	return sc.linear(0, coef)
}

// Lanes is 0, 1, 2 … of n lanes.
func Lanes(n int) []int {
	list := make([]int, n)
	for l := range list {
		list[l] = l
	}
	return list
}
