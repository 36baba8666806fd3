package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A batchRule says how an operation's attributes change when the operands and the
// result get one more axis, the first, for the examples of a batch. Everything
// else about an operation stays.
type batchRule func(ints []int) []int

// classBatchRules has the rules of classes, for operations without a rule in batchRules.
var classBatchRules = map[ir.Class]batchRule{
	ir.Alias:       sameInts,
	ir.Elementwise: sameInts,
	ir.Reduction:   nextAxes,
	ir.Indexed:     nextFirst(1),
	ir.Ordered:     nextAxes,
	ir.Hosted:      sameInts,
}

var batchRules = [ir.Ops]batchRule{
	ir.Reshape:  sameInts,
	ir.Permute:  func(order []int) []int { return append([]int{0}, nextAxes(order)...) },
	ir.Expand:   sameInts,
	ir.Pad:      func(ints []int) []int { return append([]int{0, 0, 0}, ints...) },
	ir.Crop:     func(ints []int) []int { return append([]int{0, 1}, ints...) },
	ir.Flip:     nextAxes,
	ir.Window:   nextFirst(2),
	ir.Unwindow: nextFirst(2),
	ir.Cat:      nextAxes,
}

// batchRuleOf returns the rule of an op, nil if it has none.
func batchRuleOf(op ir.Op) batchRule {
	if r := batchRules[op]; r != nil {
		return r
	}
	return classBatchRules[op.Class()]
}

// sameInts is for attributes that are not axes.
func sameInts(ints []int) []int { return ints }

// nextAxes is for axes.
func nextAxes(axes []int) []int { return mapped(axes, func(a int) int { return a + 1 }) }

// nextFirst is for n axes and something else.
func nextFirst(n int) batchRule {
	return func(ints []int) []int { return append(nextAxes(ints[:n]), ints[n:]...) }
}

// overExamples applies a function of one example to all examples of a batch. The nodes in
// for which batched is true have the examples along the first axis; others are shared by
// all examples, or nil. The results have the examples along the first axis; nil stays nil.
func overExamples(size int, in []*graph.Node, batched []bool, f func([]*graph.Node) []*graph.Node) []*graph.Node {
	scope := &graph.Scope{PlaceholdersOf: "grad.Vmap"}
	defer scope.Close()
	given := slices.Clone(in)
	var examples, batches []*graph.Node
	for i, n := range in {
		if n != nil && batched[i] {
			given[i] = graph.Placeholder(n, 1, scope)
			examples, batches = append(examples, given[i]), append(batches, n)
		}
	}
	results := f(given)
	b := &batch{newReplay(recordWhole(scope, examples, results)), size}
	b.operand, b.remake, b.differentiate = b.stacked, b.makeAll, b.differentiateAll
	b.run(batches)
	return mapped(results, func(n *graph.Node) *graph.Node {
		if n == nil {
			return nil
		}
		return b.stacked(n)
	})
}

// A batch replays a function of one example for all of them.
type batch struct {
	*replay
	size int
}

// varies reports whether n differs from example to example.
func (b *batch) varies(n *graph.Node) bool {
	_, ok := b.tape.index.Get(n)
	return ok
}

// stacked returns n of all examples along a new first axis, repeated if they share it.
func (b *batch) stacked(n *graph.Node) *graph.Node {
	if i, ok := b.tape.index.Get(n); ok {
		return b.of[i]
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

// gatherAll takes the elements of all examples from a tensor that they share by one
// Gather: repeating the tensor would make its cotangent as large.
func gatherAll(c *call, idx *graph.Node) *graph.Node {
	axis := c.Ints[0]
	shape := slices.Clone(idx.Shape[1:])
	shape[axis] *= idx.Shape[0]
	idx = moveAxis(idx, 0, axis)
	n := graph.WithOperands(c.Node, c.src[0], graph.Reshape(idx, shape))
	n.Shape = shape
	return moveAxis(graph.Reshape(n, idx.Shape), axis, 0)
}

// differentiateAll gives k, a custom call for all examples, the rules of old, the
// call for one, over all examples.
func (b *batch) differentiateAll(k, old *graph.CustomCall) {
	n, size := len(old.Args), b.size
	varies := make([]bool, n+len(old.Outs))
	for i := range varies {
		varies[i] = i >= n || b.varies(old.Args[i])
	}
	// overAll calls a rule for all examples. x are cotangents or tangents.
	overAll := func(rule graph.CustomRule, args, outs, x []*graph.Node, xVaries []bool) []*graph.Node {
		in := slices.Concat(args, outs, x)
		return overExamples(size, in, slices.Concat(varies, xVaries), func(in []*graph.Node) []*graph.Node {
			return rule(in[:n], in[n:len(varies)], in[len(varies):])
		})
	}
	k.VJP = func(args, outs, cts []*graph.Node) []*graph.Node {
		list := overAll(old.VJP, args, outs, cts, varies[n:])
		for i, ct := range list {
			if ct != nil && !varies[i] { // used by all examples
				ct = graph.Reduce(ir.Sum, ct, []int{0})
				list[i] = graph.Reshape(ct, ct.Shape[1:])
			}
		}
		return list
	}
	k.JVP = func(args, outs, tangents []*graph.Node) []*graph.Node {
		return overAll(old.JVP, args, outs, tangents, varies[:n])
	}
}
