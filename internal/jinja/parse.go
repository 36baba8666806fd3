package jinja

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// A parser makes nodes of tokens. Its functions follow Jinja's grammar.
type parser struct {
	toks  []token
	depth int
	tags  []string   // the open blocks
	ends  [][]string // the tags that end them
}

func (p *parser) fail(line int, format string, args ...any) {
	pyvalue.Fail(line, "TemplateSyntaxError", format, args...)
}

func (p *parser) line() int { return p.toks[0].line }

// is reports whether the next token is of a kind, or a name that reads "name:for".
func (p *parser) is(kind string) bool { return matches(p.toks[0], kind) }

func matches(t token, kind string) bool {
	if word, ok := strings.CutPrefix(kind, "name:"); ok {
		return t.kind == "name" && t.text == word
	}
	return t.kind == kind
}

func (p *parser) isAny(kinds []string) bool { return slices.ContainsFunc(kinds, p.is) }

// then reports whether the token after the next is of a kind.
func (p *parser) then(kind string) bool { return len(p.toks) > 1 && matches(p.toks[1], kind) }

func (p *parser) next() token {
	t := p.toks[0]
	if t.kind != "eof" {
		p.toks = p.toks[1:]
	}
	return t
}

func (p *parser) accept(kind string) bool {
	ok := p.is(kind)
	if ok {
		p.next()
	}
	return ok
}

func (p *parser) expect(kind string) token {
	if !p.is(kind) {
		p.fail(p.line(), "expected %s, got %s", describe(kind), p.toks[0].describe())
	}
	return p.next()
}

func (t token) describe() string {
	if t.kind == "name" {
		return fmt.Sprintf("%q", t.text)
	}
	return describe(t.kind)
}

func describe(kind string) string {
	switch kind {
	case "eof":
		return "the end of the template"
	case "data", "name", "string", "integer", "float":
		return "a " + kind
	}
	return fmt.Sprintf("%q", strings.TrimPrefix(kind, "name:"))
}

// enter accounts for a block or bracket inside others; the caller subtracts it again.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		pyvalue.Fail(p.line(), "LimitError", "blocks or brackets are nested deeper than %d", maxNesting)
	}
}

// statements parses statements up to a tag of ends, whose name is the next token then.
func (p *parser) statements(ends []string) []stmt {
	p.enter()
	defer func() { p.depth-- }()
	p.ends = append(p.ends, ends)
	var body []stmt
	var out *output
	print := func(e expr) {
		if out == nil {
			out = &output{}
			body = append(body, out)
		}
		out.parts = append(out.parts, e)
	}
	for {
		switch t := p.next(); t.kind {
		case "data":
			print(&constant{t.text})
		case "{{":
			print(p.tuple(tupleOptions{conditional: true}))
			p.expect("}}")
		case "{%":
			out = nil
			if p.isAny(ends) {
				p.ends = p.ends[:len(p.ends)-1]
				return body
			}
			body = append(body, p.statement())
			p.expect("%}")
		default:
			if ends != nil {
				p.unexpected("")
			}
			return body
		}
	}
}

// block parses the body of a statement, from the end of its tag to one of ends.
func (p *parser) block(ends ...string) []stmt {
	p.accept(":")
	p.expect("%}")
	for i, end := range ends {
		ends[i] = "name:" + end
	}
	return p.statements(ends)
}

// unexpected fails for a tag that is not known here, or for the end of the template.
func (p *parser) unexpected(tag string) {
	text := "the template ends"
	if tag != "" {
		text = fmt.Sprintf("unknown tag %q", tag)
	}
	if ends := p.ends[len(p.ends)-1]; ends != nil {
		var names []string
		for _, e := range ends {
			names = append(names, fmt.Sprintf("%q", strings.TrimPrefix(e, "name:")))
		}
		text += fmt.Sprintf(" where %s of %q must come", strings.Join(names, " or "), p.tags[len(p.tags)-1])
	}
	p.fail(p.line(), "%s", text)
}

// unsupported has Jinja's tags that chat templates cannot have, as there is no other template.
var unsupported = strings.Fields("include import from extends block autoescape trans do debug")

func (p *parser) statement() stmt {
	if !p.is("name") {
		p.fail(p.line(), "expected the name of a tag, got %s", p.toks[0].describe())
	}
	line, tag := p.line(), p.toks[0].text
	statements := map[string]func(int) stmt{
		"for": p.forLoop, "if": p.ifElse, "set": p.set, "macro": p.macro, "call": p.callBlock, "filter": p.filterBlock,
		"with": p.with, "print": p.print, "generation": p.generation, "break": p.control, "continue": p.control,
	}
	parse := statements[tag]
	switch {
	case slices.Contains(unsupported, tag):
		p.fail(line, "the tag %q is not supported", tag)
	case parse == nil:
		p.unexpected(tag)
	}
	p.next()
	p.tags = append(p.tags, tag)
	n := parse(line)
	p.tags = p.tags[:len(p.tags)-1]
	return n
}

