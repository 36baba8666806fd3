package tensor

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// unary applies op to t after checking t's type.
func (t Tensor) unary(op ir.Op) Tensor {
	x := t.node(op.String())
	if !ir.Table[op].Types.Has(x.DType) {
		failType(op.String(), x)
	}
	return Tensor{n: graph.Unary(op, x)}
}

// binary applies op to t and o, broadcast.
func (t Tensor) binary(name string, op ir.Op, o Operand) Tensor {
	of := operands
	if arithmetic[op] {
		of = exactOperands
	}
	x, y := of(name, t, o)
	if !ir.Table[op].Types.Has(x.DType) {
		failType(name, x, y)
	}
	return Tensor{n: graph.Binary(op, x, y)}
}

// arithmetic has the operations that round their result. A number operand is not rounded
// before; a comparison rounds it first, so that a tensor equals the number that it was made
// from.
var arithmetic = map[ir.Op]bool{ir.Add: true, ir.Sub: true, ir.Mul: true, ir.Div: true, ir.Rem: true, ir.Pow: true, ir.Atan2: true}

// floats returns t's node; it panics unless t has a floating-point type.
func (t Tensor) floats(op string) *graph.Node {
	x := t.node(op)
	if !x.DType.IsFloat() {
		failType(op, x)
	}
	return x
}

// numbers returns t's node; it panics if t has type Bool.
func (t Tensor) numbers(op string) *graph.Node {
	x := t.node(op)
	if x.DType == ir.Bool {
		failType(op, x)
	}
	return x
}

func failType(op string, xs ...*graph.Node) {
	operands := make([]any, len(xs))
	for i, x := range xs {
		operands[i] = x
	}
	fail(op, "not defined for "+xs[0].DType.String()+": Cast first", operands...)
}

// Neg returns -t. Unsigned integers wrap.
func (t Tensor) Neg() Tensor { return t.unary(ir.Neg) }

// Exp returns e to the power t. Floats only.
func (t Tensor) Exp() Tensor { return t.unary(ir.Exp) }

// Expm1 returns e to the power t, minus 1, accurate near 0. Floats only.
func (t Tensor) Expm1() Tensor { return t.unary(ir.Expm1) }

// Log returns the natural logarithm: -Inf at 0, NaN below. Floats only.
func (t Tensor) Log() Tensor { return t.unary(ir.Log) }

// Log1p returns the natural logarithm of 1 + t, accurate near 0. Floats only.
func (t Tensor) Log1p() Tensor { return t.unary(ir.Log1p) }

// Sqrt returns the square root, NaN below 0. Its derivative at 0 is +Inf.
// Floats only.
func (t Tensor) Sqrt() Tensor { return t.unary(ir.Sqrt) }

// Sin returns the sine of t radians. Floats only.
func (t Tensor) Sin() Tensor { return t.unary(ir.Sin) }

// Cos returns the cosine of t radians. Floats only.
func (t Tensor) Cos() Tensor { return t.unary(ir.Cos) }

// Atan returns the arc tangent, in radians. Floats only.
func (t Tensor) Atan() Tensor { return t.unary(ir.Atan) }

// Tanh returns the hyperbolic tangent. Floats only.
func (t Tensor) Tanh() Tensor { return t.unary(ir.Tanh) }

// Erf returns the error function 2/√π ∫₀ᵗ e^(-x²) dx. Floats only.
func (t Tensor) Erf() Tensor { return t.unary(ir.Erf) }

// Floor rounds down. Its derivative is 0. Floats only.
func (t Tensor) Floor() Tensor { return t.unary(ir.Floor) }

// Not returns the logical complement of bools, the bitwise one of integers.
func (t Tensor) Not() Tensor { return t.unary(ir.Not) }

// Abs returns the absolute value. Its derivatives of all orders at 0 are 0. The lowest signed integer,
// whose absolute value the type lacks, stays as it is.
func (t Tensor) Abs() Tensor {
	x := t.numbers("Abs")
	if x.DType.IsFloat() || x.DType.IsSigned() {
		x = abs(x)
	}
	return Tensor{n: x}
}

