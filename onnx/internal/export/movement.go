package export

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
)

// A table has the functions that write nodes, by operation.
type table [ir.Ops]func(*writer, *graph.Node) view

// writers has the operations that are not elementwise, refused the reason why others are lacking.
var (
	writers = table{
		ir.Const:     constant,
		ir.Scalar:    constant,
		ir.Iota:      iota_,
		ir.Sum:       sum,
		ir.ReduceMax: reduceMax,
		ir.Prod:      prod,
		ir.ArgMax:    argMax,
		ir.Reshape:   reshape,
		ir.Permute:   permute,
		ir.Expand:    func(w *writer, n *graph.Node) view { return w.done[n.Operand(0)] },
		ir.Copy:      func(w *writer, n *graph.Node) view { return w.done[n.Operand(0)] },
		ir.Pad:       pad,
		ir.Crop:      crop,
		ir.Flip:      flip,
		ir.Window:    window,
		ir.Unwindow:  unwindow,
		ir.Cat:       cat,
		ir.Gather:    gather,
		ir.Scatter:   scatter,
		ir.Scan:      scan,
		ir.Sort:      sort,
		ir.Pick:      func(w *writer, n *graph.Node) view { return whole(w.picks[n.Operand(0)][n.Ints[0]]) },
	}
	refused = [ir.Ops]string{
		ir.Threefry: "random bits by a key that is an input: make them before the call and pass them",
		ir.HostCall: "a function on the host, or a kernel in the language of a device, is no part of a model",
	}
)

func constant(w *writer, n *graph.Node) view {
	e := elemOf(n.DType)
	num := n.Num.Convert(n.DType, e.DType())
	return view{w.constant(e, nil, num.Append(nil, e.DType())), slices.Repeat([]int{-1}, len(n.Shape))}
}

func iota_(w *writer, n *graph.Node) view {
	axis := n.Ints[0]
	r := w.call("Range", op.Int32, []int{n.Shape[axis]}, []*value{w.integer(op.Int32, 0), w.integer(op.Int32, int64(n.Shape[axis])), w.integer(op.Int32, 1)})
	return placed(r, []int{axis}, len(n.Shape))
}

// reshape moves only axes of length 1, if it can.
func reshape(w *writer, n *graph.Node) view {
	x, from := w.done[n.Operand(0)], n.Operand(0).Shape
	axes, a := slices.Repeat([]int{-1}, len(n.Shape)), 0
	for i, d := range n.Shape {
		for a < len(from) && from[a] == 1 && d != 1 {
			a++
		}
		switch {
		case a < len(from) && from[a] == d:
			axes[i] = x.axes[a]
			a++
		case d != 1:
			return whole(w.reshape(w.full(x, from), n.Shape))
		}
	}
	return view{x.v, axes}
}

func permute(w *writer, n *graph.Node) view {
	x, axes := w.done[n.Operand(0)], make([]int, len(n.Ints))
	for i, a := range n.Ints {
		axes[i] = w.done[n.Operand(0)].axes[a]
	}
	return view{x.v, axes}
}

// pad repeats nothing along axes that get no elements.
func pad(w *writer, n *graph.Node) view {
	from := n.Operand(0).Shape
	dims := slices.Clone(from)
	x := w.done[n.Operand(0)]
	for a := range dims {
		if slices.Equal(n.Ints[3*a:][:3], []int{0, 0, 0}) && !x.varies(a) {
			dims[a] = 1
		}
	}
	e := elemOf(n.DType)
	fill := w.constant(e, nil, n.Num.Convert(n.DType, e.DType()).Append(nil, e.DType()))
	if n.Operand(0).Len() == 0 {
		return whole(w.expand(w.reshape(fill, slices.Repeat([]int{1}, len(n.Shape))), n.Shape))
	}
	v := w.full(x, dims)
	before, after := make([]int, len(dims)), make([]int, len(dims))
	for a := range dims {
		before[a], after[a] = n.Ints[3*a], n.Ints[3*a+1]
		v = w.dilate(v, a, n.Ints[3*a+2], fill)
	}
	return whole(w.pad(v, before, after, fill))
}

// pad adds elements before and after those along each axis.
func (w *writer) pad(v *value, before, after []int, fill *value) *value {
	dims := slices.Clone(v.shape)
	for a := range dims {
		dims[a] += before[a] + after[a]
	}
	if slices.Equal(dims, v.shape) {
		return v
	}
	return w.call("Pad", v.elem, dims, []*value{v, w.ints(slices.Concat(before, after)...), fill})
}

