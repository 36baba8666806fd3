package jinja

import "strings"

// A builtin is a filter, a test, a function or a method. Its parameters are matched with
// arguments before it runs.
type builtin struct {
	params     []string
	required   int
	positional bool // takes no named arguments
	variadic   bool // takes any arguments, as they are
	run        func(s *run, a *args) any
}

type argument struct {
	name  string
	value any
}

// args are the arguments of a builtin: one for each parameter, nil if it is not given.
type args struct {
	self  any // the value of a filter, a test or a method
	pos   []any
	named []argument // only of a variadic builtin
}

// def defines a builtin by its parameters: "a b?" has an optional one, "/ a" has only positional
// ones, "..." has any.
func def(params string, run func(s *run, a *args) any) *builtin {
	b := &builtin{run: run}
	for _, p := range strings.Fields(params) {
		switch name, optional := strings.CutSuffix(p, "?"); {
		case p == "...":
			b.variadic = true
		case p == "/":
			b.positional = true
		default:
			b.params = append(b.params, name)
			if !optional {
				b.required++
			}
		}
	}
	return b
}

// call calls a value.
func (s *run) call(of any, pos []any, named []argument) any {
	s.step(1)
	switch f := of.(type) {
	case *undefined:
		s.failUndefined(f)
	case *method:
		return s.apply(f.builtin, f.name, f.self, pos, named)
	case *builtin:
		return s.apply(f, "the function", nil, pos, named)
	case object:
		return f.call(pos, named)
	case *joiner:
		if f.used {
			return f.separator
		}
		f.used = true
		return ""
	}
	s.fail("TypeError", "a value of type %s cannot be called", typeName(of))
	return nil
}

// apply runs a builtin.
func (s *run) apply(b *builtin, name string, self any, pos []any, named []argument) any {
	s.step(1 + size(self)>>4)
	a := &args{self: self, pos: pos, named: named}
	if !b.variadic {
		a.pos, a.named = s.match(b, name, pos, named), nil
	}
	for _, v := range a.pos {
		s.step(size(v) >> 4)
	}
	return b.run(s, a)
}

// size is the cost of looking at all of a value.
func size(v any) int {
	text, _ := text(v)
	return len(text)
}

// match returns an argument for each parameter.
func (s *run) match(b *builtin, name string, pos []any, named []argument) []any {
	if len(pos) > len(b.params) {
		s.fail("TypeError", "%s takes at most %d arguments, not %d", name, len(b.params), len(pos))
	}
	if b.positional && len(named) > 0 {
		s.fail("TypeError", "%s takes no named arguments", name)
	}
	values := make([]any, len(b.params))
	copy(values, pos)
	for _, arg := range named {
		at := -1
		for i, p := range b.params {
			if p == arg.name {
				at = i
			}
		}
		switch {
		case at < 0:
			s.fail("TypeError", "%s has no parameter %q", name, arg.name)
		case values[at] != nil:
			s.fail("TypeError", "%s got two values for %q", name, arg.name)
		}
		values[at] = arg.value
	}
	for i := range b.required {
		if values[i] == nil {
			s.fail("TypeError", "%s needs the argument %q", name, b.params[i])
		}
	}
	return values
}

// get returns an argument, or a default.
func (a *args) get(i int, def any) any {
	if a.pos[i] == nil {
		return def
	}
	return a.pos[i]
}

// has reports whether an argument is given and not None.
func (a *args) has(i int) bool { return a.pos[i] != nil && a.pos[i] != None }

func (a *args) truth(i int) bool { return a.pos[i] != nil && truth(a.pos[i]) }

func (a *args) int(s *run, i int, def int64) int64 {
	if a.pos[i] == nil {
		return def
	}
	return s.toInt(a.pos[i])
}

func (s *run) toInt(v any) int64 {
	n, ok := integer(v)
	if !ok {
		s.fail("TypeError", "expected an integer, got a value of type %s", typeName(v))
	}
	return n
}

// text returns an argument that must be a string.
func (a *args) text(s *run, i int) string { return s.toText(a.pos[i]) }

func (s *run) toText(v any) string {
	t, ok := text(v)
	if !ok {
		s.fail("TypeError", "expected a string, got a value of type %s", typeName(v))
	}
	return t
}

// unknown fails for a filter or test that does not exist.
func (s *run) unknown(test bool, name string) {
	kind := "filter"
	if test {
		kind = "test"
	}
	s.fail("TemplateRuntimeError", "there is no %s named %q", kind, name)
}

// refused is a builtin of Jinja or Python that has no use in chat templates.
func refused(what string) *builtin {
	return def("...", func(s *run, _ *args) any {
		s.fail("TemplateRuntimeError", "the %s is not supported", what)
		return nil
	})
}

// methodTables has the methods of types. One that is nil exists in Python, and the sandbox hides it.
type methodTables struct{ str, list, tuple, dict, cycler, integer, float map[string]*builtin }

// tables is reached through a run, as methods use each other.
var tables = methodTables{strMethods, listMethods, tupleMethods, dictMethods, cyclerMethods, intMethods, floatMethods}
