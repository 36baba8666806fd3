package tensor

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// ScatterSet returns t with the elements of src along an axis at the positions in index;
// of several for one position, the last along the axis. Arguments are those of
// [Tensor.ScatterAdd], but t may be of bools. The derivative by an element of t that is
// replaced, or by one of src that is not taken, is 0.
func (t Tensor) ScatterSet(axis int, index, src Tensor) Tensor {
	x, i, u := t.node("ScatterSet"), index.node("ScatterSet"), src.node("ScatterSet")
	x, u = promote("ScatterSet", x, u)
	a, s := scatterShape("ScatterSet", x, i, u, axis)
	i = narrow(i)
	site := fromEndSite("ScatterSet", i)
	i, u = graph.Expand(fromEnd(i, x.Shape[a]), s), graph.Expand(u, s)
	return Tensor{n: latest(x, u, lastWriter(site, i, x.Shape, a), a)}
}

// Put returns t with the slices of src along an axis at the positions in index; of several
// for one position, the last. It is the inverse of [Tensor.Take]: src has the shape of
// Take(axis, index), or one that broadcasts to it. Put(0, ids, rows) sets rows of a table,
// Put(2, pos, keys) a position of a cache.
func (t Tensor) Put(axis int, index, src Tensor) Tensor {
	checkIndex("Put", index.node("Put"))
	specs := slices.Repeat([]any{All}, axisOf("Put", t.node("Put"), axis))
	return t.assign("Put", replaced, src, append(specs, index))
}

// lastWriter returns, for each element of a shape, the greatest position along axis a of
// i at which i is the element's own position, and -1 if there is none.
func lastWriter(site *graph.IndexSite, i *graph.Node, s []int, a int) *graph.Node {
	checkPositions(site.Op, i, i.Shape[a])
	none := graph.Const(ir.Int32, ir.Int(ir.Int32, -1), s)
	return graph.At(site, graph.Scatter(ir.Max, none, i, graph.Iota(i.Shape, a), a))
}

// latest returns src at the positions of writer along axis a, and x where that is -1.
func latest(x, src, writer *graph.Node, a int) *graph.Node {
	if src.Shape[a] == 0 {
		return x
	}
	set := not(lt(writer, fill(writer, 0)))
	return graph.Where(set, graph.Gather(src, graph.Where(set, writer, fill(writer, 0)), a), x)
}
