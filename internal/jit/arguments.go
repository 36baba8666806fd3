package jit

import (
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The arguments of a call are the tensors of its list, then of its tree, computed. An
// untyped constant of float32 that meets float64 in F is another argument, in that type, so
// that it has the digits that it has without a recording.
type arguments struct {
	nodes []*graph.Node // nil for absent tensors
	wide  []*graph.Node // the nodes as made in float64; may be nil
}

// A wideLayout is the layout of an argument in float64.
type wideLayout struct {
	of     int
	layout capture.Layout
}

func (w wideLayout) sameArgument(x wideLayout) bool { return w.of == x.of }

// newArguments returns the arguments of a call on behalf of op. It fails with ErrUnrecorded if one
// is a placeholder or is differentiated.
func newArguments(op string, nodes []*graph.Node) (*arguments, error) {
	a := &arguments{nodes: nodes}
	var todo []*graph.Node
	for i, n := range nodes {
		if n == nil {
			continue
		}
		if of, _ := n.PlaceholdersOf(); of != "" || n.Traced() {
			return nil, ErrUnrecorded
		}
		if n.Value() == nil {
			todo = append(todo, n)
			if isWidened(n) {
				a.convert(i) // before n drops its operands
			}
		}
	}
	return a, tensor.Internal.Evaluate(graph.Token{}, op, todo)
}

// isWidened reports whether n may be an argument in float64 too.
func isWidened(n *graph.Node) bool { return n.IsUntyped() && n.DType == ir.Float32 }

// convert returns argument i in float64, the same each time.
func (a *arguments) convert(i int) *graph.Node {
	if a.wide == nil {
		a.wide = make([]*graph.Node, len(a.nodes))
	}
	if a.wide[i] == nil {
		a.wide[i] = graph.Convert(a.nodes[i], ir.Float64)
	}
	return a.wide[i]
}

// inFloat64 returns argument i in float64, computed.
func (a *arguments) inFloat64(op string, i int) (*graph.Node, error) {
	n := a.convert(i)
	if err := tensor.Internal.Evaluate(graph.Token{}, op, []*graph.Node{n}); err != nil {
		return nil, err
	}
	graph.KeepWide(a.nodes[i], n)
	return n, nil
}
