package fuse

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A product is the factors of a sum of products over the space of a group.
type product struct {
	factors []Factor
	axes    []ir.AxisSet // of each factor
	cost    []int
	gathers []bool        // whether the factor takes elements by index
	inner   []*graph.Node // sums that are part of this one
	multi   bool          // a Mul was met
}

// contract makes n, a Sum, a contraction with a group of its own, if it is a
// sum of products of two factors with axes of their own.
func (f *fuser) contract(n *graph.Node) bool {
	x := n.Src()[0]
	if m := f.innermost(x); m.Op != ir.Mul || n.DType != m.DType {
		return false
	}
	for {
		g, l := newGroup(ir.Contraction, x.Shape)
		g.Sum = n
		g.Over[n] = take(l, n)
		g.Reduced = slices.Concat(g.Over[n]...)
		g.Layouts[n] = l
		p := f.product(g, n)
		if p == nil {
			return false
		}
		sides, ok := p.sides(g)
		if !ok {
			return false
		}
		if again := f.prologues(g, p); again {
			continue
		}
		for i, fac := range p.factors {
			g.Sides[sides[i]] = append(g.Sides[sides[i]], fac)
		}
		var loads []*graph.Node
		for _, fac := range p.factors {
			w := &walk{f: f, g: g}
			w.visit(fac.Node, fac.At)
			loads = append(loads, w.loads...)
			g.computes(w.inline)
		}
		for _, s := range p.inner {
			f.drop(s)
		}
		f.add(g)
		f.read(g, loads)
		f.info[n].homes = []*Group{g}
		return true
	}
}

// innermost goes down movements and sums to what is summed.
func (f *fuser) innermost(x *graph.Node) *graph.Node {
	for {
		x = base(x)
		if x.Op != ir.Sum || !f.mergeable(x) {
			return x
		}
		x = x.Src()[0]
	}
}

// mergeable reports whether a sum may be part of the one that reads it.
func (f *fuser) mergeable(x *graph.Node) bool {
	g := f.home(x)
	return g != nil && (g.Template == ir.Reduce || g.Template == ir.Contraction) && f.lonely(x, g)
}

// drop forgets the group of a sum that became part of another.
func (f *fuser) drop(x *graph.Node) {
	f.home(x).dropped = true
	f.info[x].homes = nil
}

// product collects the factors of n, splitting axes of g and storing nodes
// until all can be read. It gives nil if n is no product.
func (f *fuser) product(g *Group, n *graph.Node) *product {
	for {
		p := &product{}
		c := collector{f: f, g: g, p: p}
		c.collect(n.Src()[0], g.Operand(n, g.Forms(g.Layouts[n])), nil)
		w := &c.w
		for i := 0; i < len(p.factors) && !w.done(); i++ {
			*w = walk{f: f, g: g}
			w.visit(p.factors[i].Node, p.factors[i].At)
			w.guard(p.factors[i].Guards)
			p.axes = append(p.axes, w.axes)
			p.cost = append(p.cost, w.cost)
			p.gathers = append(p.gathers, slices.ContainsFunc(w.inline, isGather))
		}
		switch {
		case w.conflict || !p.multi:
			return nil
		case w.split != nil:
			g.split(*w.split)
		case w.store != nil:
			f.store(w.store)
		default:
			for s := range g.Over { // of an earlier turn
				if s != n && !slices.Contains(p.inner, s) {
					g.forget(s)
				}
			}
			return p
		}
	}
}

// forget takes the axes of an inner sum out of the space.
func (g *Group) forget(s *graph.Node) {
	for _, axes := range g.Over[s] {
		for _, a := range axes {
			g.Axes = slices.DeleteFunc(g.Axes, func(b int) bool { return a == b })
			g.Reduced = slices.DeleteFunc(g.Reduced, func(b int) bool { return a == b })
		}
	}
	delete(g.Over, s)
}

// A collector takes a product apart.
type collector struct {
	f *fuser
	g *Group
	p *product
	w walk
}

func (c *collector) collect(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard) {
	c.w = walk{f: c.f, g: c.g}
	c.node(n, at, guards, true)
}

