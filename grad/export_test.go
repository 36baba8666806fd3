package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// HasPartial and HasTranspose say which rule an op has.
func HasPartial(op ir.Op) bool   { return rules[op].partial != nil }
func HasTranspose(op ir.Op) bool { return rules[op].transpose != nil }

// HasBatch reports whether an op can be done for all examples of a batch.
func HasBatch(op ir.Op) bool { return batchRuleOf(op) != nil }

// Partial returns the derivative of n by an operand.
func Partial(n *graph.Node, i int) *graph.Node {
	return (&call{Node: n, src: []*graph.Node{n.Operand(0)}}).partial(i)
}
