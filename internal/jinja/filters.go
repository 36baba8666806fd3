package jinja

import "strings"

// filters are Jinja's, with transformers' tojson.
var filters = map[string]*builtin{
	"abs":        def("/", func(s *run, a *args) any { return absOf(s, a.self) }),
	"attr":       def("name", func(s *run, a *args) any { return attrFilter(s, a) }),
	"batch":      def("linecount fill_with?", func(s *run, a *args) any { return batchOf(s, a) }),
	"capitalize": texts(capitalize),
	"center": def("width?", func(s *run, a *args) any {
		return onText(s, a.self, func(t string) string { return s.pad(t, " ", a.int(s, 0, 80), 2) })
	}),
	"count":          def("/", func(s *run, a *args) any { return s.length(a.self) }),
	"d":              def("default_value? boolean?", orDefault),
	"default":        def("default_value? boolean?", orDefault),
	"dictsort":       def("case_sensitive? by? reverse?", func(s *run, a *args) any { return dictSort(s, a) }),
	"e":              def("/", func(s *run, a *args) any { return s.escape(a.self) }),
	"escape":         def("/", func(s *run, a *args) any { return s.escape(a.self) }),
	"filesizeformat": def("binary?", func(s *run, a *args) any { return fileSize(s, a) }),
	"first":          def("", func(s *run, a *args) any { return firstOf(s, a.self) }),
	"float":          def("default?", func(s *run, a *args) any { return floatFilter(s, a) }),
	"forceescape":    def("", func(s *run, a *args) any { return s.escape(s.str(a.self)) }),
	"format":         def("...", func(s *run, a *args) any { return formatFilter(s, a) }),
	"groupby":        def("attribute default? case_sensitive?", func(s *run, a *args) any { return groupBy(s, a) }),
	"indent":         def("width? first? blank?", func(s *run, a *args) any { return indentOf(s, a) }),
	"int":            def("default? base?", func(s *run, a *args) any { return intFilter(s, a) }),
	"items":          def("", func(s *run, a *args) any { return itemsOf(s, a.self) }),
	"join":           def("d? attribute?", func(s *run, a *args) any { return joinOf(s, a) }),
	"last":           def("", func(s *run, a *args) any { return lastOf(s, a.self) }),
	"length":         def("/", func(s *run, a *args) any { return s.length(a.self) }),
	"list":           def("", func(s *run, a *args) any { return newList(s.list(a.self)) }),
	"lower":          texts(lower),
	"map":            def("...", func(s *run, a *args) any { return mapFilter(s, a) }),
	"max":            def("case_sensitive? attribute?", func(s *run, a *args) any { return extremeOf(s, a, ">") }),
	"min":            def("case_sensitive? attribute?", func(s *run, a *args) any { return extremeOf(s, a, "<") }),
	"pprint":         def("", func(s *run, a *args) any { return pprintOf(s, a.self) }),
	"random":         refused("filter random"),
	"reject":         def("...", func(s *run, a *args) any { return selectFilter(s, a, false, false) }),
	"rejectattr":     def("...", func(s *run, a *args) any { return selectFilter(s, a, true, false) }),
	"replace":        def("old new count?", func(s *run, a *args) any { return replaceFilter(s, a) }),
	"reverse":        def("", func(s *run, a *args) any { return reverseOf(s, a.self) }),
	"round":          def("precision? method?", func(s *run, a *args) any { return roundOf(s, a) }),
	"safe":           def("", func(s *run, a *args) any { return markup(s.str(a.self)) }),
	"select":         def("...", func(s *run, a *args) any { return selectFilter(s, a, false, true) }),
	"selectattr":     def("...", func(s *run, a *args) any { return selectFilter(s, a, true, true) }),
	"slice":          def("slices fill_with?", func(s *run, a *args) any { return slicesOf(s, a) }),
	"sort":           def("reverse? case_sensitive? attribute?", func(s *run, a *args) any { return sortOf(s, a) }),
	"string":         def("", func(s *run, a *args) any { return softStr(s, a.self) }),
	"striptags":      def("", func(s *run, a *args) any { return s.stripTags(s.str(a.self)) }),
	"sum":            def("attribute? start?", func(s *run, a *args) any { return sumOf(s, a) }),
	"title":          texts(titleFilter),
	"tojson":         def("ensure_ascii? indent? separators? sort_keys?", func(s *run, a *args) any { return s.toJSON(a) }),
	"trim":           def("chars?", func(s *run, a *args) any { return s.strip(&args{self: softStr(s, a.self), pos: a.pos}, true, true) }),
	"truncate":       def("length? killwords? end? leeway?", func(s *run, a *args) any { return truncateOf(s, a) }),
	"unique":         def("case_sensitive? attribute?", func(s *run, a *args) any { return uniqueOf(s, a) }),
	"upper":          texts(upper),
	"urlencode":      def("", func(s *run, a *args) any { return urlEncodeOf(s, a.self) }),
	"urlize":         refused("filter urlize"),
	"wordcount":      def("", func(s *run, a *args) any { return wordCount(s.str(a.self)) }),
	"wordwrap":       def("width? break_long_words? wrapstring? break_on_hyphens?", func(s *run, a *args) any { return wordWrap(s, a) }),
	"xmlattr":        def("autospace?", func(s *run, a *args) any { return xmlAttr(s, a) }),
}

