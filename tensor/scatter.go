package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Take selects the elements of an axis at the positions in index, integers
// other than uint64, whose axes replace the axis. Negative positions count from the end.
// A position out of range is found when the result is computed: [Eval] and [Data] return
// the error. Take(0, ids) looks up rows of an embedding.
func (t Tensor) Take(axis int, index Tensor) Tensor {
	x := t.node("Take")
	checkIndex("Take", index.node("Take"))
	return Tensor{n: take("Take", x, axisOf("Take", x, axis), index)}
}

func take(op string, x *graph.Node, axis int, index Tensor) *graph.Node {
	at := narrow(index.n)
	i := fromEnd(at, x.Shape[axis])
	checkDevices(op, x, i)
	rows := shape.With(x.Shape, axis, i.Len())
	s := slices.Concat(x.Shape[:axis], i.Shape, x.Shape[axis+1:])
	checkLen(op, s, x, index.n)
	flat := graph.Reshape(i, []int{i.Len()})
	return graph.Reshape(graph.At(fromEndSite(op, at), graph.Gather(x, spreadAxes(flat, []int{axis}, rows), axis)), s)
}

// checkIndex panics unless i has a type of indices.
func checkIndex(op string, i *graph.Node) {
	if !isIndex(i.DType) {
		fail(op, "an index must be of integers, other than uint64: Cast(tensor.Int32)", i)
	}
}

// isIndex reports whether positions may have a type.
func isIndex(d DType) bool { return d.IsInt() && d != ir.Uint64 }

// narrow returns indices in a type that devices have for them: int32 for indices of 8 and 16
// bits.
func narrow(i *graph.Node) *graph.Node {
	if i.DType.Size() < 4 {
		return graph.Cast(i, ir.Int32)
	}
	return i
}

// fromEndSite returns the site of a call whose indices fromEnd has resolved.
func fromEndSite(op string, i *graph.Node) *graph.IndexSite {
	s := graph.NewIndexSite(op, i.Shape)
	s.FromEnd = i.DType.IsSigned()
	return s
}

// fromEnd resolves negative positions in an index into n elements. The result is int64
// if n exceeds the greatest int32.
func fromEnd(i *graph.Node, n int) *graph.Node {
	if !i.DType.IsSigned() {
		return i
	}
	if n > math.MaxInt32 {
		i = graph.Cast(i, ir.Int64)
	}
	return graph.Where(lt(i, fill(i, 0)), shifted(i, float64(n)), i)
}

// TakeAlong selects, along an axis, the elements of t at the positions in index,
// integers other than uint64, of t's rank; other axes are broadcast. So TakeAlong(a,
// ArgMax(a).Unsqueeze(a)) is Max(a). Negative positions count from the end; for
// positions out of range see [Tensor.Take].
func (t Tensor) TakeAlong(axis int, index Tensor) Tensor {
	x := t.node("TakeAlong")
	i := index.node("TakeAlong")
	checkIndex("TakeAlong", i)
	checkDevices("TakeAlong", x, i)
	a := axisOf("TakeAlong", x, axis)
	if len(i.Shape) != len(x.Shape) {
		fail("TakeAlong", "the index must have as many axes", x, i)
	}
	s, ok := shape.Broadcast(shape.With(x.Shape, a, 1), shape.With(i.Shape, a, 1))
	if !ok {
		fail("TakeAlong", fmt.Sprintf("axes other than %d do not broadcast: lengths must be equal or 1", a), x, i)
	}
	checkLen("TakeAlong", shape.With(s, a, max(x.Shape[a], i.Shape[a])), x, i)
	i = narrow(i)
	site := fromEndSite("TakeAlong", i)
	i = fromEnd(i, x.Shape[a])
	from := graph.Expand(x, shape.With(s, a, x.Shape[a]))
	return Tensor{n: graph.At(site, graph.Gather(from, graph.Expand(i, shape.With(s, a, i.Shape[a])), a))}
}

// OneHot adds a last axis of int32, with 1 at the position given by t's element and 0
// elsewhere. An element that is not a class, from 0 to classes-1, gives zeros. Integers
// only.
func (t Tensor) OneHot(classes int) Tensor {
	x := t.node("OneHot")
	if !x.DType.IsInt() {
		failType("OneHot", x)
	}
	checkCount("OneHot", classes)
	x = narrow(x)
	s := append(slices.Clone(x.Shape), classes)
	checkLen("OneHot", s, x)
	rank := len(x.Shape)
	d := x.DType.SumType() // which has all classes
	wide, class := graph.Cast(graph.Expand(insert(x, rank), s), d), graph.Cast(graph.Iota(s, rank), d)
	return Tensor{n: graph.Cast(eq(wide, class), ir.Int32)}
}

// ScatterAdd returns t with src added along an axis, at the positions in index,
// integers other than uint64. Index and src have t's rank, and are broadcast to each other
// and to t's other axes; positions may occur several times. Negative positions count
// from the end; for positions out of range see [Tensor.Take].
func (t Tensor) ScatterAdd(axis int, index, src Tensor) Tensor {
	return t.scatter("ScatterAdd", ir.Add, axis, index, src)
}

// ScatterMax is [Tensor.ScatterAdd] with the maximum in place of the sum.
func (t Tensor) ScatterMax(axis int, index, src Tensor) Tensor {
	return t.scatter("ScatterMax", ir.Max, axis, index, src)
}

// ScatterMin is [Tensor.ScatterAdd] with the minimum in place of the sum.
func (t Tensor) ScatterMin(axis int, index, src Tensor) Tensor {
	return t.scatter("ScatterMin", ir.Min, axis, index, src)
}

// ScatterMul is [Tensor.ScatterAdd] with the product in place of the sum.
func (t Tensor) ScatterMul(axis int, index, src Tensor) Tensor {
	return t.scatter("ScatterMul", ir.Mul, axis, index, src)
}

func (t Tensor) scatter(op string, kind ir.Op, axis int, index, src Tensor) Tensor {
	x, i, u := t.node(op), index.node(op), src.node(op)
	if kind != ir.Copy {
		t.numbers(op)
	}
	x, u = promote(op, x, u)
	a, s := scatterShape(op, x, i, u, axis)
	i = narrow(i)
	site := fromEndSite(op, i)
	i = graph.Expand(fromEnd(i, x.Shape[a]), s)
	return Tensor{n: graph.At(site, graph.Scatter(kind, x, i, graph.Expand(u, s), a))}
}

// scatterShape checks the operands of a scatter and returns its axis, and the shape to
// which index and source are broadcast.
func scatterShape(op string, x, i, u *graph.Node, axis int) (a int, s []int) {
	checkIndex(op, i)
	checkDevices(op, x, i)
	checkDevices(op, i, u)
	a = axisOf(op, x, axis)
	if len(i.Shape) != len(x.Shape) || len(u.Shape) != len(x.Shape) {
		fail(op, "index and source must have as many axes as the tensor", x, i, u)
	}
	s, ok := shape.Broadcast(i.Shape, u.Shape)
	if !ok {
		fail(op, "index and source do not broadcast: lengths must be equal or 1", x, i, u)
	}
	s = shape.With(x.Shape, a, s[a])
	if !shape.BroadcastsTo(i.Shape, s) || !shape.BroadcastsTo(u.Shape, s) {
		fail(op, fmt.Sprintf("axes other than %d must have the tensor's lengths, or 1", a), x, i, u)
	}
	checkLen(op, s, x, i, u)
	return a, s
}
