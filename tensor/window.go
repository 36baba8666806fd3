package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// ConvOptions places windows on the spatial axes. Stride is the distance between windows
// (default 1, for pools the window's size), Padding the number of elements added on both
// sides (default 0), Dilation the distance between elements of a window (default 1).
// Each has one value for all spatial axes or one for each; 0 is the default. Groups is the number of
// independent convolutions that share the channels (default 1); pools ignore it.
// OutputPadding is the number of elements that [Tensor.ConvTranspose] adds at the end of an
// axis (default 0); others ignore it. Window has the lengths of a pool's windows, one for each
// axis, in place of its size, which is then 0.
type ConvOptions struct {
	Stride, Padding, Dilation []int
	Groups                    int
	OutputPadding             []int
	Window                    []int
}

// groups returns the number of groups.
func (o *ConvOptions) groups() int {
	if o != nil && o.Groups != 0 {
		return o.Groups
	}
	return 1
}

// A window describes the windows along one axis.
type window struct{ size, stride, padding, dilation, after int }

// windows resolves options for windows of the given sizes; stride is the default, 0 for the size.
func windows(op string, x *graph.Node, sizes []int, o *ConvOptions, stride int) []window {
	if o == nil {
		o = &ConvOptions{}
	}
	if pool := stride == 0; o.Window != nil && !pool {
		fail(op, fmt.Sprintf("the options have the Window %v, which is for pools", o.Window), x)
	}
	ws := make([]window, len(sizes))
	option := func(name string, values []int, i, least, zero int) int {
		v := zero
		switch len(values) {
		case 0:
		case 1:
			v = values[0]
		case len(sizes):
			v = values[i]
		default:
			fail(op, fmt.Sprintf("%s has %d values for %d spatial axes", name, len(values), len(sizes)), x)
		}
		if v == 0 {
			v = zero
		}
		if v < least || v > math.MaxInt32 {
			fail(op, fmt.Sprintf("%s is %d, want %d to %d", name, v, least, math.MaxInt32), x)
		}
		return v
	}
	for i, size := range sizes {
		if size < 1 {
			fail(op, fmt.Sprintf("a window of %d elements, want at least 1", size), x)
		}
		ws[i] = window{
			size:     size,
			stride:   option("Stride", o.Stride, i, 1, cmp.Or(stride, size)),
			padding:  option("Padding", o.Padding, i, 0, 0),
			dilation: option("Dilation", o.Dilation, i, 1, 1),
			after:    option("OutputPadding", o.OutputPadding, i, 0, 0),
		}
	}
	return ws
}

// counts returns the number of windows that fit on each axis of x starting at first.
func counts(op string, x *graph.Node, first int, ws []window, operands ...any) []int {
	out := make([]int, len(ws))
	for i, w := range ws {
		n := x.Shape[first+i]
		out[i] = shape.Windows(n+2*w.padding, w.size, w.stride, w.dilation)
		if out[i] == 0 {
			fail(op, fmt.Sprintf("a window of %d elements, %d apart, does not fit axis %d of length %d with padding %d",
				w.size, w.dilation, first+i, n, w.padding), operands...)
		}
	}
	return out
}

// padded adds the windows' padding to the axes of x starting at first.
func padded(x *graph.Node, first int, ws []window, v ir.Number) *graph.Node {
	p := make([]graph.Padding, len(x.Shape))
	for i, w := range ws {
		p[first+i] = graph.Padding{Before: w.padding, After: w.padding}
	}
	return graph.Pad(x, v, p)
}

// slide replaces the padded axes of x from first on by axes of counts[i] windows, and
// adds for each a last axis with the elements of a window.
func slide(op string, x *graph.Node, first int, ws []window, counts []int) *graph.Node {
	rank := len(x.Shape)
	thin, wide := slices.Concat(x.Shape, ones(len(ws))), slices.Clone(x.Shape)
	for _, w := range ws {
		wide = append(wide, w.size)
	}
	checkLen(op, wide, x)
	x = graph.Expand(graph.Reshape(x, thin), wide)
	for i, w := range ws {
		if counts[i] == 1 { // the stride may be anything: no device need compute with a huge one
			w.stride = 1
		}
		if w.size == 1 {
			w.dilation = 1
		}
		x = graph.Window(x, first+i, rank+i, w.stride, w.dilation, counts[i])
	}
	return x
}

