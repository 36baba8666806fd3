package grad

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A partial… function returns the derivative of c by each element of operand i: see rule.partial.

// partialErf is 2/√π·exp(-x²), with the derivative -2·x times it.
func partialErf(c *call, _ int) *graph.Node {
	p := func(x *graph.Node) *graph.Node {
		return times(like(x, 2/math.Sqrt(math.Pi)), graph.Unary(ir.Exp, neg(square(x))))
	}
	return bell(c, p, func(xp, _ *graph.Node) *graph.Node { return xp })
}

// partialAtan is 1/(1+x²), with the derivative -2·x times its square.
func partialAtan(c *call, _ int) *graph.Node {
	return bell(c, func(x *graph.Node) *graph.Node { return reciprocal(plus(square(x), 1)) }, times)
}

// bell returns f of c's operand x, which is 0 at infinities, with the derivative -2·slope(x·f, f). There x is
// limited, because 0·Inf would be NaN, and its square is in the type's range. An untyped constant keeps the derivative
// of float64, and has none at infinities.
func bell(c *call, f func(x *graph.Node) *graph.Node, slope func(xp, p *graph.Node) *graph.Node) *graph.Node {
	x := c.src[0]
	if x.IsUntyped() {
		far := eq(graph.Binary(ir.Max, x, neg(x)), like(x, math.Inf(1)))
		p := f(graph.Where(far, like(x, 1), x))
		return graph.Where(far, like(p, 0), p)
	}
	limit := 0x1p63
	if x.DType == ir.Float64 {
		limit = 0x1p511
	}
	along := func(args, outs, vs []*graph.Node) []*graph.Node {
		x, p := args[0], outs[0]
		x = graph.Binary(ir.Max, graph.Binary(ir.Min, x, like(x, limit)), like(x, -limit))
		return []*graph.Node{times(vs[0], times(like(x, -2), slope(times(x, p), p)))}
	}
	k := &graph.CustomCall{Args: []*graph.Node{x}, VJP: along, JVP: along, Function: c.Op.String()}
	return k.Results([]*graph.Node{f(x)})[0]
}

// overSquares returns x/(x²+y²), also where the squares leave the type's range, and 0 where x or y is
// infinite. It is a function of x/s and y/s over s, for every s.
func overSquares(x, y *graph.Node) *graph.Node {
	d := x.DType
	if d.IsHalf() {
		x, y = graph.Cast(x, ir.Float32), graph.Cast(y, ir.Float32)
	}
	size := graph.Binary(ir.Max, graph.Binary(ir.Max, x, neg(x)), graph.Binary(ir.Max, y, neg(y)))
	far := eq(size, like(size, math.Inf(1)))
	x, y = graph.Where(far, like(x, 1), x), graph.Where(far, like(y, 1), y)
	size = graph.StopGradient(size)
	x, y = div(x, size), div(y, size)
	p := div(div(x, add(square(x), square(y))), size)
	return graph.Cast(graph.Where(far, like(p, 0), p), d)
}

// partialDiv is 1/b, and -a/b².
func partialDiv(c *call, i int) *graph.Node {
	b := c.src[1]
	if i == 0 {
		return reciprocal(b)
	}
	return neg(div(c.Node, b))
}

// partialRem is 1, and -trunc(a/b). The rounded quotient a/b may be a whole number
// too large, so (a - rem)/b is rounded instead.
func partialRem(c *call, i int) *graph.Node {
	if i == 0 {
		return like(c.Node, 1)
	}
	quotient := div(sub(c.src[0], c.Node), c.src[1])
	return neg(graph.Unary(ir.Floor, plus(quotient, 0.5)))
}

// partialPow is b·a^(b-1), which is 0 if b is 0, and a^b·log a, which is 0 if a^b is, as of infinities,
// or a and b are. Where these formulas are undefined, graph.Where replaces the operands and not the
// results: the derivative of a branch that is not taken can still be NaN.
func partialPow(c *call, i int) *graph.Node {
	a, b := c.src[0], c.src[1]
	if i == 1 {
		flat := graph.Binary(ir.Or, eq(c.Node, like(c.Node, 0)), and(eq(a, like(a, 0)), eq(b, like(b, 0))))
		return times(c.Node, graph.Unary(ir.Log, graph.Where(flat, like(a, 1), a)))
	}
	if b.Op != ir.Const {
		// Not wherever b is 0: there the derivative by b is 1/a.
		great := graph.Unary(ir.Not, graph.Binary(ir.Lt, square(reciprocal(a)), like(a, math.Inf(1))))
		flat := and(eq(b, like(b, 0)), great)
		return times(b, graph.Binary(ir.Pow, a, graph.Where(flat, like(b, 0), plus(b, -1))))
	}
	switch v := b.Num.Float64(b.DType); v {
	case 0:
		return nil
	case 1:
		return like(a, 1)
	case 2:
		return times(b, a)
	default:
		return times(b, graph.Binary(ir.Pow, a, like(a, v-1)))
	}
}

