package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

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
			if t.customs[r.customCall] == i { // the cotangents of all results are known
				for j, ct := range t.vjpCustom(r.customCall, sum) {
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
				give(s, c.vjp(sum[i], j))
			}
		}
	}
	for i := range t.args {
		sum[i] = total(given[i])
	}
	return sum[:t.args]
}

// vjpCustom returns the cotangents of a custom call's arguments.
func (t *tape) vjpCustom(k *customCall, sum []*graph.Node) []*graph.Node {
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
	return k.vjp(k.args, k.outs, cts)
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
	graph.Walk(grads, func(n *graph.Node) ([]*graph.Node, bool) {
		if n == nil || seen[n] {
			return nil, false
		}
		seen[n] = true
		i, ours := t.index[n]
		switch class := n.Op.Class(); {
		case !ours:
			return n.Src(), true
		case n.Op == ir.CallResult:
			s := n.State()
			for n.Op.Class() == ir.Alias && s.Value == nil {
				n = s.Src[0]
				s = n.State()
			}
			store(n)
			return nil, false
		case class == ir.Movement || class == ir.Alias: // followed to what it shows
			return t.calls[i].src, true
		}
		store(n)
		return nil, false
	}, func(*graph.Node, []*graph.Node) {})
}
