package build

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A rule gives an elementwise op of operands x, in registers of one type.
type rule func(x []*shader.Expr) *shader.Expr

// A byClass is an op's rule for each class of registers; double is F64.
type byClass struct{ float, double, int, uint, bool rule }

// rules has the ops that are expressions of the language. For other ops, and for
// classes that a row leaves out, there are functions: see ruleOf.
var rules = [ir.Ops]byClass{
	ir.Neg:   {float: negate, double: negate, int: negate, uint: func(x []*shader.Expr) *shader.Expr { return Number(x[0].Type, 0).Sub(x[0]) }},
	ir.Floor: {float: unary((*shader.Expr).Floor), double: unary((*shader.Expr).Floor)},
	ir.Sqrt:  {double: unary((*shader.Expr).Sqrt)},
	ir.Not:   same(unary((*shader.Expr).Not)),
	ir.Add:   same(binary((*shader.Expr).Add)),
	ir.Sub:   same(binary((*shader.Expr).Sub)),
	ir.Mul:   same(binary((*shader.Expr).Mul)),
	ir.Div:   {double: binary((*shader.Expr).Div)},
	ir.Max:   {int: binary((*shader.Expr).Max), uint: binary((*shader.Expr).Max), bool: binary((*shader.Expr).Or)},
	ir.Min:   {int: binary((*shader.Expr).Min), uint: binary((*shader.Expr).Min), bool: binary((*shader.Expr).And)},
	ir.Eq:    {double: binary((*shader.Expr).Eq), int: binary((*shader.Expr).Eq), uint: binary((*shader.Expr).Eq), bool: binary((*shader.Expr).Eq)},
	ir.Lt:    {double: binary((*shader.Expr).Lt), int: binary((*shader.Expr).Lt), uint: binary((*shader.Expr).Lt), bool: func(x []*shader.Expr) *shader.Expr { return x[0].Not().And(x[1]) }},
	ir.And:   same(binary((*shader.Expr).And)),
	ir.Or:    same(binary((*shader.Expr).Or)),
	ir.Xor:   {int: binary((*shader.Expr).Xor), uint: binary((*shader.Expr).Xor), bool: binary((*shader.Expr).Ne)},
	ir.Where: same(func(x []*shader.Expr) *shader.Expr { return x[0].If(x[1], x[2]) }),
}

func (c *byClass) of(t shader.Type) *rule {
	switch {
	case t == shader.F32:
		return &c.float
	case t == shader.F64:
		return &c.double
	case t.IsSigned():
		return &c.int
	case t.IsInt():
		return &c.uint
	}
	return &c.bool
}

func same(r rule) byClass { return byClass{r, r, r, r, r} }

var negate = unary((*shader.Expr).Neg)

func unary(f func(x *shader.Expr) *shader.Expr) rule {
	return func(x []*shader.Expr) *shader.Expr { return f(x[0]) }
}

func binary(f func(x *shader.Expr, y any) *shader.Expr) rule {
	return func(x []*shader.Expr) *shader.Expr { return f(x[0], x[1]) }
}

// ruleOf returns the rule of an op in registers of type t, the type of its last operand.
// The rule is in the row of the op or, if the row leaves the class out, it calls the
// function named after op and type, such as exp_f32. It is nil if there is neither.
func ruleOf(op ir.Op, t shader.Type) rule {
	if r := *rules[op].of(t); r != nil {
		return r
	}
	if f := shader.Function(functionName(op, t)); f != nil {
		return func(x []*shader.Expr) *shader.Expr { return f.Call(x...) }
	}
	return nil
}

func functionName(op ir.Op, t shader.Type) string {
	return strings.ToLower(op.String()) + "_" + t.String()
}

// widens has the ops whose result may leave the range of an integer type that is
// narrower than its registers.
var widens = [ir.Ops]bool{ir.Neg: true, ir.Not: true, ir.Add: true, ir.Sub: true, ir.Mul: true, ir.Div: true, ir.Pow: true, ir.Shl: true}

