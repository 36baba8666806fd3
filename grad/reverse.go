package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// backward returns the cotangents of the arguments, given the cotangents of results. Nil is
// zero, in and out. The cotangents of a node that is used several times are added in the
// order of the tape, so that the same program adds in the same order.
func (t *tape) backward(results, cts []*graph.Node) []*graph.Node {
	given := make([][]*graph.Node, len(t.calls))
	first := make([]*graph.Node, len(t.calls)) // backs given: most nodes get one cotangent
	give := func(n, ct *graph.Node) {
		if i, ok := t.index.Get(n); ok && ct != nil && t.calls[i].active {
			if given[i] == nil {
				given[i] = first[i : i : i+1]
			}
			given[i] = append(given[i], ct)
		}
	}
	sites := graph.NewAttribution()
	defer sites.End()
	sum := make([]*graph.Node, len(t.calls)) // the totals, once all parts are given
	for i, r := range results {
		give(r, cts[i])
	}
	for i := len(t.calls) - 1; i >= t.args; i-- {
		c, last := &t.calls[i], sites.LastSite()
		sum[i], given[i] = total(given[i]), nil
		sites.Attribute(sum[i], c.Node, last)
		switch r := c.custom; {
		case r != nil && t.customs[r.CustomCall] == i: // the cotangents of all results are known
			if r.Function == "" {
				sites.End() // the rule is the user's
			}
			for j, ct := range t.vjpCustom(r.CustomCall, sum) {
				if body := c.Node.Src(); r.Function != "" && body.Len() > 0 {
					sites.Attribute(ct, body.At(0), last)
				}
				give(r.Args[j], ct)
			}
			sites.Resume()
		case r == nil && sum[i] != nil:
			for j, s := range c.src {
				if t.isActive(s) {
					ct := c.vjp(sum[i], j)
					sites.Attribute(ct, c.Node, last)
					give(s, ct)
				}
			}
		}
	}
	for i := range t.args {
		sum[i] = total(given[i])
	}
	return sum[:t.args]
}

// vjpCustom returns the cotangents of a custom call's arguments.
func (t *tape) vjpCustom(k *graph.CustomCall, sum []*graph.Node) []*graph.Node {
	cts := t.each(k.Outs, sum)
	if !slices.ContainsFunc(cts, isPresent) {
		return nil
	}
	return k.VJP(k.Args, k.Outs, cts)
}

// keepResiduals marks the nodes of the recorded call that a pullback reads to be
// stored when they are first computed, because the pullback may be called again.
// Inside another transformation it marks nothing: a second call repeats that one.
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
			if _, ours := t.index.Get(s); !ours {
				seen[s] = true
			}
		}
	}
	graph.Walk(grads, func(n *graph.Node) (src graph.Operands, ok bool) {
		if n == nil || seen[n] {
			return src, false
		}
		seen[n] = true
		i, ours := t.index.Get(n)
		switch class := n.Op.Class(); {
		case !ours:
			return n.Src(), true
		case n.Op == ir.CallResult:
			src, v := n.State()
			for n.Op.Class() == ir.Alias && v == nil {
				n = src.At(0)
				src, v = n.State()
			}
			store(n)
			return src, false
		case class == ir.Movement || class == ir.Alias: // a view: its operand is stored
			return graph.OperandsOf(t.calls[i].src), true
		}
		store(n)
		return src, false
	}, func(*graph.Node, graph.Operands) {})
}
