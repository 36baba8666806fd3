package wgsl

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tensorken/tensorken/internal/shader"
)

// A level is the precedence of an expression in WGSL's grammar. An operand below the level
// that its operator asks for stands in parentheses.
type level uint8

const (
	lowest level = iota
	bitwise
	logical
	relation
	shift
	sum
	product
	unary
	primary
)

// An operator stands between two operands, or before one. On levels bitwise and
// logical the left operand may also be of the same op.
type operator struct {
	symbol      string
	level       level
	left, right level // of the operands
}

var operators = [shader.NumOps]operator{
	shader.Neg: {"-", unary, lowest, primary},
	shader.Not: {"~", unary, lowest, primary},
	shader.Add: {" + ", sum, sum, product},
	shader.Sub: {" - ", sum, sum, product},
	shader.Mul: {" * ", product, product, unary},
	shader.Div: {" / ", product, product, unary},
	shader.Rem: {" % ", product, product, unary},
	shader.And: {" & ", bitwise, unary, unary},
	shader.Or:  {" | ", bitwise, unary, unary},
	shader.Xor: {" ^ ", bitwise, unary, unary},
	shader.Shl: {" << ", shift, unary, unary},
	shader.Shr: {" >> ", shift, unary, unary},
	shader.Eq:  {" == ", relation, shift, shift},
	shader.Ne:  {" != ", relation, shift, shift},
	shader.Lt:  {" < ", relation, shift, shift},
	shader.Le:  {" <= ", relation, shift, shift},
	shader.Gt:  {" > ", relation, shift, shift},
	shader.Ge:  {" >= ", relation, shift, shift},
}

// operatorsOfBool replaces some of them between or before bools.
var operatorsOfBool = [shader.NumOps]operator{
	shader.Not: {"!", unary, lowest, primary},
	shader.And: {" && ", logical, relation, relation},
	shader.Or:  {" || ", logical, relation, relation},
}

func operatorOf(e *shader.Expr) *operator {
	if pairOpOf(e).name != "" {
		return &operators[0]
	}
	if e.Type == shader.Bool && operatorsOfBool[e.Op].symbol != "" {
		return &operatorsOfBool[e.Op]
	}
	return &operators[e.Op]
}

// builtins are the functions that ops call.
var builtins = [shader.NumOps]string{
	shader.Abs: "abs", shader.Floor: "floor", shader.Sqrt: "sqrt", shader.Exp: "exp", shader.Exp2: "exp2", shader.Log: "log",
	shader.LeadingZeros: "countLeadingZeros", shader.Min: "min", shader.Max: "max", shader.Fma: "fma",
}

func levelOf(e *shader.Expr) level {
	switch op := operatorOf(e); {
	case op.symbol != "":
		return op.level
	case pairOpOf(e).not:
		return unary
	case (e.Op == shader.Convert || e.Op == shader.Bitcast) && e.Type.IsWide() && e.Args[0].Type.IsWide():
		return levelOf(e.Args[0])
	case e.Op == shader.Launder && e.Type.IsWide():
		return sum
	case e.Op == shader.Const && e.Type.Width == 1 && int32(e.Bits) < 0 && (e.Type == shader.I32 || e.Type == shader.F32 && !opaque(uint32(e.Bits))):
		return unary
	case e.Op == shader.Launder && e.Type.IsInt() && e.Bits == shader.FirstWay:
		return bitwise
	case e.Op == shader.Launder && e.Type.IsInt():
		return sum
	}
	return primary
}

// expr prints an expression of a level at least.
func (p *printer) expr(e *shader.Expr, least level) {
	if levelOf(e) < least {
		p.add("(")
		p.bare(e)
		p.add(")")
		return
	}
	p.bare(e)
}

