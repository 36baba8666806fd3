package grad

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Custom returns f with a derivative of its own: vjp gives the cotangent of
// the argument from the argument, the result and the result's cotangent. The
// trees that it gets have zeros where there is no cotangent; it may leave
// tensors of its result absent for zero. It is in reverse mode only: for both
// modes, see [CustomJVP].
//
// The operations in f are not differentiated, so f may also round, look values up or
// search. It must not capture tensors that are being differentiated or that [Vmap] makes
// batches of, nor may vjp: give them as arguments.
func Custom[P, R any](f func(P) R, vjp func(at P, out, ct R) P) func(P) R {
	needFuncs("grad.Custom", f, vjp)
	const op = "grad.Custom"
	return func(p P) R {
		c := callCustom(op, f, p)
		c.VJP = func(args, outs, cts []*graph.Node) []*graph.Node {
			given := vjp(c.argument(args), c.output(outs), c.output(zeros(outs, cts)))
			return matched(op+"'s vjp", "the cotangent", given, c.argument(args))
		}
		c.JVP = func(args, _, _ []*graph.Node) []*graph.Node {
			misuse(op, "it has no derivative in forward mode: use grad.CustomJVP", args[0])
			return nil
		}
		return c.output(c.Outs)
	}
}

// CustomJVP returns f with a derivative of its own, for both modes: jvp gives
// f's result, which is not used, and the change of it along v, a tree like the
// argument. The change must be linear in v, and made of operations that have
// derivatives; reverse mode panics where it is seen not to be. The trees that
// jvp gets have zeros where there is no tangent. See [Custom] for the rest.
func CustomJVP[P, R any](f func(P) R, jvp func(at, v P) (R, R)) func(P) R {
	needFuncs("grad.CustomJVP", f, jvp)
	const op = "grad.CustomJVP"
	return func(p P) R {
		c := callCustom(op, f, p)
		along := func(args, _, vs []*graph.Node) []*graph.Node {
			_, dr := jvp(c.argument(args), c.argument(vs))
			return matched(op+"'s jvp", "the tangent", dr, c.output(c.Outs))
		}
		c.JVP = func(args, outs, tangents []*graph.Node) []*graph.Node {
			return along(args, outs, zeros(args, tangents))
		}
		c.VJP = transposed(op+"'s jvp", along)
		return c.output(c.Outs)
	}
}

// transposed returns the rule for cotangents that is the transpose of one for tangents,
// which op gives. It calls that with tangents for all arguments.
func transposed(op string, jvp graph.CustomRule) graph.CustomRule {
	return func(args, outs, cts []*graph.Node) []*graph.Node {
		v := begin(zeros(args, make([]*graph.Node, len(args))))
		defer v.scope.Close()
		for i, n := range v.given {
			if n != nil {
				n.Device = args[i].Device // zeros are uncommitted
			}
		}
		results := jvp(args, outs, v.given)
		t := record(v.scope, v.fresh, results)
		v.scope.Close()
		t.mustBeLinear(op, results)
		return withAbsent(t.backward(results, cts), v.given)
	}
}

// A treeCall is a custom call whose arguments and results are trees.
type treeCall[P, R any] struct {
	*graph.CustomCall
	argument func([]*graph.Node) P
	output   func([]*graph.Node) R
}

// callCustom calls f as a custom call, whose rules are to be set.
func callCustom[P, R any](op string, f func(P) R, p P) *treeCall[P, R] {
	leaves, tree := flattenNodes(op, p)
	in := begin(leaves)
	defer in.scope.Close()
	result := f(tree(in.given))
	out, outTree := flattenNodes(op, result)
	inner := present(out)
	in.end(inner)
	if captured := in.captured(inner); len(captured) > 0 {
		misuse(op, "the function captures a tensor that depends on the argument of another transformation: make it an argument", captured[0])
	}
	c := &treeCall[P, R]{
		&graph.CustomCall{Args: in.args},
		func(ns []*graph.Node) P { return tree(withAbsent(ns, leaves)) },
		func(ns []*graph.Node) R { return outTree(withAbsent(ns, out)) },
	}
	c.Results(inner)
	return c
}

// mustBeLinear panics where it finds that the results of a rule are not linear in
// the tangents that it was given: the transpose would not be the derivative. It does
// not find added terms that do not depend on them, nor look into custom calls of the user's.
func (t *tape) mustBeLinear(op string, results []*graph.Node) {
	for _, n := range results {
		if n != nil && !t.isActive(n) && !isZero(n) {
			misuse(op, "the tangent does not depend on v: leave it absent if it is zero", n)
		}
	}
	for i := t.args; i < len(t.calls); i++ {
		c := &t.calls[i]
		if !c.active || t.isLinear(c) {
			continue
		}
		what := c.Op.String()
		if c.custom != nil {
			what = c.custom.Function
		} else if f := graph.KernelOf(c.Node); f != nil {
			what = f.Op
		}
		misuse(op, fmt.Sprintf("the tangent must be linear in v, which %s of what depends on v is not", what), c.Node)
	}
}

// isLinear reports whether c is linear in its operands that vary with an argument,
// all of them together. A custom call of the user's counts as linear.
func (t *tape) isLinear(c *call) bool {
	if c.custom != nil {
		return c.custom.Function == ""
	}
	for _, s := range c.src {
		if _, varies := t.index.Get(s); varies && !t.isActive(s) { // by way of a comparison, say
			return false
		}
	}
	switch {
	case rules[c.Op].transpose != nil:
		return true
	case rules[c.Op].modes != nil:
		return rules[c.Op].modes.linear(c)
	case c.Op == ir.Mul:
		return !t.isActive(c.src[0]) || !t.isActive(c.src[1])
	case c.Op == ir.Div:
		return !t.isActive(c.src[1])
	}
	return c.Op == ir.Scatter && (c.Kind == ir.Add || c.Kind == ir.Copy || c.Kind == ir.Mul && !t.isActive(c.src[2]))
}

// isZero reports whether every element of n is the constant 0.
func isZero(n *graph.Node) bool {
	for n.Num == 0 && (n.Op == ir.Cast || n.Op.Class() == ir.Movement || n.Op.Class() == ir.Alias) {
		src := n.Src()
		if src.Len() != 1 {
			break
		}
		n = src.At(0)
	}
	return (n.Op == ir.Const || n.Op == ir.Scalar) && n.Num == 0
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
	all := match(op, what, leaves, mapped(of, ifFloat), given)
	for _, t := range all {
		if t != nil && t.IsLeftOver() {
			misuse(op, what+" is made of a tensor that stands for the examples of a batch: make that an argument", t)
		}
	}
	return only(all, of)
}
