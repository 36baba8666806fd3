package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Checkpoint returns a function that computes what f does, and whose backward
// pass computes f's intermediate results again instead of holding them in
// memory from the forward pass on. It nests. A deep network cut into √n such
// pieces needs memory for about 2·√n layers instead of n, and a third more time.
// Forward mode over it, such as [HVP], computes again as well; reverse mode over
// reverse holds what the first one computed again.
//
// Tensors that f captures are differentiated as well.
func Checkpoint[P, R any](f func(P) R) func(P) R {
	const op = "grad.Checkpoint"
	return func(p P) R {
		leaves := nodes(values(flatten(op, p)))
		like := rebuild(op, p, make([]tensor.Tensor, len(leaves)))
		var result R
		results := checkpoint(leaves, func(in []*graph.Node) []*graph.Node {
			result = f(rebuild(op, like, tensors(in)))
			return nodes(values(flatten(op, result)))
		})
		return rebuild(op, result, tensors(results))
	}
}

// checkpoint is [Checkpoint] of a function of nodes, of which some may be nil.
func checkpoint(in []*graph.Node, f func([]*graph.Node) []*graph.Node) []*graph.Node {
	p := enter(in)
	defer p.scope.Close()
	results := f(p.given)
	inner := present(results)
	p.record(inner)
	captured := p.captured(inner)

	k := &custom{args: slices.Concat(p.args, captured)}
	// again records the piece on other arguments, as a later generation: what is
	// of another is not taken for the same computation.
	again := func(args []*graph.Node, generation int32) (*tape, []*graph.Node) {
		scope := new(graph.Scope)
		defer scope.Close()
		fresh := make([]*graph.Node, len(args))
		for i, a := range args {
			fresh[i] = graph.NewAlias(a, scope)
		}
		results := p.tape.again(fresh, captured, inner, generation)
		return record(scope, fresh, results), results
	}
	k.pull = func(args, outs, cts []*graph.Node) []*graph.Node {
		generation := int32(0)
		for _, n := range slices.Concat(args, outs) {
			generation = max(generation, n.RematLevel)
		}
		t, results := again(args, generation+1)
		return t.backward(results, cts)
	}
	k.push = func(args, _, tangents []*graph.Node) []*graph.Node {
		return checkpoint(slices.Concat(args, tangents), func(in []*graph.Node) []*graph.Node {
			t, results := again(in[:len(args)], 0)
			return t.forward(results, in[len(args):])
		})
	}
	outs := k.conclude(inner)
	out := make([]*graph.Node, len(results))
	for i, n := range results {
		if n != nil {
			out[i], outs = outs[0], outs[1:]
		}
	}
	return out
}

// A piece is a call of a function that is differentiated as a whole.
type piece struct {
	scope *graph.Scope
	given []*graph.Node // what the function gets
	args  []*graph.Node // what is given from outside; none is nil
	fresh []*graph.Node // the names of args inside
	tape  *tape
}

// enter gives arguments, of which some may be nil, names for a call.
func enter(in []*graph.Node) *piece {
	p := &piece{scope: new(graph.Scope), given: make([]*graph.Node, len(in))}
	for i, n := range in {
		if n != nil {
			p.given[i] = graph.NewAlias(n, p.scope)
			p.args, p.fresh = append(p.args, n), append(p.fresh, p.given[i])
		}
	}
	return p
}

// record ends the call.
func (p *piece) record(results []*graph.Node) {
	p.tape = recordWhole(p.scope, p.fresh, results)
	p.scope.Close()
	p.tape.release()
}

// captured lists what the call uses or gives that depends on arguments of
// other transformations and was not given to it.
func (p *piece) captured(results []*graph.Node) []*graph.Node {
	var list []*graph.Node
	seen := map[*graph.Node]bool{}
	look := func(ns []*graph.Node) {
		for _, n := range ns {
			if _, ours := p.tape.index[n]; !ours && !seen[n] && n.Traced() {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	for i := len(p.fresh); i < len(p.tape.calls); i++ {
		look(p.tape.calls[i].src)
	}
	look(results)
	return list
}

// again makes the recorded nodes anew, of a later generation, from other
// arguments and in place of what was captured, and returns those of results.
func (t *tape) again(fresh, captured, results []*graph.Node, generation int32) []*graph.Node {
	of := make(map[*graph.Node]*graph.Node, len(t.calls))
	for i, c := range captured {
		of[c] = fresh[t.args+i]
	}
	find := func(n *graph.Node) *graph.Node {
		if m := of[n]; m != nil {
			return m
		}
		return n
	}
	each := func(ns []*graph.Node) []*graph.Node {
		list := make([]*graph.Node, len(ns))
		for i, n := range ns {
			list[i] = find(n)
		}
		return list
	}
	customs, bundles := map[*custom]*custom{}, bundles{}
	for i := range t.calls {
		c := &t.calls[i]
		switch r := resultOf(c.Node); {
		case i < t.args:
			of[c.Node] = fresh[i]
		case r != nil:
			k := customs[r.custom]
			if k == nil {
				k = &custom{args: each(r.args), outs: make([]*graph.Node, len(r.outs)), pull: r.pull, push: r.push}
				customs[r.custom] = k
			}
			n := graph.NewResult(find(c.src[0]), &result{k, r.i}, k.args)
			n.RematLevel = c.RematLevel + generation
			k.outs[r.i] = n
			of[c.Node] = n
		case c.Op == ir.Alias && c.Stops():
			of[c.Node] = graph.Stop(find(c.src[0]))
		case c.Op == ir.Alias:
			x := find(c.src[0])
			if c.Device != nil && c.Device != x.Device {
				x = graph.ToDevice(x, c.Device)
			}
			of[c.Node] = x
		default:
			n := graph.WithOperands(c.Node, each(c.src)...)
			n.RematLevel, n.CoOutputs = c.RematLevel+generation, bundles.of(c.CoOutputs)
			of[c.Node] = n
		}
	}
	bundles.fill(func(n *graph.Node) (*graph.Node, bool) {
		m, ok := of[n]
		return m, ok
	})
	return each(results)
}

// StopGradient returns a tree like v through whose tensors no derivative flows.
func StopGradient[T any](v T) T {
	const op = "grad.StopGradient"
	leaves := nodes(values(flatten(op, v)))
	for i, n := range leaves {
		if n != nil && n.DType.IsFloat() {
			leaves[i] = graph.Stop(n)
		}
	}
	return rebuild(op, v, tensors(leaves))
}