func (p *printer) bare(e *shader.Expr) {
	if op := operatorOf(e); op.symbol != "" {
		if len(e.Args) == 2 {
			left := e.Args[0]
			if left.Op == e.Op && op.level <= logical && left.Type == e.Type {
				p.bare(left)
			} else {
				p.expr(left, op.left)
			}
		}
		p.add(op.symbol)
		p.expr(e.Args[len(e.Args)-1], op.right)
		return
	}
	if op := pairOpOf(e); op.name != "" {
		p.callPair(op, e)
		return
	}
	if name := builtins[e.Op]; name != "" {
		p.call(name, e.Args...)
		return
	}
	switch e.Op {
	case shader.Const:
		p.constant(e)
	case shader.Ref:
		p.add(e.Var.Name)
	case shader.Word:
		p.add("_p.", e.Param.Name)
	case shader.Group:
		p.add("_group")
	case shader.Thread:
		p.add("_thread")
	case shader.Select:
		p.call("select", e.Args[2], e.Args[1], e.Args[0])
	case shader.DotInt8:
		p.dot(e)
	case shader.Convert:
		p.convert(e)
	case shader.Bitcast:
		if e.Type.IsWide() {
			p.bare(e.Args[0])
			return
		}
		p.call("bitcast<"+e.Type.String()+">", e.Args...)
	case shader.Unpack:
		p.unpackHalf(shader.Scalar(e.Bits), e.Args[0])
	case shader.Vector:
		args := e.Args
		if e.Type.IsWide() && len(args) == 1 {
			args = slices.Repeat(args, int(e.Type.Width))
		}
		p.call(typeName(e.Type), args...)
	case shader.Component:
		p.expr(e.Args[0], primary)
		p.add(component(e.Args[0].Type, e.Bits))
	case shader.Launder:
		p.launder(e)
	case shader.Shuffle:
		p.call("subgroupShuffleXor", e.Args[0], shader.FromBits(shader.U32, e.Bits))
	case shader.Call:
		p.function(e.Func)
		p.call(e.Func.Name, e.Args...)
	case shader.LoadShared:
		p.add(e.Shared.Name)
		p.index(e.Args[0])
	case shader.LoadAtomic:
		p.bindings[e.Buffer].atomic = true
		p.add("atomicLoad(&", e.Buffer.Name)
		p.index(e.Args[0])
		p.add(")")
	}
}

var components = [...]string{"x", "y", "z", "w"}

// component is the selector of a component of a vector.
func component(t shader.Type, n uint64) string {
	switch {
	case !t.IsWide():
		return "." + components[n]
	case t.Width == 4:
		return fmt.Sprintf("[%d]", n)
	}
	return [...]string{".xy", ".zw"}[n]
}

func (p *printer) call(name string, args ...*shader.Expr) {
	p.add(name, "(")
	for i, x := range args {
		if i > 0 {
			p.add(", ")
		}
		p.expr(x, lowest)
	}
	p.add(")")
}

// convert prints a conversion. A half is held as its bits, in a u32.
func (p *printer) convert(e *shader.Expr) {
	x := e.Args[0]
	switch {
	case e.Type == shader.F16 || e.Type == shader.BF16:
		p.expr(pack(e.Type, x), lowest)
	case x.Type == shader.F16 || x.Type == shader.BF16:
		p.unpackHalf(x.Type.Scalar, x)
	case e.Type.IsWide():
		p.bare(x)
	case x.Type.IsWide(): // the lower word
		p.add(e.Type.String(), "(")
		p.expr(x, primary)
		p.add(".x)")
	default:
		p.call(e.Type.String(), x)
	}
}

// unpackHalf prints the value of a half in the lower bits of a u32.
func (p *printer) unpackHalf(half shader.Scalar, x *shader.Expr) {
	if half == shader.F16.Scalar {
		p.call("unpack2x16float", x)
		p.add(".x")
		return
	}
	p.add("bitcast<f32>(")
	p.expr(x, unary)
	p.add(" << 16u)")
}

// pack is the bits of a half.
func pack(half shader.Type, x *shader.Expr) *shader.Expr {
	return shader.Function(map[shader.Type]string{shader.F16: "f16_bits", shader.BF16: "bf16_bits"}[half]).Call(x)
}

