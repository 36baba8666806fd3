package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Checkpoint returns a function with the results of f, whose backward pass computes f's
// intermediate results again instead of holding them in memory from the forward pass on. It
// nests. A deep network cut into √n such pieces needs memory for about 2·√n layers instead
// of n, and the time of one more forward pass. Forward mode over it, such as [HVP],
// computes again as well; reverse mode over reverse holds the results that the first one
// computed again.
//
// Tensors that f captures are differentiated as well.
func Checkpoint[P, R any](f func(P) R) func(P) R {
	needFuncs("grad.Checkpoint", f)
	const op = "grad.Checkpoint"
	return func(p P) R {
		args, tree := flattenNodes(op, p)
		var result R
		results := checkpoint(args, func(in []*graph.Node) []*graph.Node {
			result = f(tree(in))
			return leafNodes(op, result)
		})
		return rebuild(op, result, tensors(results))
	}
}

// checkpoint is [Checkpoint] of a function of nodes; some may be nil.
func checkpoint(in []*graph.Node, f func([]*graph.Node) []*graph.Node) []*graph.Node {
	region := begin(in)
	defer region.scope.Close()
	results := f(region.given)
	inner := present(results)
	region.end(inner)
	captured := region.captured(inner)

	k := &graph.CustomCall{Args: slices.Concat(region.args, captured)}
	// again records the region on other arguments.
	again := func(args []*graph.Node, level int32) (*tape, []*graph.Node) {
		r := begin(args)
		defer r.scope.Close()
		results := region.tape.recompute(r.fresh, captured, inner, level)
		return record(r.scope, r.fresh, results), results
	}
	k.VJP = func(args, outs, cts []*graph.Node) []*graph.Node {
		level := int32(0)
		for _, n := range slices.Concat(args, outs) {
			level = max(level, n.RematLevel)
		}
		t, results := again(gatherAgain(args, level+1), level+1)
		return t.backward(results, cts)
	}
	k.JVP = func(args, _, tangents []*graph.Node) []*graph.Node {
		return checkpoint(slices.Concat(args, tangents), func(in []*graph.Node) []*graph.Node {
			t, results := again(in[:len(args)], 0)
			return t.forward(results, in[len(args):])
		})
	}
	return withAbsent(k.Results(inner), results)
}

// gatherAgain returns arguments, computed again where they are views of a HostFunc that says so, such as parameters that
// ranks gather before a block.
func gatherAgain(args []*graph.Node, level int32) []*graph.Node {
	copies := map[*graph.Node]*graph.Node{}
	var again func(n *graph.Node) *graph.Node // nil for other nodes
	again = func(n *graph.Node) *graph.Node {
		if c, ok := copies[n]; ok {
			return c
		}
		src, v := n.State()
		var c *graph.Node
		switch f, _ := n.Call().(*graph.HostFunc); {
		case v != nil:
		case f != nil && f.Again:
			c = graph.WithOperands(n, src.Append(nil)...)
			c.RematLevel += level
		case n.Op.Class() == ir.Alias:
			c = again(src.At(0))
		case n.Op == ir.Cast || n.Op.Class() == ir.Movement && src.Len() == 1:
			if x := again(src.At(0)); x != nil {
				c = graph.WithOperands(n, x)
				c.RematLevel += level
			}
		}
		copies[n] = c
		return c
	}
	list := slices.Clone(args)
	for i, n := range args {
		if n == nil {
			continue
		}
		if c := again(n); c != nil {
			k := &graph.CustomCall{Args: []*graph.Node{n}}
			k.VJP = func(_, _, cts []*graph.Node) []*graph.Node { return cts }
			k.JVP = func(_, _, tangents []*graph.Node) []*graph.Node { return tangents }
			list[i] = k.Results([]*graph.Node{c})[0]
		}
	}
	return list
}

// recompute replays the tape on other arguments and captured nodes, and returns the
// copies of results. The copies have a higher RematLevel, so that no pass takes them
// for the nodes they copy.
func (t *tape) recompute(args, captured, results []*graph.Node, level int32) []*graph.Node {
	r := newReplay(t)
	r.level, r.captured = level, make(map[*graph.Node]*graph.Node, len(captured))
	for i, c := range captured {
		r.captured[c] = args[t.args+i]
	}
	r.operand = r.find
	r.remake = func(c *call, src []*graph.Node) *graph.Node {
		if c.Op == ir.CoOutput { // nobody reads the others
			return src[0]
		}
		n := graph.WithOperands(c.Node, src...)
		n.RematLevel += level
		n.SetCoOutputs(r.coOutputsOf(c.CoOutputs()))
		return n
	}
	r.differentiate = func(k, old *graph.CustomCall) { k.VJP, k.JVP = old.VJP, old.JVP }
	r.run(args[:t.args])
	return r.all(results)
}

// StopGradient returns a tree like v through whose tensors no derivative flows.
func StopGradient[T any](v T) T {
	const op = "grad.StopGradient"
	leaves := leafNodes(op, v)
	for i, n := range leaves {
		if n != nil && n.DType.IsFloat() {
			leaves[i] = graph.StopGradient(n)
		}
	}
	return rebuild(op, v, tensors(leaves))
}
