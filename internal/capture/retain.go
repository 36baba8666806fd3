package capture

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// addRetained adds the retained nodes to the roots.
func (c *Capture) addRetained() {
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
func (c *Capture) findUses() {
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
			u.from = c.Leaves[n.leaf].distinct()
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
func (c *Capture) isRetained(n *node, u use) bool {
	return n.IsKept() || n.leaf < 0 && c.isComputed(n) && u.new
}

// isComputed reports whether a plan has computed a node, or will have before this capture.
func (c *Capture) isComputed(n *node) bool { return n.IsComputed() || c.Known.Nodes[n.Node] }

// Retained returns the roots that were not asked for.
func (c *Capture) Retained() []*graph.Node { return c.roots[c.asked:] }

// StoredWith returns the CoOutputs that are stored with the given number of roots that were asked for.
func (c *Capture) StoredWith(roots int) []*graph.Node { return slices.Clone(c.roots[roots:c.asked]) }

// NoteComputed adds to a set the nodes that later plans should not compute again.
func (c *Capture) NoteComputed(nodes map[*graph.Node]bool) {
	for i, u := range c.uses {
		if n := &c.nodes[i]; u.worth(n) == second {
			nodes[n.Node] = true
		}
	}
}

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
func (l *Leaf) distinct() int {
	n := 1
	for i, stride := range l.View.Strides {
		if stride != 0 {
			n *= l.shape[i]
		}
	}
	return n
}

// MarkComputed notes that a plan has computed the nodes.
func (c *Capture) MarkComputed() {
	for i, u := range c.uses {
		n := &c.nodes[i]
		if w := u.worth(n); w == second || w == third && n.Pass() {
			n.MarkComputed()
		}
	}
}
