package grad

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// total is the sum of a node's cotangents, in their order; nil for none. The
// gradient of a slice is a window with zeros around. Windows along one axis that do
// not overlap are joined, so that T slices cost as much as the whole and not T
// times as much.
func total(cts []*graph.Node) *graph.Node {
	var sum *graph.Node
	for _, ct := range joined(cts) {
		if sum == nil {
			sum = ct
		} else {
			sum = add(sum, ct)
		}
	}
	return sum
}

// A window is a range of an axis with zeros around.
type window struct {
	pad, part   *graph.Node
	axis        int
	start, stop int
}

// windowOf returns the window that n pads with zeros, and whether there is one.
func windowOf(n *graph.Node) (window, bool) {
	src, v := n.State() // once: another goroutine may compute n
	if n.Op != ir.Pad || n.Num != 0 || v != nil {
		return window{}, false
	}
	w := window{pad: n, part: src.At(0), axis: -1}
	for a := range n.Shape {
		before, after, interior := n.Ints[3*a], n.Ints[3*a+1], n.Ints[3*a+2]
		switch {
		case before == 0 && after == 0 && interior == 0:
		case w.axis >= 0 || interior != 0:
			return window{}, false
		default:
			w.axis, w.start, w.stop = a, before, n.Shape[a]-after
		}
	}
	return w, w.axis >= 0
}

// joined returns terms of the same sum, with windows that do not overlap as one.
func joined(cts []*graph.Node) []*graph.Node {
	if len(cts) < 2 {
		return cts
	}
	var out []*graph.Node
	windows := map[int][]window{} // by axis
	var axes []int
	for _, ct := range cts {
		w, ok := windowOf(ct)
		if !ok {
			out = append(out, ct)
			continue
		}
		if windows[w.axis] == nil {
			axes = append(axes, w.axis)
		}
		windows[w.axis] = append(windows[w.axis], w)
	}
	for _, axis := range axes {
		list := windows[axis]
		slices.SortStableFunc(list, func(a, b window) int { return cmp.Compare(a.start, b.start) })
		for len(list) > 0 { // those that overlap one before go to the next turn
			var rest, row []window
			end := 0
			for _, w := range list {
				if w.start < end {
					rest = append(rest, w)
					continue
				}
				row, end = append(row, w), w.stop
			}
			out = append(out, join(row, axis, cts[0].Shape))
			list = rest
		}
	}
	return out
}

// join returns windows along an axis, which are in order and do not overlap, with
// zeros between and around them.
func join(row []window, axis int, shape []int) *graph.Node {
	if len(row) == 1 {
		return row[0].pad
	}
	var parts []*graph.Node
	zeros := func(n int) {
		if n > 0 {
			s := slices.Clone(shape)
			s[axis] = n
			parts = append(parts, graph.Fill(row[0].pad.DType, 0, s))
		}
	}
	end := 0
	for _, w := range row {
		zeros(w.start - end)
		parts = append(parts, w.part)
		end = w.stop
	}
	zeros(shape[axis] - end)
	return graph.Cat(axis, parts)
}