// Apply gives op on operands of type from, in registers, wrapped to the result's type.
// Where's first operand is a bool whatever from is.
func Apply(op ir.Op, to, from ir.DType, x ...*shader.Expr) *shader.Expr {
	switch op {
	case ir.Cast:
		return cast(to, from, x[0])
	case ir.Bitcast:
		return bitcast(to, from, x[0])
	}
	r := ruleOf(op, shader.Register(from))
	if r == nil {
		panic(fmt.Sprintf("schedule: no rule for %v of %v", op, from))
	}
	e := r(x)
	if widens[op] {
		return Wrap(to, e)
	}
	return e
}

// Wrap is x, in registers of type d, as the number of type d with its low bits.
func Wrap(d ir.DType, x *shader.Expr) *shader.Expr {
	bits := 8 * d.Size()
	switch {
	case !d.IsInt() || bits >= 32:
		return x
	case d.IsSigned():
		return x.Shl(32 - bits).Shr(32 - bits)
	}
	return x.And(1<<bits - 1)
}

func cast(to, from ir.DType, x *shader.Expr) *shader.Expr {
	src, dst := shader.Register(from), shader.Register(to)
	switch {
	case dst == shader.Bool && src == shader.F32: // NaN is true
		return x.Bitcast(shader.U32).And(0x7fffffff).Ne(0)
	case dst == shader.Bool && src != shader.Bool:
		return x.Ne(0)
	case src == shader.Bool && dst.IsFloat():
		return x.If(Number(dst, 1), opaqueConst(to, 0))
	case src == shader.Bool && dst != shader.Bool:
		return x.If(Number(dst, 1), Number(dst, 0))
	case !src.IsFloat() && dst.IsFloat():
		return x.Convert(dst).Launder(shader.FirstWay)
	case src.IsFloat() && !dst.IsFloat():
		return shader.Function(to.String() + "_of_" + src.String()).Call(x)
	}
	return Wrap(to, x.Convert(dst))
}

// bitcast is Bitcast, between types of equal size.
func bitcast(to, from ir.DType, x *shader.Expr) *shader.Expr {
	if to == ir.Bool || from == ir.Bool {
		return cast(to, from, x)
	}
	return Wrap(to, x.Bitcast(shader.Register(to)))
}

// emitterOf returns the function that computes an op in the scope that it belongs to,
// nil for ops that have no value there.
func emitterOf(op ir.Op) func(sc *Scope, i int) Value {
	switch op {
	case ir.Const:
		return (*Scope).constant
	case ir.Scalar:
		return (*Scope).scalar
	case ir.Index:
		return (*Scope).index
	case ir.InBounds:
		return (*Scope).inBounds
	case ir.Load:
		return (*Scope).load
	}
	if op.Class() == ir.Elementwise {
		return (*Scope).elementwise
	}
	return nil
}

func (sc *Scope) constant(i int) Value {
	in := &sc.Pass.Nest.Body[i]
	return sc.Define(i, Constant(in.Type, in.Num))
}

func (sc *Scope) scalar(i int) Value { return sc.Define(i, sc.Pass.number(sc.Pass.Nest.Body[i].Arg)) }

func (sc *Scope) index(i int) Value {
	c, _ := sc.coord(sc.Pass.Nest.Body[i].Axis)
	v := make(Value, len(c.at))
	for l, x := range c.at {
		v[l] = x.Convert(shader.I32)
	}
	return sc.Define(i, v...)
}

func (sc *Scope) elementwise(i int) Value {
	in := &sc.Pass.Nest.Body[i]
	x := make([]Value, len(in.Src))
	for n, j := range in.Src {
		x[n] = sc.Value(j)
	}
	v := make(Value, mostLanes(x...))
	from := sc.Pass.Nest.Body[in.Src[len(in.Src)-1]].Type
	for l := range v {
		operands := make([]*shader.Expr, len(x))
		for n := range x {
			operands[n] = sc.Pass.barrierOperand(in, n, x[n].Lane(l))
		}
		if in.Op == ir.Erfc && in.Kind == ir.Cast {
			v[l] = shader.Function("erfc_bf16").Call(operands...)
		} else {
			v[l] = Apply(in.Op, in.Type, from, operands...)
		}
		if ByWeight(in) && in.Domain&sc.Pass.Finite == 0 {
			v[l] = IfWeighs(x[0].Lane(l), v[l], opaqueConst(in.Type, 0))
		}
	}
	return sc.Define(i, v...)
}
