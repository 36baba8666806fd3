package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// batches has, for every operation on other nodes, how its attributes change
// when the operands and the result get one more axis, the first, for the
// examples of a batch. Everything else about an operation stays.
var batches = [ir.Ops]func(ints []int) []int{
	ir.Alias: same,

	ir.Neg: same, ir.Exp: same, ir.Expm1: same, ir.Log: same, ir.Log1p: same, ir.Sin: same, ir.Cos: same,
	ir.Atan: same, ir.Sqrt: same, ir.Tanh: same, ir.Erf: same, ir.Floor: same, ir.Not: same, ir.Cast: same,
	ir.Bitcast: same, ir.Add: same, ir.Sub: same, ir.Mul: same, ir.Div: same, ir.Rem: same, ir.Pow: same,
	ir.Max: same, ir.Min: same, ir.Eq: same, ir.Lt: same, ir.And: same, ir.Or: same, ir.Xor: same, ir.Shl: same,
	ir.Shr: same, ir.Where: same, ir.Threefry: same,

	ir.Sum: later, ir.ReduceMax: later, ir.Prod: later, ir.ArgMax: later,

	ir.Reshape: same, ir.Expand: same, ir.Flip: later, ir.Cat: later,
	ir.Permute:  func(order []int) []int { return append([]int{0}, later(order)...) },
	ir.Pad:      func(ints []int) []int { return append([]int{0, 0, 0}, ints...) },
	ir.Crop:     func(ints []int) []int { return append([]int{0, 1}, ints...) },
	ir.Window:   laterPair,
	ir.Unwindow: laterPair,

	ir.Gather:  laterFirst,
	ir.Scatter: laterFirst,
}

// same is for what knows no axes by number.
func same(ints []int) []int { return ints }

// later is for axes.
func later(axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = a + 1
	}
	return out
}

// laterFirst is for an axis and something else.
func laterFirst(ints []int) []int { return append([]int{ints[0] + 1}, ints[1:]...) }

// laterPair is for two axes and something else.
func laterPair(ints []int) []int { return append([]int{ints[0] + 1, ints[1] + 1}, ints[2:]...) }

// A batch is the recording of a function of one example, done for all.
type batch struct {
	tape    *tape
	size    int
	of      []*graph.Node       // of calls: with the examples along the first axis
	customs map[*custom]*custom // of custom calls
	bundles bundles
}

// overExamples calls a function of nodes for all examples of a batch at once:
// of those in for which batched is true, which have them along the first axis;
// the others are the same for all. The function gets nodes that stand for an
// example. A nil node is nil for the function as well. Its results have the
// examples along the first axis where varies is true.
func overExamples(size int, in []*graph.Node, batched []bool, f func([]*graph.Node) []*graph.Node) (out []*graph.Node, varies []bool) {
	scope := &graph.Scope{Example: true}
	defer scope.Close()
	given := slices.Clone(in)
	var fresh, whole []*graph.Node
	for i, n := range in {
		if n != nil && batched[i] {
			example := graph.NewAlias(graph.Const(n.DType, 0, n.Shape[1:]), scope)
			example.Device, example.RematLevel = n.Device, n.RematLevel
			given[i] = example
			fresh, whole = append(fresh, example), append(whole, n)
		}
	}
	results := f(given)
	b := &batch{size: size, customs: map[*custom]*custom{}, bundles: bundles{}}
	b.tape = recordWhole(scope, fresh, results)
	b.of = make([]*graph.Node, len(b.tape.calls))
	copy(b.of, whole)
	for i := len(whole); i < len(b.of); i++ {
		b.of[i] = b.do(&b.tape.calls[i])
	}
	b.bundles.fill(b.find)
	out, varies = make([]*graph.Node, len(results)), make([]bool, len(results))
	for i, n := range results {
		out[i] = n
		if m, ok := b.find(n); ok {
			out[i], varies[i] = m, true
		}
	}
	return out, varies
}

// recordWhole walks from results to arguments as record does, but also into
// custom calls, to all their results, and to what bundles name.
func recordWhole(scope *graph.Scope, args, results []*graph.Node) *tape {
	roots := slices.Clone(results)
	customs, bundles := map[*custom]bool{}, map[*graph.CoOutputs]bool{}
	for {
		known := len(roots)
		t := walkBack(scope, args, roots, func(n *graph.Node) []*graph.Node {
			if b := n.CoOutputs; b != nil && !bundles[b] {
				bundles[b] = true
				roots = append(roots, b.Nodes...)
			}
			r := resultOf(n)
			if r == nil {
				return n.Src()
			}
			if !customs[r.custom] {
				customs[r.custom] = true
				roots = append(roots, r.outs...)
			}
			return append(slices.Clone(n.Src()), r.args...)
		})
		if len(roots) == known {
			return t
		}
	}
}

// find returns the batch's node for one of the recording.
func (b *batch) find(n *graph.Node) (*graph.Node, bool) {
	i, ok := b.tape.index[n]
	if !ok {
		return nil, false
	}
	return b.of[i], true
}

// all returns the batch's node for n, the same for all examples if it does not
// vary.
func (b *batch) all(n *graph.Node) *graph.Node {
	if m, ok := b.find(n); ok {
		return m
	}
	return repeat(n, b.size)
}

