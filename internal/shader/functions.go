package shader

import (
	"sync"
	"weak"
)

// Function returns the named function, or nil. Functions of elementwise ops are named by
// the op and the type of registers, as exp_f32, casts of floats by the element type, as
// uint8_of_f32. Their results follow the design's section "Numbers", for all operands.
// Functions that these call are in the table too.
func Function(name string) *Func {
	if f := Functions()[name]; f != nil {
		return f()
	}
	return nil
}

// Functions has a constructor of each function.
var Functions = sync.OnceValue(func() map[string]func() *Func {
	l := library{}
	l.comparisons()
	l.exponentials()
	l.errorFunctions()
	l.log2()
	l.trigonometry()
	l.arithmetic()
	l.remainder(single)
	l.integers(I32, U32)
	l.integers(I64, U64)
	l.conversions(single, DTypes)
	l.halves()
	l.random()
	l.keys(single)
	l.firstMax(U32)
	l.firstMax(U64)
	l.wide()
	return l
})

// A library has a constructor of each function, by name.
type library map[string]func() *Func

// define adds a function of parameters of type t; body makes its statements and returns
// its result. The function lives as long as programs call it: all together they are
// thousands of values, which each of the collections that package exec forces would mark.
func (l library) define(name string, t Type, params []string, body func(b *Block, x []*Expr) *Expr) {
	var mu sync.Mutex
	var last weak.Pointer[Func]
	l[name] = func() *Func {
		mu.Lock()
		defer mu.Unlock()
		if f := last.Value(); f != nil {
			return f
		}
		f := &Func{Name: name, Body: &Block{}}
		var x []*Expr
		for _, p := range params {
			v := &Var{Name: p, Type: t}
			f.Params, x = append(f.Params, v), append(x, v.Ref())
		}
		result := body(f.Body, x)
		f.Body.Return(result)
		f.Result = result.Type
		last = weak.Make(f)
		return f
	}
}

var x, ab = []string{"x"}, []string{"a", "b"} // names of parameters

// unary adds a function of x.
func (l library) unary(name string, t Type, body func(b *Block, x *Expr) *Expr) {
	l.define(name, t, x, func(b *Block, x []*Expr) *Expr { return body(b, x[0]) })
}

// binary adds a function of a and b.
func (l library) binary(name string, t Type, body func(s *Block, a, b *Expr) *Expr) {
	l.define(name, t, ab, func(b *Block, x []*Expr) *Expr { return body(b, x[0], x[1]) })
}

func (l library) call(name string, args ...*Expr) *Expr { return l[name]().Call(args...) }

// returnIf ends a function with a result where a condition holds.
func (b *Block) returnIf(cond *Expr, result any, t Type) {
	b.If(cond, func(b *Block) { b.Return(operand(t, result)) })
}

// A format is how a float lies in bits: the sign, the exponent, the significand without its
// leading one.
type format struct {
	float, bits Type
	significand int // bits of it
}

var (
	single = format{F32, U32, 23}
	double = format{F64, U64, 52}
)

func (f format) width() int         { return 8 * f.float.Bytes() }
func (f format) signBit() uint64    { return 1 << (f.width() - 1) }
func (f format) leadingOne() uint64 { return 1 << f.significand }
func (f format) infinity() uint64   { return f.signBit() - f.leadingOne() }

// nan is a quiet NaN.
func (f format) nan() *Expr { return FromBits(f.float, f.infinity()+f.leadingOne()/2) }

// abs is the bits of a float's absolute value.
func (f format) abs(x *Expr) *Expr { return bits(x).And(FromBits(f.bits, f.signBit()-1)) }

// isNaN reports whether x is NaN.
func (l library) isNaN(x *Expr) *Expr {
	if x.Type == F64 {
		return x.Ne(x)
	}
	return l.call("is_nan", x)
}

// Bits of float32.
const (
	signBit    = 0x80000000
	magnitude  = 0x7fffffff // all but the sign
	infinity   = 0x7f800000
	minusInf   = 0xff800000
	leadingOne = 0x800000
)

var (
	inf = FromBits(F32, infinity)
	nan = single.nan()
)

func bits(x *Expr) *Expr { return x.Bitcast(x.Type.Unsigned()) }

// absBits is the bits of a float32's absolute value.
func absBits(x *Expr) *Expr { return single.abs(x) }

// choose is yes where cond holds, else no; one of them may be a Go number.
func choose(t Type, cond *Expr, yes, no any) *Expr { return cond.If(operand(t, yes), operand(t, no)) }

// poly is the polynomial c[0] + c[1]·x + ….
func poly(x *Expr, c ...float64) *Expr {
	p := Number(F32, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = MulAdd(x, p, Number(F32, c[i]))
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
		equal := bits(a).And(bits(b)).Bitcast(F32) // 0 for 0 and -0
		return l.call("is_nan", a).If(a, l.call("is_nan", b).If(b, a.Eq(b).If(equal, a.Max(b))))
	})
	l.binary("min_f32", F32, func(s *Block, a, b *Expr) *Expr {
		equal := bits(a).Or(bits(b)).Bitcast(F32) // -0 for 0 and -0
		return l.call("is_nan", a).If(a, l.call("is_nan", b).If(b, a.Eq(b).If(equal, a.Min(b))))
	})
}
