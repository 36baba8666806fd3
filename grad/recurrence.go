package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A scan is a number of steps, on behalf of op.
type scan struct {
	op      string
	steps   int
	reverse bool
}

// A body computes the next carries, and outputs, from carries and inputs.
type body func(carries, inputs []*graph.Node) (next, outs []*graph.Node)

// inPieces is run in pieces of k steps, 0 for one piece, whose intermediate results the
// backward pass computes again.
func (s scan) inPieces(k int, carries, inputs []*graph.Node, f body) (last, outs []*graph.Node) {
	if k == 0 || k >= s.steps {
		return s.run(carries, inputs, f)
	}
	pieces, rest := s.steps/k, s.steps%k
	slice := func(from, n int) []*graph.Node {
		return mapped(inputs, func(x *graph.Node) *graph.Node { return crop(x, 0, from, n) })
	}
	first, at := 0, pieces*k // of the pieces, and of the steps after them
	if s.reverse {
		first, at = rest, 0
	}
	piece := scan{s.op, k, s.reverse}
	whole := scan{s.op, pieces, s.reverse}
	split := mapped(slice(first, pieces*k), func(x *graph.Node) *graph.Node {
		return graph.Reshape(x, append([]int{pieces, k}, x.Shape[1:]...))
	})
	last, outs = whole.run(carries, split, func(cs, xs []*graph.Node) (next, outs []*graph.Node) {
		all := checkpoint(slices.Concat(cs, xs), func(in []*graph.Node) []*graph.Node {
			last, outs := piece.run(in[:len(cs)], in[len(cs):], f)
			return slices.Concat(last, outs)
		})
		return all[:len(cs)], all[len(cs):]
	})
	outs = mapped(outs, func(y *graph.Node) *graph.Node {
		return graph.Reshape(y, append([]int{pieces * k}, y.Shape[2:]...))
	})
	if rest == 0 {
		return last, outs
	}
	last, others := scan{s.op, rest, s.reverse}.run(last, slice(at, rest), f)
	for i, y := range outs {
		if s.reverse {
			outs[i] = graph.Cat(0, []*graph.Node{others[i], y})
		} else {
			outs[i] = graph.Cat(0, []*graph.Node{y, others[i]})
		}
	}
	return last, outs
}

// crop is n elements of x along an axis, from one on.
func crop(x *graph.Node, axis, from, n int) *graph.Node {
	spans := mapped(x.Shape, func(d int) graph.Span { return graph.Span{Step: 1, Len: d} })
	spans[axis] = graph.Span{Start: from, Step: 1, Len: n}
	return graph.Crop(x, spans)
}

// A recurrence is a traced body and its operands.
type recurrence struct {
	scan
	scope                     *graph.Scope
	carries, inputs, captured []*graph.Node // the operands
	args                      []*graph.Node // of the body: placeholders for the operands
	next, outs                []*graph.Node // the results of the body
}

// run returns the last carries, and the outputs of all steps along a new first axis.
func (s scan) run(carries, inputs []*graph.Node, f body) (last, outs []*graph.Node) {
	// The scope stays open: derivatives are made of the body's nodes later.
	r := &recurrence{scan: s, scope: &graph.Scope{PlaceholdersOf: s.op}, carries: carries, inputs: inputs}
	r.args = slices.Concat(placeholders(carries, 0, r.scope), placeholders(inputs, 1, r.scope))
	r.next, r.outs = f(slices.Clone(r.args[:len(carries)]), slices.Clone(r.args[len(carries):]))
	r.capture()
	if s.steps == 0 {
		return r.call()
	}
	r.hoist()
	return r.sink()
}

// results returns the body's results: the next carries, then the outputs.
func (r *recurrence) results() []*graph.Node { return slices.Concat(r.next, r.outs) }

// substitute puts other nodes in place of some of the body.
func (r *recurrence) substitute(of map[*graph.Node]*graph.Node) {
	all := graph.Substitute(r.results(), of)
	r.next, r.outs = all[:len(r.next)], all[len(r.next):]
}

