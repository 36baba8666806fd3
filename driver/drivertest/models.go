package drivertest

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// The growers of this file add parts of networks.

func (g *generator) float() ir.DType {
	for range 8 {
		if d := g.dtype(); d.IsFloat() {
			return d
		}
	}
	return ir.Float32
}

// epilogue adds something elementwise to x.
func (g *generator) epilogue(x *graph.Node) *graph.Node {
	if x == nil || !x.DType.IsFloat() {
		return x
	}
	switch g.IntN(4) {
	case 0:
		return graph.Binary(ir.Max, x, graph.Fill(x.DType, 0, x.Shape))
	case 1:
		return graph.Binary(ir.Add, x, g.partner(x.DType, x.Shape))
	case 2:
		return graph.Unary(ir.Tanh, x)
	}
	return x
}

// insert puts an axis of length n into x.
func insert(x *graph.Node, axis, n int) *graph.Node {
	dims := slices.Insert(slices.Clone(x.Shape), axis, 1)
	x = graph.Reshape(x, dims)
	dims = slices.Clone(dims)
	dims[axis] = n
	return graph.Expand(x, dims)
}

// growProduct multiplies matrices, perhaps transposed, perhaps in a batch,
// with something before and after.
func (g *generator) growProduct() {
	d := g.float()
	most := 6
	if g.size > 1000 {
		most = 40
	}
	m, n, k := 1+g.IntN(most), 1+g.IntN(most), 1+g.IntN(most)
	matrix := func(rows, cols int) *graph.Node {
		if g.chance(2) {
			return graph.Permute(g.partner(d, []int{cols, rows}), []int{1, 0})
		}
		return g.partner(d, []int{rows, cols})
	}
	a, b := g.epilogue(matrix(m, k)), g.epilogue(matrix(n, k))
	if g.chance(3) {
		batch := 1 + g.IntN(3)
		dims := []int{batch, m, k}
		a = g.partner(d, dims)
		x := insert(a, 2, n)
		y := insert(insert(b, 0, m), 0, batch)
		g.product(x, y, 3)
		return
	}
	g.product(insert(a, 1, n), insert(b, 0, m), 2)
}

func (g *generator) product(x, y *graph.Node, axis int) {
	size := g.size
	g.size = max(2000, 8*size)
	defer func() { g.size = size }()
	sum := graph.Reduce(ir.Sum, graph.Binary(ir.Mul, x, y), []int{axis})
	dims := slices.Delete(slices.Clone(sum.Shape), axis, axis+1)
	if graph.Len(dims) <= size {
		g.add(g.epilogue(graph.Reshape(sum, dims)))
	}
}

// growWindow convolves or pools in one or two dimensions, and may go back.
func (g *generator) growWindow() {
	d := g.float()
	batch, in, out := 1+g.IntN(2), 1+g.IntN(3), 1+g.IntN(3)
	h := 3 + g.IntN(4)
	size, stride, dilation := 1+g.IntN(3), 1+g.IntN(2), 1+g.IntN(2)
	x := g.partner(d, []int{batch, in, h})
	pad := g.IntN(3)
	x = graph.Pad(x, 0, []graph.Padding{{}, {}, {Before: pad, After: pad}})
	room := x.Shape[2] - 1 - (size-1)*dilation
	if room < 0 {
		return
	}
	w := graph.Window(insert(x, 3, size), 2, 3, stride, dilation, room/stride+1) // batch, in, place, size
	places := w.Shape[2]
	switch g.IntN(4) {
	case 0:
		g.add(graph.Reduce(ir.ReduceMax, w, []int{3}))
	case 1: // the gradient of a window
		y := g.partner(d, w.Shape)
		u := graph.Unwindow(y, 2, 3, stride, dilation, x.Shape[2])
		u = graph.Reduce(ir.Sum, u, []int{3})
		g.add(graph.Crop(u, []graph.Span{{Step: 1, Len: batch}, {Step: 1, Len: in}, {Start: pad, Step: 1, Len: h}, {Step: 1, Len: 1}}))
	case 2: // the derivative of a convolution by its input
		kernel := g.partner(d, []int{out, in, size})
		y := g.partner(d, []int{batch, out, places})
		dims := []int{batch, out, in, places, size}
		p := graph.Binary(ir.Mul,
			graph.Expand(graph.Reshape(y, []int{batch, out, 1, places, 1}), dims),
			graph.Expand(graph.Reshape(kernel, []int{1, out, in, 1, size}), dims))
		s := graph.Reduce(ir.Sum, p, []int{1})
		u := graph.Unwindow(s, 3, 4, stride, dilation, x.Shape[2])
		u = graph.Reduce(ir.Sum, u, []int{4})
		g.large(graph.Crop(u, []graph.Span{{Step: 1, Len: batch}, {Step: 1, Len: 1}, {Step: 1, Len: in}, {Start: pad, Step: 1, Len: h}, {Step: 1, Len: 1}}))
	case 3:
		kernel := g.partner(d, []int{out, in, size})
		dims := []int{batch, out, in, places, size}
		p := graph.Binary(ir.Mul,
			graph.Expand(graph.Reshape(w, []int{batch, 1, in, places, size}), dims),
			graph.Expand(graph.Reshape(kernel, []int{1, out, in, 1, size}), dims))
		s := graph.Reduce(ir.Sum, p, []int{2, 4})
		g.large(g.epilogue(graph.Reshape(s, []int{batch, out, places})))
	}
}

