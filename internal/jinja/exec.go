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