// texts is a filter that maps the text of any value.
func texts(f func(string) string) *builtin {
	return def("", func(s *run, a *args) any { return onText(s, a.self, f) })
}

func onText(s *run, v any, f func(string) string) any {
	text := s.str(v)
	s.alloc(2 * len(text))
	return s.like(v, f(text))
}

// softStr returns markup as it is, and other values as strings.
func softStr(s *run, v any) any {
	if m, ok := v.(markup); ok {
		return m
	}
	return s.str(v)
}

func orDefault(_ *run, a *args) any {
	_, missing := a.self.(*undefined)
	if missing || a.truth(1) && !truth(a.self) {
		return a.get(0, "")
	}
	return a.self
}

func replaceFilter(s *run, a *args) any {
	limit := int64(-1)
	if a.has(2) {
		limit = a.int(s, 2, -1)
	}
	return s.replace(s.str(a.self), s.str(a.pos[0]), s.str(a.pos[1]), limit)
}

func formatFilter(s *run, a *args) any {
	values := any(&tuple{items: a.pos})
	if len(a.named) > 0 {
		if len(a.pos) > 0 {
			s.fail("FilterArgumentError", "format takes positional or named arguments, not both")
		}
		values = dictOf(a.named)
	}
	of := softStr(s, a.self)
	return s.percent(of, s.toText(of), values)
}

func attrFilter(s *run, a *args) any {
	name := a.text(s, 0)
	if u, ok := a.self.(*undefined); ok {
		s.failUndefined(u)
	}
	if v := s.attribute(a.self, name); v != nil {
		return v
	}
	return &undefined{of: a.self, name: name}
}

func itemsOf(s *run, v any) any {
	return lazily(s, v, func() func(any) (any, bool) {
		d, ok := v.(*Dict)
		if !ok {
			s.fail("TypeError", "items needs a dict, not a value of type %s", typeName(v))
		}
		return func(key any) (any, bool) { return &tuple{items: []any{key, s.get(d, key)}}, true }
	})
}

// An attribute is a path of names and indices, as "address.city".
type attribute []any

func pathOf(s *run, v any) attribute {
	name, ok := text(v)
	switch {
	case v == nil || v == None:
		return nil
	case !ok:
		return attribute{v}
	}
	var path attribute
	for _, part := range strings.Split(name, ".") {
		if all(part, isDigit) {
			path = append(path, parseInt(s, part, 10))
		} else {
			path = append(path, part)
		}
	}
	return path
}

// follow returns what lies at a path, and a default, if it is not nil, for what is not there.
func followOf(s *run, v any, path attribute, def any) any {
	for _, part := range path {
		v = s.getItem(v, part)
		if _, missing := v.(*undefined); missing && def != nil {
			v = def
		}
	}
	return v
}

// ignoreCase returns a string in lower case, and other values as they are.
func ignoreCase(v any, caseSensitive bool) any {
	if t, ok := text(v); ok && !caseSensitive {
		return lower(t)
	}
	return v
}

func mapFilter(s *run, a *args) any {
	return lazily(s, a.self, func() func(any) (any, bool) {
		if len(a.pos) > 0 {
			name, b := namedOf(s, s.filters, a.pos[0], false)
			return func(v any) (any, bool) { return s.apply(b, name, v, a.pos[1:], a.named), true }
		}
		var at, def any
		for _, n := range a.named {
			switch {
			case n.name == "attribute":
				at = n.value
			case n.name == "default" && n.value != None:
				def = n.value
			case n.name != "default":
				s.fail("FilterArgumentError", "map has no parameter %q", n.name)
			}
		}
		if at == nil {
			s.fail("FilterArgumentError", "map needs a filter or an attribute")
		}
		path := pathOf(s, at)
		return func(v any) (any, bool) { return followOf(s, v, path, def), true }
	})
}

// named finds a filter or a test by a name that a template computes.
func namedOf(s *run, table map[string]*builtin, of any, test bool) (string, *builtin) {
	name, ok := text(of)
	if !ok {
		name = s.repr(of)
	}
	b := table[name]
	if b == nil {
		s.unknown(test, name)
	}
	return name, b
}

// selectFilter is select, reject, selectattr and rejectattr.
func selectFilter(s *run, a *args, byAttr, keep bool) any {
	return lazily(s, a.self, func() func(any) (any, bool) {
		rest, path := a.pos, attribute(nil)
		if byAttr {
			if len(rest) == 0 {
				s.fail("FilterArgumentError", "the name of an attribute is missing")
			}
			path, rest = pathOf(s, rest[0]), rest[1:]
		}
		holds := truth
		if len(rest) > 0 {
			name, b := namedOf(s, s.tests, rest[0], true)
			holds = func(v any) bool { return truth(s.apply(b, name, v, rest[1:], a.named)) }
		}
		return func(v any) (any, bool) { return v, holds(followOf(s, v, path, nil)) == keep }
	})
}

// lazily returns a generator of a function's results for the items of a value, without items
// for which it returns false. Nothing is done before the first item is asked for.
func lazily(s *run, v any, start func() func(any) (any, bool)) any {
	var items func() (any, bool)
	var each func(any) (any, bool)
	return &generator{"generator", func() (any, bool) {
		if items == nil {
			if items = over(nil); truth(v) {
				each, items = start(), s.iterate(v)
			}
		}
		for {
			item, ok := items()
			if !ok {
				return nil, false
			}
			if item, ok = each(item); ok {
				return item, true
			}
		}
	}}
}
