package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Kernels that load a value of which a mask hides elements apply the mask again, and then the one that stores it omits
// hidden elements. So a device that looks at conditions computes, stores and reads the others alone: up to a length,
// whatever the capacity.

// within emits a load of n, instruction id, with the mask that hides elements of n.
func (t *trial) within(n *node, id int, at []ir.AffineExpr, guards []ir.Guard) int {
	if !n.hides || len(guards) > 0 || t.stopped() {
		return id
	}
	condition := t.mask(n, at)
	if condition < 0 {
		return id
	}
	typ := n.DType.ComputeType()
	k := t.add(n, ir.Instr{Op: ir.Const, Type: typ, Num: ir.Float(typ, n.hidden.Value)})
	id = t.add(n, ir.Instr{Op: ir.Where, Type: typ, Src: []int{condition, id, k}})
	t.last().masks = true
	t.cost += ir.Table[ir.Where].Cost
	return id
}

// mask emits the condition under which an element of n, at coordinates of n, is not hidden. It returns -1, and has emitted
// nothing, if it cannot.
func (t *trial) mask(n *node, at []ir.AffineExpr) int {
	from := t.g.mark()
	for n.hidden.By != nil {
		by := t.p.known(n.hidden.By)
		moved := n.Op.Class() == ir.Movement && by == n.src[0]
		if !moved && !slices.Equal(n.Shape, by.Shape) {
			n, moved = &node{Node: graph.Reshape(by.Node, n.Shape), src: []*node{by}}, true
		}
		if moved {
			r := t.push(n, t.g.Live(at))
			if r.Opaque || len(r.Guards) > 0 {
				t.g.rollBack(from)
				return -1
			}
			at = r.At
		}
		n = by
	}
	id, filled := t.emit(n.src[0], at, nil, 0)
	if t.stopped() || !filled {
		t.failed, t.need, t.costly = false, nil, false
		t.g.rollBack(from)
		return -1
	}
	return id
}

// conditionKernel returns a kernel that stores the condition of a Where, nil if it is expensive.
func (p *placer) conditionKernel(where *graph.Node) *ir.Kernel {
	n := p.known(where).src[0]
	g, l := newGroup(ir.Pointwise, n.Shape)
	t := &trial{p: p, g: g}
	id, filled := t.emit(n, g.Coordinates(l), nil, 0)
	if t.stopped() || t.cost > prologue || !filled || len(l) == 0 || len(l[len(l)-1]) != 1 {
		return nil
	}
	g.store(id, n, g.Coordinates(l))
	return (&writer{}).kernel(g).Kernel
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
			if g.body[i].Op != ir.Store || !n.hides || whole[n.Node] {
				continue
			}
			if condition := t.mask(n, g.Coordinates(n.layout)); condition >= 0 {
				g.body[i].Src = append(g.body[i].Src, condition)
				n.cut = true
			}
		}
	}
}