// launder prints a value such that a compiler knows nothing of it.
func (p *printer) launder(e *shader.Expr) {
	x := e.Args[0]
	p.declare("_zero")
	switch {
	case e.Type.IsInt():
		symbol, least := " + _zero", sum
		if e.Bits == shader.FirstWay && !e.Type.IsWide() {
			symbol, least = " | _zero", unary
		}
		p.expr(x, least)
		p.add(symbol)
	case len(e.Args) == 2:
		p.add("bitcast<f32>(bitcast<u32>(")
		p.expr(x, lowest)
		p.add(") | (_zero & ")
		p.expr(e.Args[1], unary)
		p.add("))")
	case x.Op == shader.Const:
		p.opaque(uint32(x.Bits))
	default:
		name := [...]string{shader.FirstWay: "_launder", shader.SecondWay: "_launder2"}[e.Bits]
		p.declare(name)
		p.call(name, x)
	}
}

// opaque reports whether a float may not be seen: a compiler takes the sign of
// a zero for nothing, joins factors into an infinity, and does not read the
// greatest numbers.
func opaque(bits uint32) bool {
	x := math.Float32frombits(bits)
	return bits == 1<<31 || !(math.Abs(float64(x)) <= 1e38)
}

func (p *printer) opaque(bits uint32) {
	p.declare("_zero")
	p.add("bitcast<f32>(")
	p.word(bits)
	p.add(" | _zero)")
}

func (p *printer) constant(e *shader.Expr) {
	t, bits := e.Type, uint32(e.Bits)
	if t.Width > 1 && e.Bits == 0 {
		p.add(typeName(t), "()")
		return
	}
	if t.Width > 1 {
		p.bare(shader.Vec(int(t.Width), shader.FromBits(t.Elem(), e.Bits)))
		return
	}
	switch {
	case t == shader.Bool:
		p.text = strconv.AppendBool(p.text, bits != 0)
	case t == shader.I32 && bits == 1<<31:
		p.add("i32(-2147483648)")
	case t == shader.I32:
		p.text = strconv.AppendInt(p.text, int64(int32(bits)), 10)
	case t == shader.U32:
		p.word(bits)
	case t.IsWide():
		p.add("vec2<u32>(")
		p.word(bits)
		p.add(", ")
		p.word(uint32(e.Bits >> 32))
		p.add(")")
	case opaque(bits):
		p.opaque(bits)
	default:
		p.float(math.Float32frombits(bits))
	}
}

func (p *printer) float(x float32) {
	from := len(p.text)
	p.text = strconv.AppendFloat(p.text, float64(x), 'g', -1, 32)
	if _, err := strconv.Atoi(string(p.text[from:])); err == nil {
		p.add(".0")
	}
	p.add("f")
}

// word prints a u32, one that is more likely bits than a number as such.
func (p *printer) word(x uint32) {
	if x < 1<<28 {
		p.text = strconv.AppendUint(p.text, uint64(x), 10)
	} else {
		p.add("0x")
		p.text = strconv.AppendUint(p.text, uint64(x), 16)
	}
	p.add("u")
}

// dot writes a product of bytes. Unsigned ones less 128 are int8: the product lacks 128 times the sum of the others.
func (p *printer) dot(e *shader.Expr) {
	if e.Type == shader.U32 {
		x, y, z := e.Args[0].Xor(0x80808080).Bitcast(shader.I32), e.Args[1].Bitcast(shader.I32), e.Args[2].Bitcast(shader.I32)
		total := shader.DotBytes(shader.FromBits(shader.I32, 0x01010101), y, shader.Number(shader.I32, 0))
		p.bare(shader.DotBytes(x, y, total.Mul(128).Add(z)).Bitcast(shader.U32))
		return
	}
	p.add("(dot4I8Packed(bitcast<u32>(")
	p.expr(e.Args[0], lowest)
	p.add("), bitcast<u32>(")
	p.expr(e.Args[1], lowest)
	p.add(")) + ")
	p.expr(e.Args[2], sum)
	p.add(")")
}
