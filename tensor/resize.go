package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An Interpolation says how values between elements are computed. Zero is the function's
// default.
type Interpolation uint8

// The interpolations.
const (
	Nearest Interpolation = iota + 1 // the element whose cell the point lies in
	Linear                           // from 2 elements along each axis
	Cubic                            // from 4, by Keys' convolution with a = -¾
	Area                             // the mean over the area that an element of the result covers, as AdaptiveAvgPool
)

// ResizeOptions are the options of [Tensor.Resize]. Mode is Nearest by default. With
// AlignCorners the centers of the first and last elements, else their outer edges, stay
// where they are; it is for Linear and Cubic.
type ResizeOptions struct {
	Mode         Interpolation
	AlignCorners bool
}

// Resize resamples all axes after the first two, which are batch and channels, to a size,
// which has a length for each of them, or one for all. Elements beyond an edge are taken
// for those at the edge. Floats only; Nearest takes all types.
func (t Tensor) Resize(size []int, o *ResizeOptions) Tensor { return t.resize("Resize", size, o) }

// ResizeNearest is [Tensor.Resize] to the nearest element.
func (t Tensor) ResizeNearest(size ...int) Tensor { return t.resize("ResizeNearest", size, nil) }

// ResizeBilinear is [Tensor.Resize] with linear interpolation, whose edges stay.
func (t Tensor) ResizeBilinear(size ...int) Tensor {
	return t.resize("ResizeBilinear", size, &ResizeOptions{Mode: Linear})
}

// ResizeBicubic is [Tensor.Resize] with cubic interpolation, whose edges stay.
func (t Tensor) ResizeBicubic(size ...int) Tensor {
	return t.resize("ResizeBicubic", size, &ResizeOptions{Mode: Cubic})
}

func (t Tensor) resize(op string, size []int, o *ResizeOptions) Tensor {
	mode, corners := Nearest, false
	if o != nil && o.Mode != 0 {
		mode = o.Mode
	}
	if o != nil && o.AlignCorners {
		corners = true
		if mode != Linear && mode != Cubic {
			fail(op, "AlignCorners is for Linear and Cubic", t.node(op))
		}
	}
	x := t.node(op)
	if mode != Nearest {
		x = t.floats(op)
	}
	size = spatialSizes(op, x, size)
	sample, ok := samplers[mode]
	if !ok {
		fail(op, fmt.Sprintf("there is no interpolation %d: want Nearest, Linear, Cubic or Area", mode), x)
	}
	f := func(x *graph.Node) *graph.Node {
		for i, m := range size {
			if n := x.Shape[2+i]; n != m {
				x = sample(op, x, 2+i, m, corners)
			}
		}
		return x
	}
	if mode == Nearest {
		return Tensor{n: f(x)}
	}
	return wide(x, f)
}

// spatialSizes checks a user's sizes of the axes of x after the first two.
func spatialSizes(op string, x *graph.Node, size []int) []int {
	spatial := len(x.Shape) - 2
	if spatial < 1 {
		fail(op, "the input is [batch, channels, spatial…]", x)
	}
	if len(size) == 1 {
		size = slices.Repeat(size, spatial)
	}
	if len(size) != spatial {
		fail(op, fmt.Sprintf("%s for %d spatial axes: want one each, or one for all", shape.Count(len(size), "length"), spatial), x)
	}
	for i, m := range size {
		if m < 1 || m > math.MaxInt32 || x.Shape[2+i] < 1 {
			fail(op, fmt.Sprintf("axis %d from length %d to %d: want at least 1", 2+i, x.Shape[2+i], m), x)
		}
	}
	return size
}

// samplers resample one axis to m elements.
var samplers = map[Interpolation]func(op string, x *graph.Node, axis, m int, corners bool) *graph.Node{
	Nearest: sampleNearest, Linear: sampleLinear, Cubic: sampleCubic, Area: sampleArea,
}

// A grid has the points of an axis of m elements on one of n, as exact fractions: point i
// is at (i·step + first)/unit.
type grid struct{ step, first, unit, m int }

// centers returns the grid of the centers of elements.
func centers(n, m int, corners bool) grid {
	if corners {
		return grid{n - 1, 0, max(m-1, 1), m}
	}
	return grid{2 * n, n - m, 2 * m, m}
}

// split returns the points rounded down, and their fractions, of type d. The product i·step may
// leave int32's range, and a device may lack int64. So it adds the products of the digits of i,
// to a base for which each is in the range.
func (g grid) split(d DType) (whole, part *graph.Node) {
	rest, most := graph.Iota([]int{g.m}, 0), math.MaxInt32
	if max(g.unit, g.step) > most/4 {
		rest, most = graph.Cast(rest, ir.Int64), math.MaxInt64
	}
	rem := (g.first%g.unit + g.unit) % g.unit
	whole, part = fill(rest, float64((g.first-rem)/g.unit)), fill(rest, float64(rem))
	for last, step := g.m-1, g.step; last > 0; {
		rem, digit := step%g.unit, rest
		base := min(last+1, (most-g.unit)/max(rem, 1))
		if base <= last {
			by := fill(rest, float64(base))
			digit, rest = graph.Binary(ir.Rem, rest, by), div(rest, by)
		}
		sum := add(part, scaled(digit, float64(rem)))
		unit := fill(sum, float64(g.unit))
		whole = add(add(whole, scaled(digit, float64(step/g.unit))), div(sum, unit))
		part = graph.Binary(ir.Rem, sum, unit)
		last, step = last/base, step*base
	}
	part = graph.Cast(part, d)
	return whole, div(part, fill(part, float64(g.unit)))
}

