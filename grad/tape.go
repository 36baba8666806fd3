package grad

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A tape records one call of a transformed function: every node between the
// arguments and the results, operands first. It does not change once it is
// recorded.
type tape struct {
	args    int // how many of calls, the first ones, are the arguments
	calls   []call
	src     []*graph.Node             // memory for the operands of calls
	index   graph.Numbers             // of a node in calls
	customs map[*graph.CustomCall]int // the first of calls that is a result of one
}

// tapes are empty, with the memory of former calls: a step of training records as much as
// the one before.
var tapes = sync.Pool{New: func() any { return &tape{customs: make(map[*graph.CustomCall]int)} }}

func newTape(args []*graph.Node) *tape {
	t := tapes.Get().(*tape)
	t.args = len(args)
	for _, a := range args {
		c := t.add(a, a.Src())
		c.active, c.flows = a.DType.IsFloat(), a.DType.IsFloat()
	}
	return t
}

// record walks from the results of a function to its arguments, by way of
// nodes of the scope. Custom calls are steps of their own.
func record(scope *graph.Scope, args, results []*graph.Node) *tape {
	t := newTape(args)
	t.walk(scope, results, func(n *graph.Node) graph.Operands {
		if r := graph.CustomResultOf(n); r != nil {
			return graph.OperandsOf(r.Args)
		}
		return n.Src()
	})
	return t
}

// recordWhole is record that walks into custom calls as well, to all of their
// results, and to CoOutputs.
func recordWhole(scope *graph.Scope, args, results []*graph.Node) *tape {
	t := newTape(args)
	roots := slices.Clone(results)
	customs, coOutputs := map[*graph.CustomCall]bool{}, map[*graph.CoOutputs]bool{}
	operands := func(n *graph.Node) graph.Operands {
		if c := n.CoOutputs(); c != nil && !coOutputs[c] {
			coOutputs[c] = true
			roots = append(roots, c.Nodes...)
		}
		if r := graph.CustomResultOf(n); r != nil && !customs[r.CustomCall] {
			customs[r.CustomCall] = true
			roots = append(roots, r.Outs...)
		}
		return n.Inputs()
	}
	for i := 0; i < len(roots); i++ { // walks add to them
		t.walk(scope, roots[i:i+1], operands)
	}
	return t
}

// walk records the nodes that roots depend on, with the operands that a function
// gives.
func (t *tape) walk(scope *graph.Scope, roots []*graph.Node, operands func(*graph.Node) graph.Operands) {
	graph.Walk(roots, func(n *graph.Node) (src graph.Operands, ok bool) {
		if n == nil || !n.In(scope) {
			return src, false
		}
		if _, seen := t.index.Get(n); seen {
			return src, false
		}
		return operands(n), true
	}, func(n *graph.Node, src graph.Operands) {
		c := t.add(n, src)
		flows := n.DType.IsFloat() && slices.ContainsFunc(c.src, t.isFlowing)
		switch {
		case graph.KernelOf(n) != nil: // its rule refuses, which no stopped derivative may meet
			c.active = flows
		case ir.Table[n.Op].Diff != ir.Zero:
			c.active = n.DType.IsFloat() && slices.ContainsFunc(c.src, t.isActive)
		}
		c.flows = c.active && flows && n.Op != ir.StopGradient
	})
}

// add appends a call, which is not active.
func (t *tape) add(n *graph.Node, src graph.Operands) *call {
	custom := graph.CustomResultOf(n)
	if custom != nil {
		if _, known := t.customs[custom.CustomCall]; !known {
			t.customs[custom.CustomCall] = len(t.calls)
		}
	}
	t.index.Set(n, len(t.calls))
	first := len(t.src)
	t.src = src.Append(t.src)
	t.calls = append(t.calls, call{Node: n, src: t.src[first:len(t.src):len(t.src)], custom: custom})
	return &t.calls[len(t.calls)-1]
}

// isFlowing reports whether a derivative by an argument flows through a node.
func (t *tape) isFlowing(n *graph.Node) bool {
	i, ok := t.index.Get(n)
	return ok && t.calls[i].flows
}

func (t *tape) isActive(n *graph.Node) bool {
	i, ok := t.index.Get(n)
	return ok && t.calls[i].active
}

// each maps nodes to the elements of a list like calls: nil for a node of no call.
func (t *tape) each(ns, of []*graph.Node) []*graph.Node {
	return mapped(ns, func(n *graph.Node) *graph.Node {
		if i, ok := t.index.Get(n); ok {
			return of[i]
		}
		return nil
	})
}

// outward returns n, or the operand of an argument: a node that a function
// returns unchanged must not gain a name at every call.
func (t *tape) outward(n *graph.Node) *graph.Node {
	if i, ok := t.index.Get(n); ok && i < t.args {
		return t.calls[i].src[0]
	}
	return n
}

// outwards returns the results as the caller of the function gets them.
func (t *tape) outwards(results []*graph.Node) []*graph.Node {
	return mapped(results, t.outward)
}

// release has computed nodes drop their operands; the scope is closed.
func (t *tape) release() {
	for i := range t.calls {
		t.calls[i].DropSources()
	}
}

// recycle makes the tape's memory available to others. The caller does not use it again.
func (t *tape) recycle() {
	t.index.Clear()
	clear(t.customs)
	clear(t.calls)
	clear(t.src)
	t.calls, t.src = t.calls[:0], t.src[:0]
	tapes.Put(t)
}

// A region is a call of a function that is differentiated as a whole.
type region struct {
	scope *graph.Scope
	given []*graph.Node // the function's arguments
	args  []*graph.Node // the caller's nodes, without nil
	fresh []*graph.Node // the names of args inside
	tape  *tape
}

// begin makes arguments of a call, one for each node that is not nil.
func begin(in []*graph.Node) *region {
	r := &region{scope: new(graph.Scope), given: make([]*graph.Node, len(in)), args: present(in)}
	for i, n := range in {
		if n != nil {
			r.given[i] = graph.Argument(n, r.scope)
		}
	}
	r.fresh = present(r.given)
	return r
}

// end records the call.
func (r *region) end(results []*graph.Node) {
	r.tape = recordWhole(r.scope, r.fresh, results)
	r.scope.Close()
	r.tape.release()
}

// captured lists nodes that the call reads or returns, which depend on arguments of other
// transformations and are not among its own.
func (r *region) captured(results []*graph.Node) []*graph.Node {
	var list []*graph.Node
	seen := map[*graph.Node]bool{}
	look := func(ns []*graph.Node) {
		for _, n := range ns {
			if _, ours := r.tape.index.Get(n); !ours && !seen[n] && n.Traced() {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	for _, c := range r.tape.calls[len(r.fresh):] {
		look(c.src)
	}
	look(results)
	return list
}
