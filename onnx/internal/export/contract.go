package export

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// reduce reduces the axes along which x varies to length 1.
func (w *writer) reduce(name string, x view, axes []int) view {
	var over []int
	dims := slices.Clone(x.v.shape)
	for _, a := range axes {
		if x.varies(a) {
			over = append(over, x.axes[a])
			dims[x.axes[a]] = 1
		}
	}
	if over == nil {
		return x
	}
	slices.Sort(over)
	return view{w.call(name, x.v.elem, dims, []*value{x.v, w.ints(over...)}), x.axes}
}

// repeated is the number of elements of a node of a shape along axes on which x does not vary.
func repeated(x view, axes, dims []int) int {
	n := 1
	for _, a := range axes {
		if !x.varies(a) {
			n *= dims[a]
		}
	}
	return n
}

// times is x·k.
func (w *writer) times(x view, k int) view {
	if k != 1 {
		x.v = w.op("Mul", x.v, w.number(x.v.elem, float64(k)))
	}
	return x
}

// empty returns the result of a reduction of no elements. ok is false for others.
func (w *writer) empty(n *graph.Node) (x view, ok bool) {
	if n.Operand(0).Len() > 0 {
		return x, false
	}
	return constant(w, graph.Const(n.DType, ir.Identity(n.Op, n.DType), n.Shape)), true
}

func sum(w *writer, n *graph.Node) view {
	x, ok := w.empty(n)
	if !ok {
		x, ok = w.product(n)
	}
	if !ok {
		x, ok = w.averagePool(n)
	}
	if !ok {
		x = w.done[n.Operand(0)]
		x.v = w.cast(x.v, elemOf(n.DType)) // of bools
		x = w.times(w.reduce("ReduceSum", x, n.Ints), repeated(x, n.Ints, n.Operand(0).Shape))
	}
	x.v = w.wrap(x.v, n.DType)
	return x
}

func reduceMax(w *writer, n *graph.Node) view {
	if x, ok := w.empty(n); ok {
		return x
	}
	if x, ok := w.maxPool(n); ok {
		return x
	}
	x := w.done[n.Operand(0)]
	switch n.DType {
	case ir.Uint64:
		refuse(n, "onnxruntime does not compare uint64")
	case ir.Uint32: // in the range of int32, because onnxruntime takes casts for no-ops here
		half := w.integer(op.Int64, 1<<31)
		x.v = w.op("Sub", x.v, half)
		x = w.reduce("ReduceMax", x, n.Ints)
		x.v = w.op("Add", x.v, half)
		return x
	case ir.Bool:
		x.v = w.cast(x.v, op.Int32)
		x = w.reduce("ReduceMax", x, n.Ints)
		x.v = w.cast(x.v, op.Bool)
		return x
	}
	return w.reduce("ReduceMax", x, n.Ints)
}

func prod(w *writer, n *graph.Node) view {
	if x, ok := w.empty(n); ok {
		return x
	}
	x := whole(w.full(w.done[n.Operand(0)], n.Operand(0).Shape))
	x = w.reduce("ReduceProd", x, n.Ints)
	x.v = w.wrap(x.v, n.DType)
	return x
}

func argMax(w *writer, n *graph.Node) view {
	x, a := w.done[n.Operand(0)], n.Ints[0]
	switch {
	case !x.varies(a):
		return constant(w, graph.Const(ir.Int32, 0, n.Shape))
	case n.Operand(0).DType == ir.Uint64:
		refuse(n, "onnxruntime does not compare uint64")
	case x.v.elem == op.Bool:
		x.v = w.cast(x.v, op.Int32)
	}
	v := w.call("ArgMax", op.Int64, shape.With(x.v.shape, x.axes[a], 1), []*value{x.v}, intAttr("axis", x.axes[a]))
	return view{w.cast(v, op.Int32), x.axes}
}

// product writes a sum of a product as Conv or MatMul. ok is false if it is neither.
func (w *writer) product(n *graph.Node) (view, bool) {
	m := alias(n.Operand(0))
	if m.Op != ir.Mul || m.Src().Len() < 2 || w.done[m.Operand(0)].v == nil || w.done[m.Operand(1)].v == nil {
		return view{}, false
	}
	for i := range 2 {
		if x, ok := w.conv(n, m, m.Operand(i), m.Operand(1-i)); ok {
			return x, ok
		}
	}
	return w.matMul(n, m, w.done[m.Operand(0)], w.done[m.Operand(1)])
}

