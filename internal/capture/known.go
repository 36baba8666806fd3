package capture

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A Known has values of nodes, known before a capture of them.
type Known struct {
	Given map[*graph.Node]*graph.Value // the values of some
	Nodes map[*graph.Node]bool         // those that a plan computes, as if marked so
	Keeps bool                         // later steps may read donated values
	// IsInside reports whether a plan has a HostCall, a collective, among its kernels; nil for none.
	IsInside func(n *graph.Node) bool
}

// state returns the operands of a node and its value, or nil.
func (k Known) state(n *graph.Node) (graph.Operands, *graph.Value) {
	src, v := n.State()
	if g := k.Given[n]; g != nil {
		v = g
	} else if v == nil && n.Op == ir.Pick {
		v = k.pick(n, src.At(0))
	}
	return src, v
}

// ValueOf returns the value of a node, or nil.
func (k Known) ValueOf(n *graph.Node) *graph.Value {
	_, v := k.state(n)
	return v
}

// pick returns the value of n, a result of a Recur, if the Recur has one that includes it. It
// gives n that value unless the Recur's is given.
func (k Known) pick(n, recur *graph.Node) *graph.Value {
	v := k.ValueOf(recur)
	if v != nil && v.Err == nil {
		all := v.Store.(*storage.Bundle).Values
		if n.Ints[0] >= len(all) {
			return nil
		}
		v = all[n.Ints[0]]
	}
	if v != nil && k.Given[recur] == nil {
		n.SetValue(v)
		v = n.Value()
	}
	return v
}
