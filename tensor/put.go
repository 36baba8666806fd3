package tensor

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// ScatterSet returns t with elements replaced by src, along an axis at the positions in index.
// If a position occurs several times, the last along the axis counts. Arguments are as for
// [Tensor.ScatterAdd], but t may also have bools. The derivative by an element of t that is
// replaced, or by an element of src that is not taken, is 0.
func (t Tensor) ScatterSet(axis int, index, src Tensor) Tensor {
	return t.scatter("ScatterSet", ir.Copy, axis, index, src)
}

// Put returns t with slices replaced by those in src, along an axis at the positions in index.
// If a position occurs several times, the last counts. It is the inverse of [Tensor.Take]: src
// has the shape of Take(axis, index), or one that broadcasts to it. Put(0, ids, rows) sets
// rows of a table, Put(2, pos, keys) a position of a cache.
func (t Tensor) Put(axis int, index, src Tensor) Tensor {
	checkIndex("Put", index.node("Put"))
	specs := slices.Repeat([]any{All}, axisOf("Put", t.node("Put"), axis))
	return t.assign("Put", replaced, src, append(specs, index))
}