// Sign returns 1 above 0, -1 below, 0 at 0 and NaN at NaN. Its derivative is
// 0.
func (t Tensor) Sign() Tensor {
	x := t.numbers("Sign")
	above := graph.Cast(positive(x), x.DType)
	below := graph.Cast(lt(x, fill(x, 0)), x.DType)
	s := sub(above, below)
	if x.DType.IsFloat() {
		s = graph.Where(eq(x, x), s, fill(x, math.NaN())) // not x, whose derivative is 1
	}
	return Tensor{n: s}
}

// Exp2 returns 2 to the power t. Floats only.
func (t Tensor) Exp2() Tensor {
	x := t.floats("Exp2")
	return Tensor{n: graph.Binary(ir.Pow, fill(x, 2), x)}
}

// Rsqrt returns 1/√t. Floats only.
func (t Tensor) Rsqrt() Tensor {
	return Tensor{n: reciprocal(graph.Unary(ir.Sqrt, t.floats("Rsqrt")))}
}

// Square returns t·t.
func (t Tensor) Square() Tensor {
	x := t.numbers("Square")
	return Tensor{n: mul(x, x)}
}

// Reciprocal returns 1/t. Floats only.
func (t Tensor) Reciprocal() Tensor { return Tensor{n: reciprocal(t.floats("Reciprocal"))} }

func reciprocal(x *graph.Node) *graph.Node { return div(fill(x, 1), x) }

// Tan returns the tangent of t radians. Floats only.
func (t Tensor) Tan() Tensor {
	x := t.floats("Tan")
	return Tensor{n: div(graph.Unary(ir.Sin, x), graph.Unary(ir.Cos, x))}
}

// Sinh returns the hyperbolic sine, accurate near 0. Floats only.
func (t Tensor) Sinh() Tensor { return wide(t.floats("Sinh"), sinh) }

func sinh(x *graph.Node) *graph.Node {
	up, down, scale := halfPowers(x)
	y := mul(sub(graph.Unary(ir.Expm1, up), graph.Unary(ir.Expm1, down)), scale)
	return derived("Sinh", x, y, cosh)
}

// Cosh returns the hyperbolic cosine. Floats only.
func (t Tensor) Cosh() Tensor { return wide(t.floats("Cosh"), cosh) }

func cosh(x *graph.Node) *graph.Node {
	up, down, scale := halfPowers(x)
	return derived("Cosh", x, mul(add(exp(up), exp(down)), scale), sinh)
}

// halfPowers returns exponents and a factor with e^x/2 = scale·e^up and
// e^-x/2 = scale·e^down: x, -x and ½. Near the limit, where e^|x| may overflow though
// its half does not, both exponents are less by 1 and scale is e/2. That is exact for
// the positive exponent; the power of the negative one is negligible.
func halfPowers(x *graph.Node) (up, down, scale *graph.Node) {
	large := lt(fill(x, 80), abs(x))
	less := graph.Where(large, fill(x, 1), fill(x, 0))
	return sub(x, less), sub(neg(x), less), graph.Where(large, fill(x, math.E/2), fill(x, 0.5))
}

// Ceil rounds up. Its derivative is 0. Floats only.
func (t Tensor) Ceil() Tensor { return Tensor{n: neg(floor(neg(t.floats("Ceil"))))} }

// Trunc rounds towards 0. Its derivative is 0. Floats only.
func (t Tensor) Trunc() Tensor {
	x := t.floats("Trunc")
	return Tensor{n: graph.Where(lt(x, fill(x, 0)), neg(floor(neg(x))), floor(x))}
}

// Round rounds to the nearest integer, halves to the even one. Its derivative
// is 0. Floats only.
func (t Tensor) Round() Tensor {
	x := t.floats("Round")
	down := floor(x)
	up := neg(shifted(neg(down), -1)) // down + 1, but -1 + 1 is -0
	rest := sub(x, down)
	half := fill(x, 0.5)
	even := scaled(floor(scaled(up, 0.5)), 2) // down or up, whichever is even
	return Tensor{n: graph.Where(lt(half, rest), up, graph.Where(eq(rest, half), even, down))}
}

// IsNaN returns bools: whether each element is NaN.
func (t Tensor) IsNaN() Tensor {
	x := t.node("IsNaN")
	return Tensor{n: not(eq(x, x))}
}