// large adds n, on its way to which there may be more elements than usual.
func (g *generator) large(n *graph.Node) {
	if n.Len() <= g.size {
		g.add(n)
	}
}

// growSoftmax adds a softmax or its logarithm, perhaps with a mask.
func (g *generator) growSoftmax() {
	x := g.pick()
	if !x.DType.IsFloat() || len(x.Shape) == 0 || x.Len() == 0 {
		return
	}
	axes := []int{g.IntN(len(x.Shape))}
	most := graph.Expand(graph.Reduce(ir.ReduceMax, x, axes), x.Shape)
	shifted := graph.Binary(ir.Sub, x, most)
	e := graph.Unary(ir.Exp, shifted)
	sum := graph.Reduce(ir.Sum, e, axes)
	if g.chance(2) {
		g.add(graph.Binary(ir.Div, e, graph.Expand(sum, x.Shape)))
		return
	}
	n := g.add(graph.Binary(ir.Sub, shifted, graph.Expand(graph.Unary(ir.Log, sum), x.Shape)))
	if n != nil && g.chance(2) {
		dims := slices.Clone(n.Shape)
		dims[axes[0]] = 1
		g.gather(n, axes[0], dims)
	}
}

// growNorm adds a layer norm.
func (g *generator) growNorm() {
	x := g.pick()
	if !x.DType.IsFloat() || len(x.Shape) == 0 || x.Len() == 0 {
		return
	}
	axes := g.someAxes(len(x.Shape))
	one := graph.Reduce(ir.Sum, x, axes)
	scale := graph.Fill(x.DType, float64(one.Len())/float64(x.Len()), one.Shape)
	centered := graph.Binary(ir.Sub, x, graph.Expand(graph.Binary(ir.Mul, one, scale), x.Shape))
	squares := graph.Reduce(ir.Sum, graph.Binary(ir.Mul, centered, centered), axes)
	v := graph.Binary(ir.Add, graph.Binary(ir.Mul, squares, scale), graph.Fill(x.DType, 0.25, one.Shape))
	n := graph.Binary(ir.Div, centered, graph.Expand(graph.Unary(ir.Sqrt, v), x.Shape))
	g.add(graph.Binary(ir.Mul, n, g.partner(x.DType, x.Shape)))
}

// growLabel adds the gradient of a pick: one update a row.
func (g *generator) growLabel() {
	d := g.float()
	rows, classes := 1+g.IntN(6), 1+g.IntN(6)
	if idx := g.index(classes, []int{rows, 1}); idx != nil {
		g.add(graph.GatherTranspose(g.partner(d, []int{rows, 1}), idx, 1, classes))
	}
}
