package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// JVP returns f(at) and the change of it along v, a tree like at: the
// Jacobian-vector product J·v, by forward mode, without J. Where f has fewer
// arguments than results this takes less than [VJP].
//
// In v an absent tensor is zero, and leaves that are not floating-point or are tagged
// ",state" are ignored. In the tangent of the result, such leaves are absent.
func JVP[P, R any](f func(P) R, at, v P) (R, R) {
	needFuncs("grad.JVP", f)
	const op = "grad.JVP"
	c := recordCall(op, f, at)
	return c.value(), c.tangent(op, v, false)
}

// Linearize returns f(at) and f's derivative there as a function: of v, a tree like at, it
// gives the change of f along v; see [JVP]. It may be called any number of times, from any
// goroutine. After its first call, the next plan that computes f's intermediate results
// stores those that the derivative reads.
func Linearize[P, R any](f func(P) R, at P) (R, func(P) R) {
	needFuncs("grad.Linearize", f)
	c := recordCall("grad.Linearize", f, at)
	return c.value(), func(v P) R { return c.tangent("grad.Linearize's derivative", v, true) }
}

// Diff returns the function that computes f's derivative by a scalar, a tensor
// of one element, by forward mode: a tree like f's result.
func Diff[R any](f func(tensor.Tensor) R) func(tensor.Tensor) R {
	needFuncs("grad.Diff", f)
	return func(x tensor.Tensor) R {
		const op = "grad.Diff"
		n := floatNode(op, "the argument", x)
		if n.Len() != 1 {
			misuse(op, "the argument must be one number: see JVP and JacFwd for more", n)
		}
		return recordCall(op, f, x).tangent(op, tensorOf(like(n, 1)), false)
	}
}

// HVP returns the product of the Hessian of f at a tree with v, a tree like it:
// the change of f's gradient along v. It is forward mode over reverse, and the
// Hessian is never made.
func HVP[P any](f func(P) tensor.Tensor, at, v P) P {
	needFuncs("grad.HVP", f)
	const op = "grad.HVP"
	return recordCall(op, gradient(op, f), at).tangent(op, v, false)
}

// A recordedCall has a function's results and the tape for their derivatives.
type recordedCall[P, R any] struct {
	arg     *argument[P]
	tape    *tape
	result  R // a private copy, to build results like it
	leaves  []pytree.Leaf[tensor.Tensor]
	results []*graph.Node
}

func recordCall[P, R any](op string, f func(P) R, at P) *recordedCall[P, R] {
	arg := newArgument(op, at)
	defer arg.scope.Close()
	result := f(arg.private())
	leaves := flatten(op, result)
	results := nodes(values(leaves))
	t := arg.record(results)
	return &recordedCall[P, R]{arg, t, rebuild(op, result, values(leaves)), leaves, results}
}

func (c *recordedCall[P, R]) value() R {
	return rebuild(c.arg.op, c.result, tensors(c.tape.outwards(c.results)))
}

// tangent returns the change of the result along v; again says whether there may be
// more calls.
func (c *recordedCall[P, R]) tangent(op string, v P, again bool) R {
	in := c.arg.tangents(op, v)
	out := c.tape.forward(c.results, in)
	if again {
		c.tape.keepResiduals(out, in)
	}
	of := differentiable(c.leaves)
	return rebuild(op, c.result, tensors(withAbsent(zeros(present(of), only(out, of)), of)))
}
