package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
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

// Custom returns f with a derivative of its own: pull gives the cotangent of
// the argument from the argument, the result and the result's cotangent. The
// trees that it gets have zeros where there is no cotangent; it may leave
// tensors of its result absent for zero. It is in reverse mode only: for both
// modes, see [CustomJVP].
//
// What f computes is not looked into, so that it may also round, look values up
// or search. It must not capture tensors that are being differentiated or that
// [Vmap] makes batches of, nor may pull: give them as arguments.
func Custom[P, R any](f func(P) R, pull func(at P, out, ct R) P) func(P) R {
	const op = "grad.Custom"
	return func(p P) R {
		c := callCustom(op, f, p)
		c.custom.pull = func(args, outs, cts []*graph.Node) []*graph.Node {
			given := pull(c.argument(args), c.output(outs), c.output(zeros(outs, cts)))
			return matched(op+"'s pull", "the cotangent", given, c.argument(args))
		}
		c.custom.push = func(args, _, _ []*graph.Node) []*graph.Node {
			misuse(op, "it has no derivative in forward mode: use grad.CustomJVP", args[0])
			return nil
		}
		return c.output(c.custom.outs)
	}
}

// CustomJVP returns f with a derivative of its own, for both modes: push gives
// f's result, which is not used, and the change of it along v, a tree like the
// argument. The change must be linear in v, and made of operations that have
// derivatives; reverse mode panics where it is seen not to be. The trees that
// push gets have zeros where there is no tangent. See [Custom] for the rest.
func CustomJVP[P, R any](f func(P) R, push func(at, v P) (R, R)) func(P) R {
	const op = "grad.CustomJVP"
	return func(p P) R {
		c := callCustom(op, f, p)
		along := func(args, vs []*graph.Node) []*graph.Node {
			_, dr := push(c.argument(args), c.argument(vs))
			return matched(op+"'s push", "the tangent", dr, c.output(c.custom.outs))
		}
		c.custom.push = func(args, _, tangents []*graph.Node) []*graph.Node {
			return along(args, zeros(args, tangents))
		}
		c.custom.pull = func(args, _, cts []*graph.Node) []*graph.Node {
			v := enter(zeros(args, make([]*graph.Node, len(args))))
			defer v.scope.Close()
			for i, n := range v.given {
				if n != nil {
					n.Device = args[i].Device // zeros are anywhere
				}
			}
			results := along(args, v.given)
			t := record(v.scope, v.fresh, results)
			v.scope.Close()
			t.mustBeLinear(op+"'s push", results)
			grads := t.backward(results, cts)
			for i, n := range v.given { // those that have none got no name
				if n == nil {
					grads = slices.Insert(grads, i, nil)
				}
			}
			return grads
		}
		return c.output(c.custom.outs)
	}
}

// A customCall is a custom call whose arguments and results are trees.
type customCall[P, R any] struct {
	custom   *custom
	argument func([]*graph.Node) P
	output   func([]*graph.Node) R
}

// callCustom calls f and makes it a custom call.
func callCustom[P, R any](op string, f func(P) R, p P) *customCall[P, R] {
	leaves := nodes(values(flatten(op, p)))
	in := enter(leaves)
	defer in.scope.Close()
	like := rebuild(op, p, make([]tensor.Tensor, len(leaves)))
	c := &customCall[P, R]{custom: &custom{args: in.args}}
	c.argument = treeOf(op, like, leaves)
	result := f(c.argument(in.fresh))
	out := nodes(values(flatten(op, result)))
	inner := present(out)
	in.record(inner)
	if captured := in.captured(inner); len(captured) > 0 {
		misuse(op, "the function captures a tensor that depends on the argument of another transformation: make it an argument", captured[0])
	}
	c.output = treeOf(op, rebuild(op, result, make([]tensor.Tensor, len(out))), out)
	c.custom.conclude(inner)
	return c
}

// treeOf returns the function that makes a tree of the nodes that are not nil
// in its place among leaves.
func treeOf[T any](op string, like T, leaves []*graph.Node) func([]*graph.Node) T {
	leaves = slices.Clone(leaves)
	return func(ns []*graph.Node) T {
		ts := make([]tensor.Tensor, len(leaves))
		for i, l := range leaves {
			if l == nil {
				continue
			}
			if ns[0] != nil {
				ts[i] = tensorOf(ns[0])
			}
			ns = ns[1:]
		}
		return rebuild(op, like, ts)
	}
}

// mustBeLinear panics where the results of a rule are seen not to be linear in
// the tangents that it was given: its transpose would be something else than
// the derivative. That something is added that does not depend on them is not
// seen, nor what the rules of functions within it do.
func (t *tape) mustBeLinear(op string, results []*graph.Node) {
	for _, n := range results {
		if n != nil && !t.isActive(n) && !isZero(n) {
			misuse(op, "the tangent does not depend on v: leave it absent if it is zero", n)
		}
	}
	for i := t.args; i < len(t.calls); i++ {
		c := &t.calls[i]
		if t.active[i] && resultOf(c.Node) == nil && !t.isLinear(c) {
			misuse(op, fmt.Sprintf("the tangent must be linear in v, which %v of what depends on v is not", c.Op), c.Node)
		}
	}
}

// isLinear reports whether c is linear in all of its operands that vary with
// an argument, together.
func (t *tape) isLinear(c *call) bool {
	for _, s := range c.src {
		if _, varies := t.index[s]; varies && !t.isActive(s) { // by way of a comparison, say
			return false
		}
	}
	switch {
	case rules[c.Op].transpose != nil:
		return true
	case c.Op == ir.Mul:
		return !t.isActive(c.src[0]) || !t.isActive(c.src[1])
	case c.Op == ir.Div:
		return !t.isActive(c.src[1])
	}
	return c.Op == ir.Scatter && (c.Kind == ir.Add || c.Kind == ir.Mul && !t.isActive(c.src[2]))
}

// isZero reports whether n is made of the constant 0.
func isZero(n *graph.Node) bool {
	for len(n.Src()) == 1 && n.Num == 0 && (n.Op == ir.Cast || n.Op.Class() == ir.Movement) {
		n = n.Src()[0]
	}
	return (n.Op == ir.Const || n.Op == ir.Scalar) && n.Num == 0
}

// present is ns without those that are nil.
func present(ns []*graph.Node) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(ns), func(n *graph.Node) bool { return n == nil })
}

// zeros returns tangents or cotangents of nodes, with zeros for those that are
// nil; nil for nodes that are not floating-point.
func zeros(ns, ts []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(ns))
	for i, n := range ns {
		switch {
		case !n.DType.IsFloat():
		case ts[i] != nil:
			out[i] = ts[i]
		default:
			out[i] = like(n, 0)
		}
	}
	return out
}

// matched returns the tangents or cotangents that a rule gives for the tensors
// of a tree: nil for zero.
func matched(op, what string, given, tree any) []*graph.Node {
	leaves := flatten(op, tree)
	of := nodes(values(leaves))
	for i, n := range of {
		if n != nil && !n.DType.IsFloat() {
			of[i] = nil
		}
	}
	var list []*graph.Node
	for i, t := range match(op, what, leaves, of, given) {
		if t != nil && t.IsLeftOver() {
			misuse(op, what+" is made of a tensor that stands for the examples of a batch: make that an argument", t)
		}
		if leaves[i].Value.IsValid() {
			list = append(list, t)
		}
	}
	return list
}
