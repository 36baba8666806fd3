package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

func node(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

func tensorOf(n *graph.Node) tensor.Tensor { return tensor.Internal.Tensor(graph.Token{}, n) }

func nodes(ts []tensor.Tensor) []*graph.Node {
	ns := make([]*graph.Node, len(ts))
	for i, t := range ts {
		ns[i] = node(t)
	}
	return ns
}

func misuse(op, reason string, operands ...any) {
	tensor.Internal.Misuse(graph.Token{}, op, reason, operands...)
}

// flatten returns the leaves of a tree.
func flatten(op string, tree any) []pytree.Leaf[tensor.Tensor] {
	leaves, err := pytree.Flatten[tensor.Tensor](tree)
	if err != nil {
		misuse(op, err.Error(), fmt.Sprintf("a %T", tree))
	}
	return leaves
}

// rebuild returns a tree like another with other leaves. It shares nothing
// with it.
func rebuild[T any](op string, like T, leaves []tensor.Tensor) T {
	tree, err := pytree.Rebuild(like, leaves)
	if err != nil {
		misuse(op, err.Error(), fmt.Sprintf("a %T", like))
	}
	return tree
}

// values returns the tensors of leaves.
func values(leaves []pytree.Leaf[tensor.Tensor]) []tensor.Tensor {
	ts := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		ts[i] = l.Value
	}
	return ts
}

// differentiable returns the nodes of the leaves that have a derivative, and
// nil for the others.
func differentiable(leaves []pytree.Leaf[tensor.Tensor]) []*graph.Node {
	ns := nodes(values(leaves))
	for i, n := range ns {
		if n != nil && (!n.DType.IsFloat() || leaves[i].State) {
			ns[i] = nil
		}
	}
	return ns
}

// An argument is what a function is differentiated by, in one call of it.
type argument[P any] struct {
	op    string
	tree  P               // a copy nobody else has, to build results like it
	given []tensor.Tensor // its leaves
	scope *graph.Scope
	fresh []*graph.Node // the alias that stands for a leaf; nil for one that gets no gradient
}

// take makes a tree the argument of a call.
func take[P any](op string, p P) *argument[P] {
	leaves := flatten(op, p)
	a := &argument[P]{op: op, given: values(leaves), scope: new(graph.Scope), fresh: make([]*graph.Node, len(leaves))}
	a.tree = rebuild(op, p, a.given)
	for i, n := range differentiable(leaves) {
		if n != nil {
			a.fresh[i] = graph.NewAlias(n, a.scope)
		}
	}
	return a
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
	var args []*graph.Node
	for _, n := range a.fresh {
		if n != nil {
			args = append(args, n)
		}
	}
	t := record(a.scope, args, results)
	a.scope.Close()
	t.release()
	return t
}

// gradient returns the tree of the arguments' cotangents: zeros where one is
// nil, absent for a leaf that gets none.
func (a *argument[P]) gradient(cts []*graph.Node) []tensor.Tensor {
	leaves := make([]tensor.Tensor, len(a.given))
	for i, n := range a.fresh {
		if n == nil {
			continue
		}
		ct := cts[0]
		if cts = cts[1:]; ct == nil {
			ct = like(n, 0)
		}
		leaves[i] = tensorOf(ct)
	}
	return leaves
}

// match returns the tangents or cotangents that a tree has for the leaves of
// another, for which the nodes of stand: nil where one is absent, or of is nil
// because the leaf has no derivative.
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
		case t.DType != n.DType || !slices.Equal(t.Shape, n.Shape):
			misuse(op, fmt.Sprintf("%s is %v %v where %v %v is wanted", what, t.DType, t.Shape, n.DType, n.Shape))
		}
	}
	return out
}

// outwards returns the tensors of results, for the caller of the function.
func (t *tape) outwards(results []*graph.Node) []tensor.Tensor {
	ts := make([]tensor.Tensor, len(results))
	for i, n := range results {
		ts[i] = tensorOf(t.outward(n))
	}
	return ts
}
