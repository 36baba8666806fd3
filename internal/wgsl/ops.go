package wgsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// An expr gives an elementwise op as an expression of type to, of operands x
// of type from: names or literals. Where's first operand is a bool whatever
// from is.
type expr func(s *shader, to, from ir.DType, x []string) string

var exprs = [ir.Ops]expr{
	ir.Neg:     byClass{float: "-a", int: "-a", uint: "0u - a"}.expr,
	ir.Exp:     helper("exp_f32"),
	ir.Expm1:   helper("expm1_f32"),
	ir.Log:     helper("log_f32"),
	ir.Log1p:   helper("log1p_f32"),
	ir.Sin:     helper("sin_f32"),
	ir.Cos:     helper("cos_f32"),
	ir.Atan:    helper("atan_f32"),
	ir.Sqrt:    helper("sqrt_f32"),
	ir.Tanh:    helper("tanh_f32"),
	ir.Erf:     helper("erf_f32"),
	ir.Floor:   byClass{float: "floor(a)"}.expr,
	ir.Not:     byClass{bool: "!a", int: "~a", uint: "~a"}.expr,
	ir.Cast:    cast,
	ir.Bitcast: bits,

	ir.Add: byClass{float: "a + b", int: "a + b", uint: "a + b"}.expr,
	ir.Sub: byClass{float: "a - b", int: "a - b", uint: "a - b"}.expr,
	ir.Mul: byClass{float: "a * b", int: "a * b", uint: "a * b"}.expr,
	ir.Div: byClass{float: "div_f32(a, b)", int: "div_i32(a, b)", uint: "div_u32(a, b)"}.expr,
	ir.Rem: byClass{float: "rem_f32(a, b)", int: "rem_i32(a, b)", uint: "rem_u32(a, b)"}.expr,
	ir.Pow: byClass{float: "pow_f32(a, b)", int: "pow_i32(a, b)", uint: "pow_u32(a, b)"}.expr,
	ir.Max: byClass{float: "max_f32(a, b)", int: "max(a, b)", uint: "max(a, b)", bool: "a || b"}.expr,
	ir.Min: byClass{float: "min_f32(a, b)", int: "min(a, b)", uint: "min(a, b)", bool: "a && b"}.expr,
	ir.Eq:  byClass{float: "eq_f32(a, b)", int: "a == b", uint: "a == b", bool: "a == b"}.expr,
	ir.Lt:  byClass{float: "lt_f32(a, b)", int: "a < b", uint: "a < b", bool: "!a && b"}.expr,
	ir.And: byClass{int: "a & b", uint: "a & b", bool: "a && b"}.expr,
	ir.Or:  byClass{int: "a | b", uint: "a | b", bool: "a || b"}.expr,
	ir.Xor: byClass{int: "a ^ b", uint: "a ^ b", bool: "a != b"}.expr,
	ir.Shl: byClass{int: "shl_i32(a, b)", uint: "shl_u32(a, b)"}.expr,
	ir.Shr: byClass{int: "shr_i32(a, b)", uint: "shr_u32(a, b)"}.expr,
	ir.Where: func(s *shader, to, from ir.DType, x []string) string {
		return fmt.Sprintf("select(%s, %s, %s)", x[2], x[1], x[0])
	},
	ir.Threefry: helper("threefry"),
}

// helper is a call of the function of that name.
func helper(name string) expr {
	return func(s *shader, to, from ir.DType, x []string) string { return s.call(name, x...) }
}

// A byClass is an expression for each class of registers, of operands a and b.
type byClass struct{ float, int, uint, bool string }

// grows has the ops whose result may leave a uint8's range.
var grows = [ir.Ops]bool{ir.Neg: true, ir.Not: true, ir.Add: true, ir.Sub: true, ir.Mul: true, ir.Pow: true, ir.Shl: true}

func (c byClass) of(d ir.DType) string {
	switch storages[d].register {
	case "f32":
		return c.float
	case "i32":
		return c.int
	case "u32":
		return c.uint
	}
	return c.bool
}

