package pyvalue

import "strings"

// A Builtin is a filter, a test, a function or a method. Its parameters are matched with
// arguments before it runs.
type Builtin struct {
	params     []string
	required   int
	positional bool // takes no named arguments
	variadic   bool // takes any arguments, as they are
	Run        func(s *Run, a *Args) any
}

type Argument struct {
	Name  string
	Value any
}

// Args are the arguments of a builtin: one for each parameter, nil if it is not given.
type Args struct {
	Self  any // the value of a filter, a test or a method
	Pos   []any
	Named []Argument // only of a variadic builtin
}

// Def defines a builtin by its parameters: "a b?" has an optional one, "/ a" has only positional
// ones, "..." has any.
func Def(params string, run func(s *Run, a *Args) any) *Builtin {
	b := &Builtin{Run: run}
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

// Call calls a value.
func (s *Run) Call(of any, pos []any, named []Argument) any {
	s.Step(1)
	switch f := of.(type) {
	case *Undefined:
		s.FailUndefined(f)
	case *Method:
		return s.Apply(f.Builtin, f.Name, f.Self, pos, named)
	case *Builtin:
		return s.Apply(f, "the function", nil, pos, named)
	case Object:
		return f.Call(pos, named)
	case *Joiner:
		if f.used {
			return f.separator
		}
		f.used = true
		return ""
	}
	s.Fail("TypeError", "a value of type %s cannot be called", TypeName(of))
	return nil
}

// Apply runs a builtin.
func (s *Run) Apply(b *Builtin, name string, self any, pos []any, named []Argument) any {
	s.Step(1 + size(self)>>4)
	a := &Args{Self: self, Pos: pos, Named: named}
	if !b.variadic {
		a.Pos, a.Named = s.match(b, name, pos, named), nil
	}
	for _, v := range a.Pos {
		s.Step(size(v) >> 4)
	}
	return b.Run(s, a)
}

// size is the cost of looking at all of a value.
func size(v any) int {
	text, _ := Text(v)
	return len(text)
}

// match returns an argument for each parameter.
func (s *Run) match(b *Builtin, name string, pos []any, named []Argument) []any {
	if len(pos) > len(b.params) {
		s.Fail("TypeError", "%s takes at most %d arguments, not %d", name, len(b.params), len(pos))
	}
	if b.positional && len(named) > 0 {
		s.Fail("TypeError", "%s takes no named arguments", name)
	}
	values := make([]any, len(b.params))
	copy(values, pos)
	for _, arg := range named {
		at := -1
		for i, p := range b.params {
			if p == arg.Name {
				at = i
			}
		}
		switch {
		case at < 0:
			s.Fail("TypeError", "%s has no parameter %q", name, arg.Name)
		case values[at] != nil:
			s.Fail("TypeError", "%s got two values for %q", name, arg.Name)
		}
		values[at] = arg.Value
	}
	for i := range b.required {
		if values[i] == nil {
			s.Fail("TypeError", "%s needs the argument %q", name, b.params[i])
		}
	}
	return values
}

// Get returns an argument, or a default.
func (a *Args) Get(i int, def any) any {
	if a.Pos[i] == nil {
		return def
	}
	return a.Pos[i]
}

// Has reports whether an argument is given and not None.
func (a *Args) Has(i int) bool { return a.Pos[i] != nil && a.Pos[i] != None }

func (a *Args) Truth(i int) bool { return a.Pos[i] != nil && Truth(a.Pos[i]) }

func (a *Args) Int(s *Run, i int, def int64) int64 {
	if a.Pos[i] == nil {
		return def
	}
	return s.ToInt(a.Pos[i])
}

func (s *Run) ToInt(v any) int64 {
	n, ok := Integer(v)
	if !ok {
		s.Fail("TypeError", "expected an integer, got a value of type %s", TypeName(v))
	}
	return n
}

// Text returns an argument that must be a string.
func (a *Args) Text(s *Run, i int) string { return s.ToText(a.Pos[i]) }

func (s *Run) ToText(v any) string {
	t, ok := Text(v)
	if !ok {
		s.Fail("TypeError", "expected a string, got a value of type %s", TypeName(v))
	}
	return t
}

// Unknown fails for a filter or test that does not exist.
func (s *Run) Unknown(test bool, name string) {
	kind := "filter"
	if test {
		kind = "test"
	}
	s.Fail("TemplateRuntimeError", "there is no %s named %q", kind, name)
}

// Refused is a builtin of Jinja or Python that has no use in chat templates.
func Refused(what string) *Builtin {
	return Def("...", func(s *Run, _ *Args) any {
		s.Fail("TemplateRuntimeError", "the %s is not supported", what)
		return nil
	})
}

// methodTables has the methods of types. One that is nil exists in Python, and the sandbox hides it.
type methodTables struct{ str, list, tuple, dict, cycler, integer, float map[string]*Builtin }

// tables is reached through a run, as methods use each other.
var tables = methodTables{StrMethods, listMethods, tupleMethods, dictMethods, cyclerMethods, intMethods, floatMethods}