// alias returns the node that n is another name of. An argument may stand for many values, one for each step of a Scan.
func alias(n *graph.Node) *graph.Node {
	for n.Op.Class() == ir.Alias && n.Op != ir.Argument && n.Value() == nil && n.Src().Len() > 0 {
		n = n.Operand(0)
	}
	return n
}

// A split is the axes of a sum of products of two factors, by the factors that vary along them.
type split struct {
	batch, left, right, summed []int // both, the first, the second; both, and they are summed
	leftOnly, rightOnly        []int // one, and they are summed
	count                      int   // of elements along summed axes on which none varies
}

func splitAxes(n *graph.Node, dims []int, a, b view) split {
	s := split{count: 1}
	for i := range dims {
		over := slices.Contains(n.Ints, i)
		list := [...]*[]int{&s.batch, &s.left, &s.right, &s.summed, &s.leftOnly, &s.rightOnly}
		at := -1
		switch x, y := a.varies(i), b.varies(i); {
		case x && y:
			at = 0
		case x:
			at = 1
		case y:
			at = 2
		case over:
			s.count *= dims[i]
			continue
		default:
			continue
		}
		if over {
			at += 3
		}
		*list[at] = append(*list[at], i)
	}
	return s
}

// lengths returns the lengths of axes.
func lengths(dims, axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = dims[a]
	}
	return out
}

// matMul writes a sum of products. ok is false for one such as a sum of squares, of which the factors vary
// along the same axes.
func (w *writer) matMul(n, m *graph.Node, a, b view) (z view, ok bool) {
	s := splitAxes(n, m.Shape, a, b)
	if len(s.summed) == 0 || len(s.left)+len(s.right) == 0 || a.v.elem != elemOf(n.DType) {
		return view{}, false
	}
	a, b = w.reduce("ReduceSum", a, s.leftOnly), w.reduce("ReduceSum", b, s.rightOnly)
	dims := func(axes []int) []int { return lengths(m.Shape, axes) }
	k := graph.Len(dims(s.summed))
	batch, left, right := dims(s.batch), dims(s.left), dims(s.right)
	x, y := w.at(a, slices.Concat(s.batch, s.left, s.summed)...), w.at(b, slices.Concat(s.batch, s.summed, s.right)...)
	if len(batch) > 0 || len(left) == 0 {
		left = []int{graph.Len(left)}
	}
	right = []int{graph.Len(right)} // no vector: onnxruntime multiplies a transposed matrix by one wrongly
	x, y = w.reshape(x, slices.Concat(batch, left, []int{k})), w.reshape(y, slices.Concat(batch, []int{k}, right))
	v := w.call("MatMul", x.elem, slices.Concat(batch, left, right), []*value{x, y})
	layout := slices.Concat(s.batch, s.left, s.right)
	return w.times(placed(w.reshape(v, dims(layout)), layout, len(n.Shape)), s.count), true
}

// A slide is the windows along an axis of a node: y[..i..k..] = x[..i·stride+k·dilation..k..].
type slide struct{ axis, i, k, stride, dilation int }

// slides returns the node of whose windows n is made, and the windows. Its elements do not vary along the
// windows' axes k.
func (w *writer) slides(n *graph.Node) (x view, from *graph.Node, list []slide) {
	for {
		n = alias(n)
		if n.Op != ir.Window && n.Op != ir.Expand || n.Src().Len() == 0 || w.isLeaf(n) {
			break
		}
		if n.Op == ir.Window {
			list = append(list, slide{n.Ints[0], n.Ints[0], n.Ints[1], n.Ints[2], n.Ints[3]})
		}
		n = n.Operand(0)
	}
	x = w.done[n]
	for j, s := range list {
		clash := slices.ContainsFunc(list[:j], func(t slide) bool { return t.i == s.i || t.k == s.k || t.i == s.k || t.k == s.i })
		if x.v == nil || clash || x.varies(s.k) || !x.varies(s.i) {
			return x, n, nil
		}
	}
	slices.Reverse(list)
	if len(list) > 3 {
		return x, n, nil
	}
	return x, n, list
}