// IsInf returns bools: whether each element is infinite, of either sign.
func (t Tensor) IsInf() Tensor {
	x := t.node("IsInf")
	if !x.DType.IsFloat() {
		return Tensor{n: graph.Fill(ir.Bool, 0, x.Shape)}
	}
	return Tensor{n: infinite(x)}
}

// Add returns t + o.
func (t Tensor) Add(o Operand) Tensor { return t.binary("Add", ir.Add, o) }

// Sub returns t - o.
func (t Tensor) Sub(o Operand) Tensor { return t.binary("Sub", ir.Sub, o) }

// Mul returns t·o, element by element; see [Tensor.MatMul] for matrices.
func (t Tensor) Mul(o Operand) Tensor { return t.binary("Mul", ir.Mul, o) }

// Div returns t/o. Integers are truncated towards 0; divided by 0 they give 0.
func (t Tensor) Div(o Operand) Tensor { return t.binary("Div", ir.Div, o) }

// Rem returns the remainder of t/o truncated towards 0, which has the sign of t. The
// remainder of integers divided by 0 is 0.
func (t Tensor) Rem(o Operand) Tensor { return t.binary("Rem", ir.Rem, o) }

// Maximum returns the greater of t and o, NaN if either is. Ties share the
// derivative equally.
func (t Tensor) Maximum(o Operand) Tensor { return t.binary("Maximum", ir.Max, o) }

// Minimum returns the lesser of t and o, NaN if either is. Ties share the
// derivative equally.
func (t Tensor) Minimum(o Operand) Tensor { return t.binary("Minimum", ir.Min, o) }

// And returns the logical and of bools, the bitwise one of integers.
func (t Tensor) And(o Operand) Tensor { return t.binary("And", ir.And, o) }

// Or returns the logical or of bools, the bitwise one of integers.
func (t Tensor) Or(o Operand) Tensor { return t.binary("Or", ir.Or, o) }

// Xor returns the exclusive or of bools, bitwise of integers.
func (t Tensor) Xor(o Operand) Tensor { return t.binary("Xor", ir.Xor, o) }

// Shl returns t shifted left by o bits: 0 if o is the width or more. Integers
// only.
func (t Tensor) Shl(o Operand) Tensor { return t.binary("Shl", ir.Shl, o) }

// Shr returns t shifted right by o bits, extending the sign: if o is the width or more,
// 0, or -1 for a negative number. Integers only.
func (t Tensor) Shr(o Operand) Tensor { return t.binary("Shr", ir.Shr, o) }

// Eq returns bools: t = o. NaN equals nothing.
func (t Tensor) Eq(o Operand) Tensor { return t.binary("Eq", ir.Eq, o) }

// Ne returns bools: t ≠ o, true for NaN.
func (t Tensor) Ne(o Operand) Tensor {
	x, y := operands("Ne", t, o)
	return Tensor{n: not(eq(x, y))}
}

// Lt returns bools: t < o. False is less than true.
func (t Tensor) Lt(o Operand) Tensor { return t.binary("Lt", ir.Lt, o) }

// Le returns bools: t ≤ o.
func (t Tensor) Le(o Operand) Tensor {
	x, y := operands("Le", t, o)
	return Tensor{n: atMost(x, y)}
}

// Gt returns bools: t > o.
func (t Tensor) Gt(o Operand) Tensor {
	x, y := operands("Gt", t, o)
	return Tensor{n: lt(y, x)}
}

// Ge returns bools: t ≥ o.
func (t Tensor) Ge(o Operand) Tensor {
	x, y := operands("Ge", t, o)
	return Tensor{n: atMost(y, x)}
}

// atMost returns x ≤ y, which is not the complement of y < x if either is NaN.
func atMost(x, y *graph.Node) *graph.Node {
	if x.DType.IsFloat() {
		return graph.Binary(ir.Or, lt(x, y), eq(x, y))
	}
	return not(lt(y, x))
}

