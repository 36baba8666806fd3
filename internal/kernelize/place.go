package kernelize

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/masks"
	"github.com/tensorken/tensorken/internal/kernelize/regions"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// A node is a node of the graph with the placer's decisions about it.
type node struct {
	*graph.Node
	src    []*node
	number int // in the order of the graph, from 1; 0 for nodes that the placer made
	users  int
	root   bool
	held   bool   // a root has its elements
	end    end    // whether its group ends with it
	choice choice // whether it is stored for groups that read it

	cost    int // of computing it from loads
	size    int // number of nodes that are computed with it
	scalars int // number of scalar arguments that it reads

	owners []*group     // the group that computes it; for Cat one for each operand
	id     int          // of its instruction in the owner
	layout space.Layout // in the owner
	saved  bool         // it is stored
	hides  bool         // it has hidden elements
	hidden masks.Hidden
	cut    bool  // it is stored without hidden elements
	copied *node // the row-major copy of a leaf

	placed  bool
	inside  *region  // the one whose kernels alone compute it
	product *product // that it is in a region
	row     *node    // the value of rows that it is another name of
}

// A placer assigns the nodes of a graph to groups, in order, operands first:
//
//   - An elementwise node tries to join the groups of its operands, the latest first. A node
//     that joins extends the group. If several groups fit, they merge.
//   - A node that depends on stored tensors alone stays inline: it has no group, and every
//     group that reads it computes it. Expensive nodes with several uses, large expressions
//     and roots are materialized: they start a pointwise group.
//   - A Sum of a product of two factors with axes of their own starts a contraction. Any other
//     reduction merges with the reduction that it reads, joins the group of its operand, or
//     starts a reduce group.
//   - A product of a region starts a kernel of attention, or extends one. Nodes that only such
//     kernels read are in no other: each computes them again.
//   - A Scatter starts a routine. The operands of a Cat are stored side by side.
//   - Movements have no instructions: their operand is read at other coordinates.
//
// The members that others load are chosen after a first placement, by the bytes moved and the
// work repeated: of several cheap functions of one value only the value is stored, and the
// groups that read them compute them again. Then the graph is placed with these choices. At
// the end, groups over the same space that read the same, or are pointwise, merge. Where a
// group has more buffers than a device can bind, the graph is placed again, and some of the
// group's nodes end a group: nothing joins it after them.
type placer struct {
	Options
	nodes   []node // operands first
	maxArgs int    // of a merged group, in buffers
	groups  []*group
	order   int
	outputs map[*graph.Node]Output // of roots
	regions []*region
	refused regions.Nodes
	known   func(*graph.Node) *node
}

// place assigns the nodes that roots depend on.
func place(roots []*graph.Node, o Options, d decisions) *placer {
	p := &placer{Options: o, maxArgs: maxMerged, outputs: map[*graph.Node]Output{}, refused: d.refused}
	if o.Bindings > 0 {
		p.maxArgs = min(o.Bindings, maxMerged)
	}
	list := p.load(roots)
	for n, e := range d.ends {
		p.known(n).end = e
	}
	for n, c := range d.choices {
		p.known(n).choice = c
	}
	p.findRegions(roots, list)
	for n, h := range masks.Find(list, func(n *graph.Node) bool { return p.known(n).root }, p.Loops, p.conditionKernel) {
		x := p.known(n)
		x.hides, x.hidden = true, h
	}
	for i := range p.nodes {
		p.placeOnce(&p.nodes[i])
	}
	sorts.Stable(p.groups, func(a, b *group) int { return a.order - b.order })
	p.mergeSiblings()
	p.groups = slices.DeleteFunc(p.groups, func(g *group) bool { return g.into != nil || len(g.written()) == 0 })
	return p
}

