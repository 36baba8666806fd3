package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
)

// ScanOptions are the options of [Scan].
type ScanOptions struct {
	Length  int  // number of steps; needed where xs has no tensor
	Reverse bool // from the last element of xs to the first

	// Checkpoint k has the backward pass hold only every k-th carry and compute k steps
	// again from each: memory for n/k + k steps instead of n. 0 holds all.
	Checkpoint int
}

// Scan calls f for one element of xs after the other, along the first axis of its tensors,
// with the carry of the call before, first with init. It returns the last carry, and the
// other results of f, stacked along a new first axis:
//
//	func Scan(f, init, xs) (C, Y) {
//		carry, ys := init, []Y{}
//		for x := range elements(xs) {
//			carry, y = f(carry, x)
//			ys = append(ys, y)
//		}
//		return carry, stack(ys)
//	}
//
// f runs once, on tensors that stand for all steps and have no value, and one plan of it
// serves any number of steps; a Go loop makes a plan as long as the number of steps.
// Operations that do not depend on the carry run for all steps at once. A carry keeps its
// shapes and types from step to step. Captured tensors are the same in all steps: pass keys
// of random draws, one a step, in xs. Scan has derivatives of all orders and composes with
// everything else in this package. A nil o means the defaults.
func Scan[C, X, Y any](f func(c C, x X) (C, Y), init C, xs X, o *ScanOptions) (C, Y) {
	needFuncs("grad.Scan", f)
	const op = "grad.Scan"
	if o == nil {
		o = &ScanOptions{}
	}
	carries, carryTree := flattenNodes(op, init)
	inputs, inputTree := flattenNodes(op, xs)
	n := scanLength(op, inputs, o)
	if o.Checkpoint < 0 {
		misuse(op, fmt.Sprintf("Checkpoint is %d: want a number of steps, or 0", o.Checkpoint))
	}
	var next C
	var y Y
	var outs []*graph.Node // with nil for absent tensors
	body := func(cs, xs []*graph.Node) (nextCarries, outputs []*graph.Node) {
		next, y = f(carryTree(withAbsent(cs, carries)), inputTree(withAbsent(xs, inputs)))
		nextCarries, outs = leafNodes(op, next), leafNodes(op, y)
		checkCarries(op, init, next, withAbsent(cs, carries), nextCarries)
		return present(nextCarries), present(outs)
	}
	if slices.ContainsFunc(carries, func(n *graph.Node) bool { return n != nil && n.IsUntyped() }) {
		scope := &graph.Scope{PlaceholdersOf: op}
		traced, _ := f(carryTree(placeholders(carries, 0, scope)), inputTree(placeholders(inputs, 1, scope)))
		carries = promoted(carries, leafNodes(op, traced))
	}
	last, stacks := scan{op, n, o.Reverse}.inPieces(o.Checkpoint, present(carries), present(inputs), body)
	return rebuild(op, next, tensors(withAbsent(last, carries))), rebuild(op, y, tensors(withAbsent(stacks, outs)))
}

// placeholders returns placeholders for tensors without their first axes; nil stays nil.
func placeholders(ns []*graph.Node, axes int, scope *graph.Scope) []*graph.Node {
	return mapped(ns, func(n *graph.Node) *graph.Node {
		if n == nil {
			return nil
		}
		return graph.Placeholder(n, axes, scope)
	})
}

// promoted returns the first carries; untyped ones get the types of the next carries.
func promoted(carries, next []*graph.Node) []*graph.Node {
	out := slices.Clone(carries)
	for i, n := range carries {
		if n != nil && i < len(next) && next[i] != nil && n.IsUntyped() && n.DType != next[i].DType && next[i].DType.IsFloat() {
			out[i] = graph.Convert(n, next[i].DType)
		}
	}
	return out
}

// scanLength returns the number of steps.
func scanLength(op string, inputs []*graph.Node, o *ScanOptions) int {
	n := -1
	if o.Length != 0 {
		n = o.Length
	}
	for _, x := range inputs {
		switch {
		case x == nil:
		case len(x.Shape) == 0:
			misuse(op, "it has no first axis along which the steps lie", x)
		case n >= 0 && x.Shape[0] != n:
			misuse(op, fmt.Sprintf("it has %d elements along its first axis, where there are %d steps", x.Shape[0], n), x)
		default:
			n = x.Shape[0]
		}
	}
	if n < 0 {
		misuse(op, "xs has no tensor: set ScanOptions.Length, which is positive, to the number of steps")
	}
	return n
}

// checkCarries panics unless the next carry has the form of the one before.
func checkCarries(op string, init, next any, given, got []*graph.Node) {
	if len(given) != len(got) {
		misuse(op, fmt.Sprintf("the next carry has %d tensors, init %d: want the same tree", len(got), len(given)))
	}
	names := func(tree any) (list []string) {
		for _, l := range flatten(op, tree) {
			list = append(list, pytree.Title(l.Name))
		}
		return list
	}
	for i, n := range given {
		m := got[i]
		switch {
		case (n == nil) != (m == nil):
			misuse(op, fmt.Sprintf("of init and the next carry only one has %s", names(init)[i]))
		case n != nil && m.DType != n.DType && m.IsUntyped() && slices.Equal(m.Shape, n.Shape):
			got[i] = graph.Convert(m, n.DType)
		case n != nil && !graph.SameForm(n, m):
			misuse(op, fmt.Sprintf("%s of the carry begins as %v %v and goes on as %v %v: want one shape and type", names(next)[i], n.DType, n.Shape, m.DType, m.Shape))
		}
	}
}
