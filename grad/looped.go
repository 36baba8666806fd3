package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A looped recurrence has rules for its derivatives.
type looped struct {
	*graph.Recurrence
	op    string
	scope *graph.Scope // of the body
	own   int          // results of the body, without those that derivatives have added
}

// apply returns the results for operands.
func (k *looped) apply(operands []*graph.Node) []*graph.Node {
	return k.resultsOf(graph.Recur(k.Recurrence, operands...), operands)
}

// resultsOf returns the results of a Recur as results of a custom call with args.
func (k *looped) resultsOf(recur *graph.Node, args []*graph.Node) []*graph.Node {
	results := make([]*graph.Node, k.own)
	for i := range results {
		results[i] = graph.Pick(recur, i)
	}
	c := &graph.CustomCall{Args: args, JVP: k.jvp, VJP: k.vjp}
	return c.Results(results)
}

// jvp carries the tangents along.
func (k *looped) jvp(args, _, tangents []*graph.Node) []*graph.Node {
	carries, inputs := slices.Clone(args[:k.Carries]), slices.Clone(args[k.Carries:][:k.Inputs])
	in := make([]int, len(args)) // where the tangent is among carries or inputs; -1 if nowhere
	for i, n := range args {
		in[i] = -1
		switch t := tangents[i]; {
		case i < k.Carries && n.DType.IsFloat():
			if t == nil {
				t = like(n, 0)
			}
			in[i], carries = len(carries), append(carries, t)
		case k.IsInput(i) && t != nil:
			in[i], inputs = len(inputs), append(inputs, t)
		}
	}
	var outs []int // the results whose tangents are outputs
	last, stacks := scan{k.op, k.Steps, k.Reverse}.run(carries, inputs, func(cs, xs []*graph.Node) (next, ys []*graph.Node) {
		scope := new(graph.Scope)
		defer scope.Close()
		names, ts := make([]*graph.Node, len(args)), make([]*graph.Node, len(args))
		of := map[*graph.Node]*graph.Node{}
		for i, n := range args {
			t := tangents[i]
			switch {
			case i < k.Carries:
				if n, t = cs[i], nil; in[i] >= 0 {
					t = cs[in[i]]
				}
			case k.IsInput(i):
				if n, t = xs[i-k.Carries], nil; in[i] >= 0 {
					t = xs[in[i]]
				}
			}
			names[i], ts[i] = graph.Argument(n, scope), t
			of[k.Args[i]] = names[i]
		}
		results := graph.Substitute(k.Results()[:k.own], of)
		t := record(scope, names, results)
		dots := t.forward(results, ts)
		next = slices.Clone(results[:k.Carries])
		for i := range k.Carries {
			if in[i] >= 0 {
				next = append(next, orZero(dots[i], results[i]))
			}
		}
		outs = nil
		for i := k.Carries; i < k.own; i++ {
			if dots[i] != nil {
				outs, ys = append(outs, i), append(ys, dots[i])
			}
		}
		return next, ys
	})
	out := make([]*graph.Node, k.own)
	for i := range k.Carries {
		if in[i] >= 0 {
			out[i] = last[in[i]]
		}
	}
	for j, i := range outs {
		out[i] = stacks[j]
	}
	return out
}

// orZero returns t, or zeros like n for nil.
func orZero(t, n *graph.Node) *graph.Node {
	if t == nil {
		return like(n, 0)
	}
	return t
}

