package exec

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A plan stores the roots that it is asked for, the CoOutputs of the nodes that it
// computes, and the nodes that retained lists.

// addCoOutputs adds to the roots the nodes of bundles that have no value yet and
// belong to the capture's device.
func (c *capture) addCoOutputs(bundles []*graph.CoOutputs) {
	for _, b := range bundles {
		for _, m := range b.Nodes {
			switch v := m.Value(); {
			case v != nil && v.Err != nil:
				c.failed = v.Err
			case v == nil && (c.device == nil || deviceOf(m, c.device) == c.device):
				c.roots = append(c.roots, m)
			}
		}
	}
}

// retained lists the nodes that a plan of the graph stores though nobody asked for
// them: those marked Keep, and recomputed nodes that new nodes read. New is a node
// that no plan has computed; a movement is as new as the nodes that read it.
func retained(nodes []node) []int32 {
	var list []int32
	read := make([]bool, len(nodes)) // by a new node
	for i, n := range slices.Backward(nodes) {
		recomputed := n.leaf < 0 && n.IsComputed()
		if n.IsKept() || recomputed && read[i] {
			list = append(list, int32(i))
		}
		if n.leaf >= 0 || recomputed || n.Op.Class() == ir.Movement && !read[i] {
			continue
		}
		for _, s := range n.src {
			read[s] = true
		}
	}
	return list
}

// A worth says when to store a node that a plan computed without storing it.
type worth uint8

const (
	never  worth = iota
	second       // the next time that it is computed
	third        // the time after that
)

// A use is what worth depends on, besides the node.
type use struct {
	from int  // the elements that the node is computed from, less constants
	read bool // by other nodes than reductions
}

// uses returns the use of each node.
func uses(nodes []node, leaves []leaf) []use {
	list := make([]use, len(nodes))
	for i := range nodes {
		n, u := &nodes[i], &list[i]
		class := n.Op.Class()
		for _, s := range n.src {
			u.from = min(u.from+list[s].from, math.MaxInt32)
			list[s].read = list[s].read || class != ir.Reduction
		}
		switch {
		case n.leaf >= 0:
			u.from = leaves[n.leaf].distinct()
		case class == ir.Reduction, class == ir.Indexed, n.Op == ir.Iota:
			u.from = n.Len()
		}
	}
	return list
}

// worth returns the worth of a node. Never stored: movements, and values read only by
// reductions. Stored late: values more than twice as large as what they are computed
// from. The products inside a MatMul are both.
func (u use) worth(n *node) worth {
	switch class := n.Op.Class(); {
	case n.leaf >= 0:
		return never
	case class == ir.Reduction, class == ir.Indexed:
		return second
	case class != ir.Elementwise, !u.read:
		return never
	case u.from > 0 && n.Len() > 2*u.from:
		return third
	}
	return second
}

// distinct returns the number of elements of which the leaf's are repetitions.
func (l *leaf) distinct() int {
	n := 1
	for i, d := range l.shape {
		if l.view.Strides[i] != 0 {
			n *= d
		}
	}
	return n
}

// markComputed notes that a plan has computed the nodes.
func (c *capture) markComputed() {
	for i, u := range uses(c.nodes, c.leaves) {
		n := &c.nodes[i]
		if w := u.worth(n); w == second || w == third && n.Pass() {
			n.MarkComputed()
		}
	}
}
