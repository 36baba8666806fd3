package simplify

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

var movements = map[ir.Op][]rule{
	ir.Alias:   {same},
	ir.Reshape: {reshapeReshape, sameShape},
	ir.Permute: {permutePermute},
	ir.Expand:  {expandExpand, sameShape},
	ir.Flip:    {flipFlip},
	ir.Crop:    {cropCrop},
}

func same(_ *builder, n *graph.Node) *graph.Node { return n.Src()[0] }

// sameShape drops a movement to the shape its operand has.
func sameShape(_ *builder, n *graph.Node) *graph.Node {
	if x := n.Src()[0]; slices.Equal(x.Shape, n.Shape) {
		return x
	}
	return nil
}

// moveUniform moves equal elements: only the shape changes.
func moveUniform(b *builder, n *graph.Node) *graph.Node {
	x := n.Src()[0]
	if !uniform(x) {
		return nil
	}
	fill := x.Op == ir.Const && (n.Op == ir.Pad && x.Num == n.Num || n.Op == ir.Unwindow && x.Num == 0)
	if (n.Op == ir.Pad || n.Op == ir.Unwindow) && !fill {
		return nil
	}
	return b.reshaped(x, n.Shape)
}

func reshapeReshape(b *builder, n *graph.Node) *graph.Node {
	if x := n.Src()[0]; x.Op == ir.Reshape {
		return b.add(graph.Reshape(x.Src()[0], n.Shape))
	}
	return nil
}

func permutePermute(b *builder, n *graph.Node) *graph.Node {
	x := n.Src()[0]
	if x.Op != ir.Permute {
		return nil
	}
	order := make([]int, len(n.Ints))
	for i, a := range n.Ints {
		order[i] = x.Ints[a]
	}
	return b.add(graph.Permute(x.Src()[0], order))
}

func expandExpand(b *builder, n *graph.Node) *graph.Node {
	if x := n.Src()[0]; x.Op == ir.Expand {
		return b.add(graph.Expand(x.Src()[0], n.Shape))
	}
	return nil
}

func flipFlip(b *builder, n *graph.Node) *graph.Node {
	x := n.Src()[0]
	if x.Op != ir.Flip {
		return nil
	}
	var axes []int
	for a := range n.Shape {
		if slices.Contains(n.Ints, a) != slices.Contains(x.Ints, a) {
			axes = append(axes, a)
		}
	}
	return b.add(graph.Flip(x.Src()[0], axes))
}

func cropCrop(b *builder, n *graph.Node) *graph.Node {
	x := n.Src()[0]
	if x.Op != ir.Crop {
		return nil
	}
	spans := make([]graph.Span, len(n.Shape))
	for i := range spans {
		start, step := x.Ints[2*i], x.Ints[2*i+1]
		spans[i] = graph.Span{Start: start + step*n.Ints[2*i], Step: step * n.Ints[2*i+1], Len: n.Shape[i]}
	}
	return b.add(graph.Crop(x.Src()[0], spans))
}