// partialMax is 1 for the operand that Max or Min returns, ½ for both where they
// are equal.
func partialMax(c *call, i int) *graph.Node {
	x, y := c.src[i], c.src[1-i]
	less, more := y, x
	if c.Op == ir.Min {
		less, more = x, y
	}
	equal := graph.Where(eq(x, y), like(x, 0.5), like(x, 0))
	return graph.Where(graph.Binary(ir.Lt, less, more), like(x, 1), equal)
}

// partialReduceMax is 1/n for each of n equal greatest elements.
func partialReduceMax(c *call, _ int) *graph.Node {
	x := c.src[0]
	greatest := graph.Cast(equalAsStored(x, graph.Expand(c.recomputeForCompare(), x.Shape)), x.DType)
	count := graph.Reduce(ir.Sum, greatest, c.Ints)
	return times(greatest, graph.Expand(reciprocal(count), x.Shape))
}

// recomputeForCompare returns the node that is compared with c's operands to find the equal
// ones. It is c itself, except for 16-bit floats: kernels compute them in float32 and
// round when they store, so a gradient that computes an operand again can have other digits
// than the forward pass. For them it is a second node like c, whose operands the plan stores
// because they are its CoOutputs.
func (c *call) recomputeForCompare() *graph.Node {
	if !c.DType.IsHalf() {
		return c.Node
	}
	n := graph.WithOperands(c.Node, c.src...)
	stored := new(graph.CoOutputs)
	for _, s := range c.src {
		if s.DType == c.DType {
			stored.Nodes = append(stored.Nodes, s)
		}
	}
	n.SetCoOutputs(stored)
	return n
}

// equalAsStored compares the elements of x and y in the digits that are stored.
func equalAsStored(x, y *graph.Node) *graph.Node { return eq(rounded(x), rounded(y)) }

// rounded is x with only the digits that are stored: rounded to nearest, ties to even. If the
// type of x is narrower than float32, the result is a float32.
func rounded(x *graph.Node) *graph.Node {
	var dropped int64 // bits of float32's fraction that the type lacks
	switch x.DType {
	case ir.Float16:
		dropped = 13
	case ir.BFloat16:
		dropped = 16
	default:
		return x
	}
	wide := graph.Cast(x, ir.Float32)
	number := func(v int64) *graph.Node { return graph.Const(ir.Uint32, ir.Int(ir.Uint32, v), x.Shape) }
	bits := graph.Bitcast(wide, ir.Uint32)
	odd := and(graph.Binary(ir.Shr, bits, number(dropped)), number(1))
	bits = add(bits, add(odd, number(1<<(dropped-1)-1)))
	y := graph.Bitcast(and(bits, number(1<<32-1<<dropped)), ir.Float32)
	if x.DType == ir.Float16 { // its smallest numbers are multiples of 2⁻²⁴, its greatest is 65504
		tiny := graph.Binary(ir.Lt, square(wide), like(wide, 0x1p-28))
		y = graph.Where(tiny, sub(plus(wide, 0.75), like(wide, 0.75)), y)
		huge := graph.Binary(ir.Lt, like(y, 65504*65504), square(y))
		y = graph.Where(huge, times(y, like(y, math.Inf(1))), y)
	}
	return graph.Where(eq(wide, wide), y, wide) // NaN stays so
}

// partialProd is the product of all other elements.
func partialProd(c *call, _ int) *graph.Node {
	x := c.src[0]
	var order, shape []int
	reduced := 1
	for a, axes := 0, c.Ints; a < len(x.Shape); a++ {
		if len(axes) > 0 && axes[0] == a {
			axes = axes[1:]
			continue
		}
		order, shape = append(order, a), append(shape, x.Shape[a])
	}
	order = append(order, c.Ints...)
	for _, a := range c.Ints {
		reduced *= x.Shape[a]
	}
	if reduced <= 1 {
		return like(x, 1)
	}
	rows := graph.Permute(x, order)
	y := exclusiveProd(graph.Reshape(rows, append(shape, reduced)))
	return graph.Permute(graph.Reshape(y, rows.Shape), inverse(order))
}