// repeat is n for each example of a batch.
func repeat(n *graph.Node, size int) *graph.Node {
	return graph.Expand(graph.Reshape(n, append([]int{1}, n.Shape...)), append([]int{size}, n.Shape...))
}

// do makes the node that does c for all examples.
func (b *batch) do(c *call) *graph.Node {
	if c.Op == ir.Alias {
		return b.alias(c)
	}
	if _, varies := b.find(c.src[0]); c.Op == ir.Gather && !varies {
		return gatherAll(c, b.all(c.src[1]))
	}
	src := make([]*graph.Node, len(c.src))
	for i, s := range c.src {
		src[i] = b.all(s)
	}
	n := graph.WithOperands(c.Node, src...)
	n.Shape = append([]int{b.size}, c.Shape...)
	n.Ints = batches[c.Op](c.Ints)
	n.CoOutputs = b.bundles.of(c.CoOutputs)
	return n
}

// Bundles are those of a recording, and what they are where it is done anew.
type bundles map[*graph.CoOutputs]*graph.CoOutputs

// of returns what a bundle becomes; nil is none.
func (b bundles) of(old *graph.CoOutputs) *graph.CoOutputs {
	if old != nil && b[old] == nil {
		b[old] = new(graph.CoOutputs)
	}
	return b[old]
}

// fill gives the new bundles their nodes, when all are there: what a node has
// become, or itself. That may be an example of a batch around this one, which
// becomes all of them there.
func (b bundles) fill(find func(*graph.Node) (*graph.Node, bool)) {
	for from, to := range b {
		for _, n := range from.Nodes {
			if m, ok := find(n); ok {
				n = m
			}
			to.Nodes = append(to.Nodes, n)
		}
	}
}

// gatherAll takes what all examples want of a tensor that they share, as if
// they were one: repeating it would make its cotangent as large.
func gatherAll(c *call, idx *graph.Node) *graph.Node {
	axis := c.Ints[0]
	shape := slices.Clone(idx.Shape[1:])
	shape[axis] *= idx.Shape[0]
	idx = graph.Permute(idx, moved(len(idx.Shape), 0, axis))
	n := graph.WithOperands(c.Node, c.src[0], graph.Reshape(idx, shape))
	n.Shape = shape
	return graph.Permute(graph.Reshape(n, idx.Shape), moved(len(idx.Shape), axis, 0))
}

// alias is do for another name: what makes it more than a name is kept.
func (b *batch) alias(c *call) *graph.Node {
	x := b.all(c.src[0])
	switch r := resultOf(c.Node); {
	case r != nil:
		k := b.custom(r.custom)
		k.outs[r.i] = graph.NewResult(x, &result{k, r.i}, k.args)
		x = k.outs[r.i]
	case c.Stops():
		x = graph.Stop(x)
	case c.Device != nil && c.Device != x.Device:
		x = graph.ToDevice(x, c.Device)
	case c.CoOutputs != nil:
		x = graph.ToDevice(x, x.Device)
	}
	if c.CoOutputs != nil {
		x.CoOutputs = b.bundles.of(c.CoOutputs)
	}
	return x
}

// custom is a custom call for all examples. Its derivatives are those of the
// call, for all examples as well.
func (b *batch) custom(old *custom) *custom {
	if k := b.customs[old]; k != nil {
		return k
	}
	k := &custom{outs: make([]*graph.Node, len(old.outs)), args: slices.Clone(old.args)}
	b.customs[old] = k
	varies := make([]bool, len(old.args)+len(old.outs))
	for i, a := range old.args {
		if m, ok := b.find(a); ok {
			k.args[i], varies[i] = m, true
		}
	}
	for i := range old.outs {
		varies[len(old.args)+i] = true
	}
	n, size := len(old.args), b.size
	// each calls a rule for all examples. It is given a node for each
	// argument, each result and each of x.
	each := func(args, outs, x []*graph.Node, xVaries []bool, rule func(args, outs, x []*graph.Node) []*graph.Node) ([]*graph.Node, []bool) {
		in := slices.Concat(args, outs, x)
		return overExamples(size, in, slices.Concat(varies, xVaries), func(in []*graph.Node) []*graph.Node {
			return rule(in[:n], in[n:n+len(outs)], in[n+len(outs):])
		})
	}
	k.pull = func(args, outs, cts []*graph.Node) []*graph.Node {
		list, listed := each(args, outs, cts, varies[n:], old.pull)
		for i, ct := range list {
			switch {
			case ct == nil:
				continue
			case !listed[i]:
				ct = repeat(ct, size)
			}
			if !varies[i] { // used by all examples
				ct = graph.Reduce(ir.Sum, ct, []int{0})
				ct = graph.Reshape(ct, ct.Shape[1:])
			}
			list[i] = ct
		}
		return list
	}
	if old.push != nil {
		k.push = func(args, outs, tangents []*graph.Node) []*graph.Node {
			list, listed := each(args, outs, tangents, varies[:n], old.push)
			for i, t := range list {
				if t != nil && !listed[i] {
					list[i] = repeat(t, size)
				}
			}
			return list
		}
	}
	return k
}
