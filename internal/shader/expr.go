package shader

import (
	"fmt"
	"math"
	"slices"
)

// An Op is the operation of an expression.
type Op uint8

// The ops.
const (
	Const  Op = iota + 1 // Bits in every component
	Ref                  // the value of Var
	Word                 // the value of Param
	Group                // the number of the workgroup in the grid
	Thread               // the number of the thread in its workgroup

	Neg
	Not // of a bool, or of all bits
	Abs
	Floor
	Sqrt
	Exp
	Exp2
	Log
	LeadingZeros
	RoundTF32 // of an F32, to the nearest whose 13 lower bits do not count; NaN stays NaN

	Add
	Sub
	Mul
	Div
	Rem
	Min
	Max
	And
	Or
	Xor
	Shl
	Shr
	Eq
	Ne
	Lt
	Le
	Gt
	Ge

	Fma     // x·y + z, rounded once or twice; once if they are F64
	DotInt8 // z plus the products of the four bytes of x and of y, as int8, all I32; or all U32, and x has uint8
	Select  // y if bool x, else z; both are computed

	Convert   // to Type: the value, floats towards zero
	Bitcast   // to Type: the bits
	Vector    // of components, or of one in all places
	Component // number Bits of a vector
	Launder   // x, which no compiler may reason about: see FirstWay
	Pack      // x and y, both F32, as halves of Scalar Bits in a U32: x in the lower bits
	Unpack    // the half of Scalar Bits in the lower bits of a U32, as an F32
	Shuffle   // x of the thread of the subgroup whose number differs in the bits of Bits
	Call      // Func with arguments
	LoadShared
	LoadAtomic
	NumOps // how many there are, and one
)

// opInfo has names and types, for printers and checkers, of the ops that apply to
// components alike.
var opInfo = [NumOps]struct {
	name  string
	arity int
	test  bool // the result is a bool
}{
	Const: {name: "Const"}, Ref: {name: "Ref"}, Word: {name: "Word"}, Group: {name: "Group"}, Thread: {name: "Thread"},
	Neg: {name: "Neg", arity: 1}, Not: {name: "Not", arity: 1}, Abs: {name: "Abs", arity: 1}, Floor: {name: "Floor", arity: 1},
	Sqrt: {name: "Sqrt", arity: 1}, Exp: {name: "Exp", arity: 1}, Exp2: {name: "Exp2", arity: 1}, Log: {name: "Log", arity: 1}, LeadingZeros: {name: "LeadingZeros", arity: 1}, RoundTF32: {name: "RoundTF32", arity: 1},
	Add: {name: "Add", arity: 2}, Sub: {name: "Sub", arity: 2}, Mul: {name: "Mul", arity: 2}, Div: {name: "Div", arity: 2}, Rem: {name: "Rem", arity: 2},
	Min: {name: "Min", arity: 2}, Max: {name: "Max", arity: 2}, And: {name: "And", arity: 2}, Or: {name: "Or", arity: 2}, Xor: {name: "Xor", arity: 2},
	Shl: {name: "Shl", arity: 2}, Shr: {name: "Shr", arity: 2},
	Eq: {name: "Eq", arity: 2, test: true}, Ne: {name: "Ne", arity: 2, test: true}, Lt: {name: "Lt", arity: 2, test: true},
	Le: {name: "Le", arity: 2, test: true}, Gt: {name: "Gt", arity: 2, test: true}, Ge: {name: "Ge", arity: 2, test: true},
	Fma: {name: "Fma", arity: 3}, DotInt8: {name: "DotInt8", arity: 3}, Select: {name: "Select", arity: 3},
	Convert: {name: "Convert", arity: 1}, Bitcast: {name: "Bitcast", arity: 1}, Vector: {name: "Vector", arity: -1},
	Component: {name: "Component", arity: 1}, Launder: {name: "Launder", arity: -1},
	Pack: {name: "Pack", arity: 2}, Unpack: {name: "Unpack", arity: 1}, Shuffle: {name: "Shuffle", arity: 1},
	Call: {name: "Call", arity: -1}, LoadShared: {name: "LoadShared", arity: 1}, LoadAtomic: {name: "LoadAtomic", arity: 1},
}

func (o Op) String() string { return opInfo[o].name }

// Arity is the number of operands, -1 if it varies.
func (o Op) Arity() int { return opInfo[o].arity }

// IsTest reports whether the result is a bool.
func (o Op) IsTest() bool { return opInfo[o].test }

// An Expr is a value. Its operands are Args; the other fields are attributes
// of the ops that name them.
type Expr struct {
	Op     Op
	Type   Type
	Args   []*Expr
	Bits   uint64  // Const, Component, Pack, Unpack, Shuffle, Launder
	Var    *Var    // Ref
	Param  *Param  // Word
	Func   *Func   // Call
	Shared *Shared // LoadShared, at index Args[0]
	Buffer *Buffer // LoadAtomic, at index Args[0]
}