// conv writes a sum of products of windows with a factor that varies within the windows alone.
func (w *writer) conv(n, m, windowed, kernel *graph.Node) (view, bool) {
	x, from, list := w.slides(windowed)
	y := w.done[kernel]
	if len(list) == 0 || x.v.elem != op.Float || n.DType != m.DType {
		return view{}, false
	}
	summed := func(a int) bool { return slices.Contains(n.Ints, a) }
	var axes, is, ks []int
	for j, s := range list {
		if summed(s.i) && !summed(s.k) { // of the derivative of a kernel
			s.i, s.k, s.stride, s.dilation = s.k, s.i, s.dilation, s.stride
			list[j] = s
		}
		if summed(s.i) || !summed(s.k) || y.varies(s.i) || !y.varies(s.k) && m.Shape[s.k] != 1 {
			return view{}, false
		}
		axes, is, ks = append(axes, s.axis), append(is, s.i), append(ks, s.k)
	}
	others := slices.Clone(m.Shape)
	for _, a := range slices.Concat(is, ks) {
		others[a] = 1
	}
	// Axes of windows are no channels.
	xs := view{x.v, slices.Clone(x.axes)}
	ys := view{y.v, slices.Clone(y.axes)}
	for j := range list {
		xs.axes[axes[j]], ys.axes[ks[j]] = -1, -1
	}
	s := splitAxes(n, others, xs, ys)
	if len(s.leftOnly)+len(s.rightOnly) > 0 || s.count != 1 {
		return view{}, false
	}
	dims := func(a []int) []int { return lengths(m.Shape, a) }
	groups, channels := graph.Len(dims(s.batch)), graph.Len(dims(s.summed))
	v := w.at(x, slices.Concat(s.left, s.batch, s.summed, axes)...)
	v = w.reshape(v, slices.Concat([]int{graph.Len(dims(s.left)), groups * channels}, lengths(from.Shape, axes)))
	k := w.at(y, slices.Concat(s.batch, s.right, s.summed, ks)...)
	k = w.reshape(k, slices.Concat([]int{groups * graph.Len(dims(s.right)), channels}, dims(ks)))
	v, attrs := w.fit(v, m.Shape, list)
	out := slices.Concat([]int{v.shape[0], k.shape[0]}, dims(is))
	z := w.call("Conv", v.elem, out, []*value{v, k}, append(attrs, intAttr("group", groups))...)
	layout := slices.Concat(s.left, s.batch, s.right, is)
	return placed(w.reshape(z, dims(layout)), layout, len(n.Shape)), true
}

// fit returns a tensor [batch, channels, spatial…] of which a product or pool takes exactly the windows of
// a list, and their attributes.
func (w *writer) fit(v *value, dims []int, list []slide) (*value, []*proto.Attr) {
	var sizes, strides, dilations []int
	for j, s := range list {
		size, count := dims[s.k], dims[s.i]
		sizes, strides, dilations = append(sizes, size), append(strides, s.stride), append(dilations, s.dilation)
		if shape.Windows(v.shape[2+j], size, s.stride, s.dilation) != count {
			v = w.slice(v, 2+j, 0, (count-1)*s.stride+(size-1)*s.dilation+1, 1)
		}
	}
	return v, []*proto.Attr{intsAttr("kernel_shape", sizes), intsAttr("strides", strides), intsAttr("dilations", dilations)}
}

// pool writes a reduction of windows. ok is false for another reduction.
func (w *writer) pool(n *graph.Node, name string) (view, int, bool) {
	x, from, list := w.slides(n.Operand(0))
	if len(list) == 0 || len(list) != len(n.Ints) || x.v.elem != op.Float {
		return view{}, 0, false
	}
	var axes, is, others []int
	size := 1
	dims := n.Operand(0).Shape
	for _, s := range list {
		if !slices.Contains(n.Ints, s.k) {
			return view{}, 0, false
		}
		axes, is, size = append(axes, s.i), append(is, s.i), size*dims[s.k]
	}
	for a := range dims {
		if x.varies(a) && !slices.Contains(axes, a) {
			others = append(others, a)
		}
	}
	v := w.at(x, slices.Concat(others, axes)...)
	first := lengths(dims, others)
	if len(others) != 2 {
		first = []int{1, graph.Len(first)}
	}
	v, attrs := w.fit(w.reshape(v, slices.Concat(first, lengths(from.Shape, axes))), dims, list)
	layout := slices.Concat(others, is)
	z := w.call(name, v.elem, slices.Concat(first, lengths(dims, is)), []*value{v}, attrs...)
	return placed(w.reshape(z, lengths(dims, layout)), layout, len(n.Shape)), size, true
}

func (w *writer) maxPool(n *graph.Node) (view, bool) {
	x, _, ok := w.pool(n, "MaxPool")
	return x, ok
}

// averagePool is a sum of windows.
func (w *writer) averagePool(n *graph.Node) (view, bool) {
	x, size, ok := w.pool(n, "AveragePool")
	if !ok {
		return x, false
	}
	return w.times(x, size), true
}