func (c byClass) expr(s *shader, to, from ir.DType, x []string) string {
	pattern := c.of(from)
	if name, _, call := strings.Cut(pattern, "("); call && helpers[name] != "" {
		s.need(name)
	}
	var b strings.Builder
	for i, r := range pattern {
		alone := (i == 0 || !letter(pattern[i-1])) && (i+1 == len(pattern) || !letter(pattern[i+1]))
		switch {
		case r == 'a' && alone:
			b.WriteString(x[0])
		case r == 'b' && alone:
			b.WriteString(x[1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func letter(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }

// apply gives op as an expression, wrapped to the result's type.
func (s *shader) apply(op ir.Op, to, from ir.DType, x ...string) string {
	e := exprs[op](s, to, from, x)
	if to == ir.Uint8 && grows[op] {
		return "(" + e + ") & 0xffu"
	}
	return e
}

func cast(s *shader, to, from ir.DType, x []string) string {
	a := x[0]
	src, dst := storages[from].register, storages[to].register
	switch {
	case to == ir.Bool:
		switch src {
		case "bool":
			return a
		case "f32": // NaN is true
			return fmt.Sprintf("(bitcast<u32>(%s) & 0x7fffffffu) != 0u", a)
		}
		return fmt.Sprintf("%s != %s", a, map[string]string{"i32": "0i", "u32": "0u"}[src])
	case src == "bool" && dst == "f32":
		return fmt.Sprintf("select(%s, 1.0f, %s)", s.hidden(0), a)
	case src == "bool":
		return fmt.Sprintf("select(%s(0), %s(1), %s)", dst, dst, a)
	case src != "f32" && dst == "f32":
		return s.call("sealed", fmt.Sprintf("f32(%s)", a))
	case src == "f32" && dst != "f32":
		if to == ir.Uint8 {
			return s.call("u8_of", a)
		}
		return s.call(dst+"_of", a)
	case to == ir.Uint8 && from != ir.Uint8:
		return fmt.Sprintf("u32(%s) & 0xffu", a)
	case src != dst:
		return fmt.Sprintf("%s(%s)", dst, a)
	}
	return a
}

// bits is Bitcast, between types of equal size.
func bits(s *shader, to, from ir.DType, x []string) string {
	switch {
	case to == ir.Bool || from == ir.Bool:
		return cast(s, to, from, x)
	case storages[to].register == storages[from].register:
		return x[0]
	}
	return fmt.Sprintf("bitcast<%s>(%s)", storages[to].register, x[0])
}

// Compilers of shaders reckon as if numbers were real. To them (a + b) - a is
// b, whatever the sum rounded away; a - a is 0, even of an infinity; and so is
// 0 times anything, NaN included. So what one operation computes others read
// sealed, as bits that a compiler knows nothing of, and a zero is hidden where
// it may be a factor or its sign may count.

// chooses has the ops that give one of their operands as it is.
var chooses = [ir.Ops]bool{ir.Where: true, ir.Max: true, ir.Min: true}

// passes has the ops whose result may be a zero that they read, or depend on
// its sign.
var passes = [ir.Ops]bool{ir.Add: true, ir.Sub: true, ir.Mul: true, ir.Div: true, ir.Where: true}

// fuses reports whether the n-th operand of a sum is a product that may become
// one multiplication and addition with it: the other is a value by itself, which
// has nothing in common with the product.
func (s *shader) fuses(in *ir.Instr, n int) bool {
	if in.Op != ir.Add && in.Op != ir.Sub || s.k.Body[in.Src[n]].Op != ir.Mul {
		return false
	}
	other := in.Src[1-n]
	by := s.k.Body[other].Op
	return (by == ir.Load || by == ir.Const || by == ir.Scalar) && !slices.Contains(s.k.Body[in.Src[n]].Src, other)
}

// guarded is x, the n-th operand of an instruction, sealed or hidden if need
// be.
func (s *shader) guarded(in *ir.Instr, n int, x string) string {
	j := &s.k.Body[in.Src[n]]
	computed := j.Op.Class() == ir.Elementwise || j.Op.Class() == ir.Reduction
	again := n == 1 && in.Src[0] == in.Src[1] && (in.Op == ir.Sub || in.Op == ir.Div)
	switch {
	case !j.Type.IsFloat():
	case j.Op == ir.Const && passes[in.Op]:
		if j.Num.Float64(j.Type) == 0 {
			return s.opaque(j.Type, j.Num)
		}
	case chooses[in.Op], s.fuses(in, n):
	case computed && n == 0:
		return s.call("sealed", x)
	case computed || again: // not as the first, which compilers may find to be the same
		return s.call("sealed_too", x)
	}
	return x
}
