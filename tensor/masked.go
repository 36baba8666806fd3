package tensor

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// MaskedSelect returns the elements of t at which mask, a tensor of bools, is true, in
// row-major order, in a tensor with one axis. The two are broadcast to each other. It
// computes the mask, as [Tensor.Index] does.
func (t Tensor) MaskedSelect(mask Tensor) Tensor {
	x, m := masked("MaskedSelect", t, mask)
	x, m = broadcast("MaskedSelect", x, m)
	return Tensor{n: x}.index("MaskedSelect", outer, []any{Tensor{n: m}})
}

// MaskedFill returns t with v, a number or a tensor of t's type that broadcasts to it,
// where mask is true: a tensor of bools that broadcasts to t.
func (t Tensor) MaskedFill(mask Tensor, v Operand) Tensor {
	x, m := masked("MaskedFill", t, mask)
	x, u := valueLike("MaskedFill", x, v)
	for _, y := range []*graph.Node{m, u} {
		if !shape.BroadcastsTo(y.Shape, x.Shape) {
			fail("MaskedFill", "mask and value must broadcast to the tensor's shape", x, m, u)
		}
	}
	return Tensor{n: graph.Where(graph.BroadcastTo(m, x.Shape), graph.BroadcastTo(u, x.Shape), x)}
}

// masked checks a tensor and its mask.
func masked(op string, t, mask Tensor) (x, m *graph.Node) {
	x, m = t.node(op), mask.node(op)
	if m.DType != ir.Bool {
		fail(op, "a mask must have bools: compare, as Gt does, or Cast", x, m)
	}
	checkDevices(op, x, m)
	return x, m
}

// GatherND selects by whole positions: index has integers, other than uint64, [... n]
// whose rows are positions along the first n axes of t, negative ones from the end. The
// result has the shape of index without its last axis, followed by t's other axes. For
// positions out of range see [Tensor.Take].
func (t Tensor) GatherND(index Tensor) Tensor {
	return t.index("GatherND", inFront, positionsND("GatherND", t, index))
}

// ScatterND returns t with src, a number or a tensor, at the positions in index: src
// broadcasts to the shape of [Tensor.GatherND] of index. If a position occurs several times,
// the last counts. To add see [Tensor.AddAt].
func (t Tensor) ScatterND(index Tensor, src Operand) Tensor {
	return t.assign("ScatterND", replaced, src, positionsND("ScatterND", t, index))
}

// positionsND returns the columns of index as specs.
func positionsND(op string, t, index Tensor) []any {
	x, i := t.node(op), index.node(op)
	checkIndex(op, i)
	last := len(i.Shape) - 1
	if last < 0 || i.Shape[last] == 0 || i.Shape[last] > len(x.Shape) {
		fail(op, fmt.Sprintf("the last axis of the index must have a length from 1 to %d, the number of axes", len(x.Shape)), x, i)
	}
	specs := make([]any, i.Shape[last])
	for c := range specs {
		specs[c] = Tensor{n: drop(graph.Slice(i, last, c, 1), last)}
	}
	return specs
}
