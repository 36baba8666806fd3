package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// An argument is the tree that a function is differentiated by, in one call.
type argument[P any] struct {
	op    string
	tree  P               // a private copy, to build results like it
	given []tensor.Tensor // its leaves
	scope *graph.Scope
	fresh []*graph.Node // the name of a leaf in the call; nil for one that gets no gradient
}

// newArgument makes a tree the argument of a call.
func newArgument[P any](op string, p P) *argument[P] {
	leaves := flatten(op, p)
	r, given := begin(differentiable(leaves)), values(leaves)
	return &argument[P]{op, rebuild(op, p, given), given, r.scope, r.given}
}

// private returns the tree that the function gets.
func (a *argument[P]) private() P {
	leaves := make([]tensor.Tensor, len(a.given))
	for i, n := range a.fresh {
		if leaves[i] = a.given[i]; n != nil {
			leaves[i] = tensorOf(n)
		}
	}
	return rebuild(a.op, a.tree, leaves)
}

// record closes the scope of the call, after its function has returned.
func (a *argument[P]) record(results []*graph.Node) *tape {
	t := record(a.scope, present(a.fresh), results)
	a.scope.Close()
	t.release()
	return t
}

// gradient returns a cotangent for each leaf, nil for a leaf that has no derivative.
// cts has a cotangent for each argument of the tape; nil means zero.
func (a *argument[P]) gradient(cts []*graph.Node) []*graph.Node {
	return withAbsent(zeros(present(a.fresh), cts), a.fresh)
}

// tangents returns v's leaves at the leaves that have a derivative: nil for absent ones.
func (a *argument[P]) tangents(op string, v P) []*graph.Node {
	return only(match(op, "the tangent", flatten(op, a.tree), a.fresh, v), a.fresh)
}

// match aligns a tree of tangents or cotangents with leaves and returns its nodes.
// of has the node of each leaf, nil for a leaf that has no derivative. The result is
// nil for such a leaf and for an absent tangent.
func match(op, what string, leaves []pytree.Leaf[tensor.Tensor], of []*graph.Node, tree any) []*graph.Node {
	ts, err := pytree.Align(leaves, flatten(op, tree))
	if err != nil {
		misuse(op, err.Error(), fmt.Sprintf("a %T", tree))
	}
	out := nodes(ts)
	for i, t := range out {
		switch n := of[i]; {
		case t == nil:
		case !leaves[i].Value.IsValid():
			misuse(op, what+" has a tensor where there is none to go with it", t)
		case n == nil:
			out[i] = nil
		case t.IsUntyped() && n.DType.IsFloat() && t.DType != n.DType && slices.Equal(t.Shape, n.Shape):
			out[i] = graph.Convert(t, n.DType)
		case t.DType != n.DType || !slices.Equal(t.Shape, n.Shape):
			misuse(op, fmt.Sprintf("%s is %v %v where %v %v is wanted", what, t.DType, t.Shape, n.DType, n.Shape))
		}
	}
	return out
}
