package jinja

import (
	"slices"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// A scope is where statements are bound.
type scope struct {
	*symbols
	branch bool // inside an if, where an unknown filter fails only when it runs
	inLoop bool // where break and continue may stand
}

// resolve binds the names of a template and returns the loads of its outermost scope.
func resolve(body []stmt, root *function) []load {
	sc := scope{symbols: newSymbols(nil, root)}
	visitAll(sc.scan, body)
	in := sc.entry()
	sc.bindAll(body)
	return in
}

// inner returns a scope inside this one, in the same function.
func (sc scope) inner() scope {
	return scope{symbols: newSymbols(sc.symbols, sc.fn), inLoop: sc.inLoop}
}

// function returns the scope of a function inside this one.
func (sc scope) function() scope {
	return scope{symbols: newSymbols(sc.symbols, &function{outer: sc.fn, depth: sc.fn.depth + 1})}
}

func (sc scope) bindAll(body []stmt) {
	for _, n := range body {
		sc.bind(n)
	}
}

// bind binds the names of a node, and of the scopes inside it.
func (sc scope) bind(n node) {
	switch n := n.(type) {
	case *name:
		n.at = sc.variable(n.name)
	case *filter:
		sc.bindFilter(n)
	case *conditional:
		sc.branch = true
		n.each(sc.bind)
	case *ifElse:
		sc.branch = true
		n.each(sc.bind)
	case *assignBlock:
		in := sc.inner()
		visitAll(in.scan, n.body)
		visitEach(in.scan, n.filter)
		n.in = in.entry()
		in.bindAll(n.body)
		visitEach(in.bind, n.filter)
		sc.bind(n.target)
	case *filterBlock:
		in := sc.inner()
		n.each(in.scan)
		n.in = in.entry()
		n.each(in.bind)
	case *with:
		in := sc.inner()
		visitAll(in.scan, n.targets)
		visitAll(in.scan, n.body)
		n.in = in.entry()
		visitAll(sc.bind, n.values)
		visitAll(in.bind, n.targets)
		in.bindAll(n.body)
	case *forLoop:
		sc.bindLoop(n)
	case *macro:
		sc.bindMacro(n)
		n.self.at = sc.variable(n.name)
	case *callBlock:
		if n.of != nil {
			sc.bind(n.of)
		}
		sc.bindMacro(n.body)
	case *loopControl:
		if !sc.inLoop {
			pyvalue.Fail(n.line, "SyntaxError", "break or continue stands outside of a loop")
		}
	default:
		n.each(sc.bind)
	}
}

func (sc scope) bindFilter(n *filter) {
	n.each(sc.bind)
	kind, table := "filter", filters
	if n.is {
		kind, table = "test", tests
	}
	if n.builtin = table[n.name]; n.builtin == nil && !sc.branch {
		pyvalue.Fail(n.line, "TemplateAssertionError", "there is no %s named %q", kind, n.name)
	}
}

func (sc scope) bindLoop(n *forLoop) {
	sc.bind(n.over)
	if assigns(n, "loop") {
		pyvalue.Fail(n.line, "TemplateAssertionError", "cannot assign to the name loop inside a loop")
	}
	in := sc.inner()
	if n.recursive {
		in = sc.function()
	}
	in.inLoop = true
	n.fn = in.fn
	n.extended = n.recursive || uses(n.body, "loop")["loop"]
	if n.extended {
		in.param("loop")
	}
	setUse(n.target, param)
	in.scan(n.target)
	visitAll(in.scan, n.body)
	n.in = in.entry()
	in.bind(n.target)
	if n.extended {
		n.loop = in.variable("loop")
	}
	if n.test != nil {
		sc.bindTest(n)
	}
	in.bindAll(n.body)
	els := scope{symbols: newSymbols(sc.symbols, in.fn), inLoop: sc.inLoop && !n.recursive}
	visitAll(els.scan, n.els)
	n.elseIn = els.entry()
	els.bindAll(n.els)
}

// bindTest binds the condition of a loop, which is a function with a target of its own.
func (sc scope) bindTest(n *forLoop) {
	test := sc.function()
	n.filter = test.fn
	n.testTarget = copyTarget(n.target)
	test.scan(n.testTarget)
	test.scan(n.test)
	n.testIn = test.entry()
	test.bind(n.testTarget)
	test.bind(n.test)
}

func copyTarget(e expr) expr {
	switch e := e.(type) {
	case *name:
		c := *e
		return &c
	case *sequence:
		c := &sequence{tuple: true}
		for _, item := range e.items {
			c.items = append(c.items, copyTarget(item))
		}
		return c
	}
	return e
}

func (sc scope) bindMacro(n *macro) {
	in := sc.function()
	n.fn = in.fn
	scan := func() {
		visitAll(in.scan, n.params)
		visitAll(in.scan, n.defaults)
		visitAll(in.scan, n.body)
	}
	scan()
	used := uses(n.body, "caller", "kwargs", "varargs")
	for _, special := range []struct {
		name string
		to   **name
	}{{"caller", &n.caller}, {"kwargs", &n.kwargs}, {"varargs", &n.varargs}} {
		i := slices.IndexFunc(n.params, func(p *name) bool { return p.name == special.name })
		switch {
		case !used[special.name]:
		case i < 0:
			in.param(special.name)
			*special.to = &name{name: special.name}
		case special.name == "caller" && i < len(n.params)-len(n.defaults):
			pyvalue.Fail(n.line, "TemplateAssertionError", "the parameter caller needs a default")
		}
	}
	scan()
	n.in = in.entry()
	for _, special := range []*name{n.caller, n.kwargs, n.varargs} {
		if special != nil {
			in.bind(special)
		}
	}
	visitAll(in.bind, n.params)
	visitAll(in.bind, n.defaults)
	in.bindAll(n.body)
}

// uses returns which of the names statements read before they assign them.
func uses(body []stmt, names ...string) map[string]bool {
	used, assigned := map[string]bool{}, map[string]bool{}
	var visit func(node)
	visit = func(n node) {
		if id, ok := n.(*name); ok && slices.Contains(names, id.name) {
			if id.use != loads {
				assigned[id.name] = true
			} else if !assigned[id.name] {
				used[id.name] = true
			}
		}
		n.each(visit)
	}
	visitAll(visit, body)
	return used
}

// assigns reports whether a node, or one inside it, assigns a name.
func assigns(n node, text string) bool {
	id, ok := n.(*name)
	found := ok && id.use == stores && id.name == text
	n.each(func(n node) { found = found || assigns(n, text) })
	return found
}
