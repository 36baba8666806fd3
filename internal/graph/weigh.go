package graph

import "github.com/tensorken/tensorken/ir"

// Weigh is the product of x by weights: 0 where a weight is 0, whatever x is there.
func Weigh(weight, x *Node) *Node { return MulBy(ir.Where, weight, x) }

// MulBy is a product of a kind: 0, [ir.Where] for [Weigh], or [ir.Gather] for [Maskable].
func MulBy(kind ir.Op, x, y *Node) *Node {
	n := Binary(ir.Mul, x, y)
	n.Kind = kind
	return n
}

// Maskable marks n, the new node of an elementwise operation, as a result that a mask may hide from all that
// follows: where its cotangent is 0, the operands' cotangents are 0 whatever the partial derivatives are.
func Maskable(n *Node) *Node {
	n.Kind = ir.Gather
	return n
}
