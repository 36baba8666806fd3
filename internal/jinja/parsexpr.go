package jinja

import (
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// tupleOptions are the options of parsing a tuple.
type tupleOptions struct {
	simple      bool   // only names and literals
	attrs       bool   // attributes of namespaces, to assign to
	conditional bool   // a if b else c
	parens      bool   // stands in parentheses, so that it may be empty
	end         string // a token that ends it, beside the usual ones
}

// tuple parses an expression, or several with commas between them.
func (p *parser) tuple(o tupleOptions) expr {
	var items []expr
	isTuple := false
	for {
		if len(items) > 0 {
			p.expect(",")
		}
		if p.isAny([]string{"}}", "%}", ")"}) || o.end != "" && p.is(o.end) {
			break
		}
		if o.simple {
			items = append(items, p.primary(o.attrs))
		} else {
			items = append(items, p.expression(o.conditional))
		}
		if !p.is(",") {
			break
		}
		isTuple = true
	}
	if !isTuple && len(items) == 1 {
		return items[0]
	}
	if !isTuple && !o.parens {
		p.fail(p.line(), "expected an expression, got %s", p.toks[0].describe())
	}
	return &sequence{items, true}
}

// target parses the target of an assignment.
func (p *parser) target(o tupleOptions) expr {
	line := p.line()
	target := p.tuple(o)
	if !setUse(target, stores) {
		p.fail(line, "values can only be assigned to names, and to attributes of namespaces")
	}
	return target
}

func (p *parser) targetName() *name {
	t := p.expect("name")
	if slices.Contains([]string{"true", "false", "none", "True", "False", "None"}, t.text) {
		p.fail(t.line, "cannot assign to %s", t.text)
	}
	return &name{name: t.text, use: stores, line: t.line}
}

// setUse marks the names of a target, and reports whether it is one.
func setUse(e expr, u use) bool {
	switch e := e.(type) {
	case *name:
		e.use = u
		return true
	case *attrTarget:
		return true
	case *sequence:
		return e.tuple && !slices.ContainsFunc(e.items, func(e expr) bool { return !setUse(e, u) })
	}
	return false
}

func (p *parser) expression(mayBranch bool) expr {
	p.enter()
	defer func() { p.depth-- }()
	if !mayBranch {
		return p.or()
	}
	line := p.line()
	e := p.or()
	for p.accept("name:if") {
		n := &conditional{then: e, line: line}
		n.test = p.or()
		if p.accept("name:else") {
			n.els = p.expression(true)
		}
		e = n
	}
	return e
}

// leftToRight parses operands with operators between them that group to the left.
func (p *parser) leftToRight(operand func() expr, ops ...string) expr {
	e := operand()
	for p.isAny(ops) {
		line := p.line()
		op := p.next()
		e = &binary{op.text, e, operand(), line}
	}
	return e
}

func (p *parser) or() expr  { return p.leftToRight(p.and, "name:or") }
func (p *parser) and() expr { return p.leftToRight(p.not, "name:and") }
func (p *parser) sum() expr { return p.leftToRight(p.concat, "+", "-") }
func (p *parser) product() expr {
	return p.leftToRight(p.power, "*", "/", "//", "%")
}
func (p *parser) power() expr {
	return p.leftToRight(func() expr { return p.unary(true) }, "**")
}

func (p *parser) not() expr {
	if !p.is("name:not") {
		return p.compare()
	}
	p.enter()
	defer func() { p.depth-- }()
	line := p.next().line
	return &unary{"not", p.not(), line}
}

func (p *parser) compare() expr {
	n := &compare{line: p.line(), first: p.sum()}
	for {
		op := p.toks[0].text
		switch {
		case p.isAny([]string{"==", "!=", "<", "<=", ">", ">=", "name:in"}):
			p.next()
		case p.is("name:not") && p.then("name:in"):
			p.next()
			p.next()
			op = "not in"
		case n.ops == nil:
			return n.first
		default:
			return n
		}
		n.ops = append(n.ops, op)
		n.rest = append(n.rest, p.sum())
	}
}

func (p *parser) concat() expr {
	parts := []expr{p.product()}
	for p.accept("~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &concat{parts}
}

func (p *parser) unary(filters bool) expr {
	var e expr
	if p.is("-") || p.is("+") {
		p.enter()
		t := p.next()
		e = &unary{t.text, p.unary(false), t.line}
		p.depth--
	} else {
		e = p.primary(false)
	}
	e = p.postfix(e)
	for filters {
		switch {
		case p.is("|"):
			e = p.filters(e)
		case p.is("name:is"):
			e = p.test(e)
		case p.is("("):
			e = p.call(e)
		default:
			return e
		}
	}
	return e
}

// words are the names that are values.
var words = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": pyvalue.None, "None": pyvalue.None}

func (p *parser) primary(attrs bool) expr {
	t := p.next()
	switch t.kind {
	case "name":
		if v, ok := words[t.text]; ok {
			return &constant{v}
		}
		n := &name{name: t.text, line: t.line}
		if attrs && p.accept(".") {
			return &attrTarget{n, p.expect("name").text}
		}
		return n
	case "string":
		parts := []string{t.value.(string)}
		for p.is("string") {
			parts = append(parts, p.next().value.(string))
		}
		return &constant{strings.Join(parts, "")}
	case "integer", "float":
		return &constant{t.value}
	case "(":
		p.enter()
		e := p.tuple(tupleOptions{conditional: true, parens: true})
		p.depth--
		p.expect(")")
		return e
	case "[":
		n := &sequence{}
		p.list("]", func() { n.items = append(n.items, p.expression(true)) })
		return n
	case "{":
		n := &dictionary{line: t.line}
		p.list("}", func() {
			n.keys = append(n.keys, p.expression(true))
			p.expect(":")
			n.values = append(n.values, p.expression(true))
		})
		return n
	}
	p.fail(t.line, "expected an expression, got %s", t.describe())
	return nil
}

// list parses items with commas between them, and perhaps after them, and the end.
func (p *parser) list(end string, item func()) {
	for i := 0; !p.is(end); i++ {
		if i > 0 {
			p.expect(",")
			if p.is(end) {
				break
			}
		}
		item()
	}
	p.next()
}

func (p *parser) postfix(e expr) expr {
	for {
		switch {
		case p.is("."):
			line := p.next().line
			switch t := p.next(); t.kind {
			case "name":
				e = &getAttr{e, t.text, line}
			case "integer":
				e = &getItem{e, &constant{t.value}, line}
			default:
				p.fail(t.line, "expected a name or a number, got %s", t.describe())
			}
		case p.is("["):
			e = p.subscript(e)
		case p.is("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

// subscript parses a[b], a[b:c:d], and a[] and a[b, c] with a tuple.
func (p *parser) subscript(of expr) expr {
	line := p.next().line
	if p.accept("]") {
		return &getItem{of, &sequence{nil, true}, line}
	}
	part := func() expr {
		if p.is(":") || p.is("]") {
			return nil
		}
		return p.expression(true)
	}
	start := part()
	if !p.accept(":") {
		if p.is(",") { // a tuple
			items := []expr{start}
			for p.accept(",") {
				items = append(items, p.expression(true))
			}
			start = &sequence{items, true}
		}
		p.expect("]")
		return &getItem{of, start, line}
	}
	n := &slice{of: of, start: start, stop: part(), line: line}
	if p.accept(":") {
		n.step = part()
	}
	p.expect("]")
	return n
}

func (p *parser) call(of expr) expr {
	line := p.line()
	return &call{of, p.arguments(), line}
}

func (p *parser) arguments() (a arguments) {
	line := p.expect("(").line
	p.list(")", func() {
		star, double := p.is("*"), p.is("**")
		named := p.is("name") && p.then("=")
		if a.double != nil || a.star != nil && !named && !double || a.names != nil && !named && !double && !star {
			p.fail(line, "a positional argument follows a named one, or one with *")
		}
		switch {
		case star:
			p.next()
			a.star = p.expression(true)
		case double:
			p.next()
			a.double = p.expression(true)
		default:
			if named {
				word := p.next()
				if slices.Contains(a.names, word.text) {
					p.fail(word.line, "the argument %q occurs twice", word.text)
				}
				a.names = append(a.names, word.text)
				p.checkParams(len(a.names))
				p.next()
			}
			a.args = append(a.args, p.expression(true))
		}
	})
	return a
}

func (p *parser) dotted() string {
	text := p.expect("name").text
	for p.accept(".") {
		text += "." + p.expect("name").text
	}
	return text
}

func (p *parser) filter(of expr) expr {
	n := &filter{of: of, line: p.line(), name: p.dotted()}
	if p.is("(") {
		n.with = p.arguments()
	}
	return n
}

func (p *parser) filters(of expr) expr {
	for p.accept("|") {
		of = p.filter(of)
	}
	return of
}

func (p *parser) test(of expr) expr {
	n := &filter{of: of, is: true, line: p.next().line}
	n.not = p.accept("name:not")
	n.name = p.dotted()
	switch {
	case p.is("("):
		n.with = p.arguments()
	case p.isAny([]string{"name:else", "name:or", "name:and"}):
	case p.is("name:is"):
		p.fail(p.line(), "tests with \"is\" cannot be chained")
	case p.isAny([]string{"name", "string", "integer", "float", "[", "{"}):
		p.enter()
		n.with.args = []expr{p.postfix(p.primary(false))}
		p.depth--
	}
	return n
}