// Pow returns t to the power o. If the exponent is a Go number it selects a formula (2
// is a product, 0.5 a square root, -1 a reciprocal), so each value compiles its own
// program, and the derivative computes no logarithm. The derivative with respect to an
// exponent in a tensor is 0 where t is 0 and o ≥ 0.
func (t Tensor) Pow(o Operand) Tensor {
	if u, ok := o.(Tensor); ok {
		return t.binary("Pow", ir.Pow, u)
	}
	x := t.numbers("Pow")
	numberOf("Pow", x, o) // checks
	return wide(x, func(x *graph.Node) *graph.Node { return power(x, numberOf("Pow", x, o)) })
}

// Atan2 returns the angle, in radians from -π to π, between the positive x axis and the
// point whose coordinates are x and, as y, t. At zeros and infinities it is C's atan2: it
// depends on the signs of zeros, and is 0 or ±π at the origin, where the derivatives are
// NaN. Where t or x is infinite, they are 0. Floats only.
func (t Tensor) Atan2(x Operand) Tensor { return t.binary("Atan2", ir.Atan2, x) }

// power returns x to the constant power num.
func power(x *graph.Node, num ir.Number) *graph.Node {
	p := num.Float64(x.DType)
	switch {
	case p == 0:
		return fill(x, 1)
	case p == math.Trunc(p) && 0 < p && p <= 8:
		return product(x, int(p))
	case !x.DType.IsFloat():
	case p == math.Trunc(p) && -8 <= p && p < 0:
		return inversePower(x, int(-p))
	case p == 0.5:
		return graph.Unary(ir.Sqrt, x)
	case p == -0.5:
		return reciprocal(graph.Unary(ir.Sqrt, x))
	}
	return graph.Binary(ir.Pow, x, graph.Const(x.DType, num, x.Shape))
}

// product returns the product of n factors x.
func product(x *graph.Node, n int) *graph.Node {
	if n == 1 {
		return x
	}
	half := product(x, n/2)
	square := mul(half, half)
	if n%2 == 1 {
		return mul(square, x)
	}
	return square
}

// Clamp returns t limited to the range from lo to hi; hi where lo > hi. The derivative
// by t is 1 in the range, both ends included, and 0 outside. A number that is NaN is an error;
// NaN in a tensor limits nothing.
func (t Tensor) Clamp(lo, hi Operand) Tensor {
	x, low := operands("Clamp", t, lo)
	if x.DType == ir.Bool {
		failType("Clamp", x)
	}
	for _, end := range []Operand{lo, hi} {
		if v, status := number(ir.Float64, end); status == fits && math.IsNaN(v.Float64(ir.Float64)) {
			fail("Clamp", "an end of the range is NaN", x)
		}
	}
	x, high := operands("Clamp", Tensor{n: graph.Where(lt(x, low), low, x)}, hi)
	return Tensor{n: graph.Where(lt(high, x), high, x)}
}

// Where returns a where cond, a tensor of bools, is true, and b elsewhere. The
// three are broadcast. If a and b are both numbers, the result is an untyped constant of
// float32, or of bool if both are bools.
func Where(cond Tensor, a, b Operand) Tensor {
	c := cond.node("Where")
	if c.DType != ir.Bool {
		fail("Where", "the condition must be of bools: compare it, as by Ne(0)", c)
	}
	x, y := branches(c, a, b)
	checkDevices("Where", c, x)
	checkDevices("Where", c, y)
	if !slices.Equal(c.Shape, x.Shape) {
		c, x = broadcast("Where", c, x)
		y = graph.BroadcastTo(y, x.Shape)
	}
	return Tensor{n: graph.Where(c, x, y)}
}

// branches returns a and b as nodes of one shape and type.
func branches(c *graph.Node, a, b Operand) (x, y *graph.Node) {
	if t, ok := a.(Tensor); ok {
		return operands("Where", t, b)
	}
	if t, ok := b.(Tensor); ok {
		y = t.node("Where")
		return numberLike("Where", y, a), y
	}
	d := ir.Float32
	_, first := a.(bool)
	_, second := b.(bool)
	if first && second {
		d = ir.Bool
	}
	model := graph.Fill(d, 0, c.Shape)
	return numberLike("Where", model, a).AsUntyped(), numberLike("Where", model, b).AsUntyped()
}