// vjp runs the steps backward. The forward pass stores the residuals of each step as
// outputs of the body; elementwise operations on them are computed again.
func (k *looped) vjp(args, outs, cts []*graph.Node) []*graph.Node {
	if k.Steps == 0 { // the last carries are the first
		return slices.Concat(cts[:k.Carries], make([]*graph.Node, len(args)-k.Carries))
	}
	bodyResults := k.Results()[:k.own]
	t := record(k.scope, k.Args, bodyResults)
	scope := &graph.Scope{PlaceholdersOf: k.op}
	placeholder := func(n *graph.Node) *graph.Node { return graph.Placeholder(n, 0, scope) }
	var carries, inputs, carryPlaceholders, inputPlaceholders []*graph.Node
	given := make([]*graph.Node, k.own) // the cotangents of the body's results
	carried := make([]int, k.Carries)   // where the cotangent of a carry is among carries
	for i, n := range bodyResults {
		switch {
		case i < k.Carries:
			carried[i] = -1
			if n.DType.IsFloat() {
				given[i], carried[i] = placeholder(n), len(carries)
				carries, carryPlaceholders = append(carries, orZero(cts[i], outs[i])), append(carryPlaceholders, given[i])
			}
		case cts[i] != nil:
			given[i] = placeholder(n)
			inputs, inputPlaceholders = append(inputs, cts[i]), append(inputPlaceholders, given[i])
		}
	}
	grads := t.backward(bodyResults, given)
	saved := k.residuals(t, grads)
	inputs, inputPlaceholders = append(inputs, k.save(saved, args, outs, bodyResults)...), append(inputPlaceholders, saved...)
	for i := range k.Inputs {
		inputs, inputPlaceholders = append(inputs, args[k.Carries+i]), append(inputPlaceholders, k.Args[k.Carries+i])
	}
	of := map[*graph.Node]*graph.Node{}
	for i := k.Carries + k.Inputs; i < len(args); i++ {
		of[k.Args[i]] = args[i]
	}
	var perStep []int // the arguments whose cotangents are outputs
	last, stacks := scan{k.op, k.Steps, !k.Reverse}.run(carries, inputs, func(cs, xs []*graph.Node) (next, ys []*graph.Node) {
		for i, n := range carryPlaceholders {
			of[n] = cs[i]
		}
		for i, n := range inputPlaceholders {
			of[n] = xs[i]
		}
		perStep = nil
		for i := range k.Carries {
			if carried[i] >= 0 {
				next = append(next, orZero(grads[i], k.Args[i]))
			}
		}
		for i := k.Carries; i < len(args); i++ {
			if grads[i] != nil {
				perStep, ys = append(perStep, i), append(ys, grads[i])
			}
		}
		n := len(next)
		all := graph.Substitute(slices.Concat(next, ys), of)
		return all[:n], all[n:]
	})
	result := make([]*graph.Node, len(args))
	for i := range k.Carries {
		if carried[i] >= 0 {
			result[i] = last[carried[i]]
		}
	}
	for j, i := range perStep {
		if result[i] = stacks[j]; !k.IsInput(i) { // the same in all steps
			sum := graph.Reduce(ir.Sum, stacks[j], []int{0})
			result[i] = graph.Reshape(sum, sum.Shape[1:])
		}
	}
	return result
}

// save makes nodes of the body its outputs, and returns their values in all steps.
func (k *looped) save(nodes, args, outs, bodyResults []*graph.Node) []*graph.Node {
	if len(nodes) == 0 {
		return nil
	}
	numbers := mapped(nodes, func(n *graph.Node) int {
		if i := slices.Index(k.Args, n); i >= 0 {
			n = bodyResults[i] // the next carry
		}
		return k.AddOutput(n)
	})
	stacks, values := k.extended(args, outs), make([]*graph.Node, len(nodes))
	for j, n := range nodes {
		values[j] = stacks[numbers[j]]
		if i := slices.Index(k.Args, n); i >= 0 {
			values[j] = k.before(args[i], values[j])
		}
	}
	return values
}

// residuals lists the nodes of the body, whose tape is t, from which the steps of the
// backward pass begin: carries, and results that are not elementwise.
func (k *looped) residuals(t *tape, grads []*graph.Node) (saved []*graph.Node) {
	seen := map[*graph.Node]bool{}
	graph.Walk(grads, func(n *graph.Node) (graph.Operands, bool) {
		if n == nil || seen[n] {
			return graph.Operands{}, false
		}
		seen[n] = true
		i, ours := t.index.Get(n)
		switch {
		case ours:
		case k.isAdded(t, n):
			saved = append(saved, n)
			return graph.Operands{}, false
		default:
			return n.Inputs(), true
		}
		switch class := n.Op.Class(); {
		case i < t.args:
			if i < k.Carries {
				saved = append(saved, n)
			}
			return graph.Operands{}, false
		case (class == ir.Elementwise || class == ir.Movement || class == ir.Alias) && n.Op != ir.CallResult:
			return graph.OperandsOf(t.calls[i].src), true
		}
		saved = append(saved, n)
		return graph.Operands{}, false
	}, func(*graph.Node, graph.Operands) {})
	return saved
}

