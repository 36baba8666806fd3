// Package masks finds the values of a graph of which masks hide elements, such as the scores of attention above the
// diagonal or beyond the length of a sequence: they are -Inf, and weights made of them 0.
package masks

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A Hidden says which elements of a node a mask hides.
type Hidden struct {
	Value float64 // of such an element: 0 or -Inf
	// By has the same elements hidden: an operand, or a node of which the elements have the same order. It is nil if
	// the node is a Where that hides them.
	By *graph.Node
}

// mostRows is the most rows of a mask up to a length: kernels of more rows skip little by it.
const mostRows = 16

type finder struct {
	hidden map[*graph.Node]Hidden
	simple map[*graph.Node]bool // nodes made of positions, constants and numbers
	limits ir.LoopLimits
	kernel func(where *graph.Node) *ir.Kernel
}

// Find returns the nodes of a graph, listed operands first, of which a device skips hidden elements. Kernel makes a kernel
// that stores the condition of a Where; it returns nil if that is expensive.
func Find(list []*graph.Node, isRoot func(*graph.Node) bool, limits ir.LoopLimits, kernel func(where *graph.Node) *ir.Kernel) map[*graph.Node]Hidden {
	f := &finder{map[*graph.Node]Hidden{}, map[*graph.Node]bool{}, limits, kernel}
	if !limits.Lengths && !limits.Skips {
		return nil
	}
	for _, n := range list {
		switch n.Op.Class() {
		case ir.Source:
			f.simple[n] = n.Op != ir.Buffer || n.Len() == 1
		case ir.Elementwise, ir.Movement:
			simple := true
			for _, s := range n.Src().All() {
				simple = simple && f.simple[s]
			}
			if simple {
				f.simple[n] = true
			}
		}
		if n.DType.IsFloat() {
			if h, ok := f.of(n); ok {
				f.hidden[n] = h
			}
		}
	}
	if limits.Skips && len(f.hidden) > 0 {
		f.findUnneeded(list, isRoot)
	}
	return f.hidden
}

// of returns the hidden elements of n, whose operands have theirs. It is exact for finite values, and for the softmax of a
// row of which the mask leaves something.
func (f *finder) of(n *graph.Node) (Hidden, bool) {
	from := func(x *graph.Node, value float64) (Hidden, bool) {
		h, ok := f.hidden[x]
		return Hidden{value, x}, ok && h.Value == value
	}
	switch n.Op {
	case ir.Reshape, ir.Permute, ir.Expand, ir.Cast:
		h, ok := f.hidden[n.Operand(0)]
		return Hidden{h.Value, n.Operand(0)}, ok
	case ir.Exp:
		if x := n.Operand(0); x.Op == ir.Sub && f.isSoftmax(x) {
			h, ok := from(x.Operand(0), math.Inf(-1))
			return Hidden{0, h.By}, ok
		}
	case ir.Mul:
		for i, x := range n.Src().All() {
			if h, ok := from(x, 0); ok && (i == 0 && n.Kind == ir.Where || isNumber(n.Operand(1-i))) {
				return h, true
			}
		}
	case ir.Neg:
		return from(n.Operand(0), 0)
	case ir.Div:
		h, ok := from(n.Operand(0), 0)
		return h, ok && n.Operand(0).Op == ir.Exp
	case ir.Where:
		k := base(n.Operand(2))
		switch value := k.Num.Float64(k.DType); {
		case k.Op != ir.Const || value != 0 && !math.IsInf(value, -1):
		case f.simple[n.Operand(0)] && f.hides(n):
			return Hidden{Value: value}, true
		default:
			return from(n.Operand(1), value)
		}
	}
	return Hidden{}, false
}

// base returns the node that n is a movement of, with no other elements.
func base(n *graph.Node) *graph.Node {
	for n.Op.Class() == ir.Movement && n.Op != ir.Cat && n.Op != ir.Pad {
		n = n.Operand(0)
	}
	return n
}

// isNumber reports whether all elements of n are one number.
func isNumber(n *graph.Node) bool {
	b := base(n)
	return b.Len() == 1 || b.Op == ir.Const || b.Op == ir.Scalar
}

