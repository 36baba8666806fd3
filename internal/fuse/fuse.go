package fuse

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// info is what is known of a node.
type info struct {
	number  int // in the order of the graph, from 1; 0 for what was added
	users   int
	cost    int      // of computing it from what is loaded
	size    int      // nodes that takes
	numbers int      // and numbers
	homes   []*Group // what computes it: one group, for Cat one an operand
	saved   bool     // it is stored
}

type fuser struct {
	bindings int
	info     map[*graph.Node]*info
	copies   map[*graph.Node]*graph.Node // row-major copies of leaves
	apart    map[*graph.Node]bool        // nodes that share a kernel with no other
	groups   []*Group
	order    int
}

// Nodes parts the graph of roots, which are simplified and will be stored,
// into groups. Bindings is the most buffers of a kernel, 0 if there is no
// limit.
func Nodes(roots []*graph.Node, bindings int) *Fusion {
	apart := map[*graph.Node]bool{}
	for {
		f := &fuser{bindings: bindings, info: map[*graph.Node]*info{}, copies: map[*graph.Node]*graph.Node{}, apart: apart}
		x := f.part(roots)
		more := f.crowded(x.Groups)
		if len(more) == 0 {
			return x
		}
		maps.Copy(apart, more)
	}
}

func (f *fuser) part(roots []*graph.Node) *Fusion {
	nodes := graph.Sorted(roots)
	for i, n := range nodes {
		f.info[n] = &info{number: i + 1}
		for _, s := range n.Src() {
			f.info[s].users++
		}
	}
	wanted := map[*graph.Node]bool{}
	for _, r := range roots {
		wanted[r] = true
		f.info[r].users++
	}
	for _, n := range nodes {
		f.place(n)
		if wanted[n] {
			f.root(n)
		}
	}
	f.mergeSiblings()
	return f.finish()
}

// place finds a group for n, or lets it float.
func (f *fuser) place(n *graph.Node) {
	i := f.info[n]
	i.size = 1
	i.cost = ir.Table[n.Op].Cost
	if n.Op == ir.Scalar {
		i.numbers = 1
	}
	for _, s := range n.Src() {
		if f.info[s].homes == nil {
			i.size += f.info[s].size
			i.cost += f.info[s].cost
			i.numbers += f.info[s].numbers
		}
	}
	switch {
	case n.Op == ir.Cat:
		f.cat(n)
	case n.Op == ir.Scatter:
		f.scatter(n)
	case n.Op.Class() == ir.Reduction:
		f.reduce(n)
	case n.Op.Class() == ir.Elementwise || n.Op == ir.Gather:
		if f.apart[n] {
			f.anchor(n).closed = true
			f.save(n)
			return
		}
		if f.join(n) {
			return
		}
		if i.size > maxSize/4 || i.numbers > maxNumbers/4 || i.users > 1 && i.cost >= dear && n.Len() > 1 {
			f.anchor(n)
		}
	}
}

// base is the node that n is a movement of, or n.
func base(n *graph.Node) *graph.Node {
	for n.Op.Class() == ir.Movement && n.Op != ir.Cat {
		n = n.Src()[0]
	}
	return n
}

// home is the group that computes n; nil if it floats, is a source or is made
// by several.
func (f *fuser) home(n *graph.Node) *Group {
	if h := f.info[n].homes; len(h) == 1 {
		return h[0].find()
	}
	return nil
}

// readable reports whether group g finds n in memory: a leaf, what another
// group computes, or that with another shape.
func (f *fuser) readable(n *graph.Node, g *Group) bool {
	if n.Op == ir.Reshape {
		x := n.Src()[0]
		return f.elsewhere(n, g) || f.contiguous(x, g) && f.readable(x, g)
	}
	return n.Op == ir.Buffer || f.elsewhere(n, g)
}

// elsewhere reports whether a group other than g computes n, and g does not
// compute it for itself.
func (f *fuser) elsewhere(n *graph.Node, g *Group) bool {
	h := f.info[n].homes
	return len(h) > 1 || len(h) == 1 && h[0].find() != g && (g == nil || !g.inline[n])
}

// contiguous reports whether n, if g can read it, lies in row-major order.
func (f *fuser) contiguous(n *graph.Node, g *Group) bool {
	switch {
	case f.info[n].homes != nil || f.copy(n, g) != nil:
		return true
	case n.Op == ir.Buffer:
		return shape.IsRowMajor(n.Shape, n.Ints[1:])
	case n.Op == ir.Reshape:
		return f.contiguous(n.Src()[0], g)
	}
	return false
}

// join puts elementwise n into the latest fitting group of its operands.
func (f *fuser) join(n *graph.Node) bool {
	var groups []*Group
	src := n.Src()
	if n.Op == ir.Gather {
		src = src[1:] // what is gathered is read from memory
	}
	for _, s := range src {
		if base(s).RematLevel < n.RematLevel && base(s).Op.Class() != ir.Source {
			continue // or what is computed again would be stored before
		}
		if g := f.home(base(s)); g != nil && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(a, b *Group) int { return cmp.Compare(b.order, a.order) })
	for i, g := range groups {
		l, ok := f.layout(g, src)
		if !ok || !g.covers(l) || g.Template == ir.Reduce && g.transposes(l) {
			continue
		}
		for _, h := range groups[i+1:] {
			f.merge(h, g, src)
		}
		if l, ok = f.layout(g, src); ok && f.try(g, n, l) {
			return true
		}
	}
	return false
}

// layout is the layout in g of a node whose operands are src: as follows from
// one of them.
func (f *fuser) layout(g *Group, src []*graph.Node) (Layout, bool) {
	for _, s := range src {
		if f.home(base(s)) == g {
			if l, ok := g.derive(s); ok {
				return l, true
			}
		}
	}
	return nil, false
}

