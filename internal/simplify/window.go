package simplify

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// windows has the rules for sums over the elements of windows, which are the derivatives of
// convolutions and pools.
var windows = map[ir.Op][]rule{
	ir.Sum:  {splitStride},
	ir.Crop: {cropWindows},
}

// unwindows returns the Unwindows that n, a Sum, adds up, outermost first, and their innermost
// operand. They commute: no two of them have an axis in common.
func unwindows(n *graph.Node) (chain []*graph.Node, x *graph.Node) {
	var seen ir.AxisSet
	for x = n.Operand(0); x.Op == ir.Unwindow; x = x.Operand(0) {
		i, k := x.Ints[0], x.Ints[1]
		if seen.Has(i) || seen.Has(k) || slices.Contains(n.Ints, i) {
			break
		}
		seen |= ir.Axes(i, k)
		chain = append(chain, x)
	}
	return chain, x
}

// splitStride writes a sum of windows s apart as one of windows 1 apart. Element q·s+r of
// window i is at position (i+q)·s+r, so only elements with the same r meet: where windows do
// not overlap, none do, and nothing is left to add. With s = 1 no position is divided and no
// term is 0 for its remainder. A sum for which the window has an element more or less along q,
// as r is less or greater than the remainder of the window's length, is split in two.
func splitStride(b *builder, n *graph.Node) *graph.Node {
	chain, x := unwindows(n)
	at := slices.IndexFunc(chain, func(u *graph.Node) bool {
		return u.Ints[2] > 1 && u.Ints[3] == 1 && slices.Contains(n.Ints, u.Ints[1])
	})
	if at < 0 || chain[at].Ints[2] >= n.Shape[chain[at].Ints[0]] { // at most one window, or far apart
		return nil
	}
	i, k, s := chain[at].Ints[0], chain[at].Ints[1], chain[at].Ints[2]
	length := n.Shape[i]
	count := ir.CeilDiv(length, s)
	q, rest := x.Shape[k]/s, x.Shape[k]%s
	var parts []*graph.Node
	for _, p := range []phase{{0, rest, q + 1}, {rest, s, q}} {
		if p.first < p.last {
			parts = append(parts, p.sum(b, n, chain, at, x, count))
		}
	}
	y := parts[0]
	if len(parts) > 1 {
		y = b.add(graph.Cat(i+1, parts))
	}
	shape := slices.Clone(n.Shape)
	shape[i] = count * s
	return b.resize(b.add(graph.Reshape(y, shape)), i, length)
}

// A phase is the elements q·s+r of windows, for q in [0, count) and r in [first, last).
type phase struct{ first, last, count int }

// sum is the part of n, the sum of a chain of Unwindows of x, for a phase of Unwindow at. Axis
// i of n becomes two: count windows, and r.
func (p phase) sum(b *builder, n *graph.Node, chain []*graph.Node, at int, x *graph.Node, count int) *graph.Node {
	i, k, s := chain[at].Ints[0], chain[at].Ints[1], chain[at].Ints[2]
	shape := slices.Insert(slices.Clone(n.Shape), i+1, p.last-p.first)
	shape[i] = count
	if p.count == 0 {
		return b.add(graph.Const(n.DType, 0, shape))
	}
	x = b.resize(x, k, p.count*s)
	x = b.add(graph.Reshape(x, slices.Replace(slices.Clone(x.Shape), k, k+1, p.count, s)))
	x = b.add(graph.Slice(x, k+1, p.first, p.last-p.first))
	var order []int // axis k+1 comes after axis i
	for a := range n.Shape {
		from := a
		if a > k {
			from++
		}
		order = append(order, from)
		if a == i {
			order = append(order, k+1)
		}
	}
	x = b.add(graph.Permute(x, order))
	moved := func(a int) int {
		if a > i {
			return a + 1
		}
		return a
	}
	for j, u := range slices.Backward(chain) {
		switch {
		case j != at:
			x = b.add(graph.Unwindow(x, moved(u.Ints[0]), moved(u.Ints[1]), u.Ints[2], u.Ints[3], u.Shape[u.Ints[0]]))
		case p.count == 1:
			x = b.resize(x, i, count)
		default:
			x = b.add(graph.Unwindow(x, i, moved(k), 1, 1, count))
		}
	}
	axes := make([]int, len(n.Ints))
	for j, a := range n.Ints {
		axes[j] = moved(a)
	}
	return b.add(graph.Reduce(ir.Sum, x, axes))
}

// resize is x with axis a cut, or filled with 0, to a length.
func (b *builder) resize(x *graph.Node, a, length int) *graph.Node {
	if length <= x.Shape[a] {
		return b.add(graph.Slice(x, a, 0, length))
	}
	p := make([]graph.Padding, len(x.Shape))
	p[a].After = length - x.Shape[a]
	return b.add(graph.Pad(x, 0, p))
}

// cropWindows moves a Crop into a sum of Unwindows, along whose axes it cuts, as the derivative
// of windows of a padded tensor does: sums for the padding are not computed. It leaves other
// sums whole, because several parts of them may be used.
func cropWindows(b *builder, n *graph.Node) *graph.Node {
	x := n.Operand(0)
	spans := make([]graph.Span, len(n.Shape))
	for a, l := range n.Shape {
		spans[a] = graph.Span{Start: n.Ints[2*a], Step: n.Ints[2*a+1], Len: l}
	}
	first, ok := spansBelow(x, spans)
	for s := first; ; x = x.Operand(0) {
		if !ok {
			return nil
		}
		if x.Op == ir.Sum {
			break
		}
		s, ok = spansBelow(x.Operand(0), s)
	}
	x = n.Operand(0)
	return b.add(graph.WithShape(x, n.Shape, b.add(graph.Crop(x.Operand(0), first))))
}

// spansBelow returns the spans of x's operand that give the spans of x, if x only moves axes or
// is a sum of Unwindows along the axes that are cut.
func spansBelow(x *graph.Node, spans []graph.Span) (below []graph.Span, ok bool) {
	var to func(a int) int
	switch x.Op {
	case ir.Permute:
		to = func(a int) int { return x.Ints[a] }
	case ir.Reshape:
		to = func(a int) int { return sameAxis(x, a) }
	case ir.Sum:
		chain, _ := unwindows(x)
		to = func(a int) int {
			if !slices.ContainsFunc(chain, func(u *graph.Node) bool { return u.Ints[0] == a }) {
				return -1
			}
			return a
		}
	default:
		return nil, false
	}
	below = graph.FullSpans(x.Operand(0).Shape)
	for a, s := range spans {
		if s.Len == x.Shape[a] {
			continue
		}
		k := to(a)
		if k < 0 {
			return nil, false
		}
		below[k] = s
	}
	return below, true
}

// sameAxis returns the axis of the operand of x, a Reshape, that is axis a of x, or -1.
func sameAxis(x *graph.Node, a int) int {
	from, before := x.Operand(0).Shape, graph.Len(x.Shape[:a])
	for k, n := range from {
		if n == x.Shape[a] && graph.Len(from[:k]) == before {
			return k
		}
	}
	return -1
}
