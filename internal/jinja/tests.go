package jinja

import "github.com/tensorken/tensorken/internal/pyvalue"

// tests are Jinja's.
var tests = map[string]*pyvalue.Builtin{
	"boolean":     check(func(v any) bool { _, ok := v.(bool); return ok }),
	"callable":    check(isCallable),
	"defined":     check(func(v any) bool { return !isUndefined(v) }),
	"divisibleby": pyvalue.Def("num", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Equal(s.Operate("%", a.Self, a.Pos[0]), int64(0)) }),
	"escaped":     check(func(v any) bool { _, ok := v.(pyvalue.Markup); return ok }),
	"even":        pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Equal(s.Operate("%", a.Self, int64(2)), int64(0)) }),
	"false":       check(func(v any) bool { return v == false }),
	"filter":      pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return exists(s, s.Filters, a.Self) }),
	"float":       check(func(v any) bool { _, ok := v.(float64); return ok }),
	"in":          pyvalue.Def("seq", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Contains(a.Pos[0], a.Self) }),
	"integer":     check(func(v any) bool { _, ok := v.(int64); return ok }),
	"iterable":    check(func(v any) bool { return pyvalue.Iterable(v) != nil }),
	"lower": pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any {
		return pyvalue.StrMethods["islower"].Run(s, &pyvalue.Args{Self: s.Str(a.Self)})
	}),
	"mapping":   check(func(v any) bool { _, ok := v.(*pyvalue.Dict); return ok }),
	"none":      check(func(v any) bool { return v == pyvalue.None }),
	"number":    check(pyvalue.IsNumber),
	"odd":       pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Equal(s.Operate("%", a.Self, int64(2)), int64(1)) }),
	"sameas":    pyvalue.Def("other", func(_ *pyvalue.Run, a *pyvalue.Args) any { return a.Self == a.Pos[0] }),
	"sequence":  check(isSequence),
	"string":    check(func(v any) bool { _, ok := pyvalue.Text(v); return ok }),
	"test":      pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return exists(s, s.Tests, a.Self) }),
	"true":      check(func(v any) bool { return v == true }),
	"undefined": check(isUndefined),
	"upper": pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any {
		return pyvalue.StrMethods["isupper"].Run(s, &pyvalue.Args{Self: s.Str(a.Self)})
	}),

	"==": comparison("=="), "eq": comparison("=="), "equalto": comparison("=="),
	"!=": comparison("!="), "ne": comparison("!="),
	">": comparison(">"), "gt": comparison(">"), "greaterthan": comparison(">"),
	">=": comparison(">="), "ge": comparison(">="),
	"<": comparison("<"), "lt": comparison("<"), "lessthan": comparison("<"),
	"<=": comparison("<="), "le": comparison("<="),
}

func check(is func(v any) bool) *pyvalue.Builtin {
	return pyvalue.Def("", func(_ *pyvalue.Run, a *pyvalue.Args) any { return is(a.Self) })
}

func comparison(op string) *pyvalue.Builtin {
	return pyvalue.Def("/ other", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Holds(op, a.Self, a.Pos[0]) })
}

func exists(s *pyvalue.Run, table map[string]*pyvalue.Builtin, name any) bool {
	s.Hash(name) // fails for a value that cannot be a key
	text, ok := pyvalue.Text(name)
	return ok && table[text] != nil
}

func isUndefined(v any) bool {
	_, ok := v.(*pyvalue.Undefined)
	return ok
}

func isCallable(v any) bool {
	switch v.(type) {
	case *pyvalue.Undefined, pyvalue.Object, *pyvalue.Method, *pyvalue.Builtin, *pyvalue.Joiner:
		return true
	}
	return false
}

// isSequence reports whether Python can take the length and the items of a value.
func isSequence(v any) bool {
	switch v.(type) {
	case string, pyvalue.Markup, *pyvalue.List, *pyvalue.Tuple, *pyvalue.Dict, *pyvalue.RangeValue, *pyvalue.Undefined:
		return true
	}
	return false
}
