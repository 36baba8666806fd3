package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// A span is points along axes, the last of which is the inner one: lane l is at the
// row-major number base + step[l], a U32 or a U64. With fours, each four lanes are neighbours
// from a multiple of four on, and the inner axis is a multiple of four long. Clamp is
// the number of points, if some lanes may be past them.
type span struct {
	axes  []int
	base  *shader.Expr
	step  []int // nil: one lane
	fours bool
	clamp *shader.Expr
}

// at is the number of lane l.
func (w *span) at(l int) *shader.Expr {
	if w.step == nil {
		return w.base
	}
	return w.base.Plus(w.step[l])
}

// group is the number of lanes that are neighbours.
func (w *span) group() int {
	if w.fours {
		return 4
	}
	return 1
}

// validity returns the conditions under which lanes are not past the end.
func (w *span) validity() value {
	v := make(value, max(1, len(w.step)))
	for l := range v {
		if w.fours && l%4 > 0 {
			v[l] = v[l-1]
		} else {
			v[l] = w.at(l).Lt(w.clamp)
		}
	}
	return v
}

// enterValid enters a span; lanes past its end are not valid.
func (sc *scope) enterValid(w span) {
	if w = sc.counted(w); w.clamp != nil {
		sc.valid = append(sc.valid, w.validity())
	}
	sc.enter(w)
}

// counted is a span whose numbers have the type of those of its points.
func (sc *scope) counted(w span) span {
	t := sc.p.countType(sc.p.k.Size(w.axes))
	w.base = w.base.Convert(t)
	if w.clamp != nil {
		w.clamp = w.clamp.Convert(t)
	}
	return w
}

// enter makes the positions along a span's axes known in sc.
func (sc *scope) enter(w span) {
	switch w = sc.counted(w); {
	case len(w.axes) == 0:
	case len(w.axes) == 1 && w.clamp == nil:
		sc.enterAxis(&w)
	default:
		sc.enterAxes(&w)
	}
}

// enterAxis enters a span along one axis: it names the base, and lanes are
// steps from it.
func (sc *scope) enterAxis(w *span) {
	a := w.axes[0]
	base := sc.Let(sc.axisName(a, 0, 1), w.base.Convert(sc.axisType(a)))
	co := coord{at: value{base}}
	if w.step != nil {
		co.step, co.at = w.step, make(value, len(w.step))
		for l, n := range w.step {
			co.at[l] = base.Plus(n)
		}
		if w.fours {
			co.fours = contiguous
		}
	}
	sc.axes[a] = co
}

// enterAxes enters any span: it names the positions of each lane, or four.
func (sc *scope) enterAxes(w *span) {
	group := w.group()
	lanes := max(1, len(w.step))
	units := lanes / group
	inner := len(w.axes) - 1
	coords := make([]coord, len(w.axes))
	for u := range units {
		rest := w.at(u * group)
		if w.clamp != nil {
			rest = rest.Min(w.clamp.Sub(group))
		}
		for n := inner; n >= 0; n-- {
			name := sc.axisName(w.axes[n], u, units)
			at := rest
			if n > 0 {
				length := max(1, sc.p.k.Axes[w.axes[n]].Len)
				f := sc.Let("f"+name, rest)
				at, rest = f.Rem(length), f.Div(length).Convert(sc.p.countType(sc.p.k.Size(w.axes[:n])))
			}
			x := sc.Let(name, at.Convert(sc.axisType(w.axes[n])))
			for l := range group {
				if n < inner {
					l = 0
				}
				coords[n].at = append(coords[n].at, x.Plus(l))
			}
		}
	}
	for n, a := range w.axes {
		co := coords[n]
		switch {
		case lanes == 1:
		case w.fours && n == inner:
			co.fours = contiguous
			if units == 1 {
				co.step = []int{0, 1, 2, 3}
			}
		case w.fours && units == 1:
			co.at = co.at[:1]
		case w.fours:
			co.fours = uniform
		}
		sc.axes[a] = co
	}
}

// axisType is the type of positions along an axis.
func (sc *scope) axisType(a int) shader.Type { return sc.p.positionType(sc.p.k.Axes[a].Len) }

func (sc *scope) axisName(a, unit, units int) string {
	if units == 1 {
		return fmt.Sprintf("i%d%s", a, sc.tag)
	}
	return fmt.Sprintf("i%d%s_%d", a, sc.tag, unit)
}

// rank is the number of a point along axes, in row-major order, in each lane.
func (sc *scope) rank(axes []int) value {
	coef := make([]int, len(sc.p.k.Axes))
	n := 1
	for _, a := range slices.Backward(axes) {
		coef[a] = n
		n *= max(1, sc.p.k.Axes[a].Len)
	}
	return sc.linear(0, coef)
}

// count is 0, 1, 2 … of n lanes.
func count(n int) []int {
	list := make([]int, n)
	for l := range list {
		list[l] = l
	}
	return list
}
