package wgsl

import (
	"fmt"

	"github.com/tensorken/tensorken/ir"
)

// length is the number of points along axes.
func (c *compiler) length(axes []int) int {
	n := 1
	for _, a := range axes {
		n *= c.k.Axes[a].Len
	}
	return n
}

// axes lists the axes that have one of some roles.
func (c *compiler) axes(roles ...ir.Role) []int {
	var list []int
	set := c.k.Roles(roles...)
	for a := range c.k.Axes {
		if set.Has(a) {
			list = append(list, a)
		}
	}
	return list
}

// long lists those of axes that are longer than 1: the others are at 0.
func (c *compiler) long(axes []int) []int {
	var list []int
	for _, a := range axes {
		if c.k.Axes[a].Len != 1 {
			list = append(list, a)
		}
	}
	return list
}

// A walk is how lanes go along axes, of which the last is the inner one: lane
// l is at the number base + step[l], a u32, in row-major order. With quads
// they go by fours from multiples of four, and the inner axis is a multiple
// of four long. Clamp is the number of points, if some lanes may be past them.
type walk struct {
	axes  []int
	base  string
	step  []int // nil: one lane
	quads bool
	clamp string
}

// enter makes the positions along a walk's axes known in sc.
func (sc *scope) enter(w walk) {
	axes := sc.s.long(w.axes)
	if len(axes) == 0 {
		return
	}
	step, group := w.step, 1
	if step == nil {
		step = []int{0}
	}
	if w.quads {
		group = 4
	}
	units := len(step) / group
	flat := make([]string, units)
	for u := range flat {
		flat[u] = w.base
		if n := step[u*group]; n > 0 {
			flat[u] = fmt.Sprintf("%s + %du", w.base, n)
		}
		if w.clamp != "" {
			flat[u] = fmt.Sprintf("min(%s, %s - %du)", flat[u], w.clamp, group)
		}
	}
	if len(axes) == 1 && w.clamp == "" {
		// One name and steps from it.
		a := axes[0]
		name := sc.axisName(a, 0, 1)
		sc.line("let %s = i32(%s);", name, w.base)
		co := coord{at: []string{name}}
		if w.step != nil {
			co.step = w.step
			co.at = make([]string, len(step))
			for l, n := range step {
				co.at[l] = name
				if n > 0 {
					co.at[l] = fmt.Sprintf("%s + %d", name, n)
				}
			}
			if w.quads {
				co.quads = counting
			}
		}
		sc.axes[a] = co
		return
	}
	coords := make([]coord, len(axes))
	for u, f := range flat {
		rest := f
		for n := len(axes) - 1; n >= 0; n-- {
			a := axes[n]
			name := sc.axisName(a, u, units)
			length := max(1, sc.s.k.Axes[a].Len)
			if n == 0 {
				sc.line("let %s = i32(%s);", name, rest)
			} else {
				f := "f" + name
				sc.line("let %s = %s;", f, rest)
				sc.line("let %s = i32(%s %% %du);", name, f, length)
				rest = fmt.Sprintf("%s / %du", f, length)
			}
			co := &coords[n]
			for l := range group {
				at := name
				if n == len(axes)-1 && l > 0 {
					at = fmt.Sprintf("%s + %d", name, l)
				}
				co.at = append(co.at, at)
			}
		}
	}
	for n, a := range axes {
		co := coords[n]
		switch {
		case len(step) == 1:
		case w.quads && n == len(axes)-1:
			co.quads = counting
			if units == 1 {
				co.step = []int{0, 1, 2, 3}
			}
		case w.quads && units == 1:
			co.at = co.at[:1]
		case w.quads:
			co.quads = still
		}
		sc.axes[a] = co
	}
}

func (sc *scope) axisName(a, unit, units int) string {
	if units == 1 {
		return fmt.Sprintf("i%d%s", a, sc.tag)
	}
	return fmt.Sprintf("i%d%s_%d", a, sc.tag, unit)
}

// rank is the number of a point along axes, in row-major order, in each lane;
// axes that over does not have are at 0.
func (sc *scope) rank(axes []int, over ir.AxisSet) sum {
	coef := make([]int, len(sc.s.k.Axes))
	n := 1
	for k := len(axes) - 1; k >= 0; k-- {
		if over.Has(axes[k]) {
			coef[axes[k]] = n
		}
		n *= max(1, sc.s.k.Axes[axes[k]].Len)
	}
	return sc.linear(0, coef)
}

// validity gives the conditions under which the lanes of a walk are not past
// its end.
func validity(w walk) []string {
	list := make([]string, max(1, len(w.step)))
	for l := range list {
		n := 0
		switch {
		case w.step == nil:
		case w.quads:
			n = w.step[l&^3]
		default:
			n = w.step[l]
		}
		list[l] = fmt.Sprintf("%s < %s", w.base, w.clamp)
		if n > 0 {
			list[l] = fmt.Sprintf("%s + %du < %s", w.base, n, w.clamp)
		}
	}
	return list
}

// limit makes those lanes of a walk valid that are not past its end.
func (sc *scope) limit(w walk) {
	if w.clamp == "" {
		return
	}
	list := validity(w)
	switch old := value(sc.valid); {
	case len(old) == 0:
	case len(list) < len(old):
		for l := range old {
			old[l] += " && " + list[0]
		}
		list = old
	default:
		for l := range list {
			list[l] = old.lane(l) + " && " + list[l]
		}
	}
	sc.valid = list
}
