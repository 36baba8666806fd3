package wgsl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

func (c *compiler) mapKernel() {
	c.points(c.axes(ir.Kept), c.stores(0, false), nil)
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