// Launder hides a value in one of two ways, so that compilers do not find two
// laundered operands of one operation to be the same.
const (
	FirstWay = iota
	SecondWay
)

// The numbers of the workgroup and of the thread.
var (
	GroupID  = &Expr{Op: Group, Type: U32}
	ThreadID = &Expr{Op: Thread, Type: U32}
)

// Number is a constant of a type, in every component.
func Number(t Type, x float64) *Expr { return FromBits(t, NumberBits(t, x)) }

// NumberBits has the bits of a number of a type.
func NumberBits(t Type, x float64) uint64 {
	switch {
	case t.Scalar == f32:
		return uint64(math.Float32bits(float32(x)))
	case t.Scalar == f64:
		return math.Float64bits(x)
	case t.Scalar == boolean && x != 0:
		return 1
	}
	return uint64(int64(x))
}

// FromBits is a constant of a type with the given bits, as many as it has, in every component.
func FromBits(t Type, bits uint64) *Expr {
	if !t.IsWide() {
		bits &= math.MaxUint32
	}
	return &Expr{Op: Const, Type: t, Bits: bits}
}

// IsConst reports whether x is a constant with the given bits.
func (x *Expr) IsConst(bits uint64) bool { return x.Op == Const && x.Bits == bits }

// operand makes an operand of type t of an expression or a Go number.
func operand(t Type, y any) *Expr {
	switch y := y.(type) {
	case *Expr:
		return y
	case int:
		if t.IsInt() {
			return FromBits(t, uint64(y))
		}
		return Number(t, float64(y))
	case float64:
		return Number(t, y)
	case bool:
		if y {
			return FromBits(Bool, 1)
		}
		return FromBits(Bool, 0)
	}
	panic(fmt.Sprintf("shader: operand of type %T", y))
}

// apply applies an op to components; operands that are Go numbers take the
// type of x.
func apply(op Op, x *Expr, more ...any) *Expr {
	e := &Expr{Op: op, Type: x.Type, Args: append(make([]*Expr, 0, 1+len(more)), x)}
	for _, y := range more {
		y := operand(x.Type, y)
		if y.Type != x.Type {
			panic(fmt.Sprintf("shader: %v of %v and %v", op, x.Type, y.Type))
		}
		e.Args = append(e.Args, y)
	}
	if opInfo[op].test {
		e.Type = Bool.Vec(int(x.Type.Width))
	}
	return e
}

// Operations on components. An operand is an *Expr of x's type or a Go number.

func (x *Expr) Neg() *Expr   { return apply(Neg, x) }
func (x *Expr) Not() *Expr   { return apply(Not, x) }
func (x *Expr) Abs() *Expr   { return apply(Abs, x) }
func (x *Expr) Floor() *Expr { return apply(Floor, x) }
func (x *Expr) Sqrt() *Expr  { return apply(Sqrt, x) }
func (x *Expr) Exp() *Expr   { return apply(Exp, x) }

// Exp2 is 2ˣ. It is 0 where that is subnormal or less, and defined for every x on targets with
// matrix instructions.
func (x *Expr) Exp2() *Expr { return apply(Exp2, x) }

func (x *Expr) Log() *Expr          { return apply(Log, x) }
func (x *Expr) LeadingZeros() *Expr { return apply(LeadingZeros, x) }
func (x *Expr) RoundTF32() *Expr    { return apply(RoundTF32, x) }
func (x *Expr) Add(y any) *Expr     { return apply(Add, x, y) }
func (x *Expr) Sub(y any) *Expr     { return apply(Sub, x, y) }
func (x *Expr) Mul(y any) *Expr     { return apply(Mul, x, y) }
func (x *Expr) Div(y any) *Expr     { return apply(Div, x, y) }
func (x *Expr) Rem(y any) *Expr     { return apply(Rem, x, y) }
func (x *Expr) Min(y any) *Expr     { return apply(Min, x, y) }
func (x *Expr) Max(y any) *Expr     { return apply(Max, x, y) }
func (x *Expr) And(y any) *Expr     { return apply(And, x, y) }
func (x *Expr) Or(y any) *Expr      { return apply(Or, x, y) }
func (x *Expr) Xor(y any) *Expr     { return apply(Xor, x, y) }
func (x *Expr) Shl(y any) *Expr     { return shift(Shl, x, y) }
func (x *Expr) Shr(y any) *Expr     { return shift(Shr, x, y) }
func (x *Expr) Eq(y any) *Expr      { return apply(Eq, x, y) }
func (x *Expr) Ne(y any) *Expr      { return apply(Ne, x, y) }
func (x *Expr) Lt(y any) *Expr      { return apply(Lt, x, y) }
func (x *Expr) Le(y any) *Expr      { return apply(Le, x, y) }
func (x *Expr) Gt(y any) *Expr      { return apply(Gt, x, y) }
func (x *Expr) Ge(y any) *Expr      { return apply(Ge, x, y) }

