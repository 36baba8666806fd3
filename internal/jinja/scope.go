package jinja

import (
	"maps"
	"slices"
)

// Names are bound to variables before a template runs, by the rules of Jinja's compiler, which
// makes Python functions: a name belongs to the innermost scope that assigns it anywhere; a scope
// starts with its variables copied from the scope around it, or from the context; variables of
// functions around a macro are shared with it, so that it sees later values.

// A function is the template, a macro, the condition of a loop, or the body of a recursive loop.
type function struct {
	outer *function
	depth int
	slots map[slotName]int
	size  int // of a frame
}

// A slotName identifies a variable. Scopes of one level in a function share variables.
type slotName struct {
	level int
	name  string
}

// A slot is a variable of a function.
type slot struct {
	fn    *function
	index int
}

// A variable is a slot as seen from a function: up functions out.
type variable struct{ up, index int }

// A load gives a variable its value where a scope starts.
type load struct {
	to   int
	how  loadFrom
	name string   // in the context
	from variable // of an outer scope
	slot slot     // the same, while names are bound
}

type loadFrom int

const (
	loadNothing loadFrom = iota // undefined
	loadParam                   // has its value
	loadContext
	loadOuter
)

// symbols are the names of a scope.
type symbols struct {
	parent *symbols // the scope around it
	base   *symbols // in a branch of an if: the same scope's names outside the branch
	level  int
	fn     *function
	refs   map[string]slot
	stored map[string]bool
	loads  map[int]load // by slot
}

func newSymbols(parent *symbols, fn *function) *symbols {
	s := &symbols{parent: parent, fn: fn}
	if parent != nil {
		s.level = parent.level + 1
	}
	s.clear()
	return s
}

func (s *symbols) clear() {
	s.refs, s.stored, s.loads = map[string]slot{}, map[string]bool{}, map[int]load{}
}

// branch returns symbols for a branch of an if, whose findings are added to s.
func (s *symbols) branch() *symbols {
	b := *s
	b.base = s
	b.clear()
	return &b
}

// own returns the slot of a name that the scope itself has.
func (s *symbols) own(name string) (slot, bool) {
	for ; s != nil; s = s.base {
		if r, ok := s.refs[name]; ok {
			return r, true
		}
	}
	return slot{}, false
}

// find returns the slot of a name, in this scope or around it.
func (s *symbols) find(name string) (slot, bool) {
	for ; s != nil; s = s.parent {
		if r, ok := s.own(name); ok {
			return r, true
		}
	}
	return slot{}, false
}

func (s *symbols) define(name string, l load) {
	key := slotName{s.level, name}
	i, ok := s.fn.slots[key]
	if !ok {
		if s.fn.slots == nil {
			s.fn.slots = map[slotName]int{}
		}
		i = s.fn.size
		s.fn.slots[key] = i
		s.fn.size++
	}
	s.refs[name] = slot{s.fn, i}
	l.to = i
	s.loads[i] = l
}

// outer is the load of a name from the scope around this one, or else otherwise.
func (s *symbols) outer(name string, otherwise loadFrom) load {
	if r, ok := s.parent.find(name); ok {
		return load{how: loadOuter, slot: r}
	}
	return load{how: otherwise, name: name}
}

func (s *symbols) load(name string) {
	if _, ok := s.find(name); !ok {
		s.define(name, load{how: loadContext, name: name})
	}
}

func (s *symbols) store(name string) {
	s.stored[name] = true
	if _, ok := s.own(name); !ok {
		s.define(name, s.outer(name, loadNothing))
	}
}

func (s *symbols) param(name string) {
	s.stored[name] = true
	s.define(name, load{how: loadParam})
}

// merge adds the findings of the branches of an if. A name that only branches assign keeps the
// value it had around the scope.
func (s *symbols) merge(branches ...*symbols) {
	before := func(name string) bool {
		for b := s; b != nil; b = b.base {
			if b.stored[name] {
				return true
			}
		}
		return false
	}
	var added []string
	for _, b := range branches {
		for name := range b.stored {
			if !before(name) {
				added = append(added, name)
			}
		}
	}
	for _, b := range branches {
		maps.Copy(s.refs, b.refs)
		maps.Copy(s.loads, b.loads)
	}
	for _, name := range added {
		s.stored[name] = true
		r, _ := s.find(name)
		l := s.outer(name, loadContext)
		l.to = r.index
		s.loads[l.to] = l
	}
}

// scan finds the names that statements of this scope use. Scopes inside it come later.
func (s *symbols) scan(n node) {
	switch n := n.(type) {
	case *name:
		switch n.use {
		case loads:
			s.load(n.name)
		case stores:
			s.store(n.name)
		case param:
			s.param(n.name)
		}
	case *ifElse:
		s.scan(n.test)
		body, elifs, els := s.branch(), s.branch(), s.branch()
		visitAll(body.scan, n.body)
		visitAll(elifs.scan, n.elifs)
		visitAll(els.scan, n.els)
		s.merge(body, elifs, els)
	case *assign:
		s.scan(n.value)
		s.scan(n.target)
	case *assignBlock:
		s.scan(n.target)
	case *forLoop:
		s.scan(n.over)
	case *macro:
		s.store(n.name)
	case *callBlock:
		if n.of != nil {
			s.scan(n.of)
		}
	case *filterBlock:
		s.scan(n.filter)
	case *with:
		visitAll(s.scan, n.values)
	default:
		n.each(s.scan)
	}
}

// entry returns the loads of a scope.
func (s *symbols) entry() []load {
	var in []load
	for _, l := range s.loads {
		if l.how == loadOuter {
			l.from = s.seen(l.slot)
		}
		in = append(in, l)
	}
	return in
}

// seen returns a slot as a variable.
func (s *symbols) seen(r slot) variable { return variable{s.fn.depth - r.fn.depth, r.index} }

func (s *symbols) variable(name string) variable {
	r, _ := s.find(name)
	return s.seen(r)
}

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
			fail(n.line, "SyntaxError", "break or continue stands outside of a loop")
		}
	default:
		n.each(sc.bind)
	}
}

func (sc scope) bindFilter(n *filter) {
	n.each(sc.bind)
	kind, table := "filter", lib.filters
	if n.is {
		kind, table = "test", lib.tests
	}
	if n.builtin = table[n.name]; n.builtin == nil && !sc.branch {
		fail(n.line, "TemplateAssertionError", "there is no %s named %q", kind, n.name)
	}
}

func (sc scope) bindLoop(n *forLoop) {
	sc.bind(n.over)
	if assigns(n, "loop") {
		fail(n.line, "TemplateAssertionError", "cannot assign to the name loop inside a loop")
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
			fail(n.line, "TemplateAssertionError", "the parameter caller needs a default")
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
