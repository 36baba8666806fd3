package wgsl

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
)

// typeName is the type of a register in WGSL. A pair is an integer of 64 bits as two words,
// the lower first.
func typeName(t shader.Type) string {
	switch {
	case !t.IsWide():
		return t.String()
	case t.Width == 4:
		return "array<vec2<u32>, 4>"
	}
	return fmt.Sprintf("vec%d<u32>", 2*t.Width)
}

// A pairOp is the function of an op on pairs: And, Or, Xor and Not are operators of vectors.
// In its name "?" stands for i if they are signed, else for u.
type pairOp struct {
	name         string
	swapped, not bool // the operands; the result
}

var pairOps = [shader.NumOps]pairOp{
	shader.Neg: {name: "_neg"}, shader.Add: {name: "_add"}, shader.Sub: {name: "_sub"}, shader.Mul: {name: "_mul"},
	shader.Div: {name: "_div_?"}, shader.Rem: {name: "_rem_?"}, shader.Min: {name: "_min_?"}, shader.Max: {name: "_max_?"},
	shader.Shl: {name: "_shl"}, shader.Shr: {name: "_shr_?"},
	shader.Eq: {name: "_eq"}, shader.Ne: {name: "_eq", not: true},
	shader.Lt: {name: "_lt_?"}, shader.Ge: {name: "_lt_?", not: true},
	shader.Gt: {name: "_lt_?", swapped: true}, shader.Le: {name: "_lt_?", swapped: true, not: true},
}

// pairOpOf is the function that an expression calls; it has no name if the expression calls
// none.
func pairOpOf(e *shader.Expr) (op pairOp) {
	if len(e.Args) == 0 {
		return op
	}
	from := e.Args[0].Type
	switch {
	case e.Op == shader.Convert && from.IsWide() && e.Type.IsFloat(), e.Op == shader.Convert && from.IsFloat() && e.Type.IsWide():
		return pairOp{name: fmt.Sprintf("_%v_of_%v", e.Type, from)}
	case e.Op == shader.Convert && !from.IsWide() && e.Type.IsWide():
		return pairOp{name: "_of_" + from.String()}
	case !from.IsWide():
		return op
	}
	op = pairOps[e.Op]
	letter := "u"
	if from.IsSigned() {
		letter = "i"
	}
	op.name = strings.Replace(op.name, "?", letter, 1)
	return op
}

// callPair prints the call of a function of pairs.
func (p *printer) callPair(op pairOp, e *shader.Expr) {
	p.declare(op.name)
	args := e.Args
	if op.swapped {
		args = []*shader.Expr{args[1], args[0]}
	}
	if op.not {
		p.add("!")
	}
	if e.Type.Width == 4 {
		op.name = p.declareFour(op.name, e)
	}
	p.call(op.name, args...)
}

// declareFour declares a function of arrays that calls a function for their elements.
func (p *printer) declareFour(name string, e *shader.Expr) string {
	t, four := typeName(e.Type), name+"_4"
	params, calls := make([]string, len(e.Args)), make([]string, 4)
	for i, x := range e.Args {
		params[i] = fmt.Sprintf("x%d: %s", i, typeName(x.Type))
	}
	for l := range calls {
		args := make([]string, len(e.Args))
		for i := range args {
			args[i] = fmt.Sprintf("x%d[%d]", i, l)
		}
		calls[l] = name + "(" + strings.Join(args, ", ") + ")"
	}
	p.declared[four] = fmt.Sprintf("fn %s(%s) -> %s {\n  return %s(%s);\n}", four, strings.Join(params, ", "), t, t, strings.Join(calls, ", "))
	return four
}
