package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A tape is what a transformation remembers of one call of its function:
// every node between the arguments and the results, operands first. It does
// not change once it is recorded.
type tape struct {
	args    int // how many of calls, the first ones, are the arguments
	calls   []call
	index   map[*graph.Node]int // of a node in calls
	active  []bool              // calls whose result varies with an argument
	customs map[*custom]int     // the first of calls that is a result of one
}

// record walks from the results of a function to its arguments, by way of
// nodes of the scope. Custom calls are steps of their own.
func record(scope *graph.Scope, args, results []*graph.Node) *tape {
	return walkBack(scope, args, results, func(n *graph.Node) []*graph.Node {
		if r := resultOf(n); r != nil {
			return r.args
		}
		return n.Src()
	})
}

// walkBack records a tape, with the operands that a function gives.
func walkBack(scope *graph.Scope, args, results []*graph.Node, operands func(*graph.Node) []*graph.Node) *tape {
	t := &tape{args: len(args), index: make(map[*graph.Node]int), customs: make(map[*custom]int)}
	for _, a := range args {
		t.add(call{a, a.Src()}, a.DType.IsFloat())
	}
	type frame struct {
		call
		next int // the operand to visit
	}
	var stack []frame
	visit := func(n *graph.Node) {
		if n == nil {
			return
		}
		if _, seen := t.index[n]; !seen && n.In(scope) {
			stack = append(stack, frame{call: call{n, operands(n)}})
		}
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
			t.add(f.call, t.varies(&f.call))
			stack = stack[:len(stack)-1]
		}
	}
	return t
}

func (t *tape) add(c call, active bool) {
	if r := resultOf(c.Node); r != nil {
		if _, known := t.customs[r.custom]; !known {
			t.customs[r.custom] = len(t.calls)
		}
	}
	t.index[c.Node] = len(t.calls)
	t.calls = append(t.calls, c)
	t.active = append(t.active, active)
}

// outward returns n, or what an argument stands for: a node that a function
// hands through must not gain a name at every call.
func (t *tape) outward(n *graph.Node) *graph.Node {
	if i, ok := t.index[n]; ok && i < t.args {
		return t.calls[i].src[0]
	}
	return n
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
	given := make([][]*graph.Node, len(t.calls))
	give := func(n, ct *graph.Node) {
		if ct != nil && t.isActive(n) {
			i := t.index[n]
			given[i] = append(given[i], ct)
		}
	}
	sum := make([]*graph.Node, len(t.calls)) // the totals, once all parts are given
	for i, r := range results {
		give(r, cts[i])
	}
	for i := len(t.calls) - 1; i >= t.args; i-- {
		c := &t.calls[i]
		sum[i], given[i] = total(given[i]), nil
		if r := resultOf(c.Node); r != nil {
			if t.customs[r.custom] == i { // the cotangents of all results are known
				for j, ct := range t.pullCustom(r.custom, sum) {
					give(r.args[j], ct)
				}
			}
			continue
		}
		if sum[i] == nil {
			continue
		}
		for j, s := range c.src {
			if t.isActive(s) {
				give(s, c.pull(sum[i], j))
			}
		}
	}
	for i := range t.args {
		sum[i] = total(given[i])
	}
	return sum[:t.args]
}

// pullCustom returns the cotangents of a custom call's arguments.
func (t *tape) pullCustom(k *custom, sum []*graph.Node) []*graph.Node {
	cts := make([]*graph.Node, len(k.outs))
	some := false
	for o, n := range k.outs {
		if i, ok := t.index[n]; ok {
			cts[o] = sum[i]
			some = some || sum[i] != nil
		}
	}
	if !some {
		return nil
	}
	return k.pull(k.args, k.outs, cts)
}

// keepResiduals marks what a pullback needs of the recorded call to be stored
// when it is first computed, because the pullback may be called again. Inside
// of another transformation nothing is marked: what is called again there is
// the whole.
func (t *tape) keepResiduals(grads, cts []*graph.Node) {
	store := func(n *graph.Node) {
		if n.Value() == nil && !n.Traced() {
			n.Keep()
		}
	}
	seen := make(map[*graph.Node]bool)
	for _, ct := range cts {
		seen[ct] = true
	}
	for i := range t.calls {
		for _, s := range t.calls[i].src {
			if _, ours := t.index[s]; !ours {
				seen[s] = true
			}
		}
	}
	stack := slices.Clone(grads)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		i, ours := t.index[n]
		switch {
		case ours && resultOf(n) != nil:
			s := n.State()
			for n.Op == ir.Alias && s.Value == nil {
				n = s.Src[0]
				s = n.State()
			}
			store(n)
		case !ours:
			stack = append(stack, n.Src()...)
		case n.Op.Class() == ir.Movement: // followed to what it shows
			stack = append(stack, t.calls[i].src...)
		default:
			store(n)
		}
	}
}
