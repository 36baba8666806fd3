package shader

import (
	"fmt"
	"math"
	"strings"
)

// infix are the symbols of the ops that are printed between their operands.
var infix = [NumOps]string{
	Add: "+", Sub: "-", Mul: "*", Div: "/", Rem: "%", And: "&", Or: "|", Xor: "^", Shl: "<<", Shr: ">>",
	Eq: "==", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">=",
}

// String prints an expression for people: in error messages and tests.
func (x *Expr) String() string {
	args := make([]string, len(x.Args))
	for i, a := range x.Args {
		args[i] = a.String()
	}
	list := strings.Join(args, ", ")
	switch {
	case infix[x.Op] != "":
		return "(" + args[0] + " " + infix[x.Op] + " " + args[1] + ")"
	case x.Op == Const:
		return constant(x.Type.Scalar, x.Bits)
	case x.Op == Ref:
		return x.Var.Name
	case x.Op == Word:
		return x.Param.Name
	case x.Op == Group, x.Op == Thread:
		return strings.ToLower(x.Op.String())
	case x.Op == Component:
		return fmt.Sprintf("%s[%d]", args[0], x.Bits)
	case x.Op == Convert, x.Op == Bitcast, x.Op == Vector:
		return fmt.Sprintf("%v<%v>(%s)", x.Op, x.Type, list)
	case x.Op == Pack || x.Op == Unpack:
		return fmt.Sprintf("%v<%v>(%s)", x.Op, Type{Scalar(x.Bits), 1}, list)
	case x.Op == Shuffle:
		return fmt.Sprintf("%v(%s, %d)", x.Op, list, x.Bits)
	case x.Op == Call:
		return x.Func.Name + "(" + list + ")"
	case x.Op == LoadShared:
		return x.Shared.Name + "[" + list + "]"
	case x.Op == LoadAtomic:
		return x.Buffer.Name + "[" + list + "]"
	}
	return x.Op.String() + "(" + list + ")"
}

func constant(s Scalar, bits uint64) string {
	switch s {
	case boolean:
		return fmt.Sprint(bits != 0)
	case f32:
		return fmt.Sprint(math.Float32frombits(uint32(bits)))
	case f64:
		return fmt.Sprint(math.Float64frombits(bits))
	case i32:
		return fmt.Sprint(int32(bits))
	case i64:
		return fmt.Sprint(int64(bits))
	}
	return fmt.Sprint(bits)
}