// sampleAt returns the elements of an axis of x at positions, those beyond an edge at the
// edge.
func sampleAt(op string, x *graph.Node, axis int, at *graph.Node) *graph.Node {
	last := fill(at, float64(x.Shape[axis]-1))
	at = graph.Where(lt(at, fill(at, 0)), fill(at, 0), graph.Where(lt(last, at), last, at))
	rows := shape.With(x.Shape, axis, at.Shape[0])
	return graph.At(graph.NewIndexSite(op, at.Shape), graph.Gather(x, spreadAxes(at, []int{axis}, rows), axis))
}

func sampleNearest(op string, x *graph.Node, axis, m int, _ bool) *graph.Node {
	at, _ := grid{x.Shape[axis], 0, m, m}.split(ir.Float32)
	return sampleAt(op, x, axis, at)
}

func sampleLinear(op string, x *graph.Node, axis, m int, corners bool) *graph.Node {
	at, part := centers(x.Shape[axis], m, corners).split(x.DType)
	return taps(op, x, axis, at, shifted(neg(part), 1), part)
}

// taps returns the sum of the elements of an axis of x starting at positions, times weights.
func taps(op string, x *graph.Node, axis int, at *graph.Node, weights ...*graph.Node) *graph.Node {
	var sum *graph.Node
	for i, w := range weights {
		y := sampleAt(op, x, axis, shifted(at, float64(i)))
		none := spreadAxes(eq(w, fill(w, 0)), []int{axis}, y.Shape)
		y = graph.Where(none, fill(y, 0), y) // 0 times an infinity would be NaN
		y = mul(y, spreadAxes(w, []int{axis}, y.Shape))
		if sum == nil {
			sum = y
			continue
		}
		sum = add(sum, y)
	}
	return sum
}

// sampleCubic has the weights of Keys, "Cubic Convolution Interpolation for Digital Image
// Processing", 1981.
func sampleCubic(op string, x *graph.Node, axis, m int, corners bool) *graph.Node {
	const a = -0.75
	near := []float64{1, 0, -(a + 3), a + 2} // in the distance, up to 1
	far := []float64{0, a, -2 * a, a}        // in the distance from 1 to 2, less 1
	at, part := centers(x.Shape[axis], m, corners).split(x.DType)
	rest := shifted(neg(part), 1)
	return taps(op, x, axis, shifted(at, -1),
		polynomial(part, far), polynomial(part, near), polynomial(rest, near), polynomial(rest, far))
}

func sampleArea(op string, x *graph.Node, axis, m int, _ bool) *graph.Node {
	return adapt(op, x, axis, m, 0, func(y *graph.Node, axes []int, size *graph.Node) *graph.Node {
		sum := graph.Reduce(ir.Sum, y, axes)
		return div(sum, spreadTo(graph.Cast(size, sum.DType), sum))
	})
}

// AdaptiveAvgPool returns the mean over windows that cover each axis after the first two,
// which are batch and channels, with as many windows as size has: a length for each axis,
// or one for all. Window i of m over n elements is from ⌊i·n/m⌋ up to ⌈(i+1)·n/m⌉.
// Floats only.
func (t Tensor) AdaptiveAvgPool(size ...int) Tensor {
	return t.resize("AdaptiveAvgPool", size, &ResizeOptions{Mode: Area})
}

// AdaptiveMaxPool returns the maximum over the windows of [Tensor.AdaptiveAvgPool]. Along
// each axis, ties share the derivative equally.
func (t Tensor) AdaptiveMaxPool(size ...int) Tensor {
	x := t.numbers("AdaptiveMaxPool")
	for i, m := range spatialSizes("AdaptiveMaxPool", x, size) {
		x = adapt("AdaptiveMaxPool", x, 2+i, m, ir.Lowest(x.DType), func(y *graph.Node, axes []int, _ *graph.Node) *graph.Node {
			return graph.Reduce(ir.ReduceMax, y, axes)
		})
	}
	return Tensor{n: x}
}

// adapt reduces the m windows that cover an axis. Windows that are shorter than others have
// elements none. The function reduces axes of y; it is given the number of elements of each
// window, of a shape that broadcasts to the result.
func adapt(op string, x *graph.Node, axis, m int, none ir.Number, f func(y *graph.Node, axes []int, size *graph.Node) *graph.Node) *graph.Node {
	n := x.Shape[axis]
	column := slices.Insert(ones(len(x.Shape)), axis, m)
	var y, size *graph.Node
	if n%m == 0 {
		y = graph.Reshape(x, slices.Insert(shape.With(x.Shape, axis, n/m), axis, m))
		size = graph.Fill(ir.Int32, float64(n/m), column)
	} else {
		start, _ := grid{n, 0, m, m}.split(ir.Float32)
		end, _ := grid{n, n + m - 1, m, m}.split(ir.Float32)
		count := sub(end, start)
		width := (n-1)/m + 2 // no window is longer
		s := []int{m, width}
		j := graph.Cast(graph.Iota(s, 1), start.DType)
		at := add(graph.Expand(insert(start, 1), s), j)
		there := lt(j, graph.Expand(insert(count, 1), s))
		y = sampleAt(op, x, axis, graph.Reshape(at, []int{m * width}))
		y = graph.Reshape(y, slices.Insert(shape.With(x.Shape, axis, width), axis, m))
		y = graph.Where(spreadAxes(there, []int{axis, axis + 1}, y.Shape), y, graph.Const(x.DType, none, y.Shape))
		size = graph.Reshape(count, column)
	}
	return drop(f(y, []int{axis + 1}, size), axis+1)
}
