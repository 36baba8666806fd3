package core

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Shapes has the operators that move elements, and those that make shapes.
var Shapes = []op.Row{
	op.New("CenterCropPad", op.Move(centerCropPad)),
	op.New("Concat", op.Moves(concat)),
	op.New("DepthToSpace", op.Move(depthToSpace)),
	op.New("Expand", op.Move(expand)),
	op.New("Flatten", op.Move(flatten)),
	op.New("Identity", identity),
	op.New("Pad", op.Move(pad)),
	op.New("Reshape", op.Move(reshape)),
	op.New("ReverseSequence", op.Move(reverseSequence)),
	op.New("Shape", shapeOf),
	op.New("Size", sizeOf),
	op.New("Slice", op.Move(slice)),
	op.New("SpaceToDepth", op.Move(spaceToDepth)),
	op.New("Split", op.Moves(split)),
	op.New("Squeeze", op.Move(squeeze)),
	op.New("Tile", op.Move(tile)),
	op.New("Transpose", op.Move(transpose)),
	op.New("Trilu", op.Move(trilu)),
	op.New("Unsqueeze", op.Move(unsqueeze)),
}

func identity(c *op.Call) []op.Value {
	if !c.Has(0) {
		c.Fail("input 0 is missing")
	}
	return c.In[:1]
}

func shapeOf(c *op.Call) []op.Value {
	s := c.Value(0).Dims()
	bound := func(name string, otherwise int) int {
		i := c.Int(name, otherwise)
		if i < 0 {
			i += len(s)
		}
		return min(max(i, 0), len(s))
	}
	start, end := bound("start", 0), bound("end", len(s))
	s = s[min(start, end):end]
	return []op.Value{op.KnownInts(s, len(s))}
}

func sizeOf(c *op.Call) []op.Value {
	return []op.Value{op.KnownInts([]int{product(c.Value(0).Dims())})}
}

func reshape(c *op.Call) T {
	x := c.Tensor(0)
	s := x.Shape()
	to, ok := c.IntsInputOrAttr(1, "shape")
	if !ok {
		c.Fail("it has no shape")
	}
	to = slices.Clone(to)
	if !c.Bool("allowzero", false) {
		for i, n := range to {
			if n == 0 {
				if i >= len(s) {
					c.Fail("shape %v copies axis %d, and the input is of shape %v", to, i, s)
				}
				to[i] = s[i]
			}
		}
	}
	if at := slices.Index(to, -1); at >= 0 && x.Len() == 0 { // -1 among zeros
		rest := product(slices.Delete(slices.Clone(to), at, at+1))
		if rest == 0 {
			c.Fail("shape %v of no elements does not say the length of axis %d", to, at)
		}
		to[at] = 0
	}
	return x.Reshape(to...)
}

func concat(c *op.Call) []T {
	ts := c.Tensors()
	if len(ts) == 0 {
		c.Fail("it has no inputs")
	}
	return []T{tensor.Cat(c.Axis(c.Int("axis", 1), ts[0].Rank()), ts...)}
}

func expand(c *op.Call) T {
	x, to := c.Tensor(0), c.Ints(1)
	return x.Expand(broadcast(c, x.Shape(), to)...)
}

// broadcast returns the shape to which two shapes broadcast.
func broadcast(c *op.Call, a, b []int) []int {
	n := max(len(a), len(b))
	out := make([]int, n)
	at := func(s []int, i int) int {
		if i -= n - len(s); i >= 0 {
			return s[i]
		}
		return 1
	}
	for i := range out {
		x, y := at(a, i), at(b, i)
		switch {
		case x == 1:
			out[i] = y
		case y == 1 || x == y:
			out[i] = x
		default:
			c.Fail("shapes %v and %v do not broadcast", a, b)
		}
	}
	return out
}

func flatten(c *op.Call) T {
	x := c.Tensor(0)
	s := x.Shape()
	axis := c.Int("axis", 1)
	if axis != len(s) {
		axis = c.Axis(axis, len(s))
	}
	return x.Reshape(product(s[:axis]), product(s[axis:]))
}

func squeeze(c *op.Call) T {
	x := c.Tensor(0)
	axes, ok := c.IntsInputOrAttr(1, "axes")
	if !ok {
		return x.Squeeze()
	}
	if len(axes) == 0 {
		return x
	}
	return x.Squeeze(c.Axes(axes, x.Rank())...)
}

func unsqueeze(c *op.Call) T {
	x := c.Tensor(0)
	axes, ok := c.IntsInputOrAttr(1, "axes")
	if !ok {
		c.Fail("it has no axes")
	}
	axes = c.Axes(axes, x.Rank()+len(axes))
	slices.Sort(axes)
	s := x.Shape()
	for _, a := range axes {
		s = slices.Insert(s, a, 1)
	}
	return x.Reshape(s...)
}

// tile repeats x along its axes; before version 6 along the axis in input 2.
func tile(c *op.Call) T {
	x, times := c.Tensor(0), c.Ints(1)
	if c.Has(2) {
		times = slices.Repeat([]int{1}, x.Rank())
		times[c.Axis(c.ScalarInt(2), x.Rank())] = c.ScalarInt(1)
	}
	if len(times) != x.Rank() {
		c.Fail("repeats are %v, and the input has %d axes", times, x.Rank())
	}
	return x.Tile(times...)
}

