package exec

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// addCoOutputs adds to the roots the nodes of CoOutputs that have no value yet and
// belong to the capture's device.
func (c *capture) addCoOutputs(sets []*graph.CoOutputs) {
	for _, b := range sets {
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

// addRetained adds the retained nodes to the roots.
func (c *capture) addRetained() {
	c.findUses()
	for i, u := range slices.Backward(c.uses) {
		if n := &c.nodes[i]; c.isRetained(n, u) {
			c.roots = append(c.roots, n.Node)
		}
	}
}

// A use says how a graph uses a node.
type use struct {
	from int  // the elements that the node is computed from, less constants
	read bool // by other nodes than reductions
	new  bool // by a node that no plan has computed; a movement is as new as its readers
}

// findUses sets the uses of the nodes.
func (c *capture) findUses() {
	c.uses = append(c.uses, make([]use, len(c.nodes))...)
	for i := range c.nodes {
		n, u := &c.nodes[i], &c.uses[i]
		class := n.Op.Class()
		for _, s := range c.src(n) {
			u.from = min(u.from+c.uses[s].from, math.MaxInt32)
			c.uses[s].read = c.uses[s].read || class != ir.Reduction
		}
		switch {
		case n.leaf >= 0:
			u.from = c.leaves[n.leaf].distinct()
		case class == ir.Reduction, class == ir.Indexed, n.Op == ir.Iota:
			u.from = n.Len()
		}
	}
	for i, n := range slices.Backward(c.nodes) {
		if c.isComputed(&n) || n.Op.Class() == ir.Movement && !c.uses[i].new {
			continue
		}
		for _, s := range c.src(&n) {
			c.uses[s].new = true
		}
	}
}

// isRetained reports whether a plan stores a node though nobody asked for it: one
// marked Keep, or a recomputed node that a new node reads.
func (c *capture) isRetained(n *node, u use) bool {
	return n.IsKept() || n.leaf < 0 && c.isComputed(n) && u.new
}

// isComputed reports whether a plan has computed a node, or will have before this capture.
func (c *capture) isComputed(n *node) bool { return n.IsComputed() || c.computed.nodes[n.Node] }

// A worth says when to store a node that a plan computes without storing it.
type worth uint8

const (
	never  worth = iota
	second       // the next time that it is computed
	third        // the time after that
)

// worth returns the worth of a node. Never stored: movements, and values read only by
// reductions. Stored late: values more than twice as large as the elements that they are
// computed from. The products inside a MatMul are both.
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

// distinct returns the number of elements of the leaf without repetitions by stride 0.
func (l *leaf) distinct() int {
	n := 1
	for i, stride := range l.view.Strides {
		if stride != 0 {
			n *= l.shape[i]
		}
	}
	return n
}

// markComputed notes that a plan has computed the nodes.
func (c *capture) markComputed() {
	for i, u := range c.uses {
		n := &c.nodes[i]
		if w := u.worth(n); w == second || w == third && n.Pass() {
			n.MarkComputed()
		}
	}
}
