package core

import (
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Reductions has the operators that combine elements along axes.
var Reductions = []op.Row{
	op.New("ArgMax", op.One(argMax)),
	op.New("ArgMin", op.One(argMin)),
	op.New("CumProd", op.One(cumulate(T.CumProd))),
	op.New("CumSum", op.One(cumulate(T.CumSum))),
	op.New("Hardmax", softmaxOf(hardmax)),
	op.New("LogSoftmax", softmaxOf(T.LogSoftmax)),
	op.New("ReduceL1", reduce(func(x T, axes []int) T { return x.Abs().Sum(axes...) })),
	op.New("ReduceL2", reduce(func(x T, axes []int) T { return op.Floating(x).Square().Sum(axes...).Sqrt() })),
	op.New("ReduceLogSum", reduce(func(x T, axes []int) T { return op.Floating(x).Sum(axes...).Log() })),
	op.New("ReduceLogSumExp", reduce(func(x T, axes []int) T { return op.Floating(x).LogSumExp(axes...) })),
	op.New("ReduceMax", reduce(func(x T, axes []int) T { return x.Max(axes...) })),
	op.New("ReduceMean", reduce(func(x T, axes []int) T { return op.Floating(x).Mean(axes...) })),
	op.New("ReduceMin", reduce(func(x T, axes []int) T { return x.Min(axes...) })),
	op.New("ReduceProd", reduce(func(x T, axes []int) T { return x.Prod(axes...) })),
	op.New("ReduceSum", reduce(func(x T, axes []int) T { return x.Sum(axes...) })),
	op.New("ReduceSumSquare", reduce(func(x T, axes []int) T { return x.Square().Sum(axes...) })),
	op.New("Softmax", softmaxOf(T.Softmax)),
	op.New("TopK", op.Many(topK)),
}

// reduce makes a Func of a reduction over axes, which keep length 1. The result has the type of the
// input. Axes were an attribute before version 18, of ReduceSum before 13.
func reduce(f func(x T, axes []int) T) op.Func {
	return op.One(func(c *op.Call) T {
		x := c.Tensor(0)
		d, rank := x.DType(), x.Rank()
		list, _ := c.IntsInputOrAttr(1, "axes")
		axes := c.Axes(list, rank)
		if len(axes) == 0 {
			if rank == 0 || c.Bool("noop_with_empty_axes", false) { // of one element each
				return f(x.Unsqueeze(rank), []int{rank}).Squeeze(rank).Cast(d)
			}
			for a := range rank {
				axes = append(axes, a)
			}
		}
		y := f(x, axes).Cast(d)
		if !c.Bool("keepdims", true) {
			return y.Squeeze(axes...)
		}
		return y
	})
}

func argMax(c *op.Call) T { return arg(c, T.ArgMax) }
func argMin(c *op.Call) T { return arg(c, T.ArgMin) }

func arg(c *op.Call, f func(T, int) T) T {
	x := c.Tensor(0)
	if x.Rank() == 0 { // NumPy takes axis 0 of it, and so do other runtimes
		c.Axis(c.Int("axis", 0), 1)
		return tensor.ZerosOf(tensor.Int64)
	}
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	var y T
	if c.Bool("select_last_index", false) {
		y = f(x.Flip(axis), axis)
		y = tensor.FullLike(y, x.Dim(axis)-1).Sub(y)
	} else {
		y = f(x, axis)
	}
	if c.Bool("keepdims", true) {
		y = y.Unsqueeze(axis)
	}
	return y.Cast(tensor.Int64)
}

// cumulate makes a function of a cumulative one along the axis in input 1.
func cumulate(f func(T, int) T) func(*op.Call) T {
	return func(c *op.Call) T {
		x := c.Tensor(0)
		d := x.DType()
		axis := c.Axis(c.ScalarInt(1), x.Rank())
		if c.Bool("reverse", false) {
			x = x.Flip(axis)
		}
		y := f(x, axis).Cast(d)
		if n := x.Dim(axis); c.Bool("exclusive", false) && n > 0 {
			first := tensor.OnesLike(y.Slice(axis, 0, 1))
			if c.Op == "CumSum" {
				first = tensor.ZerosLike(first)
			}
			y = tensor.Cat(axis, first, y.Slice(axis, 0, n-1))
		}
		if c.Bool("reverse", false) {
			y = y.Flip(axis)
		}
		return y
	}
}

// softmaxOf makes a Func of a function along an axis. Before version 13 that was all axes from one on,
// by default 1.
func softmaxOf(f func(T, int) T) op.Func {
	return op.One(func(c *op.Call) T {
		x := c.Tensor(0)
		if c.Opset >= 13 {
			return f(x, c.Axis(c.Int("axis", -1), x.Rank()))
		}
		s := x.Shape()
		axis := c.Int("axis", 1)
		if axis != len(s) {
			axis = c.Axis(axis, len(s))
		}
		return f(x.Reshape(product(s[:axis]), product(s[axis:])), 1).Reshape(s...)
	})
}

// hardmax is 1 at the first maximum and 0 elsewhere.
func hardmax(x T, axis int) T {
	n := x.Dim(axis)
	if n == 0 {
		return x
	}
	return moveTo(x.ArgMax(axis).OneHot(n), x.Rank()-1, axis).Cast(x.DType())
}

// moveTo moves an axis to another place.
func moveTo(x T, from, to int) T {
	order := make([]int, 0, x.Rank())
	for a := range x.Rank() {
		if a != from {
			order = append(order, a)
		}
	}
	return x.Permute(slices.Insert(order, to, from)...)
}

func product(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

func topK(c *op.Call) []T {
	x := c.Tensor(0)
	axis := c.Axis(c.Int("axis", -1), x.Rank())
	k := c.Int("k", 0)
	if c.Has(1) {
		k = c.ScalarInt(1)
	}
	if k < 0 || k > x.Dim(axis) {
		c.Fail("k is %d, and the axis has %d elements", k, x.Dim(axis))
	}
	f := T.TopK
	if !c.Bool("largest", true) {
		f = T.BottomK
	}
	values, indices := f(x, axis, k)
	return []T{values, indices.Cast(tensor.Int64)}
}