func transpose(c *op.Call) T {
	x := c.Tensor(0)
	order := c.IntsAttr("perm")
	if order == nil {
		for a := x.Rank() - 1; a >= 0; a-- {
			order = append(order, a)
		}
	}
	return x.Permute(order...)
}

func trilu(c *op.Call) T {
	x, k := c.Tensor(0), 0
	if c.Has(1) {
		k = c.ScalarInt(1)
	}
	if x.Len() == 0 {
		return x
	}
	rows, cols := x.Dim(-2), x.Dim(-1)
	k = min(max(k, -rows-1), cols+1) // k may be huge
	if c.Bool("upper", true) {
		return x.Triu(k)
	}
	return x.Tril(k)
}

// slice takes starts, ends, axes and steps, as attributes before version 10. Positions are limited to the
// axis.
func slice(c *op.Call) T {
	x := c.Tensor(0)
	starts, _ := c.IntsInputOrAttr(1, "starts")
	ends, _ := c.IntsInputOrAttr(2, "ends")
	axes, ok := c.IntsInputOrAttr(3, "axes")
	if !ok {
		for a := range starts {
			axes = append(axes, a)
		}
	}
	steps := slices.Repeat([]int{1}, len(starts))
	if c.Has(4) {
		steps = c.Ints(4)
	}
	if len(starts) != len(ends) || len(starts) != len(axes) || len(starts) != len(steps) {
		c.Fail("starts %v, ends %v, axes %v and steps %v differ in length", starts, ends, axes, steps)
	}
	for i, a := range c.Axes(axes, x.Rank()) {
		n, step := x.Dim(a), steps[i]
		if step == 0 {
			c.Fail("the step of axis %d is 0", a)
		}
		step = min(max(step, -n-1), n+1) // beyond the axis one element is left
		lo, hi := 0, n
		if step < 0 {
			lo, hi = -1, n-1
		}
		bound := func(p, lo int) int {
			if p < 0 {
				p += n
			}
			return min(max(p, lo), hi)
		}
		x = strided(x, a, bound(starts[i], 0), bound(ends[i], lo), step)
	}
	return x
}

// strided selects elements from start up to but not including stop, which may be -1 for a negative step.
func strided(x T, axis, start, stop, step int) T {
	switch {
	case step > 0 && start >= stop, step < 0 && start <= stop:
		return x.Slice(axis, 0, 0)
	case step > 0:
		return x.Slice(axis, start, stop, min(step, stop-start))
	}
	count := (start - stop - step - 1) / -step
	if start-stop <= -step {
		count, step = 1, -1
	}
	last := start + (count-1)*step
	return x.Slice(axis, last, start+1, -step).Flip(axis)
}

func split(c *op.Call) []T {
	x := c.Tensor(0)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	sizes, ok := c.IntsInputOrAttr(1, "split")
	if !ok {
		n := c.Int("num_outputs", len(c.Outputs))
		length := x.Dim(axis)
		if n < 1 || n > max(len(c.Outputs), length) {
			c.Fail("it has %d results, and num_outputs is %d", len(c.Outputs), n)
		}
		size := (length + c.Count("a list", n) - 1) / n
		for range n {
			sizes = append(sizes, min(size, length))
			length -= sizes[len(sizes)-1]
		}
	}
	return x.Split(axis, sizes...)
}

func depthToSpace(c *op.Call) T {
	x, b := c.Tensor(0), c.Int("blocksize", 1)
	s := x.Shape()
	if len(s) != 4 || b < 1 || b > math.MaxInt16 || s[1]%(b*b) != 0 {
		c.Fail("a blocksize of %d for shape %v", b, s)
	}
	n, depth, h, w := s[0], s[1]/(b*b), s[2], s[3]
	if c.Choice("mode", "DCR", "CRD") == "CRD" {
		x = x.Reshape(n, depth, b, b, h, w).Permute(0, 1, 4, 2, 5, 3)
	} else {
		x = x.Reshape(n, b, b, depth, h, w).Permute(0, 3, 4, 1, 5, 2)
	}
	return x.Reshape(n, depth, h*b, w*b)
}

func spaceToDepth(c *op.Call) T {
	x, b := c.Tensor(0), c.Int("blocksize", 1)
	s := x.Shape()
	if len(s) != 4 || b < 1 || s[2]%b != 0 || s[3]%b != 0 {
		c.Fail("a blocksize of %d for shape %v", b, s)
	}
	x = x.Reshape(s[0], s[1], s[2]/b, b, s[3]/b, b)
	if c.Choice("mode", "DCR", "CRD") == "CRD" {
		x = x.Permute(0, 1, 3, 5, 2, 4)
	} else {
		x = x.Permute(0, 3, 5, 1, 2, 4)
	}
	return x.Reshape(s[0], s[1]*b*b, s[2]/b, s[3]/b)
}

func reverseSequence(c *op.Call) T {
	x := c.Tensor(0)
	time, batch := c.Axis(c.Int("time_axis", 0), x.Rank()), c.Axis(c.Int("batch_axis", 1), x.Rank())
	s := slices.Repeat([]int{1}, x.Rank())
	s[batch] = -1
	lens := c.Tensor(1).Cast(tensor.Int64).Reshape(s...)
	s[batch], s[time] = 1, -1
	at := tensor.Arange(x.Dim(time)).Cast(tensor.Int64).Reshape(s...)
	index := tensor.Where(at.Lt(lens), lens.Sub(at).Sub(1), at)
	return x.TakeAlong(time, index)
}
