package wgsl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

func (c *compiler) mapKernel() {
	c.points(c.axes(ir.Parallel), c.stores(0, false), nil)
	c.settle()
}

// points adds a pass with a thread for each point along axes, or for four of
// them, which does the given stores. reduced, if not nil, gives the values of
// reductions.
func (c *compiler) points(axes []int, stores []int, reduced func(sc *scope, i int)) {
	axes = c.ordered(axes, stores)
	lanes := 1
	if c.quadruple(axes, stores) {
		lanes = 4
	}
	if other := c.crossing(axes); other >= 0 {
		c.squares(axes, other, stores, reduced)
		return
	}
	c.pass(c.t.threads(), func(s *shader) {
		s.reduced = reduced
		n := s.length(axes) / lanes
		s.groups = ceilDiv(n, s.size)
		s.root.line("let item = group * %du + thread;", s.size)
		sc := s.root.block()
		w := walk{axes: axes, base: "item"}
		if lanes == 4 {
			w.base, w.step, w.quads = "item * 4u", []int{0, 1, 2, 3}, true
		}
		sc.enter(w)
		for _, i := range stores {
			sc.store(i)
		}
		sc.end(fmt.Sprintf("if (item < %du)", n))
	})
}

// square is the side of the squares of points that a workgroup does where
// what is read lies along another axis than what is written.
const square = 32

// crossing returns the axis along which a load that takes large steps along
// the last axis is contiguous, or -1 if there is none.
func (c *compiler) crossing(axes []int) int {
	if len(axes) < 2 || c.t.threads() < square*square/4 {
		return -1
	}
	inner := axes[len(axes)-1]
	for i := range c.k.Body {
		in := &c.k.Body[i]
		if in.Op != ir.Load || abs(in.View.Coef[inner]) < square || c.k.Axes[inner].Len < square/2 {
			continue
		}
		for _, a := range axes {
			if abs(in.View.Coef[a]) == 1 && c.k.Axes[a].Len >= square/2 {
				return a
			}
		}
	}
	return -1
}

// squares is points for a kernel that reads along another axis than it
// writes: neighbouring threads lie along the one, and each does four points
// along the other.
func (c *compiler) squares(axes []int, other int, stores []int, reduced func(sc *scope, i int)) {
	inner := axes[len(axes)-1]
	var rest []int
	for _, a := range axes[:len(axes)-1] {
		if a != other {
			rest = append(rest, a)
		}
	}
	c.pass(square*square/4, func(s *shader) {
		s.reduced = reduced
		high, wide := ceilDiv(c.k.Axes[other].Len, square), ceilDiv(c.k.Axes[inner].Len, square)
		s.groups = high * wide * c.length(rest)
		s.root.line("let job = min(group, %du);", s.groups-1)
		s.root.line("let rest = job / %du;", high*wide)
		s.root.line("let across = job / %du %% %du * %du + thread %% %du;", wide, high, square, square)
		s.root.line("let along = job %% %du * %du + thread / %du * 4u;", wide, square, square)
		s.root.enter(walk{axes: rest, base: "rest"})
		for _, w := range []walk{
			{axes: []int{other}, base: "across"},
			{axes: []int{inner}, base: "along", step: []int{0, 1, 2, 3}, quads: c.k.Axes[inner].Len%4 == 0},
		} {
			if n := c.k.Axes[w.axes[0]].Len; n%square != 0 {
				w.clamp = fmt.Sprintf("%du", n)
			}
			s.root.limit(w)
			s.root.enter(w)
		}
		for _, i := range stores {
			s.root.store(i)
		}
	})
}

// ordered sorts axes so that the first of the stores goes through memory in
// row-major order.
func (c *compiler) ordered(axes, stores []int) []int {
	list := c.long(axes)
	if len(stores) > 0 {
		coef := c.k.Body[stores[0]].View.Coef
		slices.SortStableFunc(list, func(a, b int) int { return -cmp.Compare(abs(coef[a]), abs(coef[b])) })
	}
	return list
}

// quadruple reports whether all stores can write four points along the last
// axis at once.
func (c *compiler) quadruple(axes, stores []int) bool {
	if len(axes) == 0 || c.k.Axes[axes[len(axes)-1]].Len%4 != 0 {
		return false
	}
	inner := axes[len(axes)-1]
	for _, i := range stores {
		v := c.k.Body[i].View
		if v.Coef[inner] != 1 || v.Off%4 != 0 {
			return false
		}
		for _, a := range axes[:len(axes)-1] {
			if v.Coef[a]%4 != 0 {
				return false
			}
		}
	}
	return true
}