// node collects n, read at coordinates under guards. Direct says that every
// element of n is read at one point at most, and by nothing else.
func (c *collector) node(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard, direct bool) {
	if c.w.done() {
		return
	}
	zero := n.Op != ir.Pad || n.Num == 0
	switch {
	case c.f.info[n].saved:
	case n.Op.Class() == ir.Movement && n.Op != ir.Cat && zero && c.leadsToProduct(n):
		r, more, ok := c.w.through(n, at)
		if ok {
			direct = direct && n.Op != ir.Expand && n.Op != ir.Window && c.f.info[n].users == 1
			c.node(r.Node, r.At, slices.Concat(guards, more), direct)
		}
		return
	case n.Op == ir.Mul:
		c.p.multi = true
		for _, s := range n.Src() {
			c.factor(s, at)
		}
		c.guard(guards)
		return
	case n.Op == ir.Sum && direct && c.f.mergeable(n):
		if c.g.Over[n] == nil {
			over := make(Layout, len(n.Src()[0].Shape))
			for _, a := range n.Ints {
				over[a] = []int{c.g.newAxis(n.Src()[0].Shape[a])}
				c.g.Reduced = append(c.g.Reduced, over[a]...)
			}
			c.g.Over[n] = over
		}
		c.p.inner = append(c.p.inner, n)
		c.node(n.Src()[0], c.g.Operand(n, at), guards, direct)
		return
	}
	c.factor(n, at)
	c.guard(guards)
}

func (c *collector) leadsToProduct(n *graph.Node) bool {
	b := base(n)
	return b.Op == ir.Mul && !c.f.info[b].saved || b.Op == ir.Sum && c.f.mergeable(b)
}

func (c *collector) factor(n *graph.Node, at []ir.AffineExpr) {
	c.p.factors = append(c.p.factors, Factor{Node: n, At: at})
}

// guard gives guards to every factor that may be read outside its operand
// where they do not hold, and each to at least one: where it does not hold,
// that factor is 0.
func (c *collector) guard(guards []ir.Guard) {
	if len(guards) == 0 {
		return
	}
	var axes []ir.AxisSet
	given := false
	for i := range c.p.factors {
		fac := &c.p.factors[i]
		w := walk{f: c.f, g: c.g}
		w.visit(fac.Node, fac.At)
		if w.done() {
			c.w = w
			return
		}
		axes = append(axes, w.axes)
		if w.exposed {
			fac.Guards = append(fac.Guards, guards...)
			given = true
		}
	}
	if given {
		return
	}
	for _, g := range guards {
		w := walk{f: c.f, g: c.g}
		w.guard([]ir.Guard{g})
		i := slices.IndexFunc(axes, func(s ir.AxisSet) bool { return w.axes&^s == 0 })
		if i < 0 {
			c.w.conflict = true
			return
		}
		c.p.factors[i].Guards = append(c.p.factors[i].Guards, g)
	}
}

// sides gives each factor to one of two sides, so that each side has kept
// axes of its own and there is something to add up.
func (p *product) sides(g *Group) (side []int, ok bool) {
	reduced := set(g, g.Reduced)
	kept := set(g, g.Axes) &^ reduced
	var have [2]ir.AxisSet
	for i, axes := range p.axes {
		k := axes & kept
		s := 0
		if i > 0 && k&^have[0] != 0 {
			s = 1
			if have[1] == 0 && have[0]&^k == 0 { // it contains the first side: still one side
				s = 0
			}
		}
		have[s] |= k
		side = append(side, s)
	}
	m, n := have[0]&^have[1], have[1]&^have[0]
	return side, m != 0 && n != 0 && reduced != 0
}

func set(g *Group, axes []int) (s ir.AxisSet) {
	for _, a := range axes {
		if g.Lens[a] > 1 {
			s |= 1 << a
		}
	}
	return s
}

func isGather(n *graph.Node) bool { return n.Op == ir.Gather }

// repeats is how often factor i is read: once for each position along the kept
// axes that it does not have.
func (p *product) repeats(g *Group, i int) int {
	n := 1
	for _, a := range g.Axes {
		if !slices.Contains(g.Reduced, a) && !p.axes[i].Has(a) {
			n *= g.Lens[a]
		}
	}
	return n
}

// prologues stores what factors compute where that is more than cheap, and
// reports whether it did. To take an element by index again for each column costs
// more than to store it, unless there are few columns.
func (f *fuser) prologues(g *Group, p *product) (stored bool) {
	for i, fac := range p.factors {
		expensive := p.cost[i] > prologue || p.gathers[i] && p.repeats(g, i) > maxGathers
		if expensive && !stored {
			if b := base(fac.Node); f.home(b) == nil && b.Op.Class() != ir.Source {
				f.store(b)
				stored = true
			}
		}
	}
	return stored
}
