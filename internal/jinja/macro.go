package jinja

import (
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

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

// Attribute returns an attribute of the macro, or nil.
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
