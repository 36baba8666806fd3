package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
)

// A custom is a call that is differentiated as a whole, by its own rule. Its
// arguments and results are known from outside; how it computes the results is
// seen only where they are computed.
type custom struct {
	args []*graph.Node
	outs []*graph.Node // its results: aliases whose Rule is a *result
	// pull gives the cotangents of the arguments from those of the results,
	// push the tangents of the results from those of the arguments. Nil is
	// zero. Both use the arguments and results that they are given, which may
	// be others than the call's.
	pull func(args, outs, cts []*graph.Node) []*graph.Node
	push func(args, outs, tangents []*graph.Node) []*graph.Node
}

// A result is what the i-th of a custom call's results is.
type result struct {
	*custom
	i int
}

// resultOf returns what n is of a custom call, nil if of none.
func resultOf(n *graph.Node) *result {
	r, _ := n.Rule.(*result)
	return r
}

// conclude makes nodes the results of a custom call.
func (k *custom) conclude(inner []*graph.Node) []*graph.Node {
	k.outs = make([]*graph.Node, len(inner))
	for i, n := range inner {
		k.outs[i] = graph.NewResult(n, &result{k, i}, k.args)
	}
	return k.outs
}
