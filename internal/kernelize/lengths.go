package kernelize

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Lengths. A mask of few rows whose length is an argument, as a step of a decoder has for its cache,
// hides scores beyond it: they are -Inf, and weights made of them 0. Kernels that load such a value
// apply the mask again, and then the one that stores it omits hidden elements. So a device that
// looks at conditions computes, stores and reads up to the length, whatever the capacity.

// A tail is the value of a node's elements where the mask is false.
type tail int8

const (
	noTail tail = iota
	zeroTail
	lowestTail // -Inf
)

var tails = [...]float64{zeroTail: 0, lowestTail: math.Inf(-1)}

// lengthRows is the most rows of a mask that is applied again.
const lengthRows = 16

// tailOf returns the tail of n, whose operands have theirs. As finite values times 0 are 0, it is
// exact for finite values, and for the softmax of a row of which the mask leaves something.
func (p *placer) tailOf(n *node) tail {
	if len(n.src) == 0 || !n.DType.IsFloat() {
		return noTail
	}
	x := n.src[0]
	switch n.Op {
	case ir.Reshape, ir.Permute, ir.Expand, ir.Cast:
		return x.tail
	case ir.Exp:
		if x.Op == ir.Sub && x.src[0].tail == lowestTail {
			return zeroTail
		}
	case ir.Neg, ir.Div:
		if x.tail == zeroTail {
			return zeroTail
		}
	case ir.Where:
		for t, v := range tails {
			if k := base(n.src[2]); t > 0 && k.Op == ir.Const && k.Num.Float64(k.DType) == v && p.isLength(x) {
				return tail(t)
			}
		}
	}
	return noTail
}

// isLength reports whether a condition is cheap, and depends on positions and at least one number.
func (p *placer) isLength(n *node) bool {
	g, l := newGroup(ir.Pointwise, n.Shape)
	t := &trial{p: p, g: g}
	t.emit(n, g.Coordinates(l), nil, 0)
	if t.stopped() || t.cost > prologue {
		return false
	}
	number := false
	for i := range g.body {
		switch in := &g.body[i]; {
		case in.UsesIndex() || in.View != nil && (len(in.View.Guards) > 0 || in.Op == ir.Load && in.Positions() != 0):
			return false
		case in.Op == ir.Load, in.Op == ir.Scalar:
			number = true
		}
	}
	points, columns := 1, 1
	for _, a := range g.LiveSet(t.axes).List() {
		points, columns = points*g.Lens[a], max(columns, g.Lens[a])
	}
	return number && points <= lengthRows*columns
}

// within emits a load of n, instruction id, again with the mask that made n's tail.
func (t *trial) within(n *node, id int, at []ir.AffineExpr, guards []ir.Guard) int {
	if n.tail == noTail || len(guards) > 0 || t.stopped() {
		return id
	}
	condition := t.mask(n, at)
	if condition < 0 {
		return id
	}
	typ := n.DType.ComputeType()
	k := t.add(n, ir.Instr{Op: ir.Const, Type: typ, Num: ir.Float(typ, tails[n.tail])})
	id = t.add(n, ir.Instr{Op: ir.Where, Type: typ, Src: []int{condition, id, k}})
	t.last().masks = true
	t.cost += ir.Table[ir.Where].Cost
	return id
}

// mask emits the mask that made the tail of n, at coordinates of n. It returns -1, and has emitted
// nothing, if it cannot.
func (t *trial) mask(n *node, at []ir.AffineExpr) int {
	from := t.g.mark()
	for n.Op != ir.Where {
		if n.Op.Class() == ir.Movement {
			r := t.push(n, t.g.Live(at))
			if r.Opaque || len(r.Guards) > 0 {
				t.g.rollBack(from)
				return -1
			}
			at = r.At
		}
		n = n.src[0]
	}
	id, filled := t.emit(n.src[0], at, nil, 0)
	if t.stopped() || !filled {
		t.failed, t.need, t.costly = false, nil, false
		t.g.rollBack(from)
		return -1
	}
	return id
}

// cutStores makes groups omit hidden elements from the stores of nodes, where all loads apply the
// mask.
func (p *placer) cutStores() {
	whole := map[*graph.Node]bool{} // that an output is, or a load reads without a mask
	for _, o := range p.outputs {
		whole[o.Node] = true
	}
	for _, g := range p.groups {
		masked := make([]int, len(g.body)) // uses of loads, less those by masks
		for i := range g.body {
			for n, j := range g.body[i].Src {
				if !g.body[i].masks || n != 1 {
					masked[j]++
				}
			}
		}
		for i := range g.body {
			if in := &g.body[i]; in.reads != nil && (in.Op != ir.Load || masked[i] > 0) {
				whole[in.reads.Node] = true
			}
		}
	}
	for _, g := range p.groups {
		t := &trial{p: p, g: g}
		for i := range g.body {
			n := g.body[i].node
			if g.body[i].Op != ir.Store || n.tail == noTail || whole[n.Node] {
				continue
			}
			if condition := t.mask(n, g.Coordinates(n.layout)); condition >= 0 {
				g.body[i].Src = append(g.body[i].Src, condition)
				n.cut = true
			}
		}
	}
}
