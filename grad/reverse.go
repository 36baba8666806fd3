package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A tape is what a transformation remembers of one call of its function:
// every node between the arguments and the results, operands first.
type tape struct {
	args   []*graph.Node // aliases, fresh for this call
	calls  []call
	index  map[*graph.Node]int // of a node in calls
	active []bool              // calls whose result varies with an argument
}

// record walks from the results of a function down to its arguments, which
// are the only nodes of the scope that are made from none of its nodes.
func record(scope *graph.Scope, args, results []*graph.Node) *tape {
	t := &tape{args: args, index: make(map[*graph.Node]int)}
	const visiting = -1
	isArg := make(map[*graph.Node]bool, len(args))
	for _, a := range args {
		isArg[a] = true
	}
	type frame struct {
		call
		next int // the operand to visit
	}
	var stack []frame
	visit := func(n *graph.Node) {
		if _, seen := t.index[n]; seen || n == nil || !n.In(scope) {
			return
		}
		t.index[n] = visiting
		f := frame{call: call{Node: n}}
		if !isArg[n] {
			f.src = n.Src()
		}
		stack = append(stack, f)
	}
	for _, r := range results {
		visit(r)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next < len(f.src) {
				f.next++
				visit(f.src[f.next-1])
				continue
			}
			t.index[f.Node] = len(t.calls)
			t.calls = append(t.calls, f.call)
			t.active = append(t.active, isArg[f.Node] || t.varies(&f.call))
			stack = stack[:len(stack)-1]
		}
	}
	return t
}

// varies reports whether the result of c has a derivative by an argument.
func (t *tape) varies(c *call) bool {
	if ir.Table[c.Op].Diff == ir.Zero || !c.DType.IsFloat() {
		return false
	}
	for _, s := range c.src {
		if t.isActive(s) {
			return true
		}
	}
	return false
}

func (t *tape) isActive(n *graph.Node) bool {
	i, ok := t.index[n]
	return ok && t.active[i]
}

// release lets the nodes that are already computed forget their operands; the
// scope is closed.
func (t *tape) release() {
	for i := range t.calls {
		t.calls[i].DropSources()
	}
}

// backward returns the cotangents of the arguments from those of results. A
// nil cotangent is zero, in and out. Where a node is used several times its
// cotangents are added in the order of the tape, so that the same program
// adds in the same order.
func (t *tape) backward(results, cts []*graph.Node) []*graph.Node {
	sum := make([]*graph.Node, len(t.calls))
	give := func(n, ct *graph.Node) {
		if ct == nil || !t.isActive(n) {
			return
		}
		i := t.index[n]
		if sum[i] != nil {
			ct = add(sum[i], ct)
		}
		sum[i] = ct
	}
	for i, r := range results {
		give(r, cts[i])
	}
	for i := len(t.calls) - 1; i >= 0; i-- {
		if sum[i] == nil {
			continue
		}
		c := &t.calls[i]
		for j, s := range c.src {
			if t.isActive(s) {
				give(s, c.pull(sum[i], j))
			}
		}
	}
	grads := make([]*graph.Node, len(t.args))
	for i, a := range t.args {
		if j, ok := t.index[a]; ok {
			grads[i] = sum[j]
		}
	}
	return grads
}
