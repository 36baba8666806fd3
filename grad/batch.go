package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A batchRule returns an operation's attributes for operands and a result that have one more
// axis, the first, for the examples of a batch. Everything else about the operation stays.
type batchRule func(ints []int) []int

// classBatchRules has a rule for each class, for operations without a rule in batchRules.
var classBatchRules = map[ir.Class]batchRule{
	ir.Alias:       sameInts,
	ir.Elementwise: sameInts,
	ir.Reduction:   shiftAxes,
	ir.Indexed:     shiftFirst(1),
	ir.Ordered:     shiftAxes,
	ir.Hosted:      sameInts,
}

var batchRules = [ir.Ops]batchRule{
	ir.Reshape:  sameInts,
	ir.Permute:  func(order []int) []int { return append([]int{0}, shiftAxes(order)...) },
	ir.Expand:   sameInts,
	ir.Pad:      func(ints []int) []int { return append([]int{0, 0, 0}, ints...) },
	ir.Crop:     func(ints []int) []int { return append([]int{0, 1}, ints...) },
	ir.Flip:     shiftAxes,
	ir.Window:   shiftFirst(2),
	ir.Unwindow: shiftFirst(2),
	ir.Cat:      shiftAxes,
}

// batchRuleOf returns the rule of an op, nil if it has none.
func batchRuleOf(op ir.Op) batchRule {
	if r := batchRules[op]; r != nil {
		return r
	}
	return classBatchRules[op.Class()]
}

// sameInts is the rule for attributes that are not axes.
func sameInts(ints []int) []int { return ints }

// shiftAxes is the rule for attributes that are axes: each moves up by one, past the batch axis.
func shiftAxes(axes []int) []int { return mapped(axes, func(a int) int { return a + 1 }) }

// shiftFirst returns the rule for attributes of which the first n are axes.
func shiftFirst(n int) batchRule {
	return func(ints []int) []int { return append(shiftAxes(ints[:n]), ints[n:]...) }
}

// overExamples applies f, a function of one example, to all examples of a batch of the given
// size. A node of in has the examples along its first axis if its entry in batched is true;
// otherwise all examples share it, or it is nil. The results have the examples along the first
// axis; a nil result stays nil.
func overExamples(size int, in []*graph.Node, batched []bool, f func([]*graph.Node) []*graph.Node) []*graph.Node {
	scope := &graph.Scope{PlaceholdersOf: "grad.Vmap"}
	defer scope.Close()
	args := slices.Clone(in) // of f: placeholders for one example of each batched node
	var examples, batches []*graph.Node
	for i, n := range in {
		if n != nil && batched[i] {
			args[i] = graph.Placeholder(n, 1, scope)
			examples, batches = append(examples, args[i]), append(batches, n)
		}
	}
	results := f(args)
	b := &batch{newReplay(recordWhole(scope, examples, results)), size}
	// replay calls these in place of its own: how to find an operand, rebuild a call, and carry over derivatives.
	b.operand, b.remake, b.differentiate = b.stacked, b.makeAll, b.differentiateAll
	b.run(batches)
	return mapped(results, func(n *graph.Node) *graph.Node {
		if n == nil {
			return nil
		}
		return b.stacked(n)
	})
}

// A batch replays a function of one example for all examples.
type batch struct {
	*replay
	size int
}

// varies reports whether n differs from example to example.
func (b *batch) varies(n *graph.Node) bool {
	_, ok := b.tape.index.Get(n)
	return ok
}

// stacked returns the values of n for all examples along a new first axis. It repeats a node
// that the examples share.
func (b *batch) stacked(n *graph.Node) *graph.Node {
	if i, ok := b.tape.index.Get(n); ok {
		return b.replacements[i]
	}
	return repeat(n, b.size)
}

// repeat returns n once for each example of a batch, along a new first axis.
func repeat(n *graph.Node, size int) *graph.Node {
	return graph.Expand(graph.Reshape(n, append([]int{1}, n.Shape...)), append([]int{size}, n.Shape...))
}

