package kernelize

import (
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A choice says whether a member of a group is stored for the groups that read it, or
// whether they compute it again.
type choice int

const (
	toStore choice = 1 + iota
	toRecompute
)

// storeMoves is how often a store moves its bytes: it also reads the cache lines that it fills.
const storeMoves = 2

// A reading is a group that loads a node. It is plain if the group computes functions of
// the load once for each element, and for all elements.
type reading struct {
	group *group
	plain bool
}

// readings lists the groups that load each node, in order.
func (p *placer) readings() map[*node][]reading {
	all := map[*node][]reading{}
	for _, g := range p.groups {
		factors := g.factors()
		for i := range g.body {
			in := &g.body[i]
			if in.reads == nil {
				continue
			}
			r := reading{g, in.Op == ir.Load && len(in.Src) == 0 && len(in.View.Guards) == 0 && !factors[i] && g.readsOnce()}
			points := 1
			for a, c := range in.View.Coef {
				if c != 0 {
					points *= g.Lens[a]
				}
			}
			r.plain = r.plain && points == in.reads.Len()
			all[in.reads] = append(all[in.reads], r)
		}
	}
	return all
}

// readsOnce reports whether a kernel of the group computes functions of a load once for each element, or, as attention of few
// rows, some times for few elements.
func (g *group) readsOnce() bool {
	switch g.template {
	case ir.Routine:
		op := g.body[len(g.body)-1]
		return op.Op == ir.Scatter && op.Kind == ir.Copy
	case ir.Attention:
		return g.Count(g.axesOf(ir.M)) <= loopnest.FewRows
	}
	return true
}

// factors reports of each instruction of a contraction whether the sum depends on it.
func (g *group) factors() []bool {
	before := make([]bool, len(g.body))
	if g.template != ir.Contraction {
		return before
	}
	var mark func(i int)
	mark = func(i int) {
		for _, s := range g.body[i].Src {
			if !before[s] {
				before[s] = true
				mark(s)
			}
		}
	}
	for i := range g.body {
		if g.body[i].Op.Class() == ir.Reduction {
			mark(i)
		}
	}
	return before
}

// rematerialize chooses which members groups store for others. Where several are cheap
// functions of one value, storing that value alone takes less time: min-cut
// rematerialization, by local search.
func (p *placer) rematerialize() map[*graph.Node]choice {
	choices := map[*graph.Node]choice{}
	pinned := map[*graph.Node]bool{}
	for _, o := range p.outputs {
		pinned[o.Node] = true
	}
	readings := p.readings()
	for _, g := range p.groups {
		c := &cut{owner: g, readings: readings, machine: p.Machine}
		for _, n := range g.written() {
			plain := !slices.ContainsFunc(readings[n], func(r reading) bool { return !r.plain })
			if plain && n.owner() == g && n.Op.Class() == ir.Elementwise && n.end == 0 && !overflows(n) && !pinned[n.Node] {
				c.values = append(c.values, n)
			}
		}
		for n, how := range c.choose() {
			choices[n.Node] = how
		}
	}
	return choices
}

// overflows reports whether a value may be infinite where it is stored and finite where it is
// computed again, in float32. All readers have to see the same: a loss scale depends on it.
func overflows(n *node) bool { return n.DType == ir.Float16 }

// A cut chooses the nodes that a group stores in place of values, which others read.
type cut struct {
	owner    *group
	values   []*node
	readings map[*node][]reading
	readers  []reader // of values
	machine  ir.Machine
	least    float64 // the cost of storing the values, above which no recomputation is tried
	stored   []*node // instead of values, or of them
	computed nodeSet // by readers, in place of the others
}

// A reader is a group that reads some of a cut's values, and loads others in any case.
type reader struct {
	values []*node
	others nodeSet
}

// findReaders lists the groups that read values, in order.
func (c *cut) findReaders() {
	at := map[*group]int{}
	for _, v := range c.values {
		for _, r := range c.readings[v] {
			i, known := at[r.group]
			if !known {
				i = len(c.readers)
				at[r.group] = i
				others := nodeSet{}
				for _, n := range r.group.loads() {
					others[n] = !slices.Contains(c.values, n)
				}
				c.readers = append(c.readers, reader{others: others})
			}
			if x := &c.readers[i]; !slices.Contains(x.values, v) {
				x.values = append(x.values, v)
			}
		}
	}
}

// choose returns the choices that differ from storing the values.
func (c *cut) choose() map[*node]choice {
	choices := map[*node]choice{}
	if len(c.values) == 0 {
		return choices
	}
	c.findReaders()
	c.stored = slices.Clone(c.values)
	c.least = math.Inf(1)
	c.least = c.cost()
	best := c.drop(c.least)
	all := 0
	for _, n := range c.values {
		all += n.bytes()
	}
	for _, n := range c.candidates() {
		if n.bytes() >= all { // it takes as long to store and load, and values take more
			continue
		}
		before := slices.Clone(c.stored)
		c.stored = append(c.stored, n)
		if cost := c.drop(c.cost()); cost < best {
			best = cost
		} else {
			c.stored = before
		}
	}
	c.cost()
	for n := range c.computed {
		choices[n] = toRecompute
	}
	for _, n := range c.stored {
		if !slices.Contains(c.values, n) {
			choices[n] = toStore
		}
	}
	return choices
}

// drop stores fewer nodes as long as that costs less, and returns the cost.
func (c *cut) drop(cost float64) float64 {
	for i := 0; i < len(c.stored); {
		all := c.stored
		c.stored = slices.Concat(all[:i], all[i+1:])
		if less := c.cost(); less < cost {
			cost, i = less, 0
			continue
		}
		c.stored = all
		i++
	}
	return cost
}

// candidates lists the members of the owner, other than values, that the values depend on
// and that have as many elements as one.
func (c *cut) candidates() []*node {
	seen := nodeSet{}
	var list []*node
	var visit func(n *node, size int)
	visit = func(n *node, size int) {
		if seen[n] || n.owner() != c.owner || n.saved && !slices.Contains(c.values, n) {
			return
		}
		seen[n] = true
		if n.Len() == size && !overflows(n) && !slices.Contains(c.values, n) {
			list = append(list, n)
		}
		if n.Op.Class() == ir.Elementwise {
			for _, s := range n.src {
				visit(base(s), size)
			}
		}
	}
	for _, v := range c.values {
		visit(v, v.Len())
	}
	return list
}

// cost is the seconds for the stores, for the loads and for the recomputation, +Inf if a value
// cannot be computed again.
func (c *cut) cost() float64 {
	total := 0.0
	c.computed = nodeSet{}
	for _, n := range c.stored {
		total += c.machine.MoveTime(storeMoves * n.bytes())
	}
	for _, r := range c.readers {
		t := &recomputation{cut: c, others: r.others, loads: nodeSet{}, computed: nodeSet{}}
		for _, v := range r.values {
			if !t.visit(v) {
				return math.Inf(1)
			}
		}
		total += t.cost
		maps.Copy(c.computed, t.computed)
	}
	return total
}

// keepsOrder reports whether a movement keeps all elements in their order.
func (n *node) keepsOrder() bool {
	last := -1
	for _, a := range n.Ints {
		if n.Op == ir.Permute && n.src[0].Shape[a] > 1 {
			if a < last {
				return false
			}
			last = a
		}
	}
	return n.Op == ir.Reshape || n.Op == ir.Permute
}

func (n *node) bytes() int { return n.Len() * n.DType.Size() }

// A recomputation is the loads and operations of one group in place of values.
type recomputation struct {
	*cut
	others, loads, computed nodeSet
	cost                    float64
}

// visit adds the cost of n. It returns false if the group cannot compute n, or should not.
func (t *recomputation) visit(n *node) bool {
	small := len(t.values) > 0 && 4*n.Len() <= t.values[0].Len()
	switch {
	case t.others[n] || t.loads[n] || t.computed[n] || n.Op.Class() == ir.Source && n.Op != ir.Buffer:
		return true
	case slices.Contains(t.stored, n), n.Op == ir.Buffer, n.saved && !slices.Contains(t.values, n), small && n.owners != nil:
		t.loads[n] = true
		t.cost += t.machine.MoveTime(n.bytes())
		return true
	case n.Op.Class() != ir.Elementwise || n.end != 0 || overflows(n):
		return false
	}
	t.computed[n] = true
	t.cost += t.machine.AddTime(ir.Table[n.Op].Cost * n.Len())
	if t.cost > t.least {
		return false
	}
	for _, s := range n.src {
		for s.Op == ir.Expand || s.keepsOrder() {
			s = s.src[0]
		}
		if s.Op.Class() == ir.Movement || !t.visit(s) {
			return false
		}
	}
	return true
}