// exclusiveProd returns for each element of a row, along the last axis of x, the
// product of all other elements of the row. It does not divide, so that it and its
// derivatives are right for zeros. It pads the row with ones to a power of two, and multiplies
// its halves until one element is left. On the way back each half gets the product of all
// elements outside it: the product outside both halves, times the other half.
func exclusiveProd(x *graph.Node) *graph.Node {
	last := len(x.Shape) - 1
	length := x.Shape[last]
	size := 1
	for size < length {
		size *= 2
	}
	fill := make([]graph.Padding, len(x.Shape))
	fill[last].After = size - length
	row := graph.Pad(x, ir.Float(x.DType, 1), fill)
	type halves struct{ left, right *graph.Node }
	var folds []halves
	for n := size / 2; n > 0; n /= 2 {
		f := halves{graph.Slice(row, last, 0, n), graph.Slice(row, last, n, n)}
		folds = append(folds, f)
		if n > 1 {
			row = times(f.left, f.right)
		}
	}
	outside := like(graph.Slice(row, last, 0, 1), 1)
	for i := len(folds) - 1; i >= 0; i-- {
		outside = graph.Cat(last, []*graph.Node{times(outside, folds[i].right), times(outside, folds[i].left)})
	}
	return graph.Slice(outside, last, 0, length)
}

// partialScatter is the derivative of an element by the base's, or by an update to it.
func partialScatter(c *call, i int) *graph.Node {
	switch c.Kind {
	case ir.Add:
		return like(c.src[i], 1)
	case ir.Mul:
		return partialScatterMul(c, i)
	case ir.Copy:
		return partialScatterCopy(c, i)
	}
	// Max and Min: 1/n for each of n equal greatest or least elements.
	base, upd := c.src[0], c.src[2]
	extreme := c.recomputeForCompare()
	fromBase := graph.Cast(equalAsStored(base, extreme), base.DType)
	fromUpd := graph.Cast(equalAsStored(upd, c.gather(extreme)), base.DType)
	share := reciprocal(c.scatter(ir.Add, fromBase, fromUpd))
	if i == 0 {
		return times(fromBase, share)
	}
	return times(fromUpd, c.gather(share))
}

// partialScatterCopy is 1 by an element that stays, and by the last update to an element.
func partialScatterCopy(c *call, i int) *graph.Node {
	base, upd, axis := c.src[0], c.src[2], c.Ints[0]
	if i == 0 {
		return c.scatter(ir.Copy, like(base, 1), like(upd, 0))
	}
	if upd.Shape[axis] == 1 {
		return like(upd, 1)
	}
	own := graph.Iota(upd.Shape, axis)
	last := c.scatter(ir.Copy, graph.Const(own.DType, 0, base.Shape), own)
	return graph.Cast(eq(c.gather(last), own), upd.DType)
}

// partialScatterMul is the product of the other factors of the same element. Dividing the
// product of all factors by one would fail for zeros, so rest is without zeros, and part
// stands for the zeros among the other factors: 1 without any, 0 if there are several. A
// single zero is computed as the sum of all zeros minus this factor, so that its derivative is
// 1 and second derivatives are right.
func partialScatterMul(c *call, i int) *graph.Node {
	base, upd := c.src[0], c.src[2]
	if i == 0 {
		return c.scatter(ir.Mul, like(base, 1), upd)
	}
	zeroBase, zeroUpd := eq(base, like(base, 0)), eq(upd, like(upd, 0))
	ones := func(x *graph.Node) *graph.Node { return graph.Cast(x, base.DType) }
	only := func(zero, x *graph.Node) *graph.Node { return graph.Where(zero, x, like(x, 0)) }
	except := func(zero, x *graph.Node) *graph.Node { return graph.Where(zero, like(x, 1), x) }

	product := c.scatter(ir.Mul, except(zeroBase, base), except(zeroUpd, upd))
	count := c.scatter(ir.Add, ones(zeroBase), ones(zeroUpd))
	sum := c.scatter(ir.Add, only(zeroBase, base), only(zeroUpd, upd))

	rest := div(c.gather(product), except(zeroUpd, upd))
	others := sub(c.gather(count), ones(zeroUpd))
	zeros := sub(c.gather(sum), only(zeroUpd, upd))
	part := graph.Where(eq(others, like(upd, 0)), like(upd, 1),
		graph.Where(eq(others, like(upd, 1)), zeros, like(upd, 0)))
	return times(rest, part)
}