// isAdded reports whether n is a result that a derivative has added to a recurrence of the
// body.
func (k *looped) isAdded(t *tape, n *graph.Node) bool {
	if n.Op == ir.CallResult {
		n = n.Operand(0)
	}
	if n.Op != ir.Pick {
		return false
	}
	_, ours := t.index.Get(n.Operand(0))
	return ours
}

// extended returns all results, also those that derivatives have added, of the recurrence
// that computed outs from args.
func (k *looped) extended(args, outs []*graph.Node) []*graph.Node {
	x := &looped{k.Recurrence, k.op, k.scope, len(k.Results())}
	return x.resultsOf(k.forward(args, outs), args)
}

// forward returns the node that computed outs, if nothing has run it yet: it then computes
// the outputs that derivatives have added as well. Otherwise it returns a new one.
func (k *looped) forward(args, outs []*graph.Node) *graph.Node {
	for _, n := range outs {
		for n.Op.Class() == ir.Alias && n.Src().Len() > 0 {
			n = n.Operand(0)
		}
		if n.Op != ir.Pick || n.Value() != nil {
			continue
		}
		all := n.Operand(0)
		if all.Value() == nil && graph.RecurrenceOf(all) == k.Recurrence {
			return all
		}
	}
	return graph.Recur(k.Recurrence, args...)
}

// before returns the carry at the beginning of each step from the first and a stack of
// those at the end.
func (k *looped) before(first, ends *graph.Node) *graph.Node {
	first = graph.Reshape(first, append([]int{1}, first.Shape...))
	if k.Reverse {
		return graph.Cat(0, []*graph.Node{crop(ends, 0, 1, k.Steps-1), first})
	}
	return graph.Cat(0, []*graph.Node{first, crop(ends, 0, 0, k.Steps-1)})
}

// recurAll is a Recur of a batch's examples, on operands src of all of them.
func (b *batch) recurAll(c *call, src []*graph.Node) *graph.Node {
	r := graph.RecurrenceOf(c.Node)
	scope := &graph.Scope{PlaceholdersOf: "grad.Vmap"}
	defer scope.Close()
	args, varies := make([]*graph.Node, len(src)), make([]bool, len(src))
	src = slices.Clone(src)
	for i, n := range r.Args {
		args[i] = graph.Placeholder(n, 0, scope)
		switch {
		case r.IsInput(i):
			src[i] = moveAxis(src[i], 1, 0)
			args[i], varies[i] = graph.Placeholder(src[i], 1, scope), true
		case i < r.Carries || b.varies(c.src[i]):
			args[i], varies[i] = graph.Placeholder(src[i], 0, scope), true
		default:
			src[i] = c.src[i]
		}
	}
	results := overExamples(b.size, args, varies, func(in []*graph.Node) []*graph.Node {
		of := map[*graph.Node]*graph.Node{}
		for i, n := range r.Args {
			of[n] = in[i]
		}
		return graph.Substitute(r.Results(), of)
	})
	return graph.Recur(graph.NewRecurrence(&graph.Recurrence{
		Steps: r.Steps, Reverse: r.Reverse, Carries: r.Carries, Inputs: r.Inputs, Args: args,
	}, results), src...)
}

// pickAll is a Pick of a batch's examples.
func pickAll(c *call, recur *graph.Node) *graph.Node {
	i := c.Ints[0]
	n := graph.Pick(recur, i)
	if i >= graph.RecurrenceOf(recur).Carries {
		n = moveAxis(n, 1, 0)
	}
	return n
}
