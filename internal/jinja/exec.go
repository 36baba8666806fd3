package jinja

import (
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// A frame has the variables of a function that runs; nil is a variable that is not set.
type frame struct {
	vars  []any
	outer *frame
}

// push starts a function.
func (s *state) push(fn *function, outer *frame) {
	s.AllocN(int64(fn.size), 16)
	s.frame = &frame{make([]any, fn.size), outer}
}

func (s *state) at(v variable) *any {
	f := s.frame
	for range v.up {
		f = f.outer
	}
	return &f.vars[v.index]
}

// enter gives the variables of a scope the values they start with.
func (s *state) enter(in []load) {
	s.Step(len(in))
	for i := range in {
		l := &in[i]
		switch l.how {
		case loadContext:
			s.frame.vars[l.to] = s.lookup(l.name)
		case loadOuter:
			s.frame.vars[l.to] = *s.at(l.from)
		case loadNothing:
			s.frame.vars[l.to] = nil
		}
	}
}

func (s *state) leave(in []load) {
	for i := range in {
		s.frame.vars[in[i].to] = nil
	}
}

// lookup returns a variable of the context, or else a global function, or nil.
func (s *state) lookup(name string) any {
	if v, ok := s.vars.Get(name); ok {
		return v
	}
	if g := pyvalue.Globals[name]; g != nil {
		return g
	}
	return nil
}

func (s *state) execute(body []stmt) jump {
	for _, n := range body {
		if j := n.exec(s); j != next {
			return j
		}
	}
	return next
}

// capture runs statements and returns their output.
func (s *state) capture(body []stmt) (string, jump) {
	out := s.out
	s.out = new(strings.Builder)
	j := s.execute(body)
	text := s.out.String()
	s.out = out
	return text, j
}

// assign gives a target a value.
func (s *state) assign(target expr, v any) {
	switch t := target.(type) {
	case *name:
		*s.at(t.at) = v
	case *attrTarget:
		s.namespace(t).Vars.Set(t.attr, v)
	case *sequence:
		items := s.List(v)
		if len(items) != len(t.items) {
			s.Fail("ValueError", "cannot assign %d values to %d names", len(items), len(t.items))
		}
		for i, item := range t.items {
			s.assign(item, items[i])
		}
	}
}

// namespace returns the namespace whose attribute is assigned to.
func (s *state) namespace(t *attrTarget) *pyvalue.Namespace {
	ns, ok := (*s.at(t.of.at)).(*pyvalue.Namespace)
	if !ok {
		s.Fail("TemplateRuntimeError", "cannot assign to an attribute of %s, which is no namespace", t.of.name)
	}
	s.Alloc(32)
	return ns
}

func (n *output) exec(s *state) jump {
	for _, part := range n.parts {
		s.Step(1)
		s.write(s.Str(part.eval(s)))
	}
	return next
}

func (n *assign) exec(s *state) jump {
	s.Line = n.line
	if t, ok := n.target.(*attrTarget); ok {
		s.namespace(t) // before the value, as Jinja does
	}
	s.assign(n.target, n.value.eval(s))
	return next
}

func (n *assignBlock) exec(s *state) jump {
	s.Line = n.line
	s.enter(n.in)
	text, j := s.capture(n.body)
	if j != next {
		return j
	}
	var v any = text
	if n.filter != nil {
		s.captured = text
		v = n.filter.eval(s)
	}
	s.assign(n.target, v)
	s.leave(n.in)
	return next
}

func (n *filterBlock) exec(s *state) jump {
	s.Line = n.line
	s.enter(n.in)
	text, j := s.capture(n.body)
	if j != next {
		return j
	}
	s.captured = text
	s.writeText(n.filter.eval(s))
	s.leave(n.in)
	return next
}

func (n *ifElse) exec(s *state) jump {
	s.Line = n.line
	s.Step(1)
	if pyvalue.Truth(n.test.eval(s)) {
		return s.execute(n.body)
	}
	for _, elif := range n.elifs {
		s.Step(1)
		if pyvalue.Truth(elif.test.eval(s)) {
			return s.execute(elif.body)
		}
	}
	return s.execute(n.els)
}

func (n *with) exec(s *state) jump {
	s.Line = n.line
	s.enter(n.in)
	for i, target := range n.targets {
		s.assign(target, n.values[i].eval(s))
	}
	j := s.execute(n.body)
	if j == next {
		s.leave(n.in)
	}
	return j
}

func (n *loopControl) exec(*state) jump { return n.jump }

func (n *forLoop) exec(s *state) jump {
	s.Line = n.line
	over := n.over.eval(s)
	if n.recursive {
		s.write(n.recurse(s, s.frame, over, 0))
		return next
	}
	return n.rounds(s, over, &loop{s: s})
}

// recurse runs a recursive loop, whose frame lies in outer's, and returns its output.
func (n *forLoop) recurse(s *state, outer *frame, over any, depth int64) string {
	s.Descend()
	frame, out, line := s.frame, s.out, s.Line
	s.push(n.fn, outer)
	s.out = new(strings.Builder)
	l := &loop{s: s, depth: depth}
	l.recurse = func(over any) string { return n.recurse(s, outer, over, depth+1) }
	n.rounds(s, over, l)
	text := s.out.String()
	s.frame, s.out, s.Line = frame, out, line
	s.Depth--
	return text
}

// rounds runs a loop's rounds and its else.
func (n *forLoop) rounds(s *state, over any, l *loop) jump {
	if n.test != nil {
		over = n.filtered(s, over)
	}
	l.start(over)
	if n.extended {
		*s.at(n.loop) = nil
	}
	empty := true // also if no round comes to its end, as in Jinja
	for {
		v, ok := l.next()
		if !ok {
			break
		}
		s.assign(n.target, v)
		if n.extended {
			*s.at(n.loop) = l
		}
		s.enter(n.in)
		j := s.execute(n.body)
		if j == breakLoop {
			break
		}
		if j == next {
			empty = false
		}
	}
	s.leave(n.in)
	if !empty || n.els == nil {
		return next
	}
	s.enter(n.elseIn)
	j := s.execute(n.els)
	if j == next {
		s.leave(n.elseIn)
	}
	return j
}

// filtered returns the items for which a loop's condition holds.
func (n *forLoop) filtered(s *state, over any) any {
	items := s.Iterate(over)
	around, outer := s.frame, s.frame
	if n.recursive {
		outer = outer.outer
	}
	s.push(n.filter, outer)
	inner := s.frame
	s.enter(n.testIn)
	s.frame = around
	return &pyvalue.Generator{Name: "filter", Next: func() (any, bool) {
		for {
			v, ok := items()
			if !ok {
				return nil, false
			}
			at := s.frame
			s.frame = inner
			s.assign(n.testTarget, v)
			keep := pyvalue.Truth(n.test.eval(s))
			s.frame = at
			if keep {
				return v, true
			}
		}
	}}
}

func (n *macro) exec(s *state) jump {
	s.Alloc(64)
	*s.at(n.self.at) = &macroValue{n, s, s.frame}
	return next
}

func (n *callBlock) exec(s *state) jump {
	s.Line = n.body.line
	s.Alloc(64)
	caller := &macroValue{n.body, s, s.frame}
	if n.of == nil {
		s.writeText(s.Call(caller, nil, nil))
		return next
	}
	of := n.of.of.eval(s)
	args, named := n.of.with.eval(s)
	s.Line = n.of.line
	s.writeText(s.Call(of, args, append(named, pyvalue.Argument{Name: "caller", Value: caller})))
	return next
}

// writeText writes the result of a block's filter or call.
func (s *state) writeText(v any) {
	t, ok := pyvalue.Text(v)
	if !ok {
		s.Fail("TypeError", "a block must print a string, not a value of type %s", pyvalue.TypeName(v))
	}
	s.write(t)
}

// A macroValue is a macro and the frame around it.
type macroValue struct {
	*macro
	s     *state
	outer *frame
}

// call runs a macro and returns its output.
func (m *macroValue) Call(args []any, named []pyvalue.Argument) any {
	s := m.s
	s.Descend()
	frame, out, line := s.frame, s.out, s.Line
	s.push(m.fn, m.outer)
	own := s.frame
	s.frame = frame
	take := func(name string) any {
		s.Step(len(named))
		for i, a := range named {
			if a.Name == name {
				named = append(named[:i:i], named[i+1:]...)
				return a.Value
			}
		}
		return nil
	}
	foundCaller := false
	for i, p := range m.params {
		var v any
		if i < len(args) {
			v = args[i]
		} else {
			v = take(p.name)
		}
		foundCaller = foundCaller || p.name == "caller"
		own.vars[p.at.index] = v
	}
	if m.caller != nil && !foundCaller {
		v := take("caller")
		if v == nil || v == pyvalue.None {
			v = &pyvalue.Undefined{Hint: "there is no caller", Name: "caller"}
		}
		own.vars[m.caller.at.index] = v
	}
	if m.kwargs != nil {
		d := &pyvalue.Dict{}
		for _, a := range named {
			d.Set(a.Name, a.Value)
		}
		own.vars[m.kwargs.at.index] = d
	} else if len(named) > 0 {
		s.Fail("TypeError", "the macro %q takes no argument %q", m.title(), named[0].Name)
	}
	rest := args[min(len(args), len(m.params)):]
	if m.varargs != nil {
		own.vars[m.varargs.at.index] = &pyvalue.Tuple{Items: rest}
	} else if len(rest) > 0 {
		s.Fail("TypeError", "the macro %q takes at most %d arguments, not %d", m.title(), len(m.params), len(args))
	}
	s.frame, s.out, s.Line = own, new(strings.Builder), m.line
	s.enter(m.in)
	for i, p := range m.params {
		if own.vars[p.at.index] != nil {
			continue
		}
		if d := i - (len(m.params) - len(m.defaults)); d >= 0 {
			own.vars[p.at.index] = m.defaults[d].eval(s)
		} else {
			own.vars[p.at.index] = &pyvalue.Undefined{Hint: "the parameter " + pyvalue.Repr(p.name) + " was not given", Name: p.name}
		}
	}
	s.execute(m.body)
	text := s.out.String()
	s.frame, s.out, s.Line = frame, out, line
	s.Depth--
	return text
}

// title is the macro's name, for messages.
func (m *macro) title() string {
	if m.name == "" {
		return "caller"
	}
	return m.name
}

// attribute returns an attribute of the macro, nil if there is none.
func (m *macroValue) Attribute(name string) any {
	switch name {
	case "name":
		if m.name == "" {
			return pyvalue.None
		}
		return m.name
	case "arguments":
		t := &pyvalue.Tuple{}
		for _, p := range m.params {
			t.Items = append(t.Items, p.name)
		}
		return t
	case "catch_kwargs":
		return m.kwargs != nil
	case "catch_varargs":
		return m.varargs != nil
	case "caller":
		return m.macro.caller != nil
	}
	return nil
}

func (m *macroValue) TypeName() string            { return "Macro" }
func (m *macroValue) Len() (n int64, ok bool)     { return 0, false }
func (m *macroValue) Iterate() func() (any, bool) { return nil }

func (m *macroValue) Repr() string {
	if m.name == "" {
		return "<Macro anonymous>"
	}
	return "<Macro " + pyvalue.Repr(m.name) + ">"
}
