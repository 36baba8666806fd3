package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// JacRev returns the function that computes the Jacobian of f, by reverse mode:
// a tree like the argument, with the derivatives of f's result, of shape out,
// by each tensor, of shape in, in its place, of shape [out..., in...]. One batched
// pass computes all rows. See [Of] for the leaves that have none. As in
// [Vmap], which does it, no rule of [Custom] or [CustomJVP] in f may look at values;
// nor may it for [JacFwd] or [Hessian].
//
// It takes about as much as calling f once for each element of the result;
// [JacFwd] once for each element of the argument.
func JacRev[P any](f func(P) tensor.Tensor) func(P) P {
	needFuncs("grad.JacRev", f)
	const op = "grad.JacRev"
	return func(at P) P {
		y, vjp := VJP(f, at)
		n := floatNode(op, "the function's result", y)
		rows := Vmap(vjp)(tensorOf(basis(n)))
		leaves := leafNodes(op, rows)
		for i, r := range leaves {
			if r != nil {
				leaves[i] = graph.Reshape(r, slices.Concat(n.Shape, r.Shape[1:]))
			}
		}
		return rebuild(op, rows, tensors(leaves))
	}
}

// JacFwd is [JacRev] by forward mode, in one batched pass for each tensor of
// the argument.
func JacFwd[P any](f func(P) tensor.Tensor) func(P) P {
	needFuncs("grad.JacFwd", f)
	return jacFwd("grad.JacFwd", f)
}

func jacFwd[P any](op string, f func(P) tensor.Tensor) func(P) P {
	return func(at P) P {
		y, jvp := Linearize(f, at)
		n := floatNode(op, "the function's result", y)
		leaves := flatten(op, at)
		out := make([]tensor.Tensor, len(leaves))
		for i, x := range differentiable(leaves) {
			if x == nil {
				continue
			}
			along := make([]tensor.Tensor, len(leaves))
			along[i] = tensorOf(basis(x))
			columns := node(Vmap(jvp)(rebuild(op, at, along)))
			columns = moveAxis(columns, 0, len(n.Shape))
			out[i] = tensorOf(graph.Reshape(columns, slices.Concat(n.Shape, x.Shape)))
		}
		return rebuild(op, at, out)
	}
}

// Hessian returns the function that computes the second derivatives of f, which
// gives one element, by a tensor of shape in: of shape [in..., in...]. It is
// forward mode over reverse, in one batched pass. For a function of several
// results, see JacFwd(JacRev(f)); for a tree,
// [github.com/tensorken/tensorken/tree.Ravel]; for a product with a vector,
// [HVP].
func Hessian(f func(tensor.Tensor) tensor.Tensor) func(tensor.Tensor) tensor.Tensor {
	needFuncs("grad.Hessian", f)
	const op = "grad.Hessian"
	jacobian := jacFwd(op, gradient(op, f))
	return func(x tensor.Tensor) tensor.Tensor {
		floatNode(op, "the argument", x)
		return jacobian(x)
	}
}

// basis has for each element of x a tensor like it that is 1 there and 0
// elsewhere, along the first axis.
func basis(x *graph.Node) *graph.Node {
	n := x.Len()
	square := []int{n, n}
	eye := graph.Cast(eq(graph.Iota(square, 0), graph.Iota(square, 1)), x.DType)
	return graph.Reshape(eye, append([]int{n}, x.Shape...))
}
