package neural

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Pools has the functions of windows.
var Pools = []op.Row{
	op.New("AveragePool", op.One(averagePool)),
	op.New("GlobalAveragePool", op.One(global(T.Mean))),
	op.New("GlobalLpPool", op.One(globalLpPool)),
	op.New("GlobalMaxPool", op.One(global(T.Max))),
	op.New("LpPool", op.One(lpPool)),
	op.New("MaxPool", op.Many(maxPool)),
	op.New("MaxUnpool", op.One(maxUnpool)),
}

// kernel returns the windows of attribute kernel_shape.
func kernel(c *op.Call, x T) windows {
	n := x.Rank() - 2
	size := c.IntsAttr("kernel_shape")
	if n < 1 || len(size) != n {
		c.Fail("kernel_shape is %v, and the input has shape %v, with two axes before the spatial ones", size, x.Shape())
	}
	return windowsOf(c, x.Shape()[2:], size)
}

// global makes a pool of whole images.
func global(f func(x T, axes ...int) T) func(c *op.Call) T {
	return func(c *op.Call) T {
		x := c.Ranked(0, 3)
		return keep(f(x, last(x, x.Rank()-2)...), x)
	}
}

// keep shapes a reduction of the spatial axes of x so that they have length 1.
func keep(y, x T) T {
	return y.Reshape(append(slices.Clone(x.Shape()[:2]), slices.Repeat([]int{1}, x.Rank()-2)...)...)
}

func averagePool(c *op.Call) T {
	x := c.Tensor(0)
	w := kernel(c, x)
	n := len(w.size)
	v := w.unfold(c, x, 0)
	sum := v.Sum(last(v, n)...).Reshape(v.Shape()[:2+n]...)
	return sum.Div(w.elements(c, x, c.Bool("count_include_pad", false)))
}

// elements returns the number of elements of each window, [1 1 counts…], with the padding or without it.
func (w windows) elements(c *op.Call, x T, padded bool) T {
	one := tensor.OnesOf(x.DType(), append([]int{1, 1}, x.Shape()[2:]...)...)
	n := len(w.size)
	u := w
	if padded {
		for i := range n {
			one = pad(one, 2+i, w.before[i], w.after[i], 1)
		}
		u.before, u.after = make([]int, n), make([]int, n)
		for i := range n { // in ceil mode the last window may begin in the padding of the original
			count := w.count(i, x.Dim(2+i))
			one = one.Pad(2+i, 0, max((count-1)*w.stride[i]+w.span(i)-one.Dim(2+i), 0))
		}
		u.ceil = false
	}
	v := u.unfold(c, one, 0)
	return v.Sum(last(v, n)...).Reshape(v.Shape()[:2+n]...)
}

func globalLpPool(c *op.Call) T {
	x := c.Ranked(0, 3)
	return keep(x.NormP(c.Number("p", 2), last(x, x.Rank()-2)...), x)
}

func lpPool(c *op.Call) T {
	x, p := c.Tensor(0), c.Number("p", 2)
	w := kernel(c, x)
	n := len(w.size)
	v := w.unfold(c, x.Abs().Pow(p), 0)
	return v.Sum(last(v, n)...).Reshape(v.Shape()[:2+n]...).Pow(1 / p)
}

// lowest returns the number below all others of a type.
func lowest(d tensor.DType) any {
	switch {
	case d.IsFloat():
		return math.Inf(-1)
	case d.IsSigned():
		return math.MinInt64 >> (64 - 8*d.Size())
	}
	return 0 // of unsigned types
}

func maxPool(c *op.Call) []T {
	x := c.Tensor(0)
	w := kernel(c, x)
	n := len(w.size)
	if plain := slices.Max(append(w.dilation, 1)) == 1 && w.even() && w.centered() && !w.ceil && !c.Wants(1) && x.DType().IsFloat(); plain {
		return []T{x.MaxPool(0, &tensor.ConvOptions{Window: w.size, Stride: w.stride, Padding: w.before})}
	}
	v := w.unfold(c, x, lowest(x.DType()))
	y := v.Max(last(v, n)...).Reshape(v.Shape()[:2+n]...)
	if !c.Wants(1) {
		return []T{y}
	}
	// The places of the elements in x, unfolded like them.
	spatial := x.Shape()[2:]
	at := tensor.Arange(product(spatial))
	if c.Bool("storage_order", false) { // by columns
		at = at.Reshape(reversed(spatial)...).Permute(backward(n)...)
	}
	beyond := product(spatial)
	places := w.unfold(c, at.Cast(tensor.Int64).Reshape(append([]int{1, 1}, spatial...)...), beyond)
	flat := func(t T) T { return t.Flatten(2 + n) }
	best := flat(v).ArgMax(-1).Unsqueeze(-1) // [batch channels counts… 1]
	f := flat(places)
	places = f.Expand(append(slices.Clone(best.Shape()[:2+n]), f.Dim(-1))...)
	at = places.TakeAlong(-1, best).Squeeze(-1)
	at = tensor.Where(at.Eq(beyond), f.Min(-1).Squeeze(-1), at) // all elements equal the padding: the first one
	at = at.Mod(beyond)                                         // 0 for a window of padding alone
	image := tensor.Arange(x.Dim(0) * x.Dim(1)).Cast(tensor.Int64).Mul(beyond)
	return []T{y, at.Add(image.Reshape(append([]int{x.Dim(0), x.Dim(1)}, slices.Repeat([]int{1}, n)...)...))}
}

func product(s []int) int {
	p := 1
	for _, n := range s {
		p *= n
	}
	return p
}

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// backward is the axes n-1 to 0.
func backward(n int) (axes []int) {
	for i := range n {
		axes = append(axes, n-1-i)
	}
	return axes
}

// maxUnpool puts elements in the places that MaxPool had them from.
func maxUnpool(c *op.Call) T {
	x, at := c.Tensor(0), c.Tensor(1)
	w := kernel(c, x)
	shape := slices.Clone(x.Shape())
	for i := range w.size {
		shape[2+i] = (x.Dim(2+i)-1)*w.stride[i] + w.size[i] - w.before[i] - w.after[i]
	}
	to := shape
	if c.Has(2) {
		to = c.Ints(2)
	}
	// Places are positions in the smaller image's whole tensor.
	y := tensor.ZerosOf(x.DType(), product(shape)).ScatterSet(0, at.Reshape(-1), x.Reshape(-1)).Reshape(shape...)
	for i := range to {
		y = y.Pad(i, 0, max(to[i]-shape[i], 0))
	}
	return y
}