// capture turns outside nodes that the body reads into operands, except for constants.
func (r *recurrence) capture() {
	t := recordWhole(r.scope, r.args, r.results())
	of := map[*graph.Node]*graph.Node{}
	add := func(n *graph.Node) {
		if n == nil || of[n] != nil {
			return
		}
		if _, ours := t.index.Get(n); ours || isConstant(n) {
			return
		}
		of[n] = graph.Placeholder(n, 0, r.scope)
		r.captured, r.args = append(r.captured, n), append(r.args, of[n])
	}
	for i := range t.calls[t.args:] {
		for _, s := range t.calls[t.args+i].src {
			add(s)
		}
	}
	for _, n := range r.results() {
		add(n)
	}
	if len(of) > 0 {
		r.substitute(of)
	}
}

// isConstant reports whether a node is made of numbers alone, by few operations.
func isConstant(n *graph.Node) bool {
	left := 16
	var search func(n *graph.Node) bool
	search = func(n *graph.Node) bool {
		src, v := n.State()
		class := n.Op.Class()
		if left--; left < 0 || v != nil || n.Traced() || n.IsKept() {
			return false
		}
		if class == ir.Source {
			return n.Op != ir.Buffer
		}
		if class != ir.Elementwise && class != ir.Movement {
			return false
		}
		for _, s := range src.All() {
			if !search(s) {
				return false
			}
		}
		return true
	}
	return search(n)
}

// dependents returns some arguments and the nodes of the tape that depend on them.
func (t *tape) dependents(args []*graph.Node) map[*graph.Node]bool {
	list := map[*graph.Node]bool{}
	for _, n := range args {
		list[n] = true
	}
	for _, c := range t.calls[t.args:] {
		if slices.ContainsFunc(c.src, func(n *graph.Node) bool { return list[n] }) {
			list[c.Node] = true
		}
	}
	return list
}

// forAll computes nodes of the body for all steps at once: given stacks of some nodes of it
// besides the inputs.
func (r *recurrence) forAll(ns, of, stacks []*graph.Node) []*graph.Node {
	first := len(r.carries)
	from := slices.Concat(of, r.args[first:])
	in := slices.Concat(stacks, r.inputs, r.captured)
	batched := slices.Repeat([]bool{true}, len(in))
	for i := len(stacks) + len(r.inputs); i < len(in); i++ {
		batched[i] = false
	}
	return overExamples(r.steps, in, batched, func(given []*graph.Node) []*graph.Node {
		m := map[*graph.Node]*graph.Node{}
		for i, n := range from {
			m[n] = given[i]
		}
		return graph.Substitute(ns, m)
	})
}

