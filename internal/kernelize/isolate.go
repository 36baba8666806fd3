package kernelize

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// isolate returns nodes that need groups of their own, so that no group has more
// buffers than a device binds, 0 for no limit. It returns none if no group has, or if
// isolation cannot help.
func (p *placer) isolate(bindings int) nodeSet {
	isolated := nodeSet{}
	for _, g := range p.groups {
		status := 0 // whether there is a status buffer
		for i := range g.body {
			if g.body[i].UsesIndex() {
				status = 1
			}
		}
		if bindings > 0 && g.buffers()+status > bindings {
			maps.Copy(isolated, p.split(g, bindings-3)) // beside a result, the status and one more
		}
	}
	return isolated
}

type nodeSet map[*node]bool

// split returns nodes of g without which every instruction depends on at most most
// buffers: where one depends on more, its operand with the most. If there are no such
// nodes it returns half of those that g stores.
func (p *placer) split(g *group, most int) nodeSet {
	isolated := nodeSet{}
	eligible := func(n *node) bool {
		class := n.Op.Class()
		computes := class == ir.Elementwise || class == ir.Reduction || n.Op == ir.Gather
		sum := g.template == ir.Contraction && class == ir.Reduction
		return computes && !sum && !isolated[n] && !n.isolated && n.number > 0
	}
	order := shape.All(len(g.body)) // that of the graph: merged groups follow each other in the body
	number := func(i int) int { return g.body[i].node.number }
	slices.SortStableFunc(order, func(i, k int) int { return number(i) - number(k) })
	reads := make([]nodeSet, len(g.body)) // the buffers that each instruction depends on
	var stored []*node
	for at, i := range order {
		in := &g.body[i]
		if in.Op == ir.Store {
			if eligible(in.node) {
				stored = append(stored, in.node)
			}
			continue
		}
		for {
			reads[i] = nodeSet{}
			if in.reads != nil {
				reads[i][in.reads] = true
			}
			var largest *node
			size := 1
			for _, x := range in.Src {
				maps.Copy(reads[i], reads[x])
				if b := base(g.body[x].node); b != in.node && len(reads[x]) > size && eligible(b) {
					largest, size = b, len(reads[x])
				}
			}
			if len(reads[i]) <= most || largest == nil {
				break
			}
			isolated[largest] = true
			for _, x := range order[:at] {
				if base(g.body[x].node) == largest {
					reads[x] = nodeSet{largest: true}
				}
			}
		}
	}
	if len(isolated) > 0 {
		return isolated
	}
	for _, n := range stored[:(len(stored)+1)/2] {
		isolated[n] = true
	}
	return isolated
}
