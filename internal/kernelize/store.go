package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// stored returns the node whose elements in memory are n's for group g: a leaf, a
// copy of one, or a node of another group. n may be a reshape of that node, if its
// elements are in row-major order. It reports false if g does not find n in memory.
func (p *placer) stored(n *graph.Node, g *group) (*graph.Node, bool) {
	for x := n; ; x = x.Src()[0] {
		if c := p.copies[x]; c != nil && (g == nil || p.owner(c).order < g.order) {
			return c, true
		}
		switch owners := p.info[x].owners; {
		case len(owners) > 0 && (x.Op == ir.Cat || owners[0].find() != g):
			return x, true
		case x.Op == ir.Buffer:
			return x, x == n || shape.IsRowMajor(x.Shape, x.Ints[1:])
		case x.Op != ir.Reshape:
			return nil, false
		}
	}
}

// store makes n readable: computed by a group if it is inline, copied in
// row-major order if it is read from memory already.
func (p *placer) store(n *graph.Node) {
	if _, ok := p.stored(n, nil); ok && p.info[n].owners == nil {
		c := p.alias(n)
		p.materialize(c)
		p.save(c)
		p.copies[n] = c
		return
	}
	p.write(n)
}

// write stores n itself, not a copy of it.
func (p *placer) write(n *graph.Node) {
	if p.info[n].owners == nil {
		p.materialize(n)
	}
	p.save(n)
}

// alias returns n under another name, for a group of its own.
func (p *placer) alias(n *graph.Node) *graph.Node {
	c := graph.Copy(n)
	p.info[c] = &info{users: 1}
	return c
}

// materialize starts a pointwise group that computes n, an inline node or a
// movement.
func (p *placer) materialize(n *graph.Node) *group {
	return p.start(n, ir.Pointwise, n.Shape, func(t *trial, l layout) (id int) {
		at := t.g.coordinates(l)
		if _, ok := p.stored(n, t.g); ok {
			return t.load(n, at, nil, 0)
		}
		id, _ = t.compute(n, at, nil, 0)
		return id
	})
}

// save makes the group that computes n store it.
func (p *placer) save(n *graph.Node) {
	i := p.info[n]
	if i.saved || i.owners == nil {
		return
	}
	i.saved = true
	if n.Op != ir.Cat && n.Op != ir.Scatter { // the groups of a Cat's operands store its parts
		g := p.owner(n)
		m := g.members[n]
		g.store(m.id, n, g.coordinates(m.layout))
	}
}

// store stores value id at coordinates of target.
func (g *group) store(id int, target *graph.Node, at []ir.AffineExpr) {
	t := &trial{g: g}
	v := t.view(at, shape.RowMajor(target.Shape), target.Shape, nil, 0)
	t.add(target, ir.Instr{Op: ir.Store, Type: g.body[id].Type, Src: []int{id}, View: v})
	t.last().arg = target
}

// output stores root n, or the node that it is a view of.
func (p *placer) output(n *graph.Node) Output {
	b := n
	for b.Op.Class() == ir.Movement && p.info[b].owners == nil {
		if x := base(b); (b.Op == ir.Crop || b.Op == ir.Window) && p.info[x].owners == nil && x.Op != ir.Buffer {
			b = n // x may be far larger
			break
		}
		b = b.Src()[0]
	}
	v, ok := viewOf(n, b)
	if !ok {
		b = n
		v, _ = viewOf(n, n)
	}
	if b.Op != ir.Buffer {
		p.write(b)
	}
	return Output{b, v}
}

// viewOf returns n, a movement of b, as a view of b: a leaf, whose strides are
// its own, or a node in row-major order.
func viewOf(n, b *graph.Node) (v shape.Strided, ok bool) {
	var chain []*graph.Node
	for x := n; x != b; x = x.Src()[0] {
		chain = append(chain, x)
	}
	v.Strides = shape.RowMajor(b.Shape)
	if b.Op == ir.Buffer {
		v.Strides = slices.Clone(b.Ints[1:])
	}
	for _, x := range slices.Backward(chain) {
		if v, ok = moveOf(x).View(v, nil); !ok {
			return v, false
		}
	}
	return v, true
}

// cat makes each operand store into its part of n.
func (p *placer) cat(n *graph.Node) {
	axis, offset := n.Ints[0], 0
	for _, s := range n.Src() {
		if s.Len() == 0 {
			continue
		}
		var l layout
		x := base(s)
		g, ok := p.owner(x), false
		if g != nil {
			if l, ok = g.deriveLayout(s); ok {
				ok = g.covers(l)
			}
		}
		if !ok {
			x = p.alias(s)
			g = p.materialize(x)
			l = g.members[x].layout
		}
		g.store(g.members[x].id, n, shape.Part(g.coordinates(l), axis, offset))
		p.info[n].owners = append(p.info[n].owners, g)
		offset += s.Shape[axis]
	}
	p.info[n].saved = true
}

// scatter gives n a routine of its own.
func (p *placer) scatter(n *graph.Node) {
	base := n.Src()[0]
	if x, ok := p.stored(base, nil); base.Op != ir.Const && (!ok || x.Op == ir.Buffer && !shape.IsRowMajor(x.Shape, x.Ints[1:])) {
		p.store(base)
	}
	p.start(n, ir.Routine, n.Src()[1].Shape, func(t *trial, l layout) int { return t.scatter(n, l) })
	p.info[n].saved = true
}