// shift shifts by a U32.
func shift(op Op, x *Expr, y any) *Expr {
	n := operand(U32.Vec(int(x.Type.Width)), y)
	return &Expr{Op: op, Type: x.Type, Args: []*Expr{x, n}}
}

// Plus is x + n; x itself if n is 0.
func (x *Expr) Plus(n int) *Expr {
	switch {
	case n == 0:
		return x
	case n < 0:
		return x.Sub(-n)
	}
	return x.Add(n)
}

// MulAdd is x·y + z, which may be rounded once.
func MulAdd(x, y, z *Expr) *Expr { return apply(Fma, x, y, z) }

// DotBytes is z plus the products of the bytes of x and y as int8, all I32. Where all are U32, the bytes of x are uint8.
func DotBytes(x, y, z *Expr) *Expr { return apply(DotInt8, x, y, z) }

// If is yes where the bool x holds, else no.
func (x *Expr) If(yes, no *Expr) *Expr {
	if x.Type != Bool || yes.Type != no.Type {
		panic(fmt.Sprintf("shader: Select of %v, %v and %v", x.Type, yes.Type, no.Type))
	}
	return &Expr{Op: Select, Type: yes.Type, Args: []*Expr{x, yes, no}}
}

// Convert is x's value in a type with as many components; x itself if it has
// that type.
func (x *Expr) Convert(t Type) *Expr { return cast(Convert, x, t) }

// Bitcast is x's bits in a type of the same size; x itself if it has that
// type.
func (x *Expr) Bitcast(t Type) *Expr { return cast(Bitcast, x, t) }

func cast(op Op, x *Expr, t Type) *Expr {
	switch {
	case x.Type.Width != t.Width:
		panic(fmt.Sprintf("shader: %v of %v to %v", op, x.Type, t))
	case x.Type == t:
		return x
	}
	return &Expr{Op: op, Type: t, Args: []*Expr{x}}
}

// Vec joins 2 or 4 components, or repeats the only one given n times.
func Vec(n int, x ...*Expr) *Expr {
	if len(x) != 1 && len(x) != n {
		panic(fmt.Sprintf("shader: %d components of a vector of %d", len(x), n))
	}
	return &Expr{Op: Vector, Type: x[0].Type.Vec(n), Args: slices.Clone(x)}
}

// At is component n of a vector.
func (x *Expr) At(n int) *Expr {
	return &Expr{Op: Component, Type: x.Type.Elem(), Args: []*Expr{x}, Bits: uint64(n)}
}

// Launder is x as a value that compilers know nothing about.
func (x *Expr) Launder(way uint64) *Expr {
	return &Expr{Op: Launder, Type: x.Type, Args: []*Expr{x}, Bits: way}
}

// LaunderAt is Launder, different for each value of the U32 at.
func (x *Expr) LaunderAt(at *Expr) *Expr {
	return &Expr{Op: Launder, Type: x.Type, Args: []*Expr{x, at}}
}

// PackHalves is x and y, both F32, rounded to the halves F16 or BF16, in a U32: x in its lower
// bits.
func PackHalves(half Type, x, y *Expr) *Expr {
	return &Expr{Op: Pack, Type: U32, Args: []*Expr{x, y}, Bits: uint64(half.Scalar)}
}

// UnpackHalf is the half F16 or BF16 in the lower bits of a U32, as an F32.
func (x *Expr) UnpackHalf(half Type) *Expr {
	return &Expr{Op: Unpack, Type: F32, Args: []*Expr{x}, Bits: uint64(half.Scalar)}
}

// Shuffle is x of the thread whose number in the subgroup differs in the bits
// of mask. All threads of the workgroup execute it together.
func (x *Expr) Shuffle(mask int) *Expr {
	return &Expr{Op: Shuffle, Type: x.Type, Args: []*Expr{x}, Bits: uint64(mask)}
}

// Call is the result of a function.
func (f *Func) Call(args ...*Expr) *Expr {
	if len(args) != len(f.Params) {
		panic(fmt.Sprintf("shader: %s of %d arguments", f.Name, len(args)))
	}
	for i, p := range f.Params {
		if args[i].Type != p.Type {
			panic(fmt.Sprintf("shader: argument %d of %s is %v", i, f.Name, args[i].Type))
		}
	}
	return &Expr{Op: Call, Type: f.Result, Args: slices.Clone(args), Func: f}
}
