package shader

import "slices"

// Sets of scalars.
var (
	ints    = []Scalar{i32, u32}
	numbers = []Scalar{i32, u32, f32}
	signed  = []Scalar{i32, f32}
	floats  = []Scalar{f32}
	values  = []Scalar{boolean, i32, u32, f32}
	logical = []Scalar{boolean, i32, u32}
)

// operands are the scalars whose components the ops take that apply to
// components alike.
var operands = [NumOps][]Scalar{
	Neg: signed, Not: logical, Abs: signed, Floor: floats, Sqrt: floats, Exp: floats, Log: floats, LeadingZeros: {u32},
	Add: numbers, Sub: numbers, Mul: numbers, Div: numbers, Rem: ints, Min: numbers, Max: numbers,
	And: logical, Or: logical, Xor: ints, Shl: ints, Shr: ints,
	Eq: values, Ne: values, Lt: numbers, Le: numbers, Gt: numbers, Ge: numbers,
	Fma: floats, Bitcast: numbers, Launder: numbers, Shuffle: numbers,
}

// in reports whether t's components are of a set.
func in(t Type, set []Scalar) bool { return slices.Contains(set, t.Scalar) }

// expr checks an expression: its operands, their types and its own.
func (v *verifier) expr(x *Expr) {
	for _, a := range x.Args {
		v.expr(a)
	}
	v.must(x.Op > 0 && x.Op < NumOps, "op %d", x.Op)
	if n := opInfo[x.Op].arity; n >= 0 {
		v.must(len(x.Args) == n, "%v has %d operands", x, len(x.Args))
	}
	if set := operands[x.Op]; set != nil {
		v.must(in(x.Args[0].Type, set), "%v of %v", x, x.Args[0].Type)
	}
	want := x.Type // the type that x should have
	switch x.Op {
	case Const:
		v.must(in(x.Type, values), "a constant of %v", x.Type)
	case Ref:
		v.visible(x.Var)
		want = x.Var.Type
	case Word:
		v.must(v.pass != nil && slices.Contains(v.pass.Params, x.Param), "parameter %v is not the pass's", x)
		want = x.Param.Type
	case Group, Thread:
		v.must(v.pass != nil, "%v in a function", x)
		want = U32
	case Shl, Shr:
		v.same(x, x.Args[1:], U32.Vec(int(x.Type.Width)))
		want = x.Args[0].Type
	case Select:
		v.must(x.Args[0].Type == Bool, "%v: %v is no bool", x, x.Args[0])
		want = x.Args[1].Type
		v.same(x, x.Args[2:], want)
	case Convert:
		v.convert(x)
	case Bitcast:
		v.must(in(x.Type, numbers) && x.Args[0].Type.Width == x.Type.Width, "%v of %v", x, x.Args[0].Type)
	case Vector:
		n := len(x.Args)
		v.must((x.Type.Width == 2 || x.Type.Width == 4) && (n == 1 || n == int(x.Type.Width)), "%v of %d components", x, n)
		v.must(in(x.Type, values), "%v", x)
		v.same(x, x.Args, x.Type.Elem())
	case Component:
		v.must(x.Bits < uint32(x.Args[0].Type.Width), "component %d of %v", x.Bits, x.Args[0].Type)
		want = x.Args[0].Type.Elem()
	case Launder:
		v.must(len(x.Args) <= 2, "%v", x)
		v.same(x, x.Args[1:], U32)
		want = x.Args[0].Type
	case Shuffle:
		v.must(v.pass != nil && x.Bits < uint32(v.pass.Subgroup), "%v in subgroups of other threads", x)
		want = x.Args[0].Type
	case Call:
		v.function(x.Func)
		v.must(len(x.Args) == len(x.Func.Params), "%v has %d operands", x, len(x.Args))
		for i, p := range x.Func.Params {
			v.same(x, x.Args[i:i+1], p.Type)
		}
		want = x.Func.Result
	case LoadShared:
		v.shared(x.Shared, x.Args[0])
		want = x.Shared.Type
	case LoadAtomic:
		v.access(x.Buffer, x.Args[0], 1, false)
		want = Register(x.Buffer.Type)
		v.must(want == I32, "%v of %v", x, x.Buffer.Type)
	default:
		want = x.Args[0].Type
		v.same(x, x.Args, want)
		if opInfo[x.Op].test {
			want = Bool.Vec(int(want.Width))
		}
	}
	v.must(x.Type == want, "%v is %v, not %v", x, want, x.Type)
}

// same checks that operands of x have a type.
func (v *verifier) same(x *Expr, args []*Expr, t Type) {
	for _, a := range args {
		v.must(a.Type == t, "%v: %v is %v, not %v", x, a, a.Type, t)
	}
}

// convert checks a conversion: halves are made from and of f32 only.
func (v *verifier) convert(x *Expr) {
	from, to := x.Args[0].Type, x.Type
	half := func(t Type) bool { return t.Scalar == f16 || t.Scalar == bf16 }
	ok := in(from, values) && in(to, values) || half(from) && to.Scalar == f32 || half(to) && from.Scalar == f32
	v.must(ok && from.Width == to.Width, "%v of %v", x, from)
}
