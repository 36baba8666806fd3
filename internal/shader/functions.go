package shader

import "sync"

// Function returns the named function, nil if there is none. Those of elementwise
// ops are named by the op and the type of registers, as exp_f32, casts of floats by
// the element type, as uint8_of. Their results are those that the design's section
// "Numbers" gives, for all operands. Functions that these call are in the table too.
func Function(name string) *Func { return Functions()[name] }

// Functions is the table of functions, made when it is first used.
var Functions = sync.OnceValue(func() map[string]*Func {
	l := library{}
	l.comparisons()
	l.exponentials()
	l.trigonometry()
	l.arithmetic()
	l.integers()
	l.conversions()
	l.keys()
	return l
})

// A library is functions by name. A function is defined after those it calls.
type library map[string]*Func

// define adds a function of parameters; body makes its statements and returns
// its result.
func (l library) define(name string, params []*Var, body func(b *Block, x []*Expr) *Expr) {
	f := &Func{Name: name, Params: params, Body: &Block{}}
	x := make([]*Expr, len(params))
	for i, p := range params {
		x[i] = p.Ref()
	}
	result := body(f.Body, x)
	f.Body.Return(result)
	f.Result = result.Type
	l[name] = f
}

// unary adds a function of x.
func (l library) unary(name string, t Type, body func(b *Block, x *Expr) *Expr) {
	l.define(name, []*Var{{Name: "x", Type: t}}, func(b *Block, x []*Expr) *Expr { return body(b, x[0]) })
}

// binary adds a function of a and b.
func (l library) binary(name string, t Type, body func(s *Block, a, b *Expr) *Expr) {
	l.define(name, []*Var{{Name: "a", Type: t}, {Name: "b", Type: t}}, func(b *Block, x []*Expr) *Expr { return body(b, x[0], x[1]) })
}

func (l library) call(name string, args ...*Expr) *Expr { return l[name].Call(args...) }

// returnIf ends a function with a result where a condition holds.
func (b *Block) returnIf(cond *Expr, result any, t Type) {
	b.If(cond, func(b *Block) { b.Return(operand(t, result)) })
}

// Bits of float32.
const (
	signBit     = 0x80000000
	magnitude   = 0x7fffffff // all but the sign
	infinity    = 0x7f800000
	minusInf    = 0xff800000
	quietNaN    = 0x7fc00000
	significand = 0x7fffff
	leadingOne  = 0x800000
)

var (
	inf = FromBits(F32, infinity)
	nan = FromBits(F32, quietNaN)
)

func bits(x *Expr) *Expr { return x.Bitcast(U32) }

// absBits is the bits of a float's absolute value.
func absBits(x *Expr) *Expr { return bits(x).And(magnitude) }

// choose is yes where cond holds, else no; one of them may be a Go number.
func choose(t Type, cond *Expr, yes, no any) *Expr { return cond.If(operand(t, yes), operand(t, no)) }

// poly is the polynomial of x with coefficients c, that of x⁰ first.
func poly(x *Expr, c ...float64) *Expr {
	p := Number(F32, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = Number(F32, c[i]).Add(x.Mul(p))
	}
	return p
}

func (l library) comparisons() {
	l.unary("is_nan", F32, func(s *Block, x *Expr) *Expr { return absBits(x).Gt(infinity) })
	l.unary("is_finite", F32, func(s *Block, x *Expr) *Expr { return absBits(x).Lt(infinity) })
	l.binary("ordered", F32, func(s *Block, a, b *Expr) *Expr { return absBits(a).Max(absBits(b)).Le(infinity) })
	l.binary("eq_f32", F32, func(s *Block, a, b *Expr) *Expr { return a.Eq(b).And(l.call("ordered", a, b)) })
	l.binary("lt_f32", F32, func(s *Block, a, b *Expr) *Expr { return a.Lt(b).And(l.call("ordered", a, b)) })
	l.binary("max_f32", F32, func(s *Block, a, b *Expr) *Expr {
		return l.call("is_nan", a).If(a, l.call("is_nan", b).If(b, a.Max(b)))
	})
	l.binary("min_f32", F32, func(s *Block, a, b *Expr) *Expr {
		return l.call("is_nan", a).If(a, l.call("is_nan", b).If(b, a.Min(b)))
	})
}
