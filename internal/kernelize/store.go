package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// stored returns the node whose elements in memory are n's for group g: a leaf, a
// copy of one, or a node of another group. n may be a reshape of that node, if its
// elements are in row-major order. It reports false if g does not find n in memory.
func (p *placer) stored(n *node, g *group) (*node, bool) {
	for x := n; ; x = x.src[0] {
		if c := x.copied; c != nil && (g == nil || c.owner().order < g.order) {
			return c, true
		}
		switch owners := x.owners; {
		case len(owners) > 0 && (x.Op == ir.Cat || owners[0].find() != g):
			return x, true
		case x.Op == ir.Buffer:
			return x, x == n || shape.IsRowMajor(x.Shape, x.Ints[1:])
		case x.Op != ir.Reshape:
			return nil, false
		}
	}
}

// recomputes reports whether a group that reads n, a member of another, should compute it
// again rather than have it stored: if n is cheap and reads, besides much smaller tensors,
// at most one that is stored already, or two if nothing else reads n.
func (p *placer) recomputes(n *node) bool {
	if n.saved || n.owner() == nil || n.choice != 0 {
		return n.choice == toRecompute && !n.saved && n.owner() != nil
	}
	cost, large, seen := 0, nodeSet{}, nodeSet{}
	var cheap func(n *node) bool
	cheap = func(n *node) bool {
		if seen[n] {
			return true
		}
		seen[n] = true
		if cost += ir.Table[n.Op].Cost; p.isExpensive(cost) || n.Op.Class() != ir.Elementwise || n.end != 0 {
			return false
		}
		for _, s := range n.src {
			b := base(s)
			switch {
			case b.Op.Class() == ir.Source && b.Op != ir.Buffer || 4*b.Len() <= n.Len() && (b.owners != nil || b.Op == ir.Buffer):
			case b.saved || b.Op == ir.Buffer || b.choice == toStore:
				large[b] = true
			case !cheap(b):
				return false
			}
		}
		return true
	}
	return cheap(n) && (len(large) <= 1 || len(large) == 2 && n.users == 1)
}

// isExpensive reports whether some additions take longer than to load a word. Then they are not repeated along axes
// over which their result does not vary, nor in two groups.
func (p *placer) isExpensive(additions int) bool {
	return p.Machine.AddTime(additions) >= p.Machine.MoveTime(ir.Float32.Size())
}

// store makes n readable: computed by a group if it is inline, copied in
// row-major order if it is read from memory already.
func (p *placer) store(n *node) {
	if _, ok := p.stored(n, nil); ok && n.owners == nil {
		c := p.alias(n)
		p.materialize(c)
		p.save(c)
		n.copied = c
		return
	}
	p.write(n)
}

// write stores n itself, not a copy of it.
func (p *placer) write(n *node) {
	switch {
	case n.owners != nil:
	case n.inside != nil:
		p.storeRow(n)
	default:
		p.materialize(n)
	}
	p.save(n)
}

// alias returns n under another name, for a group of its own.
func (p *placer) alias(n *node) *node {
	c := graph.Copy(n.Node)
	c.Number = n.Number
	return &node{Node: c, src: []*node{n}, users: 1}
}

// materialize starts a pointwise group that computes n, an inline node or a
// movement.
func (p *placer) materialize(n *node) *group {
	return p.start(n, ir.Pointwise, n.Shape, func(t *trial, l space.Layout) (id int) {
		at := t.g.Coordinates(l)
		if _, ok := p.stored(n, t.g); ok {
			return t.load(n, at, nil, 0)
		}
		id, _ = t.compute(n, at, nil, 0)
		return id
	})
}

// save makes the group that computes n store it.
func (p *placer) save(n *node) {
	if n.saved || n.owners == nil {
		return
	}
	n.saved = true
	if n.Op != ir.Cat && ir.Routines[n.Op] == nil { // the groups of a Cat's operands store its parts
		g := n.owner()
		g.store(n.id, n, g.Coordinates(n.layout))
	}
}

// store stores value id at coordinates of target.
func (g *group) store(id int, target *node, at []ir.AffineExpr) {
	t := &trial{g: g}
	v := t.view(at, shape.RowMajor(target.Shape), target.Shape, nil, 0)
	t.add(target, ir.Instr{Op: ir.Store, Type: g.body[id].Type, Src: []int{id}, View: v})
}

// output stores root n, or the node that it is a view of.
func (p *placer) output(n *node) Output {
	b := n
	for b.Op.Class() == ir.Movement && b.Op != ir.Copy && b.owners == nil {
		if x := base(b); (b.Op == ir.Crop || b.Op == ir.Window) && x.owners == nil && x.Op != ir.Buffer {
			b = n // x may be far larger
			break
		}
		b = b.src[0]
	}
	v, ok := viewOf(n, b)
	if !ok {
		b = n
		v, _ = viewOf(n, n)
	}
	if b.Op != ir.Buffer {
		p.write(b)
	}
	return Output{b.Node, v}
}

// viewOf returns n, a movement of b, as a view of b: a leaf, whose strides are
// its own, or a node in row-major order.
func viewOf(n, b *node) (v shape.Strided, ok bool) {
	var chain []*node
	for x := n; x != b; x = x.src[0] {
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
func (p *placer) cat(n *node) {
	axis, offset := n.Ints[0], 0
	for _, s := range n.src {
		if s.Len() == 0 {
			continue
		}
		var l space.Layout
		x := base(s)
		g, ok := x.owner(), false
		if g != nil {
			if l, ok = g.deriveLayout(s); ok {
				ok = g.covers(l)
			}
		}
		if !ok {
			x = p.alias(s)
			g = p.materialize(x)
			l = x.layout
		}
		g.store(x.id, n, shape.Part(g.Coordinates(l), axis, offset))
		n.owners = append(n.owners, g)
		offset += s.Shape[axis]
	}
	n.saved = true
}

// storeWhole makes n readable as a whole, in row-major order.
func (p *placer) storeWhole(n *node) {
	if x, ok := p.stored(n, nil); !ok || x.Op == ir.Buffer && (graph.StoredType(x.Node) != x.DType || !shape.IsRowMajor(x.Shape, x.Ints[1:])) {
		p.store(n)
	}
}

// scatter gives n a routine of its own.
func (p *placer) scatter(n *node) {
	if base := n.src[0]; base.Op != ir.Const {
		p.storeWhole(base)
	}
	p.start(n, ir.Routine, n.src[1].Shape, func(t *trial, l space.Layout) int { return t.scatter(n, l) })
	n.saved = true
}
