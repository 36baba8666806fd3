package core

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Selections has the operators that read or write elements at positions in tensors.
var Selections = []op.Row{
	op.New("Gather", op.Move(gather)),
	op.New("GatherElements", op.Move(gatherElements)),
	op.New("GatherND", op.Move(gatherND)),
	op.New("OneHot", op.MoveOf(2, oneHot)),
	op.New("Scatter", op.Move(scatterElements)),
	op.New("ScatterElements", op.Move(scatterElements)),
	op.New("ScatterND", op.Move(scatterND)),
	op.New("TensorScatter", op.Move(tensorScatter)),
}

func gather(c *op.Call) T {
	x := c.Tensor(0)
	return x.Take(c.Axis(c.Int("axis", 0), x.Rank()), c.Tensor(1))
}

func gatherElements(c *op.Call) T {
	x, index := c.Tensor(0), c.Tensor(1)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	return cropTo(x, index, axis).TakeAlong(axis, index)
}

// cropTo cuts the axes of x but one to the lengths of another tensor, of the same rank.
func cropTo(x, like T, axis int) T {
	for a := range x.Rank() {
		if a != axis && a < like.Rank() && like.Dim(a) < x.Dim(a) {
			x = x.Slice(a, 0, like.Dim(a))
		}
	}
	return x
}

func gatherND(c *op.Call) T {
	x, index := c.Tensor(0), c.Tensor(1).Cast(tensor.Int64)
	batch := c.Int("batch_dims", 0)
	if batch < 0 || batch >= index.Rank() || batch > x.Rank() {
		c.Fail("batch_dims is %d for shapes %v and %v", batch, x.Shape(), index.Shape())
	}
	if batch > 0 {
		parts := []T{}
		s := index.Shape()
		s[len(s)-1] = 1
		for a := range batch {
			at := make([]int, len(s))
			for i := range at {
				at[i] = 1
			}
			at[a] = s[a]
			parts = append(parts, tensor.Arange(s[a]).Cast(tensor.Int64).Reshape(at...).Expand(s...))
		}
		index = tensor.Cat(-1, append(parts, index)...)
	}
	return x.GatherND(index)
}

func oneHot(c *op.Call) T {
	index, values := c.Tensor(0), c.Tensor(2)
	depth := c.ScalarInt(1)
	if depth < 1 || values.Len() != 2 {
		c.Fail("a depth of %d, and %d values", depth, values.Len())
	}
	axis := c.Axis(c.Int("axis", -1), index.Rank()+1)
	if index.DType().IsFloat() {
		index = index.Cast(tensor.Int64)
	}
	if index.DType() == tensor.Uint64 || index.DType().Size() < 4 {
		index = index.Cast(tensor.Int64)
	}
	if index.DType().IsSigned() {
		index = tensor.Where(index.Lt(0), index.Add(depth), index)
	}
	hot := moveTo(index.OneHot(depth), index.Rank(), axis).Ne(0)
	v := values.Reshape(2)
	return tensor.Where(hot, v.Slice(0, 1, 2).Reshape(), v.Slice(0, 0, 1).Reshape())
}

// scatters has the functions of the attribute reduction.
var scatters = map[string]func(x T, axis int, index, src T) T{
	"none": T.ScatterSet,
	"add":  T.ScatterAdd,
	"mul":  T.ScatterMul,
	"max":  T.ScatterMax,
	"min":  T.ScatterMin,
}

// scatterBy returns the function of the attribute reduction. Bools are as bytes: add is or, mul is and.
func scatterBy(c *op.Call) func(x T, axis int, index, src T) T {
	name := c.String("reduction", "none")
	f := scatters[name]
	if f == nil {
		c.Fail("there is no reduction %q", name)
	}
	return func(x T, axis int, index, src T) T {
		if x.DType() == tensor.Bool && name != "none" {
			return f(x.Cast(tensor.Int32), axis, index, src.Cast(tensor.Int32)).Cast(tensor.Bool)
		}
		return f(x, axis, index, src)
	}
}

func scatterElements(c *op.Call) T {
	x, index, src := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	f := scatterBy(c)
	if part := cropTo(x, index, axis); part.Len() < x.Len() { // only a corner changes
		y := f(part, axis, index, src)
		return setCorner(x, y)
	}
	return f(x, axis, index, src)
}

// setCorner returns x with its first elements along each axis replaced.
func setCorner(x, y T) T {
	inside := tensor.OnesOf(tensor.Bool, y.Shape()...)
	for a := range x.Rank() {
		y, inside = y.Pad(a, 0, x.Dim(a)-y.Dim(a)), inside.Pad(a, 0, x.Dim(a)-inside.Dim(a))
	}
	return tensor.Where(inside, y, x)
}

// scatterND numbers the slices that index selects, and scatters rows.
func scatterND(c *op.Call) T {
	x, index, src := c.Tensor(0), c.Tensor(1).Cast(tensor.Int64), c.Tensor(2)
	s := x.Shape()
	n := index.Dim(-1)
	if n > len(s) {
		c.Fail("indices of shape %v for shape %v", index.Shape(), s)
	}
	rows, width := product(s[:n]), product(s[n:])
	if x.Len() == 0 || index.Len() == 0 && n > 0 {
		return x
	}
	index = index.Reshape(product(index.Shape()[:index.Rank()-1]), n)
	at := tensor.ZerosOf(tensor.Int64, index.Dim(0))
	inside := tensor.OnesOf(tensor.Bool, index.Dim(0))
	for a := range n {
		p := index.Slice(1, a, a+1).Squeeze(1)
		p = tensor.Where(p.Lt(0), p.Add(s[a]), p)
		at, inside = at.Mul(s[a]).Add(p), inside.And(p.Ge(0)).And(p.Lt(s[a]))
	}
	at = tensor.Where(inside, at, rows) // is out of range too, rather than in another row
	y := scatterBy(c)(x.Reshape(rows, width), 0, at.Unsqueeze(1), src.Reshape(at.Len(), width))
	return y.Reshape(s...)
}

// tensorScatter writes a sequence into a cache, at positions by batch.
func tensorScatter(c *op.Call) T {
	past, update := c.Tensor(0), c.Tensor(1)
	axis := c.Axis(c.Int("axis", -2), past.Rank())
	s := make([]int, past.Rank())
	for i := range s {
		s[i] = 1
	}
	s[axis] = update.Dim(axis)
	at := tensor.Arange(update.Dim(axis)).Cast(tensor.Int64).Reshape(s...)
	if c.Has(2) {
		s[axis], s[0] = 1, past.Dim(0)
		at = at.Add(c.Tensor(2).Cast(tensor.Int64).Reshape(s...))
	}
	if c.Choice("mode", "linear", "circular") == "circular" {
		at = at.Mod(past.Dim(axis))
	}
	return past.ScatterSet(axis, at, update)
}