// load makes the nodes that roots depend on, and returns the nodes of the graph, operands first.
func (p *placer) load(roots []*graph.Node) []*graph.Node {
	nodes, number := graph.Numbered(roots)
	p.nodes = make([]node, len(nodes))
	p.known = func(n *graph.Node) *node {
		i, _ := number.Get(n)
		return &p.nodes[i]
	}
	operands := 0
	for _, n := range nodes {
		operands += n.Src().Len()
	}
	all := make([]*node, 0, operands)
	for i, n := range nodes {
		first := len(all)
		for _, s := range n.Src().All() {
			x := p.known(s)
			x.users++
			all = append(all, x)
		}
		p.nodes[i] = node{Node: n, src: all[first:len(all):len(all)], number: i + 1}
	}
	for _, r := range roots {
		x := p.known(r)
		x.root = true
		x.users++
		for ; x.Op == ir.Reshape; x = x.src[0] {
		}
		x.held = true
	}
	return nodes
}

// placeOnce places n, if it is not, and stores it if it is a root.
func (p *placer) placeOnce(n *node) {
	if n.placed {
		return
	}
	n.placed = true
	if n.inside != nil {
		n.size, n.cost = 1, 1
		return
	}
	p.place(n)
	if n.root {
		p.outputs[n.Node] = p.output(n)
	}
}

// place finds a group for n, or leaves it inline: computed wherever it is used.
func (p *placer) place(n *node) {
	n.size = 1
	n.cost = ir.Table[n.Op].Cost
	if n.Op == ir.Scalar {
		n.scalars = 1
	}
	for _, s := range n.src {
		if s.owners == nil {
			n.size += s.size
			n.cost += s.cost
			n.scalars += s.scalars
		}
	}
	switch {
	case n.Op == ir.Cat:
		p.cat(n)
	case routines[n.Op] != nil:
		routines[n.Op](p, n)
	case n.product != nil:
		p.attend(n.product)
	case n.Op.Class() == ir.Reduction:
		p.reduce(n)
	case n.Op.Class() == ir.Elementwise || n.Op == ir.Gather:
		large := n.size > maxSize/4 || n.scalars > maxScalars/4 || n.users > 1 && p.isExpensive(n.cost) && n.Len() > 1
		large = large || n.held && n.Op == ir.Gather // readers do not check its indices again
		switch {
		case n.end != alone && p.join(n) || n.end == 0 && !large:
		default:
			p.materialize(n)
		}
	}
	if n.end != 0 {
		p.save(n)
		n.owner().closed = true
	}
}

// base returns the node that n is a movement of, or n.
func base(n *node) *node {
	for n.Op.Class() == ir.Movement && n.Op != ir.Cat {
		n = n.src[0]
	}
	return n
}

// owner returns the group that computes n; nil if it is inline, a source or
// computed by several.
func (n *node) owner() *group {
	if len(n.owners) == 0 || n.Op == ir.Cat {
		return nil
	}
	return n.owners[0].find()
}

// singleUse reports whether n is all that g computes, is not stored and has one
// use.
func (p *placer) singleUse(n *node, g *group) bool {
	return n.users == 1 && len(g.members) == 1 && len(g.args(ir.Store)) == 0
}

// start makes a group that computes n, over the space of dims. Fill emits n at a
// layout of those dims, and may change that to n's. If fill needs a node to be stored
// first, start stores it and begins again. It returns nil if the trial fails.
func (p *placer) start(n *node, template ir.Template, dims []int, fill func(t *trial, l space.Layout) (id int)) *group {
	return p.begin(n, func() (*group, space.Layout) { return newGroup(template, dims) }, fill)
}

// begin is start of a group that a function makes, with the layout of n.
func (p *placer) begin(n *node, newGroup func() (*group, space.Layout), fill func(t *trial, l space.Layout) (id int)) *group {
	for {
		g, l := newGroup()
		t := &trial{p: p, g: g}
		id := fill(t, l)
		switch {
		case t.failed:
			return nil
		case t.need != nil:
			p.store(t.need)
		default:
			p.order++
			g.order = p.order
			p.groups = append(p.groups, g)
			p.add(g, n, id, l, 0)
			return g
		}
	}
}