// dilate puts elements between each two along an axis.
func (w *writer) dilate(v *value, axis, interior int, fill *value) *value {
	if interior == 0 || v.shape[axis] < 2 {
		return v
	}
	split := slices.Insert(slices.Clone(v.shape), axis+1, 1)
	after := make([]int, len(split))
	after[axis+1] = interior
	long := shape.With(v.shape, axis, v.shape[axis]*(interior+1))
	y := w.reshape(w.pad(w.reshape(v, split), make([]int, len(split)), after, fill), long)
	return w.slice(y, axis, 0, long[axis]-interior, 1)
}

func crop(w *writer, n *graph.Node) view {
	x := w.done[n.Operand(0)]
	for a, d := range n.Shape {
		if start, step := n.Ints[2*a], n.Ints[2*a+1]; x.varies(a) && (d != n.Operand(0).Shape[a]) {
			x.v = w.slice(x.v, x.axes[a], start, start+(d-1)*step+1, step)
		}
	}
	return x
}

func flip(w *writer, n *graph.Node) view {
	x := w.done[n.Operand(0)]
	for _, a := range n.Ints {
		if x.varies(a) {
			const first = -1 << 31
			x.v = w.call("Slice", x.v.elem, x.v.shape, []*value{x.v, w.ints(-1), w.ints(first), w.ints(x.axes[a]), w.ints(-1)})
		}
	}
	return x
}

func cat(w *writer, n *graph.Node) view {
	var vs []*value
	for _, s := range n.Src().All() {
		if s.Len() > 0 {
			vs = append(vs, w.full(w.done[s], s.Shape))
		}
	}
	return whole(w.concat(vs, n.Ints[0]))
}

func (w *writer) concat(vs []*value, axis int) *value {
	if len(vs) == 1 {
		return vs[0]
	}
	dims := shape.With(vs[0].shape, axis, 0)
	for _, v := range vs {
		dims[axis] += v.shape[axis]
	}
	return w.call("Concat", vs[0].elem, dims, vs, intAttr("axis", axis))
}

// window takes the windows along an axis by a matrix of positions if all elements of a window are at hand,
// else by a slice for each.
func window(w *writer, n *graph.Node) view {
	x := w.done[n.Operand(0)]
	i, k, s, d := n.Ints[0], n.Ints[1], n.Ints[2], n.Ints[3]
	count, size := n.Shape[i], n.Shape[k]
	switch {
	case !x.varies(i):
		return x
	case x.varies(k):
		return whole(w.byPlace(n, func(v *value, j int) *value { return w.slice(v, i, j*d, j*d+(count-1)*s+1, s) }))
	}
	at := x.axes[i]
	var positions []byte
	for p := range count {
		for q := range size {
			positions = ir.Int(ir.Int64, int64(p*s+q*d)).Append(positions, ir.Int64)
		}
	}
	dims := slices.Insert(shape.With(x.v.shape, at, count), at+1, size)
	index := w.constant(op.Int64, []int{count, size}, positions)
	axes := slices.Clone(x.axes)
	for a, b := range axes {
		if b > at {
			axes[a]++
		}
	}
	axes[k] = at + 1
	return view{w.call("Gather", x.v.elem, dims, []*value{x.v, index}, intAttr("axis", at)), axes}
}

// byPlace joins the results of f for each element of a window, the slices of the operand along axis
// Ints[1].
func (w *writer) byPlace(n *graph.Node, f func(v *value, j int) *value) *value {
	k := n.Ints[1]
	x := w.full(w.done[n.Operand(0)], n.Operand(0).Shape)
	var vs []*value
	for j := range n.Shape[k] {
		vs = append(vs, f(w.slice(x, k, j, j+1, 1), j))
	}
	return w.concat(vs, k)
}

func unwindow(w *writer, n *graph.Node) view {
	i, s, d := n.Ints[0], n.Ints[2], n.Ints[3]
	zero := w.number(elemOf(n.DType), 0)
	return whole(w.byPlace(n, func(v *value, j int) *value {
		v = w.dilate(v, i, s-1, zero)
		before, after := make([]int, len(n.Shape)), make([]int, len(n.Shape))
		before[i] = min(j*d, n.Shape[i])
		if room := n.Shape[i] - before[i]; v.shape[i] > room {
			v = w.slice(v, i, 0, room, 1)
		}
		after[i] = n.Shape[i] - before[i] - v.shape[i]
		return w.pad(v, before, after, zero)
	}))
}
