package capture

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// IsTransaction reports whether the capture belongs to a Step.
func (c *Capture) IsTransaction() bool { return len(c.old) > 0 }

// findOld finds the leaves that have the old elements of a transaction's outputs, if an
// asynchronous device checks indices in it. The transaction falls back to all of them or, if an
// output has none, to none.
func (c *Capture) findOld() {
	isCheck := func(n node) bool { return n.Op.Class() == ir.Indexed }
	if !c.IsTransaction() || !c.device.Limits.Async || !slices.ContainsFunc(c.nodes, isCheck) {
		return
	}
	for i, old := range c.old {
		n := c.roots[i]
		if n.Value() != nil || n.Len() == 0 {
			continue
		}
		number, out := c.leafOf(old, n), &c.Outputs[c.OutputOf(n)]
		if number < 0 || out.Old >= 0 && out.Old != number {
			return
		}
		out.Old = number
	}
	c.fallsBack = true
	for i := range c.Outputs {
		c.keyInt(int(c.Outputs[i].Old))
	}
}

// leafOf returns the number of the leaf that old is, if n may replace it; -1 otherwise.
func (c *Capture) leafOf(old, n *graph.Node) int32 {
	if old == nil || old.DType != n.DType || !slices.Equal(old.Shape, n.Shape) {
		return -1
	}
	if v := old.Value(); v == nil || v.Err != nil {
		return -1
	}
	c.walk(old)
	number, _ := c.number.Get(old)
	if c.nodes[number].leaf < 0 { // it was numbered before it had a value
		return -1
	}
	return int32(number)
}
