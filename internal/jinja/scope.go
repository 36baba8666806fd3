package jinja

import "maps"

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