func (p *parser) control(line int) stmt {
	if p.tags[len(p.tags)-1] == "break" {
		return &loopControl{breakLoop, line}
	}
	return &loopControl{continueLoop, line}
}

func (p *parser) print(int) stmt {
	n := &output{}
	for !p.is("%}") {
		if n.parts != nil {
			p.expect(",")
		}
		n.parts = append(n.parts, p.expression(true))
	}
	return n
}

func (p *parser) set(line int) stmt {
	target := p.target(tupleOptions{simple: true, attrs: true})
	if p.accept("=") {
		return &assign{target, p.tuple(tupleOptions{conditional: true}), line}
	}
	n := &assignBlock{target: target, line: line}
	if p.is("|") {
		n.filter = p.filters(nil)
	}
	n.body = p.block("endset")
	p.next()
	return n
}

func (p *parser) forLoop(line int) stmt {
	n := &forLoop{line: line}
	n.target = p.target(tupleOptions{simple: true, end: "name:in"})
	p.expect("name:in")
	n.over = p.tuple(tupleOptions{end: "name:recursive"})
	if p.accept("name:if") {
		n.test = p.expression(true)
	}
	n.recursive = p.accept("name:recursive")
	n.body = p.block("endfor", "else")
	if p.next().text == "else" {
		n.els = p.block("endfor")
		p.next()
	}
	return n
}

func (p *parser) ifElse(line int) stmt {
	n := &ifElse{line: line}
	for last := n; ; {
		last.test = p.tuple(tupleOptions{})
		last.body = p.block("elif", "else", "endif")
		switch t := p.next(); t.text {
		case "elif":
			last = &ifElse{line: t.line}
			n.elifs = append(n.elifs, last)
			continue
		case "else":
			n.els = p.block("endif")
			p.next()
		}
		return n
	}
}

func (p *parser) with(line int) stmt {
	n := &with{line: line}
	for !p.is("%}") {
		if n.targets != nil {
			p.expect(",")
		}
		target := p.target(tupleOptions{simple: true})
		setUse(target, param)
		n.targets = append(n.targets, target)
		p.expect("=")
		n.values = append(n.values, p.expression(true))
	}
	n.body = p.block("endwith")
	p.next()
	return n
}

func (p *parser) filterBlock(line int) stmt {
	n := &filterBlock{filter: p.filters(p.filter(nil)), line: line}
	n.body = p.block("endfilter")
	p.next()
	return n
}

// signature parses the parameters of a macro.
func (p *parser) signature(m *macro) {
	p.expect("(")
	for !p.is(")") {
		if m.params != nil {
			p.expect(",")
		}
		arg := p.targetName()
		arg.use = param
		if slices.ContainsFunc(m.params, func(o *name) bool { return o.name == arg.name }) {
			p.fail(arg.line, "the parameter %q occurs twice", arg.name)
		}
		m.params = append(m.params, arg)
		p.checkParams(len(m.params))
		if p.accept("=") {
			m.defaults = append(m.defaults, p.expression(true))
		} else if m.defaults != nil {
			p.fail(arg.line, "the parameter %q without a default follows one with a default", arg.name)
		}
	}
	p.expect(")")
}

// checkParams fails for too many parameters or named arguments, which are matched one by one.
func (p *parser) checkParams(n int) {
	if n > maxParams {
		pyvalue.Fail(p.line(), "LimitError", "more than %d parameters or named arguments", maxParams)
	}
}

func (p *parser) macro(line int) stmt {
	self := p.targetName()
	n := &macro{name: self.name, self: self, line: line}
	p.signature(n)
	n.body = p.block("endmacro")
	p.next()
	return n
}

func (p *parser) callBlock(line int) stmt {
	n := &callBlock{body: &macro{line: line}}
	if p.is("(") {
		p.signature(n.body)
	}
	of, ok := p.expression(true).(*call)
	if !ok {
		p.fail(line, "expected a call")
	}
	n.of = of
	n.body.body = p.block("endcall")
	p.next()
	return n
}

func (p *parser) generation(line int) stmt {
	n := &callBlock{body: &macro{line: line}}
	n.body.body = p.block("endgeneration")
	p.next()
	return n
}
