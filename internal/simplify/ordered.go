package simplify

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

var ordered = map[ir.Op][]rule{
	ir.Scan: {scanOne},
	ir.Sort: {sortOne},
}

// scanOne replaces the Scan of rows of one element by its operand.
func scanOne(_ *builder, n *graph.Node) *graph.Node {
	if n.Shape[n.Ints[0]] == 1 {
		return n.Operand(0)
	}
	return nil
}

// sortOne replaces the Sort of rows of one element by their position.
func sortOne(b *builder, n *graph.Node) *graph.Node {
	if n.Operand(0).Shape[n.Ints[0]] == 1 {
		return b.add(graph.Const(n.DType, 0, n.Shape))
	}
	return nil
}
