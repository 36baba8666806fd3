package grad

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// total is the sum of a node's cotangents, in their order; nil for none. The
// gradient of a slice is a window with zeros around. Windows that do not overlap
// are joined, so that T slices cost as much as the whole and not T times as much.
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

// joined returns terms of the same sum, with windows that do not overlap as one.
func joined(cts []*graph.Node) []*graph.Node {
	if len(cts) < 2 {
		return cts
	}
	var out []*graph.Node
	var groups [][]window // of equal steps
	for _, ct := range cts {
		w, ok := windowOf(ct)
		if !ok {
			out = append(out, ct)
			continue
		}
		i := slices.IndexFunc(groups, func(g []window) bool { return slices.Equal(g[0].step, w.step) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], w)
	}
	for _, g := range groups {
		out = append(out, join(g)...)
	}
	return out
}

// A window is a part of a tensor with zeros around: element i of the part is
// element start + step·i of the tensor.
type window struct {
	pad         *graph.Node // the tensor; nil if it has several windows
	part        *graph.Node
	start, step []int
}

// windowOf returns the window that n pads with zeros, and whether there is one.
func windowOf(n *graph.Node) (window, bool) {
	src, v := n.State() // once: another goroutine may compute n
	if n.Op != ir.Pad || n.Num != 0 || v != nil {
		return window{}, false
	}
	w := window{pad: n, part: src.At(0)}
	for a := range n.Shape {
		w.start = append(w.start, n.Ints[3*a])
		w.step = append(w.step, n.Ints[3*a+2]+1)
	}
	return w, w.part.Len() > 0
}

// join returns the sum of windows of equal steps as few tensors. It joins them along
// one axis after the other. The axes that the windows cover most are the first, as
// fewest zeros are added there.
func join(list []window) []*graph.Node {
	whole, step := list[0].pad.Shape, list[0].step
	if len(list) == 1 {
		return []*graph.Node{list[0].pad}
	}
	dims := splitSteps(whole, step)
	covered := make([]float64, len(dims))
	for i, w := range list {
		list[i] = w.splitSteps()
		for a, n := range list[i].part.Shape {
			covered[a] += float64(n) / float64(dims[a])
		}
	}
	axes := shape.All(len(dims))
	slices.Reverse(axes) // of equal ones the last is first: later parts are then contiguous
	slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(covered[b], covered[a]) })
	for _, a := range axes {
		list = joinAlong(list, a, dims)
	}
	var out []*graph.Node
	for _, w := range list {
		if w.pad == nil {
			w.pad = mergeSteps(w.part, whole, step)
		}
		out = append(out, w.pad)
	}
	return out
}

// splitSteps returns a shape with each axis of steps k > 1 as two: the number of steps,
// rounded up, and k. A window is without steps there.
func splitSteps(whole, step []int) []int {
	var dims []int
	for a, n := range whole {
		if k := step[a]; k > 1 {
			dims = append(dims, (n-1)/k+1, k)
		} else {
			dims = append(dims, n)
		}
	}
	return dims
}

// splitSteps returns w in the shape that the function splitSteps returns.
func (w window) splitSteps() window {
	var dims, start []int
	for a, n := range w.part.Shape {
		if k := w.step[a]; k > 1 {
			dims, start = append(dims, n, 1), append(start, w.start[a]/k, w.start[a]%k)
		} else {
			dims, start = append(dims, n), append(start, w.start[a])
		}
	}
	return window{pad: w.pad, part: graph.Reshape(w.part, dims), start: start}
}

// mergeSteps undoes splitSteps.
func mergeSteps(x *graph.Node, whole, step []int) *graph.Node {
	dims, spans := slices.Clone(whole), make([]graph.Span, len(whole))
	for a, n := range whole {
		dims[a] = ((n-1)/step[a] + 1) * step[a]
		spans[a] = graph.Span{Step: 1, Len: n}
	}
	return graph.Crop(graph.Reshape(x, dims), spans)
}

// joinAlong joins windows of equal ranges along the other axes. The results are as long
// as the axis.
func joinAlong(list []window, axis int, dims []int) []window {
	rows := map[string][]window{} // by ranges along the other axes
	var keys []string
	for _, w := range list {
		var key []byte
		for a, n := range w.part.Shape {
			if a != axis {
				key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(w.start[a])), uint64(n))
			}
		}
		k := string(key)
		if rows[k] == nil {
			keys = append(keys, k)
		}
		rows[k] = append(rows[k], w)
	}
	var out []window
	for _, k := range keys {
		row := rows[k]
		sorts.Stable(row, func(a, b window) int { return cmp.Compare(a.start[axis], b.start[axis]) })
		for len(row) > 0 { // those that overlap one before go to the next turn
			var rest, apart []window
			end := 0
			for _, w := range row {
				if w.start[axis] < end {
					rest = append(rest, w)
					continue
				}
				apart, end = append(apart, w), w.start[axis]+w.part.Shape[axis]
			}
			out = append(out, cat(apart, axis, dims[axis]))
			row = rest
		}
	}
	return out
}

// cat returns windows along an axis of length n, which are in order and do not overlap,
// with zeros between and around them.
func cat(row []window, axis, n int) window {
	w := row[0]
	var parts []*graph.Node
	zeros := func(n int) {
		if n > 0 {
			s := slices.Clone(w.part.Shape)
			s[axis] = n
			parts = append(parts, graph.Fill(w.part.DType, 0, s))
		}
	}
	end := 0
	for _, x := range row {
		zeros(x.start[axis] - end)
		parts = append(parts, x.part)
		end = x.start[axis] + x.part.Shape[axis]
	}
	zeros(n - end)
	if len(row) == 1 {
		p := make([]graph.Padding, len(w.start))
		p[axis] = graph.Padding{Before: w.start[axis], After: n - end}
		w.part = graph.Pad(w.part, 0, p)
	} else {
		w.pad, w.part = nil, graph.Cat(axis, parts)
	}
	w.start = slices.Clone(w.start)
	w.start[axis] = 0
	return w
}
