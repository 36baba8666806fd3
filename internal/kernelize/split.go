package kernelize

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An end says that a node is stored and that nothing joins its group after it.
type end int

const (
	last  end = 1 + iota // the node may join a group
	alone                // the node starts a group
)

type nodeSet map[*node]bool

// split returns ends with which no group has more buffers than a device binds, 0 for no
// limit. It returns none if no group has, or if ends cannot help.
func (p *placer) split(bindings int) map[*node]end {
	ends := map[*node]end{}
	for _, g := range p.groups {
		status := 0 // whether there is a status buffer
		if g.checks() {
			status = 1
		}
		if bindings == 0 || g.template == ir.Attention || g.body[len(g.body)-1].Op == ir.HostCall || g.buffers()+status <= bindings {
			continue
		}
		more := g.splitStores(bindings - status)
		if len(more) == 0 {
			more = g.splitLoads(bindings - 3) // beside a result, the status and one more
		}
		maps.Copy(ends, more)
	}
	return ends
}

// inOrder lists the instructions of g in the order of the graph: merged groups follow
// each other in the body.
func (g *group) inOrder() []int {
	order := shape.All(len(g.body))
	number := func(i int) int { return g.body[i].node.number }
	slices.SortStableFunc(order, func(i, k int) int { return number(i) - number(k) })
	return order
}

// canEnd reports whether n, computed by g, may end a group in a way that it does not yet.
func (g *group) canEnd(n *node, e end) bool {
	class := n.Op.Class()
	computes := class == ir.Elementwise || class == ir.Reduction || n.Op == ir.Gather
	sum := g.template == ir.Contraction && class == ir.Reduction
	return computes && !sum && n.end < e && n.number > 0
}

// splitStores cuts g into groups of at most most buffers that store several nodes each,
// one after the other. It returns the last node of each but the last of them.
func (g *group) splitStores(most int) map[*node]end {
	order := g.inOrder()
	place := make([]int, len(order))  // in order, by instruction
	reader := make([]int, len(order)) // the place of an instruction's last reader
	for at, i := range order {
		place[i] = at
		for _, x := range g.body[i].Src {
			reader[x] = at
		}
	}
	// buffers counts the buffers that a group of the instructions of some places would read
	// and write.
	buffers := func(from, to int) int {
		read, written := nodeSet{}, nodeSet{}
		load := func(i int) {
			if in := &g.body[i]; in.reads != nil {
				read[in.reads] = true
			} else if place[i] < from && in.Op.Class() != ir.Source {
				read[in.node] = true
			}
		}
		for _, i := range order[from : to+1] {
			in := &g.body[i]
			load(i)
			for _, x := range in.Src {
				load(x)
			}
			if in.Op.Writes() || reader[i] > to && in.Op.Class() != ir.Source && in.reads == nil {
				written[in.node] = true
			}
		}
		return len(read) + len(written)
	}
	ends := map[*node]end{}
	from, next := 0, 0 // where the group begins, and where the next one could
	for at, i := range order {
		if g.body[i].Op != ir.Store {
			continue
		}
		if next > from && buffers(from, at) > most {
			ends[g.body[order[next-1]].node] = last
			from = next
		}
		if g.canEnd(g.body[i].node, last) && buffers(from, at) <= most {
			next = at + 1
		}
	}
	return ends
}

// splitLoads returns nodes of g without which every instruction depends on at most most
// buffers: where one depends on more, its operand with the most. If there are no such
// nodes it returns half of those that g stores.
func (g *group) splitLoads(most int) map[*node]end {
	ends := map[*node]end{}
	order := g.inOrder()
	reads := make([]nodeSet, len(g.body)) // the buffers that each instruction depends on
	var stored []*node
	for at, i := range order {
		in := &g.body[i]
		if in.Op == ir.Store {
			if g.canEnd(in.node, alone) {
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
				if b := base(g.body[x].node); b != in.node && len(reads[x]) > size && ends[b] == 0 && g.canEnd(b, alone) {
					largest, size = b, len(reads[x])
				}
			}
			if len(reads[i]) <= most || largest == nil {
				break
			}
			ends[largest] = alone
			for _, x := range order[:at] {
				if base(g.body[x].node) == largest {
					reads[x] = nodeSet{largest: true}
				}
			}
		}
	}
	if len(ends) > 0 {
		return ends
	}
	for _, n := range stored[:(len(stored)+1)/2] {
		ends[n] = alone
	}
	return ends
}
