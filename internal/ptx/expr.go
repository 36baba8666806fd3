package ptx

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
)

// An operation is the instruction of an op, by the type of its operands of 32 bits, or "".
type operation struct{ boolean, signed, unsigned, float string }

func same(name string) operation { return operation{"", name + ".s32", name + ".u32", name + ".f32"} }

func compare(name string) operation {
	return operation{"", "setp." + name + ".s32", "setp." + name + ".u32", "setp." + name + ".f32"}
}

func logic(name string) operation { return operation{name + ".pred", name + ".b32", name + ".b32", ""} }

var operations = [shader.NumOps]operation{
	shader.Neg:          {"", "neg.s32", "neg.s32", "neg.f32"},
	shader.Not:          logic("not"),
	shader.Abs:          {"", "abs.s32", "mov.u32", "abs.f32"},
	shader.Floor:        {float: "cvt.rmi.f32.f32"},
	shader.Sqrt:         {float: "sqrt.rn.f32"},
	shader.LeadingZeros: {signed: "clz.b32", unsigned: "clz.b32"},
	shader.Add:          {"", "add.s32", "add.u32", "add.rn.f32"},
	shader.Sub:          {"", "sub.s32", "sub.u32", "sub.rn.f32"},
	shader.Mul:          {"", "mul.lo.s32", "mul.lo.u32", "mul.rn.f32"},
	shader.Div:          {"", "div.s32", "div.u32", "div.rn.f32"},
	shader.Rem:          {signed: "rem.s32", unsigned: "rem.u32"},
	shader.Min:          same("min"),
	shader.Max:          same("max"),
	shader.And:          logic("and"),
	shader.Or:           logic("or"),
	shader.Xor:          logic("xor"),
	shader.Shl:          {signed: "shl.b32", unsigned: "shl.b32"},
	shader.Shr:          {signed: "shr.s32", unsigned: "shr.u32"},
	shader.Eq:           compare("eq"),
	shader.Ne:           {"xor.pred", "setp.ne.s32", "setp.ne.u32", "setp.neu.f32"},
	shader.Lt:           compare("lt"),
	shader.Le:           compare("le"),
	shader.Gt:           compare("gt"),
	shader.Ge:           compare("ge"),
	shader.Fma:          {"", "mad.lo.s32", "mad.lo.u32", "fma.rn.f32"},
}

// of is the instruction for a type.
func (o operation) of(t shader.Type) string {
	switch {
	case t.Elem() == shader.Bool:
		return o.boolean
	case t.IsSigned():
		return sized(o.signed, t)
	case t.IsFloat():
		return sized(o.float, t)
	}
	return sized(o.unsigned, t)
}

// sized is an instruction on words as one on components of a type.
func sized(name string, t shader.Type) string {
	if t.IsWide() {
		return strings.ReplaceAll(name, "32", "64")
	}
	return name
}

// expr writes the instructions of an expression and returns its components.
func (p *printer) expr(e *shader.Expr) []value {
	switch e.Op {
	case shader.Const:
		x := p.constant(e.Type.Elem(), e.Bits)
		all := make([]value, e.Type.Width)
		for i := range all {
			all[i] = x
		}
		return all
	case shader.Ref:
		return p.vars[e.Var]
	case shader.Word:
		return []value{p.words[e.Param]}
	case shader.Group:
		return []value{p.group()}
	case shader.Thread:
		return []value{p.result(word, "mov.u32", "%tid.x")}
	case shader.Div:
		if d := e.Args[1]; e.Args[0].Op == shader.Thread && d.Op == shader.Const && d.Bits == shader.Warpgroup && p.pass.Threads%shader.Warpgroup == 0 {
			return []value{p.groupNumber()}
		}
	case shader.Launder:
		return p.expr(e.Args[0])
	case shader.Vector:
		return p.vector(e)
	case shader.Component:
		return p.expr(e.Args[0])[e.Bits:][:1]
	case shader.Call:
		return p.call(e)
	case shader.LoadShared:
		return p.loadShared(e)
	case shader.LoadAtomic:
		return []value{p.result(word, "ld.volatile.global.u32", p.address(e.Buffer, e.Args[0]).at(0))}
	}
	args := make([][]value, len(e.Args))
	for i, a := range e.Args {
		args[i] = p.expr(a)
	}
	out := make([]value, e.Type.Width)
	operands := make([]value, len(args))
	for i := range out {
		for k, a := range args {
			operands[k] = a[min(i, len(a)-1)] // a Select's condition is one
		}
		out[i] = p.component(e, operands)
	}
	return out
}