// makeAll makes the node that computes c for all examples.
func (b *batch) makeAll(c *call, src []*graph.Node) *graph.Node {
	switch {
	case c.Op == ir.Gather && !b.varies(c.src[0]):
		return gatherAll(c, src[1])
	case c.Op == ir.Recur:
		return b.recurAll(c, src)
	case c.Op == ir.Pick:
		return pickAll(c, src[0])
	case graph.KernelOf(c.Node) != nil:
		return b.kernelAll(c, src)
	}
	if c.Op == ir.Cast && src[0].IsUntyped() {
		return graph.Convert(src[0], c.DType)
	}
	n := graph.WithOperands(c.Node, src...)
	n.Shape = append([]int{b.size}, c.Shape...)
	n.Ints = batchRuleOf(c.Op)(c.Ints)
	n.SetCoOutputs(b.coOutputsOf(c.CoOutputs()))
	return n
}

// kernelAll calls the rule of a user's kernel.
func (b *batch) kernelAll(c *call, src []*graph.Node) *graph.Node {
	f := graph.KernelOf(c.Node)
	if f.Kernel.Batch == nil {
		misuse(f.Op, "it has no rule for grad.Vmap: set Kernel.Batch", c.src[0])
	}
	n := f.Kernel.Batch(src)
	if want := append([]int{b.size}, c.Shape...); n.DType != c.DType || !slices.Equal(n.Shape, want) {
		misuse(f.Op, fmt.Sprintf("Kernel.Batch gives %v %v, and not %v %v", n.DType, n.Shape, c.DType, want), src[0])
	}
	return n
}

// gatherAll gathers all examples from a shared tensor by one Gather: it joins the examples' indices
// along the gathered axis. Repeating the tensor would make its cotangent size times as large.
func gatherAll(c *call, indices *graph.Node) *graph.Node {
	axis := c.Ints[0]
	joined := slices.Clone(indices.Shape[1:])
	joined[axis] *= indices.Shape[0]
	indices = moveAxis(indices, 0, axis)
	n := graph.WithOperands(c.Node, c.src[0], graph.Reshape(indices, joined))
	n.Shape = joined
	return moveAxis(graph.Reshape(n, indices.Shape), axis, 0)
}

// differentiateAll sets the derivatives of batched, a custom call for all examples, from the
// derivatives of single, the call for one example.
func (b *batch) differentiateAll(batched, single *graph.CustomCall) {
	numArgs, numPrimals, size := len(single.Args), len(single.Args)+len(single.Outs), b.size
	varies := make([]bool, numPrimals) // by argument, then by result
	for i := range varies {
		varies[i] = i >= numArgs || b.varies(single.Args[i])
	}
	// overAll calls a rule for all examples. vectors are its cotangents or tangents.
	overAll := func(rule graph.CustomRule, args, outs, vectors []*graph.Node, vectorVaries []bool) []*graph.Node {
		in := slices.Concat(args, outs, vectors)
		return overExamples(size, in, slices.Concat(varies, vectorVaries), func(in []*graph.Node) []*graph.Node {
			return rule(in[:numArgs], in[numArgs:numPrimals], in[numPrimals:])
		})
	}
	batched.VJP = func(args, outs, cts []*graph.Node) []*graph.Node {
		argCts := overAll(single.VJP, args, outs, cts, varies[numArgs:])
		for i, ct := range argCts {
			if ct != nil && !varies[i] { // all examples share the argument
				ct = graph.Reduce(ir.Sum, ct, []int{0})
				argCts[i] = graph.Reshape(ct, ct.Shape[1:])
			}
		}
		return argCts
	}
	batched.JVP = func(args, outs, tangents []*graph.Node) []*graph.Node {
		return overAll(single.JVP, args, outs, tangents, varies[:numArgs])
	}
}
