package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// GridOptions are the options of [Tensor.GridSample]. Mode is Linear by default, or
// Nearest. Padding says which values lie beyond the edges: zeros by default, Replicate or
// Reflect. With AlignCorners the coordinates -1 and 1 are the centers of the first and last
// elements, else their outer edges, about which Reflect then reflects too.
type GridOptions struct {
	Mode         Interpolation
	Padding      PadMode
	AlignCorners bool
}

// GridSample returns the values of t, [batch, channels, spatial…], at the points of grid,
// [batch, out…, coordinates], as [batch, channels, out…]. There are 1 to 3 spatial axes and
// as many coordinates, from -1 to 1, the last spatial axis first. A point that is NaN, or
// by Reflect infinite, has the value 0. Both have one type. Floats only.
func (t Tensor) GridSample(grid Tensor, o *GridOptions) Tensor {
	x, g := t.floats("GridSample"), grid.node("GridSample")
	x, g = promote("GridSample", x, g)
	if o == nil {
		o = &GridOptions{}
	}
	spatial := len(x.Shape) - 2
	last := len(g.Shape) - 1
	switch {
	case spatial < 1 || spatial > 3:
		fail("GridSample", "the input is [batch, channels, spatial…], with 1 to 3 spatial axes", x)
	case last < 1 || g.Shape[last] != spatial || g.Shape[0] != x.Shape[0]:
		fail("GridSample", fmt.Sprintf("the grid is [batch, out…, coordinates], with %d coordinates", spatial), x, g)
	case o.Mode > Linear || o.Padding > Replicate:
		fail("GridSample", "Mode is Linear or Nearest, Padding none, Replicate or Reflect", x, g)
	case graph.Len(x.Shape[2:]) == 0:
		fail("GridSample", "there is nothing to sample", x, g)
	}
	out := slices.Concat(x.Shape[:2], g.Shape[1:last])
	points := graph.Len(g.Shape[1:last])
	checkLen("GridSample", out, x, g)
	checkPositions("GridSample", x, graph.Len(x.Shape[2:]))
	d := x.DType
	if d.IsHalf() { // whose coordinates are too coarse
		x, g = graph.Cast(x, ir.Float32), graph.Cast(g, ir.Float32)
	}
	axes := make([]gridAxis, spatial)
	for i := range axes {
		c := graph.Slice(g, last, spatial-1-i, 1)
		axes[i] = o.axis(graph.Reshape(c, []int{x.Shape[0], 1, points}), x.Shape[2+i])
	}
	x = graph.Reshape(x, []int{x.Shape[0], x.Shape[1], graph.Len(x.Shape[2:])})
	y := gridSum(x, axes, nil, nil)
	return Tensor{n: graph.Cast(graph.Reshape(y, out), d)}
}

// A gridAxis has the elements along one axis that each point is computed of.
type gridAxis struct {
	length int
	taps   []gridTap
}

// A gridTap is an element for each point, in range, and its weight.
type gridTap struct{ at, weight *graph.Node }

// axis resolves coordinates along an axis of n elements.
func (o *GridOptions) axis(c *graph.Node, n int) gridAxis {
	most := float64(n - 1)
	lo, hi := -0.5, most+0.5 // the positions of the coordinates -1 and 1
	if o.AlignCorners {
		lo, hi = 0, most
	}
	c = shifted(scaled(shifted(c, 1), (hi-lo)/2), lo)
	switch {
	case o.Padding == Reflect && hi == lo:
		c = scaled(c, 0)
	case o.Padding == Reflect:
		// The position's distance from lo, of a period of twice the length, folded.
		span := fill(c, 2*(hi-lo))
		r := graph.Binary(ir.Rem, abs(shifted(c, -lo)), span)
		c = shifted(graph.Binary(ir.Min, r, sub(span, r)), lo)
		fallthrough
	case o.Padding == Replicate:
		c = graph.Where(lt(c, fill(c, 0)), fill(c, 0), c)
		c = graph.Where(lt(fill(c, most), c), fill(c, most), c)
	}
	a := gridAxis{length: n}
	if o.Mode == Nearest {
		whole := Tensor{n: c}.Round().n
		a.taps = []gridTap{a.tap(whole, fill(c, 1))}
		return a
	}
	whole := floor(c)
	part := sub(c, whole)
	a.taps = []gridTap{a.tap(whole, shifted(neg(part), 1)), a.tap(shifted(whole, 1), part)}
	return a
}

// tap returns the element at a whole position. Beyond the edges its weight is 0.
func (a gridAxis) tap(at, weight *graph.Node) gridTap {
	inside := graph.Binary(ir.And, lt(fill(at, -1), at), lt(at, fill(at, float64(a.length))))
	at = graph.Cast(graph.Where(inside, at, fill(at, 0)), ir.Int32)
	return gridTap{at, graph.Where(inside, weight, fill(weight, 0))}
}

// gridSum returns the sum over taps of all axes of x, whose last axis has all elements of
// the spatial axes. Position and weight are accumulated over the axes before.
func gridSum(x *graph.Node, axes []gridAxis, at, weight *graph.Node) *graph.Node {
	if len(axes) == 0 {
		s := shape.With(x.Shape, 2, at.Shape[2])
		y := graph.At(graph.NewIndexSite("GridSample", at.Shape), graph.Gather(x, graph.Expand(at, s), 2))
		// 0 times an infinity would be NaN. Other elements are the derivatives by weights of 0.
		none := graph.Expand(eq(weight, fill(weight, 0)), s)
		none = graph.Binary(ir.And, none, not(lt(abs(y), fill(y, math.Inf(1)))))
		y = graph.Where(none, fill(y, 0), y)
		return mul(y, graph.Expand(weight, s))
	}
	var sum *graph.Node
	for _, tap := range axes[0].taps {
		a, w := tap.at, tap.weight
		if at != nil {
			a, w = add(scaled(at, float64(axes[0].length)), a), mul(weight, w)
		}
		y := gridSum(x, axes[1:], a, w)
		if sum == nil {
			sum = y
		} else {
			sum = add(sum, y)
		}
	}
	return sum
}
