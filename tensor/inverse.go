package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// The functions of this file and of special.go compute 16-bit floats in float32,
// because their constants are inexact in 16 bits.

// wide returns f of x, computed in float32 if x has 16 bits.
func wide(x *graph.Node, f func(*graph.Node) *graph.Node) Tensor {
	if d := x.DType; d.IsHalf() {
		return Tensor{n: graph.Cast(f(graph.Cast(x, ir.Float32)), d)}
	}
	return byType(x, f)
}

// wideBoth is wide for a function of two operands of one type.
func wideBoth(x, y *graph.Node, f func(x, y *graph.Node) *graph.Node) Tensor {
	d := x.DType
	if d.IsHalf() {
		x, y = graph.Cast(x, ir.Float32), graph.Cast(y, ir.Float32)
	}
	z := byTypes(func(src []*graph.Node) *graph.Node { return f(src[0], src[1]) }, x, y)
	return Tensor{n: graph.Cast(z.n, d)}
}

// derived returns y, a function of each element of x, with a formula of its own for the derivative,
// where the one by y's operations takes differences of great numbers or loses digits. It is for
// functions under [wide], which untyped constants call again in float64.
func derived(op string, x, y *graph.Node, partial func(x *graph.Node) *graph.Node) *graph.Node {
	if !x.Traced() {
		return y
	}
	along := func(args, _, vs []*graph.Node) []*graph.Node { return []*graph.Node{mul(vs[0], partial(args[0]))} }
	c := &graph.CustomCall{Args: []*graph.Node{x}, VJP: along, JVP: along, Function: op}
	return c.Results([]*graph.Node{y})[0]
}

// inversePower returns 1/xⁿ. Its derivative has no squares of xⁿ.
func inversePower(x *graph.Node, n int) *graph.Node {
	return derived("Pow", x, reciprocal(product(x, n)), func(x *graph.Node) *graph.Node {
		return scaled(product(reciprocal(x), n+1), float64(-n))
	})
}

// byType returns f of x, where f makes other nodes for float64 than for float32: see
// graph.ByType.
func byType(x *graph.Node, f func(*graph.Node) *graph.Node) Tensor {
	if x.IsTyped() {
		return Tensor{n: f(x)}
	}
	return byTypes(func(src []*graph.Node) *graph.Node { return f(src[0]) }, x)
}

func byTypes(f func(src []*graph.Node) *graph.Node, src ...*graph.Node) Tensor {
	return Tensor{n: graph.ByType(func(src []*graph.Node) []*graph.Node { return []*graph.Node{f(src)} }, src...)[0]}
}

// odd returns f(x) for x ≥ 0, and -f(-x) for negative x and for -0. At 0 the derivatives of any
// order are those from the right, which for an odd function equal those from the left.
func odd(x *graph.Node, f func(*graph.Node) *graph.Node) *graph.Node {
	below := signBit(x)
	y := f(graph.Where(below, neg(x), x))
	return graph.Where(below, neg(y), y)
}

// beyondSquares returns a number x for which x² is finite; 1 + x² rounds to x² there and beyond.
func beyondSquares(d DType) float64 {
	if d == ir.Float64 {
		return 1 << 30
	}
	return 1 << 14
}

// logFar returns log(2·x), where x is large.
func logFar(x *graph.Node, large *graph.Node) *graph.Node {
	return shifted(log(graph.Where(large, x, fill(x, 1))), math.Ln2)
}

// Asin returns the arc sine, in radians from -π/2 to π/2, and NaN outside [-1, 1]. It is
// accurate near 0, and the derivative at -1 and 1 is +Inf. Floats only.
func (t Tensor) Asin() Tensor {
	return wide(t.floats("Asin"), func(x *graph.Node) *graph.Node { return graph.Binary(ir.Atan2, x, cosine(x)) })
}

// Acos returns the arc cosine, in radians from 0 to π, and NaN outside [-1, 1]. It is
// accurate near 1, and the derivative at -1 and 1 is -Inf. Floats only.
func (t Tensor) Acos() Tensor {
	return wide(t.floats("Acos"), func(x *graph.Node) *graph.Node { return graph.Binary(ir.Atan2, cosine(x), x) })
}

// cosine returns √(1-x²), accurate near -1 and 1. A root of the product would have the
// derivative 0·Inf there.
func cosine(x *graph.Node) *graph.Node {
	return mul(graph.Unary(ir.Sqrt, shifted(neg(x), 1)), graph.Unary(ir.Sqrt, shifted(x, 1)))
}

// Asinh returns the inverse hyperbolic sine. It is accurate near 0 and does not
// overflow. Floats only.
func (t Tensor) Asinh() Tensor {
	return wide(t.floats("Asinh"), func(x *graph.Node) *graph.Node {
		y := odd(x, func(x *graph.Node) *graph.Node {
			large := lt(fill(x, beyondSquares(x.DType)), x)
			a := graph.Where(large, fill(x, 1), x)
			square := mul(a, a)
			near := add(a, div(square, shifted(graph.Unary(ir.Sqrt, shifted(square, 1)), 1)))
			return graph.Where(large, logFar(x, large), graph.Unary(ir.Log1p, near))
		})
		return derived("Asinh", x, y, func(x *graph.Node) *graph.Node { return reciprocal(hypot(x, fill(x, 1))) })
	})
}