// hoist moves nodes that do not depend on carries before the steps, unless they are
// elementwise only.
func (r *recurrence) hoist() {
	t := recordWhole(r.scope, r.args, r.results())
	carried := t.dependents(r.args[:len(r.carries)])
	perStep := t.dependents(r.args[len(r.carries):][:len(r.inputs)])
	heavy := map[*graph.Node]bool{}
	for i := range t.calls[t.args:] {
		c := &t.calls[t.args+i]
		class := c.Op.Class()
		simple := class == ir.Elementwise || class == ir.Movement || class == ir.Alias
		heavy[c.Node] = !simple || slices.ContainsFunc(c.src, func(n *graph.Node) bool { return heavy[n] })
	}
	var list []*graph.Node
	var visit func(n *graph.Node)
	visit = func(n *graph.Node) {
		i, ours := t.index.Get(n)
		switch class := n.Op.Class(); {
		case !ours || carried[n] || !perStep[n] || !heavy[n] || slices.Contains(list, n):
		case class == ir.Movement:
			for _, s := range t.calls[i].src {
				visit(s)
			}
		default:
			list = append(list, n)
		}
	}
	for i := range t.calls[t.args:] {
		if c := &t.calls[t.args+i]; carried[c.Node] {
			for _, s := range c.src {
				visit(s)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	stacks := r.forAll(list, nil, nil)
	of := map[*graph.Node]*graph.Node{}
	at := len(r.carries) + len(r.inputs)
	for i, n := range list {
		of[n] = graph.Placeholder(n, 0, r.scope)
		r.inputs = append(r.inputs[:len(r.inputs):len(r.inputs)], stacks[i])
		r.args = slices.Insert(r.args, at+i, of[n])
	}
	r.substitute(of)
}

// sink calls the body and moves nodes that only outputs read after the steps.
func (r *recurrence) sink() (last, outs []*graph.Node) {
	t := recordWhole(r.scope, r.args, r.results())
	carried := t.dependents(r.args[:len(r.carries)])
	needed := map[*graph.Node]bool{} // for the next carries
	graph.Walk(r.next, func(n *graph.Node) (graph.Operands, bool) {
		i, ours := t.index.Get(n)
		if !ours || needed[n] {
			return graph.Operands{}, false
		}
		needed[n] = true
		return graph.OperandsOf(t.calls[i].src), true
	}, func(*graph.Node, graph.Operands) {})

	// cheapest returns the nodes to be stored for n, the fewest elements, and how many
	// elements they have.
	type choice struct {
		nodes []*graph.Node
		size  int
	}
	known := map[*graph.Node]choice{}
	var cheapest func(n *graph.Node) choice
	cheapest = func(n *graph.Node) choice {
		if !carried[n] {
			return choice{}
		}
		if c, ok := known[n]; ok {
			return c
		}
		i, _ := t.index.Get(n)
		var below choice
		for _, s := range t.calls[i].src {
			for _, m := range cheapest(s).nodes {
				if !slices.Contains(below.nodes, m) {
					below.nodes, below.size = append(below.nodes, m), below.size+m.Len()
				}
			}
		}
		c := below
		class := n.Op.Class()
		inLine := class == ir.Elementwise || class == ir.Movement || class == ir.Alias && n.Op != ir.CallResult || class == ir.Reduction
		if i < t.args || !inLine || n.Len() < below.size || n.Len() == below.size && needed[n] {
			c = choice{[]*graph.Node{n}, n.Len()}
		}
		known[n] = c
		return c
	}
	roots := r.outs
	var stored []*graph.Node
	for _, n := range roots {
		for _, m := range cheapest(n).nodes {
			if !slices.Contains(stored, m) {
				stored = append(stored, m)
			}
		}
	}
	r.outs = stored
	last, stacks := r.call()
	var rest, restOf []*graph.Node
	for _, n := range roots {
		if !slices.Contains(stored, n) && !slices.Contains(rest, n) {
			rest = append(rest, n)
		}
	}
	if len(rest) > 0 {
		restOf = r.forAll(rest, stored, stacks)
	}
	for _, n := range roots {
		if i := slices.Index(stored, n); i >= 0 {
			outs = append(outs, stacks[i])
		} else {
			outs = append(outs, restOf[slices.Index(rest, n)])
		}
	}
	return last, outs
}

// call makes the node of the recurrence and its results.
func (r *recurrence) call() (last, outs []*graph.Node) {
	used := map[*graph.Node]bool{}
	graph.Walk(r.results(), func(n *graph.Node) (graph.Operands, bool) {
		if used[n] {
			return graph.Operands{}, false
		}
		used[n] = true
		return n.Inputs(), true
	}, func(*graph.Node, graph.Operands) {})
	k := &looped{scope: r.scope, op: r.op}
	carries := len(r.carries)
	args, operands := slices.Clone(r.args[:carries]), slices.Clone(r.carries)
	add := func(ns, as []*graph.Node) {
		for i, n := range ns {
			if used[as[i]] {
				args, operands = append(args, as[i]), append(operands, n)
			}
		}
	}
	add(r.inputs, r.args[carries:])
	inputs := len(args) - carries
	add(r.captured, r.args[carries+len(r.inputs):])
	k.Recurrence = graph.NewRecurrence(&graph.Recurrence{Steps: r.steps, Reverse: r.reverse, Carries: carries, Inputs: inputs, Args: args}, r.results())
	k.own = len(r.next) + len(r.outs)
	results := k.apply(operands)
	return results[:len(r.next)], results[len(r.next):]
}
