package neural

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Caches has the operator that writes into the cache of a transformer.
var Caches = []op.Row{op.New("TensorScatter", op.Move(tensorScatter))}

// tensorScatter puts an update into a cache, from a position on that each example of the batch has.
func tensorScatter(c *op.Call) T {
	cache, update := c.Tensor(0), c.Tensor(1)
	axis := c.Axis(c.Int("axis", -2), cache.Rank())
	length, n := cache.Dim(axis), update.Dim(axis)
	if axis == 0 || n > length {
		c.Fail("axis %d of an update of shape %v and a cache of %v", axis, update.Shape(), cache.Shape())
	}
	first := tensor.ZerosOf(tensor.Int64, cache.Dim(0))
	if c.Has(2) {
		first = c.Tensor(2).Cast(tensor.Int64)
	}
	// Element i of the cache is element i - first of the update, if there is one.
	shape := make([]int, cache.Rank())
	for a := range shape {
		shape[a] = 1
	}
	along := func(t T, axis int) T {
		s := append([]int(nil), shape...)
		s[axis] = t.Len()
		return t.Reshape(s...)
	}
	at := along(tensor.Arange(length).Cast(tensor.Int64), axis).Sub(along(first, 0))
	if c.String("mode", "linear") == "circular" {
		at = at.Mod(length)
	}
	inside := at.Ge(0).And(at.Lt(n))
	at = at.Clamp(0, n-1).Expand(cache.Shape()...)
	return tensor.Where(inside, update.TakeAlong(axis, at), cache)
}
