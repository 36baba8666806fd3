package simt

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// Sets of types of components.
var (
	unsignedTypes = []shader.Type{shader.U32, shader.U64}
	intTypes      = slices.Concat([]shader.Type{shader.I32, shader.I64}, unsignedTypes)
	floatTypes    = []shader.Type{shader.F32, shader.F64}
	f32Types      = []shader.Type{shader.F32}
	signedTypes   = slices.Concat([]shader.Type{shader.I32, shader.I64}, floatTypes)
	numberTypes   = slices.Concat(intTypes, floatTypes)
	valueTypes    = slices.Concat(numberTypes, []shader.Type{shader.Bool})
	logicalTypes  = slices.Concat(intTypes, []shader.Type{shader.Bool})
)

// operands are the types of components that the ops take that apply to
// components alike.
var operands = [shader.NumOps][]shader.Type{
	shader.Neg: signedTypes, shader.Not: logicalTypes, shader.Abs: signedTypes, shader.Floor: floatTypes,
	shader.Sqrt: floatTypes, shader.Exp: f32Types, shader.Exp2: f32Types, shader.Log: f32Types, shader.LeadingZeros: unsignedTypes, shader.RoundTF32: f32Types,
	shader.Add: numberTypes, shader.Sub: numberTypes, shader.Mul: numberTypes, shader.Div: numberTypes,
	shader.Rem: intTypes, shader.Min: numberTypes, shader.Max: numberTypes, shader.And: logicalTypes,
	shader.Or: logicalTypes, shader.Xor: intTypes, shader.Shl: intTypes, shader.Shr: intTypes,
	shader.Eq: valueTypes, shader.Ne: valueTypes, shader.Lt: numberTypes, shader.Le: numberTypes,
	shader.Gt: numberTypes, shader.Ge: numberTypes, shader.Fma: floatTypes, shader.DotInt8: {shader.I32, shader.U32}, shader.Bitcast: numberTypes,
	shader.Launder: numberTypes, shader.Shuffle: numberTypes,
}

// in reports whether t's components are of a set.
func in(t shader.Type, set []shader.Type) bool { return slices.Contains(set, t.Elem()) }

// expr checks an expression: its operands, their types and its own.
func (v *verifier) expr(x *shader.Expr) {
	for _, a := range x.Args {
		v.expr(a)
	}
	v.must(x.Op > 0 && x.Op < shader.NumOps, "op %d", x.Op)
	if n := x.Op.Arity(); n >= 0 {
		v.must(len(x.Args) == n, "%v has %d operands", x, len(x.Args))
	}
	if set := operands[x.Op]; set != nil {
		v.must(in(x.Args[0].Type, set), "%v of %v", x, x.Args[0].Type)
	}
	want := x.Type // the type that x should have
	switch x.Op {
	case shader.Const:
		v.must(in(x.Type, valueTypes), "a constant of %v", x.Type)
	case shader.Ref:
		v.visible(x.Var)
		want = x.Var.Type
	case shader.Word:
		v.must(v.pass != nil && slices.Contains(v.pass.Params, x.Param), "parameter %v is not the pass's", x)
		want = x.Param.Type
	case shader.Group, shader.Thread:
		v.must(v.pass != nil, "%v in a function", x)
		want = shader.U32
	case shader.Shl, shader.Shr:
		v.same(x, x.Args[1:], shader.U32.Vec(int(x.Type.Width)))
		want = x.Args[0].Type
	case shader.Select:
		v.must(x.Args[0].Type == shader.Bool, "%v: %v is no bool", x, x.Args[0])
		want = x.Args[1].Type
		v.same(x, x.Args[2:], want)
	case shader.Convert:
		v.convert(x)
	case shader.Bitcast:
		v.must(in(x.Type, numberTypes) && x.Args[0].Type.Width == x.Type.Width && x.Args[0].Type.Bytes() == x.Type.Bytes(), "%v of %v", x, x.Args[0].Type)
	case shader.Vector:
		v.vector(x)
	case shader.Component:
		v.must(x.Bits < uint64(x.Args[0].Type.Width), "component %d of %v", x.Bits, x.Args[0].Type)
		want = x.Args[0].Type.Elem()
	case shader.Launder:
		v.must(len(x.Args) <= 2, "%v", x)
		v.same(x, x.Args[1:], shader.U32)
		want = x.Args[0].Type
	case shader.Pack, shader.Unpack:
		half := shader.Scalar(x.Bits)
		v.must(half == shader.F16.Scalar || half == shader.BF16.Scalar, "%v", x)
		from := shader.F32
		if want = shader.U32; x.Op == shader.Unpack {
			from, want = want, from
		}
		v.same(x, x.Args, from)
	case shader.Shuffle:
		v.must(v.pass != nil && x.Bits < uint64(v.pass.Subgroup), "%v in subgroups of other threads", x)
		want = x.Args[0].Type
	case shader.Call:
		v.call(x)
		want = x.Func.Result
	case shader.LoadShared:
		v.shared(x.Shared, x.Args[0])
		want = x.Shared.Type
	case shader.LoadAtomic:
		v.access(x.Buffer, x.Args[0], 1, false)
		want = shader.Register(x.Buffer.Type)
		v.must(want == shader.I32, "%v of %v", x, x.Buffer.Type)
	default:
		want = x.Args[0].Type
		v.same(x, x.Args, want)
		if x.Op.IsTest() {
			want = shader.Bool.Vec(int(want.Width))
		}
	}
	v.must(x.Type == want, "%v is %v, not %v", x, want, x.Type)
}

// call checks the operands of a call.
func (v *verifier) call(x *shader.Expr) {
	v.function(x.Func)
	v.must(len(x.Args) == len(x.Func.Params), "%v has %d operands", x, len(x.Args))
	for i, p := range x.Func.Params {
		v.same(x, x.Args[i:i+1], p.Type)
	}
}

// vector checks the components of a vector.
func (v *verifier) vector(x *shader.Expr) {
	n := len(x.Args)
	v.must((x.Type.Width == 2 || x.Type.Width == 4) && (n == 1 || n == int(x.Type.Width)), "%v of %d components", x, n)
	v.must(in(x.Type, valueTypes), "%v", x)
	v.same(x, x.Args, x.Type.Elem())
}

// same checks that operands of x have a type.
func (v *verifier) same(x *shader.Expr, args []*shader.Expr, t shader.Type) {
	for _, a := range args {
		v.must(a.Type == t, "%v: %v is %v, not %v", x, a, a.Type, t)
	}
}

// convert checks a conversion: halves are made from and of f32 only.
func (v *verifier) convert(x *shader.Expr) {
	from, to := x.Args[0].Type, x.Type
	half := func(t shader.Type) bool { return t.Elem() == shader.F16 || t.Elem() == shader.BF16 }
	ok := in(from, valueTypes) && in(to, valueTypes) || half(from) && to.Elem() == shader.F32 || half(to) && from.Elem() == shader.F32
	v.must(ok && from.Width == to.Width, "%v of %v", x, from)
}
