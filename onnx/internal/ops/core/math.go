// Package core has the operators that are not layers of networks: arithmetic, reductions, shapes,
// selections, matrix products and constants. A table of each file lists its operators. Read math.go first.
package core

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// Math has the elementwise operators.
var Math = []op.Row{
	op.New("Abs", op.Unary(T.Abs)),
	op.New("Acos", op.Unary(T.Acos)),
	op.New("Acosh", op.Unary(T.Acosh)),
	op.New("Add", op.Binary(T.Add)),
	op.New("And", op.Binary(T.And)),
	op.New("Asin", op.Unary(T.Asin)),
	op.New("Asinh", op.Unary(T.Asinh)),
	op.New("Atan", op.Unary(T.Atan)),
	op.New("Atanh", op.Unary(T.Atanh)),
	op.New("BitShift", op.One(bitShift)),
	op.New("BitwiseAnd", op.Binary(T.And)),
	op.New("BitwiseNot", op.Unary(T.Not)),
	op.New("BitwiseOr", op.Binary(T.Or)),
	op.New("BitwiseXor", op.Binary(T.Xor)),
	op.New("Ceil", op.Unary(T.Ceil)),
	op.New("Clip", op.One(clip)),
	op.New("Cos", op.Unary(T.Cos)),
	op.New("Cosh", op.Unary(T.Cosh)),
	op.New("Div", op.Binary(T.Div)),
	op.New("Equal", equal),
	op.New("Erf", op.Unary(T.Erf)),
	op.New("Exp", op.Unary(T.Exp)),
	op.New("Floor", op.Unary(T.Floor)),
	op.New("Greater", op.Binary(T.Gt)),
	op.New("GreaterOrEqual", op.Binary(T.Ge)),
	op.New("IsInf", op.One(isInf)),
	op.New("IsNaN", op.Unary(T.IsNaN)),
	op.New("Less", op.Binary(T.Lt)),
	op.New("LessOrEqual", op.Binary(T.Le)),
	op.New("Log", op.Unary(T.Log)),
	op.New("Max", fold(T.Maximum)),
	op.New("Mean", op.One(mean)),
	op.New("Min", fold(T.Minimum)),
	op.New("Mod", op.One(mod)),
	op.New("Mul", op.Binary(T.Mul)),
	op.New("Neg", op.Unary(T.Neg)),
	op.New("Not", op.Unary(T.Not)),
	op.New("Or", op.Binary(T.Or)),
	op.New("Pow", op.One(pow)),
	op.New("Reciprocal", op.Unary(T.Reciprocal)),
	op.New("Round", op.Unary(T.Round)),
	op.New("Sign", op.Unary(T.Sign)),
	op.New("Sin", op.Unary(T.Sin)),
	op.New("Sinh", op.Unary(T.Sinh)),
	op.New("Sqrt", op.Unary(T.Sqrt)),
	op.New("Sub", op.Binary(T.Sub)),
	op.New("Sum", fold(T.Add)),
	op.New("Tan", op.Unary(T.Tan)),
	op.New("Tanh", op.Unary(T.Tanh)),
	op.New("Where", op.MoveOf(1, where)),
	op.New("Xor", op.Binary(T.Xor)),
}

// fold makes a Func that applies f to all inputs from the left.
func fold(f func(x T, y tensor.Operand) T) op.Func {
	return op.One(func(c *op.Call) T {
		y := c.Tensor(0)
		for i := 1; i < len(c.In); i++ {
			y = f(y, c.Tensor(i))
		}
		return y
	})
}

func mean(c *op.Call) T {
	return fold(T.Add)(c)[0].Tensor.Div(len(c.In))
}

func bitShift(c *op.Call) T {
	x, n := c.Tensor(0), c.Tensor(1)
	switch d := c.String("direction", ""); d {
	case "LEFT":
		return x.Shl(n)
	case "RIGHT":
		return x.Shr(n)
	default:
		c.Fail("direction is %q, want LEFT or RIGHT", d)
		return T{}
	}
}

// clip limits x; the limits were attributes before version 11. The lower one comes first. A limit may have an axis of
// length 1, which the result does not get.
func clip(c *op.Call) T {
	x := c.Tensor(0)
	limit := func(i int) T {
		if t := c.Tensor(i); t.Len() != 1 {
			return t
		}
		return c.Tensor(i).Reshape()
	}
	if c.Has(1) {
		x = x.Maximum(limit(1))
	} else if a := c.Attr("min"); a != nil {
		x = x.Maximum(float64(a.F))
	}
	if c.Has(2) {
		x = x.Minimum(limit(2))
	} else if a := c.Attr("max"); a != nil {
		x = x.Minimum(float64(a.F))
	}
	return x
}

// equal compares strings too.
func equal(c *op.Call) []op.Value {
	x, y := c.Value(0), c.Value(1)
	if x.Kind != op.StringKind {
		return op.Binary(T.Eq)(c)
	}
	pool := op.Pool{}
	return op.Binary(T.Eq)(&op.Call{In: []op.Value{pool.Codes(x), pool.Codes(y)}})
}

func isInf(c *op.Call) T {
	x := c.Tensor(0)
	y := x.IsInf()
	if !c.Bool("detect_negative", true) {
		y = y.And(x.Gt(0))
	}
	if !c.Bool("detect_positive", true) {
		y = y.And(x.Lt(0))
	}
	return y
}

// mod has the divisor's sign, a zero too, and with fmod the dividend's.
func mod(c *op.Call) T {
	x, y := c.Tensor(0), c.Tensor(1)
	if c.Bool("fmod", false) {
		return x.Rem(y)
	}
	r := x.Mod(y)
	if r.DType().IsFloat() {
		return tensor.Where(r.Eq(0), r.Copysign(y), r)
	}
	return r
}

// pow has the type of its base.
func pow(c *op.Call) T {
	x, y := c.Tensor(0), c.Aligned()
	d := x.DType()
	if d.IsFloat() {
		if c.In[1].IsKnown() && y.Len() == 1 && len(y.Shape()) <= len(x.Shape()) { // a formula of its own
			return x.Pow(c.Scalar(1))
		}
		return x.Pow(y.Cast(d))
	}
	if y.DType().IsFloat() {
		return x.Cast(tensor.Float64).Pow(y.Cast(tensor.Float64)).Cast(d)
	}
	return x.Pow(y.Cast(d))
}

func where(c *op.Call) T { return tensor.Where(c.Tensor(0), c.Tensor(1), c.Tensor(2)) }