// one is expr of a scalar.
func (p *printer) one(e *shader.Expr) value { return p.expr(e)[0] }

// component writes one component of an operation.
func (p *printer) component(e *shader.Expr, x []value) value {
	from := e.Args[0].Type.Elem()
	c := classOf(e.Type)
	switch e.Op {
	case shader.DotInt8:
		p.require(dots)
		return p.result(word, "dp4a."+suffix(from)+".s32", x...)
	case shader.Exp2:
		return p.result(word, "ex2.approx.ftz.f32", x[0])
	case shader.Exp:
		return p.exp(x[0])
	case shader.Log:
		return p.result(word, "mul.rn.f32", p.result(word, "lg2.approx.f32", x[0]), "0f3F317218")
	case shader.LeadingZeros:
		if c == long {
			return p.result(long, "cvt.u64.u32", p.result(word, "clz.b64", x[0]))
		}
	case shader.Select:
		if c != pred {
			return p.result(c, sized("selp.b32", e.Type), x[1], x[2], x[0])
		}
		yes := p.result(pred, "and.pred", x[0], x[1])
		no := p.result(pred, "and.pred", p.result(pred, "not.pred", x[0]), x[2])
		return p.result(pred, "or.pred", yes, no)
	case shader.RoundTF32:
		if p.gpu >= hopper.target {
			p.require(hopper)
			return p.result(word, "cvt.rn.tf32.f32", x[0])
		}
		p.require(matrices)
		return p.result(word, "cvt.rna.tf32.f32", x[0])
	case shader.Convert:
		return p.convert(e.Type.Elem(), from, x[0])
	case shader.Pack:
		return p.pack(shader.Type{Scalar: shader.Scalar(e.Bits), Width: 1}, x[0], x[1])
	case shader.Unpack:
		return p.convert(shader.F32, shader.Type{Scalar: shader.Scalar(e.Bits), Width: 1}, x[0])
	case shader.Bitcast:
		return bitcast(e.Type.Elem(), x[0])
	case shader.Shuffle:
		return p.shuffle(c, x[0], e.Bits)
	case shader.Div, shader.Rem:
		if d := e.Args[1]; (from == shader.U32 || from == shader.U64) && d.Op == shader.Const && d.Bits > 0 {
			return p.divide(from, e.Op, x[0], d.Bits)
		}
	case shader.Eq:
		if from == shader.Bool {
			return p.result(pred, "not.pred", p.result(pred, "xor.pred", x...))
		}
	}
	switch op := operations[e.Op].of(from); op {
	case "div.rn.f32":
		return p.quotient(x[0], x[1])
	case "sqrt.rn.f32":
		return p.root(x[0])
	case "":
		panic(fmt.Sprintf("ptx: %v of %v", e.Op, from))
	default:
		return p.result(c, op, x...)
	}
}

// shuffle exchanges a word, or two.
func (p *printer) shuffle(c class, x value, mask uint64) value {
	if c == long {
		halves := []value{p.register(word), p.register(word)}
		p.do("mov.b64", group(halves), p.registers(long, []value{x})[0])
		for i, h := range halves {
			halves[i] = p.shuffle(word, h, mask)
		}
		return p.result(long, "mov.b64", group(halves))
	}
	members := uint32(1<<min(p.pass.Threads, shader.Warp) - 1)
	return p.result(word, "shfl.sync.bfly.b32", x, value(fmt.Sprint(mask)), "31", value(fmt.Sprint(members)))
}