// extend adds n, of layout l, which fill emits, to a group. If the trial fails it
// reports false and leaves the group as it was.
func (p *placer) extend(g *group, n *node, l space.Layout, fill func(t *trial) (id int)) bool {
	if len(g.members) >= maxSize {
		return false
	}
	from := g.mark()
	t := &trial{p: p, g: g}
	id := fill(t)
	scalar := func(in instr) bool { return in.Op == ir.Scalar }
	if t.stopped() || slices.ContainsFunc(g.body[from.body:], scalar) && len(g.args(ir.Scalar)) > maxScalars {
		g.rollBack(from)
		return false
	}
	p.add(g, n, id, l, from.body)
	return true
}

// add makes n, value id, a member of g. The instructions of g from one on are new.
func (p *placer) add(g *group, n *node, id int, l space.Layout, from int) {
	g.members = append(g.members, n)
	n.id, n.layout, n.owners = id, g.LiveLayout(l), []*group{g}
	p.read(g, from)
}

// read makes other groups store the nodes that instructions of g, from one on, load.
func (p *placer) read(g *group, from int) {
	for i := range g.body[from:] {
		n := g.body[from+i].reads
		if n == nil {
			continue
		}
		p.save(n)
		for _, h := range n.owners {
			h = h.find()
			h.reader = min(h.reader, g.order)
		}
	}
}

// join puts elementwise n into the latest fitting group of its operands.
func (p *placer) join(n *node) bool {
	var groups []*group
	src := n.src
	if n.Op == ir.Gather {
		src = src[1:] // the gathered tensor is read from memory
	}
	for _, s := range src {
		if base(s).RematLevel < n.RematLevel && base(s).Op.Class() != ir.Source {
			continue // n is recomputed for the backward pass: the forward pass must not store it
		}
		if g := base(s).owner(); g != nil && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	sorts.Stable(groups, func(a, b *group) int { return cmp.Compare(b.order, a.order) })
	for i, g := range groups {
		l, ok := p.layout(g, src)
		if !ok || !g.covers(l) || g.template == ir.Reduce && g.transposes(l) {
			continue
		}
		for _, h := range groups[i+1:] {
			p.merge(h, g, src)
		}
		if l, ok = p.layout(g, src); ok && p.extend(g, n, l, func(t *trial) (id int) {
			id, _ = t.compute(n, g.Coordinates(l), nil, 0)
			return id
		}) {
			return true
		}
	}
	return false
}

// layout is the layout in g of a node whose operands are src, derived from the first
// operand that has one.
func (p *placer) layout(g *group, src []*node) (space.Layout, bool) {
	for _, s := range src {
		if base(s).owner() == g {
			if l, ok := g.deriveLayout(s); ok {
				return l, true
			}
		}
	}
	return nil, false
}

// reduce puts a reduction into a contraction, the group of its operand, or a
// reduction of its own.
func (p *placer) reduce(n *node) {
	x := n.src[0]
	if n.end != alone {
		if n.Op == ir.Sum && p.contract(n) || p.mergeReductions(n) {
			return
		}
		if g := base(x).owner(); g != nil && (g.template == ir.Pointwise || g.template == ir.Reduce) && p.joinReduction(g, n) {
			return
		}
	}
	p.start(n, ir.Reduce, x.Shape, func(t *trial, l space.Layout) int {
		over := space.TakeReduced(l, n.Ints)
		t.g.reduced = slices.Concat(over...)
		return t.reduce(n, l, over)
	})
}

// joinReduction computes a reduction in the group of its operand, if the operand has
// all axes of the group and n reduces all that the group reduces.
func (p *placer) joinReduction(g *group, n *node) bool {
	l, ok := g.deriveLayout(n.src[0])
	if !ok || len(slices.Concat(l...)) != len(g.Axes) {
		return false
	}
	l = slices.Clone(l)
	over := space.TakeReduced(l, n.Ints)
	reduced := slices.Concat(over...)
	if g.template == ir.Reduce && !slices.Equal(g.reduced, reduced) {
		return false
	}
	was := g.template
	g.template, g.reduced = ir.Reduce, reduced
	if p.extend(g, n, l, func(t *trial) int { return t.reduce(n, l, over) }) {
		return true
	}
	if g.template = was; was == ir.Pointwise {
		g.reduced = nil
	}
	return false
}
