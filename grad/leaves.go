package grad

import (
	"fmt"
	"reflect"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

func node(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

func tensorOf(n *graph.Node) tensor.Tensor { return tensor.Internal.Tensor(graph.Token{}, n) }

// mapped returns f of each element.
func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// nodes returns the nodes of tensors, nil for absent ones.
func nodes(ts []tensor.Tensor) []*graph.Node { return mapped(ts, node) }

// tensors returns the tensors of nodes, absent ones for nil.
func tensors(ns []*graph.Node) []tensor.Tensor { return mapped(ns, tensorOf) }

func misuse(op, reason string, operands ...any) {
	tensor.Internal.Misuse(graph.Token{}, op, reason, operands...)
}

// needFuncs panics if one of the functions that op is given is nil.
func needFuncs(op string, fs ...any) {
	for _, f := range fs {
		if reflect.ValueOf(f).IsNil() {
			misuse(op, fmt.Sprintf("a %T is nil: want a function", f))
		}
	}
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

// leafNodes returns the nodes of a tree.
func leafNodes(op string, tree any) []*graph.Node { return nodes(values(flatten(op, tree))) }

// flattenNodes returns the nodes of a tree and the function that makes a tree like
// it, as it is now, of other nodes.
func flattenNodes[T any](op string, tree T) (ns []*graph.Node, unflatten func([]*graph.Node) T) {
	ns = leafNodes(op, tree)
	like := rebuild(op, tree, make([]tensor.Tensor, len(ns)))
	return ns, func(ns []*graph.Node) T { return rebuild(op, like, tensors(ns)) }
}

// values returns the tensors of leaves.
func values(leaves []pytree.Leaf[tensor.Tensor]) []tensor.Tensor {
	return mapped(leaves, func(l pytree.Leaf[tensor.Tensor]) tensor.Tensor { return l.Value })
}

// differentiable returns the nodes of the leaves that have a derivative, and
// nil for the others.
func differentiable(leaves []pytree.Leaf[tensor.Tensor]) []*graph.Node {
	return mapped(leaves, func(l pytree.Leaf[tensor.Tensor]) *graph.Node {
		if l.State {
			return nil
		}
		return ifFloat(node(l.Value))
	})
}

// ifFloat returns n if it is floating-point, else nil.
func ifFloat(n *graph.Node) *graph.Node {
	if n != nil && n.DType.IsFloat() {
		return n
	}
	return nil
}

func isPresent(n *graph.Node) bool { return n != nil }

// present returns ns without those that are nil.
func present(ns []*graph.Node) []*graph.Node { return only(ns, ns) }

// only returns ns without the nodes at whose positions of has nil.
func only(ns, of []*graph.Node) []*graph.Node {
	list := make([]*graph.Node, 0, len(of))
	for i, n := range of {
		if n != nil {
			list = append(list, ns[i])
		}
	}
	return list
}

// withAbsent undoes only: it returns ns with nil where the node of the same
// position is.
func withAbsent(ns, of []*graph.Node) []*graph.Node {
	list := make([]*graph.Node, len(of))
	for i, n := range of {
		if n != nil {
			list[i], ns = ns[0], ns[1:]
		}
	}
	return list
}
