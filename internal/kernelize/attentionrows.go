package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// divided emits x / y in a group that is cut, for y a value of rows: x times the inverse that another group stores.
func (t *trial) divided(n *node, at []ir.AffineExpr) int {
	x, _ := t.emit(n.src[0], at, nil, 0)
	y := n.src[1]
	for !t.g.region.Rows[y.Node] {
		r := t.push(y, t.g.Live(at))
		at, y = r.At, y.src[0]
	}
	inverse := t.savedRow(y, at, true)
	if t.stopped() {
		return -1
	}
	return t.add(n, ir.Instr{Op: ir.Mul, Type: t.g.body[x].Type, Src: []int{x, inverse}})
}

// savedRow loads a value of rows, or its inverse, that another group stores.
func (t *trial) savedRow(n *node, at []ir.AffineExpr, inverse bool) int {
	if t.stopped() {
		return -1
	}
	key := savedRow{n, inverse}
	c := t.g.region.saved[key]
	if c == nil {
		c = n.float32()
		if inverse {
			one := &node{Node: graph.Fill(ir.Float32, 1, n.Shape)}
			c = &node{Node: graph.Binary(ir.Div, one.Node, c.Node), src: []*node{one, c}, users: 1}
		}
		c.Number = n.Number
		c.row, c.inside = n, t.g.region
		t.g.region.Layouts[c.Node] = t.g.region.Layouts[n.Node]
		t.g.region.saved[key] = c
	}
	if c.owners == nil {
		t.need = c
		return -1
	}
	return t.load(c, t.g.Live(at), nil, 0)
}

// float32 returns n under another name, in float32.
func (n *node) float32() *node {
	x := n.Node
	if x = graph.Copy(x); n.DType != ir.Float32 {
		x = graph.Cast(n.Node, ir.Float32)
	}
	return &node{Node: x, src: []*node{n}, users: 1}
}

// storeRow makes a group compute c, a value of rows.
func (p *placer) storeRow(c *node) {
	r := c.inside
	l := r.Layouts[c.Node]
	if c.row == nil && !r.Rows[c.Node] { // a matrix that is stored after all
		panic(refusal(r.products))
	}
	groups := slices.DeleteFunc(slices.Clone(r.groups), func(g *group) bool { return g.cut })
	if c.row != nil && (c.row.owners != nil || p.dot(c.row)) {
		groups = []*group{c.row.owner()}
	}
	fill := func(t *trial) (id int) {
		at := t.g.Coordinates(t.layoutIn(l))
		if c.row != nil {
			id, _ = t.compute(c, at, nil, 0)
		} else {
			id, _ = t.value(c, at, nil, 0)
		}
		if !t.isOnePass(id, c, l) {
			t.failed = true
		}
		return id
	}
	for _, g := range groups {
		if p.extend(g, c, slices.Clone(l), fill) {
			return
		}
	}
	g := p.begin(c, func() (*group, space.Layout) { return r.newGroup(false, false, nil), slices.Clone(l) }, func(t *trial, _ space.Layout) int { return fill(t) })
	if g == nil {
		missing := slices.DeleteFunc(slices.Clone(r.products), func(e *product) bool { return e.sum.owners != nil })
		if len(missing) == 0 {
			missing = r.products
		}
		panic(refusal(missing))
	}
	r.groups = append(r.groups, g)
}

// dot makes a small reduction of n, the sum in the gradient of a softmax, if it can. With weights p, values v and
// the gradient g of the result y that is Σₙ pₙ·(g·vₙ) = g·Σₙ pₙ·vₙ = g·y for each row, and y is stored, as in
// FlashAttention-2.
func (p *placer) dot(n *node) bool {
	r := n.inside
	if m := n.src[0]; r != nil && n.Op == ir.Sum && m.Op == ir.Mul {
		for i, s := range m.src {
			score := unmoved(s)
			for _, e := range r.products {
				same := unmoved(e.weights) == unmoved(m.src[1-i]) && e.sum.owner() != nil && !e.Swapped
				if same && score.Op == ir.Sum && r.Layouts[score.Node] != nil && p.dotOf(n, score, e) {
					return true
				}
			}
		}
	}
	return false
}

// unmoved returns n below its Reshapes and Permutes.
func unmoved(n *node) *node {
	for n.Op == ir.Reshape || n.Op == ir.Permute {
		n = n.src[0]
	}
	return n
}

// dotOf is dot for the result of a product e whose factor is one of a score.
func (p *placer) dotOf(n, score *node, e *product) bool {
	r := e.region
	return p.begin(n, func() (*group, space.Layout) {
		g := r.newGroup(false, false, e)
		g.template, g.reduced = ir.Reduce, slices.Clone(g.widths)
		columns := r.Space.LiveSet(r.Columns)
		g.Axes = slices.DeleteFunc(g.Axes, columns.Has)
		return g, slices.Clone(r.Layouts[n.Node])
	}, func(t *trial, l space.Layout) int {
		m := score.src[0]
		over := make(space.Layout, len(m.Shape))
		for _, a := range score.Ints {
			if m.Shape[a] > 1 {
				over[a] = t.g.reduced
			}
		}
		known, where := t.resolve(e.factor, t.g.Coordinates(t.layoutIn(e.Layout)))
		for i, x := range m.src {
			at := t.g.operand(score, t.g.Coordinates(t.layoutIn(r.Layouts[score.Node])), t.layoutIn(over))
			if y, its := t.resolve(x, at); y != known || !slices.EqualFunc(t.g.Live(its), t.g.Live(where), shape.Equal) {
				continue
			}
			gradient, _ := t.emit(m.src[1-i], at, nil, 0)
			result, _ := t.emit(e.sum, t.g.Coordinates(t.layoutIn(e.Out)), nil, 0)
			if t.stopped() {
				return -1
			}
			return t.reduceValue(n, t.add(n, ir.Instr{Op: ir.Mul, Type: ir.Float32, Src: []int{gradient, result}}))
		}
		t.failed = true
		return -1
	}) != nil
}

// resolve follows movements to the node that they move.
func (t *trial) resolve(n *node, at []ir.AffineExpr) (*node, []ir.AffineExpr) {
	for n.Op == ir.Expand || n.Op == ir.Reshape || n.Op == ir.Permute {
		r := t.push(n, t.g.Live(at))
		if r.Opaque {
			break
		}
		n, at = n.src[0], r.At
	}
	return n, at
}