// Conv returns the cross-correlation of t, [batch, channels, spatial…], with a
// kernel [out, channels/groups, spatial…], as [batch, out, spatial…]. There
// are 1 to 3 spatial axes.
func (t Tensor) Conv(kernel Tensor, o *ConvOptions) Tensor {
	x, k := factors("Conv", t, kernel)
	spatial := len(k.Shape) - 2
	if spatial < 1 || spatial > 3 || len(x.Shape) != len(k.Shape) {
		fail("Conv", "the input is [batch, channels, spatial…], the kernel [out, channels/groups, spatial…], with 1 to 3 spatial axes", x, k)
	}
	groups := o.groups()
	channels, out := x.Shape[1], k.Shape[0]
	if groups < 1 || channels%groups != 0 || out%groups != 0 {
		fail("Conv", fmt.Sprintf("%d groups do not divide %d and %d channels", groups, channels, out), x, k)
	}
	if k.Shape[1] != channels/groups {
		fail("Conv", fmt.Sprintf("the kernel is for %d channels a group, the input has %d", k.Shape[1], channels/groups), x, k)
	}
	ws := windows("Conv", x, k.Shape[2:], o, 1)
	ns := counts("Conv", x, 2, ws, x, k)
	batch, sizes := x.Shape[0], k.Shape[2:]
	// The product's axes: batch, groups, out/groups, spatial…, then the summed axes
	// channels/groups, window….
	s := slices.Concat([]int{batch, groups, out / groups}, ns, k.Shape[1:])
	checkLen("Conv", s, x, k)

	x = padded(x, 2, ws, 0)
	x = graph.Reshape(x, slices.Concat([]int{batch, groups, channels / groups}, x.Shape[2:]))
	order := shape.All(len(x.Shape))
	x = graph.Permute(x, slices.Concat(order[:2], order[3:], order[2:3]))
	x = slide("Conv", insert(x, 2), 3, ws, ns)

	k = graph.Reshape(k, slices.Concat([]int{1, groups, out / groups}, ones(spatial), []int{channels / groups}, sizes))
	z := mul(graph.Expand(x, s), graph.Expand(k, s))
	z = graph.Reduce(ir.Sum, z, shape.All(len(s))[3+spatial:])
	return Tensor{n: graph.Reshape(z, slices.Concat([]int{batch, out}, ns))}
}

// pool returns windows of the axes of x after the first two, padded with v, and the
// axes of their elements.
func pool(op string, x *graph.Node, size int, o *ConvOptions, v ir.Number) (*graph.Node, []int) {
	spatial := len(x.Shape) - 2
	if spatial < 1 {
		fail(op, "the input is [batch, channels, spatial…]", x)
	}
	sizes := slices.Repeat([]int{size}, spatial)
	if o != nil && o.Window != nil {
		if sizes = o.Window; len(sizes) != spatial || size != 0 {
			fail(op, fmt.Sprintf("the size is %d and the Window %v: want a size, or a Window for %d axes", size, sizes, spatial), x)
		}
	}
	ws := windows(op, x, sizes, o, 0)
	for _, w := range ws {
		if w.padding > w.size/2 {
			fail(op, fmt.Sprintf("padding %d is more than half of the window's size %d", w.padding, w.size), x)
		}
	}
	ns := counts(op, x, 2, ws, x)
	y := slide(op, padded(x, 2, ws, v), 2, ws, ns)
	return y, shape.All(len(y.Shape))[len(x.Shape):]
}

// MaxPool returns the maximum of each window of size elements along
// every axis after the first two, which are batch and channels. Padding counts
// as -Inf. The default stride is size. Ties share the derivative equally.
func (t Tensor) MaxPool(size int, o *ConvOptions) Tensor {
	x := t.numbers("MaxPool")
	y, axes := pool("MaxPool", x, size, o, ir.Lowest(x.DType))
	return Tensor{n: drop(graph.Reduce(ir.ReduceMax, y, axes), axes...)}
}

// AvgPool returns the mean of each window of size elements along every axis
// after the first two, which are batch and channels. Padding counts as zeros.
// The default stride is size. Floats only.
func (t Tensor) AvgPool(size int, o *ConvOptions) Tensor {
	x := t.floats("AvgPool")
	y, axes := pool("AvgPool", x, size, o, 0)
	return Tensor{n: drop(mean(y, axes), axes...)}
}

// Unfold replaces an axis by its windows of size elements, step apart, and adds a last
// axis with the elements of each window.
func (t Tensor) Unfold(axis, size, step int) Tensor {
	x := t.node("Unfold")
	a := axisOf("Unfold", x, axis)
	if size < 1 || step < 1 {
		fail("Unfold", fmt.Sprintf("windows of %d elements, %d apart", size, step), x)
	}
	ws := []window{{size: size, stride: step, dilation: 1}}
	return Tensor{n: slide("Unfold", x, a, ws, counts("Unfold", x, a, ws, x))}
}
