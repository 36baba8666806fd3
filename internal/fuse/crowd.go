package fuse

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Few graphs have kernels of more buffers than a device can bind. Those are
// parted again, with some nodes in groups of their own.

// crowded returns nodes to be set apart, so that groups get by with fewer
// buffers; none if all do, or nothing helps.
func (f *fuser) crowded(groups []*Group) map[*graph.Node]bool {
	apart := map[*graph.Node]bool{}
	if f.bindings == 0 {
		return apart
	}
	for _, g := range groups {
		c := &crowd{f: f, g: g, below: map[*graph.Node]nodeSet{}, apart: map[*graph.Node]bool{}}
		if f.buffers(g)+c.status() <= f.bindings {
			continue
		}
		c.part()
		maps.Copy(apart, c.apart)
	}
	return apart
}

type nodeSet map[*graph.Node]bool

// A crowd is a group of too many buffers.
type crowd struct {
	f     *fuser
	g     *Group
	below map[*graph.Node]nodeSet // what nodes are made from, in memory
	order []*graph.Node           // that the group computes, operands first
	apart map[*graph.Node]bool
}

// status is 1 if the group needs a buffer to note bad indices in.
func (c *crowd) status() int {
	for n := range c.g.inline {
		if n.Op == ir.Gather {
			return 1
		}
	}
	for n := range c.g.Layouts {
		if n.Op == ir.Gather || n.Op == ir.Scatter {
			return 1
		}
	}
	return 0
}

// part sets apart the largest parts of what reads too much; where nothing
// does, half of what the group stores.
func (c *crowd) part() {
	for _, n := range slices.SortedFunc(maps.Keys(c.g.Layouts), func(a, b *graph.Node) int { return c.f.info[a].number - c.f.info[b].number }) {
		c.visit(n)
	}
	if len(c.apart) > 0 {
		return
	}
	var stored []*graph.Node
	for _, n := range c.order {
		if c.eligible(n) && c.f.info[n].saved {
			stored = append(stored, n)
		}
	}
	for _, n := range stored[:(len(stored)+1)/2] {
		c.apart[n] = true
	}
}

// eligible reports whether n can have a group of its own and has none.
func (c *crowd) eligible(n *graph.Node) bool {
	class := n.Op.Class()
	computes := class == ir.Elementwise || class == ir.Reduction || n.Op == ir.Gather
	return computes && n != c.g.Sum && !c.f.apart[n] && c.f.info[n].number > 0
}

// visit returns what n is made from.
func (c *crowd) visit(n *graph.Node) nodeSet {
	if s, ok := c.below[n]; ok {
		return s
	}
	s := nodeSet{}
	if _, member := c.g.Layouts[n]; !member && c.f.readable(n, c.g) {
		s[c.f.source(n, c.g)] = true
		c.below[n] = s
		return s
	}
	room := c.f.bindings - 3 // beside a result, the status and one more
	for {
		clear(s)
		var most *graph.Node
		for _, x := range n.Src() {
			below := c.visit(x)
			maps.Copy(s, below)
			if b := base(x); c.eligible(b) && !c.apart[b] && len(below) > 1 && (most == nil || len(below) > len(c.below[most])) {
				most = b
			}
		}
		if len(s) <= room || most == nil {
			break
		}
		c.setApart(most)
	}
	c.below[n] = s
	c.order = append(c.order, n)
	return s
}

// setApart makes n something that is read.
func (c *crowd) setApart(n *graph.Node) {
	c.apart[n] = true
	for x := range c.below { // movements of n too
		if base(x) == n {
			c.below[x] = nodeSet{n: true}
		}
	}
}