// isSoftmax reports whether x - y, where a mask hides elements of x, has one y for all columns of the mask.
func (f *finder) isSoftmax(n *graph.Node) bool {
	x, y := n.Operand(0), n.Operand(1)
	last := len(n.Shape) - 1
	if last < 0 || y.Op != ir.Expand || y.Operand(0).Shape[last] != 1 {
		return false
	}
	for f.hidden[x].By != nil && x.Op != ir.Permute {
		x = f.hidden[x].By
	}
	return x.Op == ir.Where && x.Shape[len(x.Shape)-1] == n.Shape[last]
}

// hides reports whether the device skips elements that a Where hides: beyond a length that is a number, or beside a band
// of columns that leaves each row at least one.
func (f *finder) hides(n *graph.Node) bool {
	k := f.kernel(n)
	if k == nil {
		return false
	}
	number := false
	for i := range k.Body {
		in := &k.Body[i]
		if in.View != nil && len(in.View.Guards) > 0 {
			return false
		}
		number = number || in.Op == ir.Load || in.Op == ir.Scalar
	}
	stored := k.Body[len(k.Body)-1].Src[0]
	if number {
		points, columns := 1, 1
		for _, a := range k.Body[stored].Domain.List() {
			points, columns = points*k.Axes[a].Len, max(columns, k.Axes[a].Len)
		}
		return f.limits.Lengths && points <= mostRows*columns
	}
	return f.limits.Skips && isBounds(k, stored, true) && isBand(k, loopnest.Holds(k, stored))
}

// isBounds reports whether a condition is true, or false, at all positions within the bounds of where it may be.
func isBounds(k *ir.Kernel, i int, want bool) bool {
	in := &k.Body[i]
	switch in.Op {
	case ir.Not:
		return isBounds(k, in.Src[0], !want)
	case ir.And, ir.Or:
		return want == (in.Op == ir.And) && isBounds(k, in.Src[0], want) && isBounds(k, in.Src[1], want)
	}
	return len(loopnest.Holds(k, i)) > 0
}

// isBand reports whether bounds leave one band along the last axis of a kernel, of at least one position at each row.
func isBand(k *ir.Kernel, bounds loopnest.Bounds) bool {
	row, column := -1, len(k.Axes)-1
	before, after := math.MaxInt32, math.MaxInt32 // the columns from row - before to row + after are within
	for _, b := range bounds {
		slope := b.Slope(k, column)
		at := 0
		for at < column && b.Slope(k, at) != -slope {
			at++
		}
		if len(b.Terms) != 2 || slope*slope != 1 || at == column || row >= 0 && row != at {
			return false
		}
		if row = at; slope < 0 {
			after = min(after, b.Off)
		} else {
			before = min(before, b.Off)
		}
	}
	return row >= 0 && after >= 0 && k.Axes[row].Len-1-before < k.Axes[column].Len && -before <= after
}

// findUnneeded finds nodes of which no result needs elements that a mask hides in another node, as the gradient of weights,
// which is multiplied by the weights.
func (f *finder) findUnneeded(list []*graph.Node, isRoot func(*graph.Node) bool) {
	unneeded := map[*graph.Node]*graph.Node{} // a node whose mask hides all that does not count, nil for none
	for _, n := range slices.Backward(list) {
		_, known := f.hidden[n]
		by := unneeded[n]
		if isRoot(n) {
			by = nil
		}
		if n.Op.Class() == ir.Movement && n.Op != ir.Reshape {
			by = nil // its operand may be that node, of which it has elements in another order
		}
		if by != nil && !known && n.DType.IsFloat() && n.Src().Len() > 0 {
			f.hidden[n] = Hidden{0, by}
		}
		for j, s := range n.Src().All() {
			var without *graph.Node
			weight, weighs := f.hidden[n.Operand(0)]
			switch {
			case n.Op == ir.Mul && n.Kind == ir.Where && j == 1 && weighs && weight.Value == 0:
				without = n.Operand(0)
			case n.Op == ir.Where && j == 1 && known:
				without = n
			case n.Op == ir.Reshape, n.Op.Class() == ir.Elementwise:
				without = by
			}
			if was, used := unneeded[s]; used && was != without {
				without = nil
			}
			unneeded[s] = without
		}
	}
}
