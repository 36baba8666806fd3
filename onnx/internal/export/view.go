package export

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
)

// A view is the elements of a node: a value under other axes. Axis a of the node is axis axes[a]
// of the value; the node does not vary along it if that is -1 or has length 1. All other axes of the value
// have length 1.
type view struct {
	v    *value
	axes []int
}

// whole is the view of a value with the axes that it has.
func whole(v *value) view { return view{v, shape.All(len(v.shape))} }

// varies reports whether the elements vary along an axis of the node.
func (x view) varies(a int) bool { return x.axes[a] >= 0 && x.v.shape[x.axes[a]] != 1 }

// layout lists the axes of the node in the order of the value, -1 for one of length 1 that the node lacks.
func (x view) layout() []int {
	out := slices.Repeat([]int{-1}, len(x.v.shape))
	for a, i := range x.axes {
		if i >= 0 {
			out[i] = a
		}
	}
	return out
}

// at returns the elements with the axes of the node in the order of a layout, which has all axes along
// which they vary. Other axes have length 1.
func (w *writer) at(x view, layout ...int) *value {
	v, want := x.v, make([]int, len(layout))
	var order []int // the axes of v that are in the layout
	moved := false
	for i, a := range layout {
		want[i] = 1
		if a >= 0 && x.axes[a] >= 0 {
			want[i] = v.shape[x.axes[a]]
			order = append(order, x.axes[a])
		}
	}
	last := -1
	for _, i := range order {
		if v.shape[i] != 1 {
			moved = moved || i < last
			last = max(last, i)
		}
	}
	if moved {
		for i := range v.shape {
			if !slices.Contains(order, i) {
				order = append(order, i)
			}
		}
		v = w.transpose(v, order)
	}
	return w.reshape(v, want)
}

// broadcastable is at without the first axes, as far as their length is 1 and the value lacks them.
func (w *writer) broadcastable(x view, layout []int) *value {
	for lead := len(layout); lead > 0; lead-- {
		short := layout[lead:]
		rest := slices.ContainsFunc(layout[:lead], func(a int) bool { return a >= 0 && x.varies(a) })
		if !rest && len(short) == len(x.v.shape) {
			return w.at(x, short...)
		}
	}
	return w.at(x, layout...)
}

// full returns all elements of a node, in its order.
func (w *writer) full(x view, dims []int) *value {
	return w.expand(w.at(x, shape.All(len(dims))...), dims)
}

// expand repeats a value until it has a shape of as many axes.
func (w *writer) expand(v *value, dims []int) *value {
	if slices.Equal(v.shape, dims) {
		return v
	}
	return w.call("Expand", v.elem, dims, []*value{v, w.ints(dims...)})
}

func (w *writer) reshape(v *value, dims []int) *value {
	if v.from != nil && v.from.op == "Reshape" && v.home == w {
		v = v.from.in[0]
	}
	if slices.Equal(v.shape, dims) {
		return v
	}
	return w.call("Reshape", v.elem, dims, []*value{v, w.ints(dims...)})
}

// transpose makes axis i of the result axis order[i] of v.
func (w *writer) transpose(v *value, order []int) *value {
	if slices.Equal(order, shape.All(len(order))) {
		return v
	}
	dims := make([]int, len(order))
	for i, a := range order {
		dims[i] = v.shape[a]
	}
	return w.call("Transpose", v.elem, dims, []*value{v}, intsAttr("perm", order))
}

// cast converts to another type as a conversion in C does.
func (w *writer) cast(v *value, to op.Elem) *value {
	if v.elem == to {
		return v
	}
	return w.call("Cast", to, v.shape, []*value{v}, intAttr("to", int(to)))
}

// slice takes elements from start to before end, step apart, of an axis.
func (w *writer) slice(v *value, axis, start, end, step int) *value {
	dims := shape.With(v.shape, axis, ir.CeilDiv(max(end-start, 0), step))
	if step == 1 && dims[axis] == v.shape[axis] {
		return v
	}
	return w.call("Slice", v.elem, dims, []*value{v, w.ints(start), w.ints(end), w.ints(axis), w.ints(step)})
}

// align returns operands with axes in one order, a layout, so that they broadcast.
func (w *writer) align(rank int, xs []view) (vs []*value, layout []int) {
	best := -1
	for _, x := range xs {
		n := 0
		for a := range rank {
			if x.varies(a) {
				n++
			}
		}
		if n > best {
			best, layout = n, x.layout()
		}
	}
	for a := range rank {
		if !slices.Contains(layout, a) && slices.ContainsFunc(xs, func(x view) bool { return x.varies(a) }) {
			layout = shape.All(rank)
			break
		}
	}
	for _, x := range xs {
		vs = append(vs, w.broadcastable(x, layout))
	}
	return vs, layout
}

// placed returns the view of a value whose axes are the last ones of a layout.
func placed(v *value, layout []int, rank int) view {
	axes := slices.Repeat([]int{-1}, rank)
	skipped := len(layout) - len(v.shape)
	for i, a := range layout[skipped:] {
		if a >= 0 {
			axes[a] = i
		}
	}
	return view{v, axes}
}