// Acosh returns the inverse hyperbolic cosine, which is at least 0, and NaN below 1. It is accurate
// near 1, where the derivative is +Inf, and does not overflow. Floats only.
func (t Tensor) Acosh() Tensor {
	return wide(t.floats("Acosh"), func(x *graph.Node) *graph.Node {
		large := lt(fill(x, beyondSquares(x.DType)), x)
		u := shifted(graph.Where(large, fill(x, 2), x), -1)
		// Two square roots, which are NaN for both factors below 0.
		root := mul(graph.Unary(ir.Sqrt, u), graph.Unary(ir.Sqrt, shifted(u, 2)))
		return graph.Where(large, logFar(x, large), graph.Unary(ir.Log1p, add(u, root)))
	})
}

// Atanh returns the inverse hyperbolic tangent: ±Inf at ±1, NaN outside [-1, 1]. It is
// accurate near 0 and near ±1. Floats only.
func (t Tensor) Atanh() Tensor {
	return wide(t.floats("Atanh"), func(x *graph.Node) *graph.Node {
		return scaled(sub(graph.Unary(ir.Log1p, x), graph.Unary(ir.Log1p, neg(x))), 0.5)
	})
}

// Logit returns log(t/(1-t)), the inverse of [Tensor.Sigmoid]: -Inf at 0, Inf at 1, NaN
// outside [0, 1]. Floats only.
func (t Tensor) Logit() Tensor {
	return wide(t.floats("Logit"), func(x *graph.Node) *graph.Node {
		return sub(log(x), graph.Unary(ir.Log1p, neg(x)))
	})
}

// Log2 returns the logarithm to base 2, which is exact for powers of two. Floats only.
func (t Tensor) Log2() Tensor { return t.unary(ir.Log2) }

// Log10 returns the logarithm to base 10, which is exact for powers of ten. Floats only.
func (t Tensor) Log10() Tensor {
	return wide(t.floats("Log10"), func(x *graph.Node) *graph.Node {
		ulps := 0x1p-22 // two
		if x.DType == ir.Float64 {
			ulps = 0x1p-51
		}
		y := scaled(log(x), math.Log10E)
		whole := floor(shifted(y, 0.5))
		off, near := sub(whole, y), scaled(whole, ulps)
		y = graph.Where(lt(mul(off, off), mul(near, near)), whole, y)
		return derived("Log10", x, y, func(x *graph.Node) *graph.Node { return div(fill(x, math.Log10E), x) })
	})
}

// Hypot returns √(t²+o²), which overflows only where the result does. It is Inf where
// either is infinite. Its derivatives of all orders are 0 where both are 0, so that its square has
// no second derivative there: use the sum of squares. Floats only.
func (t Tensor) Hypot(o Operand) Tensor {
	x, y := floatOperands("Hypot", t, o)
	return wideBoth(x, y, hypot)
}

func hypot(x, y *graph.Node) *graph.Node {
	a, b := abs(x), abs(y)
	inf := fill(x, math.Inf(1))
	left, right := eq(a, inf), eq(b, inf)
	far, zero := graph.Binary(ir.Or, left, right), fill(x, 0)
	z := radius(graph.Where(far, zero, x), graph.Where(far, zero, y))
	return graph.Where(left, a, graph.Where(right, b, z))
}

// radius is hypot of finite numbers. Its derivatives are x and y over it, computed as in euclidean.
func radius(x, y *graph.Node) *graph.Node {
	scales := func(x, y *graph.Node) (down, up *graph.Node) {
		return squareScale(graph.Binary(ir.Max, abs(x), abs(y)))
	}
	down, up := scales(x, y)
	left, right := mul(x, down), mul(y, down)
	z := mul(up, root(add(mul(left, left), mul(right, right))))
	if !x.Traced() && !y.Traced() {
		return z
	}
	partials := func(args, outs []*graph.Node) (byX, byY *graph.Node) {
		down, _ := scales(args[0], args[1])
		inverse := inverseOf(mul(outs[0], down))
		return mul(mul(args[0], down), inverse), mul(mul(args[1], down), inverse)
	}
	c := &graph.CustomCall{Args: []*graph.Node{x, y}, Function: "Hypot"}
	c.VJP = func(args, outs, cts []*graph.Node) []*graph.Node {
		byX, byY := partials(args, outs)
		return []*graph.Node{mul(cts[0], byX), mul(cts[0], byY)}
	}
	c.JVP = func(args, outs, vs []*graph.Node) []*graph.Node {
		byX, byY := partials(args, outs)
		switch {
		case vs[1] == nil:
			return []*graph.Node{mul(vs[0], byX)}
		case vs[0] == nil:
			return []*graph.Node{mul(vs[1], byY)}
		}
		return []*graph.Node{add(mul(vs[0], byX), mul(vs[1], byY))}
	}
	return c.Results([]*graph.Node{z})[0]
}

// LogAddExp returns log(eᵗ + eᵒ). It does not overflow. Where both are the same infinity,
// t has the derivative. Floats only.
func (t Tensor) LogAddExp(o Operand) Tensor {
	x, y := floatOperands("LogAddExp", t, o)
	return Tensor{n: logAddExp(x, y)}
}

func logAddExp(x, y *graph.Node) *graph.Node {
	swapped := lt(x, y)
	high, low := graph.Where(swapped, y, x), graph.Where(swapped, x, y)
	equal := graph.Binary(ir.And, eq(x, y), infinite(x)) // Inf - Inf would be NaN
	d := graph.Where(equal, fill(x, math.Inf(-1)), sub(low, high))
	return add(high, graph.Unary(ir.Log1p, exp(d)))
}

// floatOperands is exactOperands for functions of floating-point types.
func floatOperands(op string, t Tensor, o Operand) (x, y *graph.Node) {
	x, y = exactOperands(op, t, o)
	if !x.DType.IsFloat() {
		failType(op, x, y)
	}
	return x, y
}