// group is the number of the workgroup.
func (p *printer) group() value {
	x := p.result(word, "mov.u32", "%ctaid.x")
	if p.pass.Grid[1] <= 1 {
		return x
	}
	y := p.result(word, "mov.u32", "%ctaid.y")
	return p.result(word, "mad.lo.u32", y, value(fmt.Sprint(p.pass.Grid[0])), x)
}

func (p *printer) vector(e *shader.Expr) []value {
	var out []value
	for _, a := range e.Args {
		out = append(out, p.expr(a)...)
	}
	for len(out) < int(e.Type.Width) {
		out = append(out, out[0])
	}
	return out
}

// call writes a function: the instruction that is one, or its body.
func (p *printer) call(e *shader.Expr) []value {
	args := make([][]value, len(e.Args))
	for i, a := range e.Args {
		args[i] = p.expr(a)
	}
	if f, ok := native[e.Func.Name]; ok && p.gpu >= f.needs.target {
		p.require(f.needs)
		var x []value
		for _, a := range args {
			x = append(x, a[0])
		}
		return []value{f.write(p, x)}
	}
	return p.inline(e.Func, args)
}

// native has the functions that are an instruction or two. The hardware's instructions keep
// to IEEE 754 for NaN, infinities and zeros; compilers of shaders need not.
var native = map[string]struct {
	needs level
	write func(p *printer, x []value) value
}{
	"exp_f32":  {basic, func(p *printer, x []value) value { return p.exp(x[0]) }},
	"div_f32":  {basic, func(p *printer, x []value) value { return p.quotient(x[0], x[1]) }},
	"sqrt_f32": {basic, func(p *printer, x []value) value { return p.root(x[0]) }},
	"is_nan":   {basic, func(p *printer, x []value) value { return p.result(pred, "setp.nan.f32", x[0], x[0]) }},
	"ordered":  {basic, func(p *printer, x []value) value { return p.result(pred, "setp.num.f32", x...) }},
	"eq_f32":   {basic, func(p *printer, x []value) value { return p.result(pred, "setp.eq.f32", x...) }},
	"lt_f32":   {basic, func(p *printer, x []value) value { return p.result(pred, "setp.lt.f32", x...) }},
	"max_f32":  {matrices, func(p *printer, x []value) value { return p.result(word, "max.NaN.f32", x...) }},
	"min_f32":  {matrices, func(p *printer, x []value) value { return p.result(word, "min.NaN.f32", x...) }},
}

// exp is off by up to |x| times its rounding. It is 0 where it is subnormal: to give these
// takes three instructions more.
func (p *printer) exp(x value) value {
	return p.result(word, "ex2.approx.ftz.f32", p.result(word, "mul.rn.f32", x, "0f3FB8AA3B"))
}

func (p *printer) inline(f *shader.Func, args [][]value) []value {
	outer := make(map[*shader.Var][]value, len(f.Params)) // the arguments of a call of f in its own argument are computed by now
	for i, v := range f.Params {
		outer[v] = p.vars[v]
		p.vars[v] = p.immutable(v.Type, args[i])
	}
	results := p.body(f)
	for v, x := range outer {
		p.vars[v] = x
	}
	return results
}

// body writes the statements of a function and returns its results. The last statement is a
// Return; others jump behind it.
func (p *printer) body(f *shader.Func) []value {
	last := len(f.Body.Stmts) - 1
	final := f.Body.Stmts[last].(*shader.Return).Value
	c := &call{}
	p.calls = append(p.calls, c)
	for _, s := range f.Body.Stmts[:last] {
		p.stmt(s)
	}
	p.calls = p.calls[:len(p.calls)-1]
	x := p.expr(final)
	if c.end == "" {
		return p.immutable(f.Result, x)
	}
	for i := range x {
		p.move(f.Result, c.results[i], x[i])
	}
	p.place(c.end)
	return c.results
}

// immutable returns values that stay as they are when variables are assigned.
func (p *printer) immutable(t shader.Type, x []value) []value {
	out := make([]value, len(x))
	for i := range x {
		if out[i] = x[i]; p.owned[x[i]] {
			out[i] = p.copy(t, x[i])
		}
	}
	return out
}
