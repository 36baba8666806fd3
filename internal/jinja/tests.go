package jinja

// tests are Jinja's.
var tests = map[string]*builtin{
	"boolean":     check(func(v any) bool { _, ok := v.(bool); return ok }),
	"callable":    check(isCallable),
	"defined":     check(func(v any) bool { return !isUndefined(v) }),
	"divisibleby": def("num", func(s *run, a *args) any { return s.equal(s.operate("%", a.self, a.pos[0]), int64(0)) }),
	"escaped":     check(func(v any) bool { _, ok := v.(markup); return ok }),
	"even":        def("", func(s *run, a *args) any { return s.equal(s.operate("%", a.self, int64(2)), int64(0)) }),
	"false":       check(func(v any) bool { return v == false }),
	"filter":      def("", func(s *run, a *args) any { return exists(s, s.filters, a.self) }),
	"float":       check(func(v any) bool { _, ok := v.(float64); return ok }),
	"in":          def("seq", func(s *run, a *args) any { return s.contains(a.pos[0], a.self) }),
	"integer":     check(func(v any) bool { _, ok := v.(int64); return ok }),
	"iterable":    check(func(v any) bool { return iterable(v) != nil }),
	"lower":       def("", func(s *run, a *args) any { return strMethods["islower"].run(s, &args{self: s.str(a.self)}) }),
	"mapping":     check(func(v any) bool { _, ok := v.(*Dict); return ok }),
	"none":        check(func(v any) bool { return v == None }),
	"number":      check(isNumber),
	"odd":         def("", func(s *run, a *args) any { return s.equal(s.operate("%", a.self, int64(2)), int64(1)) }),
	"sameas":      def("other", func(_ *run, a *args) any { return a.self == a.pos[0] }),
	"sequence":    check(isSequence),
	"string":      check(func(v any) bool { _, ok := text(v); return ok }),
	"test":        def("", func(s *run, a *args) any { return exists(s, s.tests, a.self) }),
	"true":        check(func(v any) bool { return v == true }),
	"undefined":   check(isUndefined),
	"upper":       def("", func(s *run, a *args) any { return strMethods["isupper"].run(s, &args{self: s.str(a.self)}) }),

	"==": comparison("=="), "eq": comparison("=="), "equalto": comparison("=="),
	"!=": comparison("!="), "ne": comparison("!="),
	">": comparison(">"), "gt": comparison(">"), "greaterthan": comparison(">"),
	">=": comparison(">="), "ge": comparison(">="),
	"<": comparison("<"), "lt": comparison("<"), "lessthan": comparison("<"),
	"<=": comparison("<="), "le": comparison("<="),
}

func check(is func(v any) bool) *builtin {
	return def("", func(_ *run, a *args) any { return is(a.self) })
}

func comparison(op string) *builtin {
	return def("/ other", func(s *run, a *args) any { return s.holds(op, a.self, a.pos[0]) })
}

func exists(s *run, table map[string]*builtin, name any) bool {
	s.hash(name) // fails for what cannot be a key
	text, ok := text(name)
	return ok && table[text] != nil
}

func isUndefined(v any) bool {
	_, ok := v.(*undefined)
	return ok
}

func isCallable(v any) bool {
	switch v.(type) {
	case *undefined, object, *method, *builtin, *joiner:
		return true
	}
	return false
}

// isSequence reports whether Python can take the length and the items of a value.
func isSequence(v any) bool {
	switch v.(type) {
	case string, markup, *list, *tuple, *Dict, *rangeValue, *undefined:
		return true
	}
	return false
}
