package grad

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

var scanModes = modes{
	reverse: func(c *call, ct *graph.Node) *graph.Node {
		axis := c.Ints[0]
		switch c.Kind {
		case ir.Add:
			return flip(graph.Scan(ir.Add, flip(ct, axis), axis), axis)
		case ir.Mul:
			return reverseScanMul(c, ct)
		}
		return graph.GatherTranspose(ct, scanPositions(c), axis, c.Shape[axis])
	},
	forward: func(c *call, t *graph.Node) *graph.Node {
		axis := c.Ints[0]
		switch c.Kind {
		case ir.Add:
			return graph.Scan(ir.Add, t, axis)
		case ir.Mul:
			return linearScan(c.src[0], times(t, before(c.Node, axis, 1, 1)), axis)
		}
		return graph.Gather(t, scanPositions(c), axis)
	},
	linear: func(c *call) bool { return c.Kind == ir.Add },
}

// scanPositions is the position of the element that each element of a Scan by Max or
// Min is: the last of equals, and the last NaN.
func scanPositions(c *call) *graph.Node {
	axis, x := c.Ints[0], c.src[0]
	if x.Shape[axis] == 0 {
		return graph.Const(ir.Int32, 0, x.Shape)
	}
	hit := graph.Binary(ir.Or, equalAsStored(x, c.recomputeForCompare()), graph.Unary(ir.Not, eq(x, x)))
	none := graph.Const(ir.Int32, 0, x.Shape)
	return graph.Scan(ir.Max, graph.Where(hit, graph.Iota(x.Shape, axis), none), axis)
}

// reverseScanMul is the sum, over the products y[i] that x[k] is a factor of, of ct[i]
// times the other factors: y[k-1] times r[k], where r[k] = ct[k] + x[k+1]·r[k+1].
// It divides by nothing, so zeros are right: 0 times the other factors is 0 also where
// their product overflows.
func reverseScanMul(c *call, ct *graph.Node) *graph.Node {
	axis, x := c.Ints[0], c.src[0]
	next := before(flip(x, axis), axis, 1, 0)
	r := flip(linearScan(next, flip(ct, axis), axis), axis)
	return product(before(c.Node, axis, 1, 1), r)
}

// linearScan returns y[i] = b[i] + a[i]·y[i-1] along an axis, by doubling: after a
// step y[i] and a[i] stand for twice as many elements up to i.
func linearScan(a, b *graph.Node, axis int) *graph.Node {
	for d := 1; d < b.Shape[axis]; d *= 2 {
		b = add(b, product(a, before(b, axis, d, 0)))
		if 2*d < b.Shape[axis] {
			a = product(a, before(a, axis, d, 0))
		}
	}
	return b
}

// product is times, but 0 times infinity is 0: the infinite factor is a product that has
// overflowed.
func product(x, y *graph.Node) *graph.Node { return times(unlessZero(x, y), unlessZero(y, x)) }

// unlessZero returns x, but 0 for an infinity where y is 0.
func unlessZero(x, y *graph.Node) *graph.Node {
	inf := like(x, math.Inf(1))
	infinite := graph.Binary(ir.Or, eq(x, inf), eq(neg(x), inf))
	return graph.Where(and(infinite, eq(y, like(y, 0))), like(x, 0), x)
}

// before shifts x by d along an axis: element i of the result is x[i-d], or fill for i < d.
func before(x *graph.Node, axis, d int, fill float64) *graph.Node {
	n := x.Shape[axis]
	d = min(d, n)
	p := make([]graph.Padding, len(x.Shape))
	p[axis].Before = d
	return graph.Pad(graph.Slice(x, axis, 0, n-d), ir.Float(x.DType, fill), p)
}

func flip(x *graph.Node, axis int) *graph.Node { return graph.Flip(x, []int{axis}) }
