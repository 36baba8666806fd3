package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// transposeToDevice gives the cotangent back, on the operand's own device.
func transposeToDevice(c *call, ct *graph.Node, _ int) *graph.Node {
	if d := c.src[0].Device; d != nil && d != c.Device {
		return graph.ToDevice(ct, d)
	}
	return ct
}

func transposeSame(_ *call, ct *graph.Node, _ int) *graph.Node { return ct }

func transposeSub(_ *call, ct *graph.Node, i int) *graph.Node {
	if i == 0 {
		return ct
	}
	return neg(ct)
}

// transposeWhere chooses instead of multiplying by 0 and 1, so that a NaN or
// an infinity in the cotangent reaches only the operand that was taken.
func transposeWhere(c *call, ct *graph.Node, i int) *graph.Node {
	if i == 1 {
		return graph.Where(c.src[0], ct, like(ct, 0))
	}
	return graph.Where(c.src[0], like(ct, 0), ct)
}

func transposeExpand(c *call, ct *graph.Node, _ int) *graph.Node {
	var axes []int
	for a, d := range c.src[0].Shape {
		if d != c.Shape[a] {
			axes = append(axes, a)
		}
	}
	return graph.Reduce(ir.Sum, ct, axes)
}

func transposePad(c *call, ct *graph.Node, _ int) *graph.Node {
	s := make([]graph.Span, len(c.Shape))
	for a, d := range c.src[0].Shape {
		s[a] = graph.Span{Start: c.Ints[3*a], Step: c.Ints[3*a+2] + 1, Len: d}
	}
	return graph.Crop(ct, s)
}

func transposeCrop(c *call, ct *graph.Node, _ int) *graph.Node {
	p := make([]graph.Padding, len(c.Shape))
	for a, d := range c.src[0].Shape {
		if c.Shape[a] == 0 {
			p[a].Before = d
			continue
		}
		start, step := c.Ints[2*a], c.Ints[2*a+1]
		p[a] = graph.Padding{Before: start, Interior: step - 1, After: d - 1 - start - step*(c.Shape[a]-1)}
	}
	return graph.Pad(ct, 0, p)
}

func transposeWindow(c *call, ct *graph.Node, _ int) *graph.Node {
	i, k, s, d := c.Ints[0], c.Ints[1], c.Ints[2], c.Ints[3]
	return graph.Unwindow(ct, i, k, s, d, c.src[0].Shape[i])
}

// transposeUnwindow is Window. Elements that Unwindow drops have cotangents of 0.
func transposeUnwindow(c *call, ct *graph.Node, _ int) *graph.Node {
	i, k, s, d := c.Ints[0], c.Ints[1], c.Ints[2], c.Ints[3]
	n := c.src[0].Shape[i]
	if need := (n-1)*s + (c.Shape[k]-1)*d + 1; n > 0 && need > c.Shape[i] {
		p := make([]graph.Padding, len(c.Shape))
		p[i].After = need - c.Shape[i]
		ct = graph.Pad(ct, 0, p)
	}
	return graph.Window(ct, i, k, s, d, n)
}

func transposeCat(c *call, ct *graph.Node, i int) *graph.Node {
	axis, start := c.Ints[0], 0
	for _, x := range c.src[:i] {
		start += x.Shape[axis]
	}
	return graph.Slice(ct, axis, start, c.src[i].Shape[axis])
}

func transposeGather(c *call, ct *graph.Node, _ int) *graph.Node {
	if axis, idx := c.Ints[0], c.src[1]; idx.Op == ir.Sort && idx.Ints[0] == axis && idx.Shape[axis] == c.src[0].Shape[axis] {
		return graph.Gather(ct, graph.Sort(idx, axis, idx.Shape[axis]), axis) // all positions once: by the inverse order
	}
	return c.gatherTranspose(ct, c.src[0].Shape[c.Ints[0]])
}

// gatherTranspose adds x at the indices of a Gather or Scatter, along its axis.
func (c *call) gatherTranspose(x *graph.Node, length int) *graph.Node {
	axis, idx := c.Ints[0], c.src[1]
	n := graph.At(c.Site(), graph.GatherTranspose(x, idx, axis, length))
	switch {
	case c.CoOutputs() != nil: // c is such a sum
		n.SetCoOutputs(c.CoOutputs())
	case idx.Shape[axis] == 1: // compiled to comparisons, which check nothing
		n.SetCoOutputs(&graph.CoOutputs{Nodes: []*graph.Node{c.Node}})
	}
	return n
}

// gather takes the elements of x at the indices of a Scatter.
func (c *call) gather(x *graph.Node) *graph.Node {
	return graph.At(c.Site(), graph.Gather(x, c.src[1], c.Ints[0]))
}

// scatter combines upd with base at the indices of a Scatter.
func (c *call) scatter(kind ir.Op, base, upd *graph.Node) *graph.Node {
	return graph.At(c.Site(), graph.Scatter(kind, base, c.src[1], upd, c.Ints[0]))
}

// inverse returns the order that undoes a permutation.
func inverse(order []int) []int {
	inv := make([]int, len(order))
	for i, a := range order {
		inv[a] = i
	}
	return inv
}