// try computes n, of that layout, in g, if g can.
func (f *fuser) try(g *Group, n *graph.Node, l Layout) bool {
	if len(g.Layouts) >= maxSize {
		return false
	}
	g.Layouts[n] = l
	w := f.settle(g, func(w *walk) { w.operands(n, g.Forms(g.Layouts[n])) })
	if w == nil {
		delete(g.Layouts, n)
		return false
	}
	f.info[n].homes = []*Group{g}
	return true
}

// settle repeats a walk until no axis needs splitting and all it loads is or
// will be stored by groups that come before g; it gives nil if g cannot have
// that. For a group that is being made, what has to be stored first is.
func (f *fuser) settle(g *Group, visit func(*walk)) *walk {
	for {
		w := &walk{f: f, g: g}
		visit(w)
		switch {
		case w.conflict:
			return nil
		case w.split != nil:
			g.split(*w.split)
		case w.store != nil && g.order != pending:
			return nil
		case w.store != nil:
			f.store(w.store)
		default:
			if !f.mayLoad(g, w.loads) || g.order != pending && g.numbers(w.inline) > maxNumbers {
				return nil
			}
			f.read(g, w.loads)
			g.computes(w.inline)
			return w
		}
	}
}

func (f *fuser) mayLoad(g *Group, loads []*graph.Node) bool {
	for _, n := range loads {
		for _, h := range f.info[f.source(n, g)].homes {
			if h.find().order >= g.order {
				return false
			}
		}
	}
	return true
}

// read notes that g loads nodes: their groups store them.
func (f *fuser) read(g *Group, loads []*graph.Node) {
	for _, n := range loads {
		n = f.source(n, g)
		f.save(n)
		for _, h := range f.info[n].homes {
			h = h.find()
			h.reader = min(h.reader, g.order)
		}
	}
}

// add gives a new group its place: after all others.
func (f *fuser) add(g *Group) {
	f.order++
	g.order = f.order
	f.groups = append(f.groups, g)
}

// anchor starts a map group that computes n, a floating node or a movement.
func (f *fuser) anchor(n *graph.Node) *Group {
	g, l := newGroup(ir.Pointwise, n.Shape)
	g.Layouts[n] = l
	f.info[n].homes = nil
	w := f.settle(g, func(w *walk) { w.member(n) })
	f.add(g)
	f.read(g, w.loads) // again, now that g has its order
	f.info[n].homes = []*Group{g}
	return g
}

// reduce puts a reduction into a contraction, the group of its operand, or a
// row group of its own.
func (f *fuser) reduce(n *graph.Node) {
	x := n.Src()[0]
	if !f.apart[n] && (n.Op == ir.Sum && f.contract(n) || f.absorb(n)) {
		return
	}
	if g := f.home(base(x)); !f.apart[n] && g != nil && (g.Template == ir.Pointwise || g.Template == ir.Reduce) {
		if l, ok := g.derive(x); ok && f.reduceIn(g, n, l) {
			return
		}
	}
	g, l := newGroup(ir.Reduce, x.Shape)
	g.Over[n] = take(l, n)
	g.Reduced = slices.Concat(g.Over[n]...)
	g.Layouts[n] = l
	w := f.settle(g, func(w *walk) { w.visit(x, g.Operand(n, g.Forms(g.Layouts[n]))) })
	f.add(g)
	f.read(g, w.loads) // again, now that g has its order
	f.info[n].homes = []*Group{g}
	if f.apart[n] {
		g.closed = true
		f.save(n)
	}
}

// reduceIn computes a reduction in the group of its operand, whose layout
// there is l.
func (f *fuser) reduceIn(g *Group, n *graph.Node, l Layout) bool {
	var count int
	for _, axes := range l {
		count += len(axes)
	}
	over := take(l, n)
	reduced := slices.Concat(over...)
	if count != len(g.Axes) || g.Template == ir.Reduce && !slices.Equal(g.Reduced, reduced) {
		return false
	}
	was := g.Template
	g.Template, g.Reduced = ir.Reduce, reduced
	g.Layouts[n], g.Over[n] = l, over
	w := f.settle(g, func(w *walk) { w.visit(n.Src()[0], g.Operand(n, g.Forms(g.Layouts[n]))) })
	if w == nil {
		if g.Template = was; was == ir.Pointwise {
			g.Reduced = nil
		}
		delete(g.Layouts, n)
		delete(g.Over, n)
		return false
	}
	f.info[n].homes = []*Group{g}
	return true
}

// absorb makes a reduction of a reduction one, where the inner one has no
// other use and is alone in its group.
func (f *fuser) absorb(n *graph.Node) bool {
	inner := base(n.Src()[0])
	g := f.home(inner)
	if g == nil || g.Template != ir.Reduce || inner.Op != n.Op || n.Op == ir.ArgMax || !f.lonely(inner, g) {
		return false
	}
	for x := n.Src()[0]; x != inner; x = x.Src()[0] {
		if f.info[x].users != 1 || x.Op == ir.Expand {
			return false
		}
	}
	l, ok := g.derive(n.Src()[0])
	if !ok {
		return false
	}
	g.Over[n] = take(l, n)
	g.Reduced = slices.Concat(append([][]int{g.Reduced}, g.Over[n]...)...)
	g.Layouts[n] = l
	delete(g.Layouts, inner)
	f.info[inner].homes = nil
	f.info[n].homes = []*Group{g}
	return true
}

// lonely reports whether n is all that g computes, is not stored and has one
// use.
func (f *fuser) lonely(n *graph.Node, g *Group) bool {
	return f.info[n].users == 1 && len(g.Layouts) == 1 && len(g.Stores) == 0 && !f.info[n].saved
}
