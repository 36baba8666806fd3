package jinja

import "strings"

// filters are Jinja's, with transformers' tojson.
var filters = map[string]*builtin{
	"abs":        def("/", func(s *state, a *args) any { return s.abs(a.self) }),
	"attr":       def("name", func(s *state, a *args) any { return s.attrFilter(a) }),
	"batch":      def("linecount fill_with?", func(s *state, a *args) any { return s.batch(a) }),
	"capitalize": texts(capitalize),
	"center": def("width?", func(s *state, a *args) any {
		return s.onText(a.self, func(t string) string { return s.pad(t, " ", a.int(s, 0, 80), 2) })
	}),
	"count":          def("/", func(s *state, a *args) any { return s.length(a.self) }),
	"d":              def("default_value? boolean?", orDefault),
	"default":        def("default_value? boolean?", orDefault),
	"dictsort":       def("case_sensitive? by? reverse?", func(s *state, a *args) any { return s.dictSort(a) }),
	"e":              def("/", func(s *state, a *args) any { return s.escape(a.self) }),
	"escape":         def("/", func(s *state, a *args) any { return s.escape(a.self) }),
	"filesizeformat": def("binary?", func(s *state, a *args) any { return s.fileSize(a) }),
	"first":          def("", func(s *state, a *args) any { return s.first(a.self) }),
	"float":          def("default?", func(s *state, a *args) any { return s.floatFilter(a) }),
	"forceescape":    def("", func(s *state, a *args) any { return s.escape(s.str(a.self)) }),
	"format":         def("...", func(s *state, a *args) any { return s.formatFilter(a) }),
	"groupby":        def("attribute default? case_sensitive?", func(s *state, a *args) any { return s.groupBy(a) }),
	"indent":         def("width? first? blank?", func(s *state, a *args) any { return s.indent(a) }),
	"int":            def("default? base?", func(s *state, a *args) any { return s.intFilter(a) }),
	"items":          def("", func(s *state, a *args) any { return s.items(a.self) }),
	"join":           def("d? attribute?", func(s *state, a *args) any { return s.join(a) }),
	"last":           def("", func(s *state, a *args) any { return s.last(a.self) }),
	"length":         def("/", func(s *state, a *args) any { return s.length(a.self) }),
	"list":           def("", func(s *state, a *args) any { return newList(s.list(a.self)) }),
	"lower":          texts(lower),
	"map":            def("...", func(s *state, a *args) any { return s.mapFilter(a) }),
	"max":            def("case_sensitive? attribute?", func(s *state, a *args) any { return s.extreme(a, ">") }),
	"min":            def("case_sensitive? attribute?", func(s *state, a *args) any { return s.extreme(a, "<") }),
	"pprint":         def("", func(s *state, a *args) any { return s.pprint(a.self) }),
	"random":         refused("filter random"),
	"reject":         def("...", func(s *state, a *args) any { return s.selectFilter(a, false, false) }),
	"rejectattr":     def("...", func(s *state, a *args) any { return s.selectFilter(a, true, false) }),
	"replace":        def("old new count?", func(s *state, a *args) any { return s.replaceFilter(a) }),
	"reverse":        def("", func(s *state, a *args) any { return s.reverse(a.self) }),
	"round":          def("precision? method?", func(s *state, a *args) any { return s.round(a) }),
	"safe":           def("", func(s *state, a *args) any { return markup(s.str(a.self)) }),
	"select":         def("...", func(s *state, a *args) any { return s.selectFilter(a, false, true) }),
	"selectattr":     def("...", func(s *state, a *args) any { return s.selectFilter(a, true, true) }),
	"slice":          def("slices fill_with?", func(s *state, a *args) any { return s.slices(a) }),
	"sort":           def("reverse? case_sensitive? attribute?", func(s *state, a *args) any { return s.sort(a) }),
	"string":         def("", func(s *state, a *args) any { return s.softStr(a.self) }),
	"striptags":      def("", func(s *state, a *args) any { return s.stripTags(s.str(a.self)) }),
	"sum":            def("attribute? start?", func(s *state, a *args) any { return s.sum(a) }),
	"title":          texts(titleFilter),
	"tojson":         def("ensure_ascii? indent? separators? sort_keys?", func(s *state, a *args) any { return s.toJSON(a) }),
	"trim":           def("chars?", func(s *state, a *args) any { return s.strip(&args{self: s.softStr(a.self), pos: a.pos}, true, true) }),
	"truncate":       def("length? killwords? end? leeway?", func(s *state, a *args) any { return s.truncate(a) }),
	"unique":         def("case_sensitive? attribute?", func(s *state, a *args) any { return s.unique(a) }),
	"upper":          texts(upper),
	"urlencode":      def("", func(s *state, a *args) any { return s.urlEncode(a.self) }),
	"urlize":         refused("filter urlize"),
	"wordcount":      def("", func(s *state, a *args) any { return wordCount(s.str(a.self)) }),
	"wordwrap":       def("width? break_long_words? wrapstring? break_on_hyphens?", func(s *state, a *args) any { return s.wordWrap(a) }),
	"xmlattr":        def("autospace?", func(s *state, a *args) any { return s.xmlAttr(a) }),
}

// refused is a builtin of Jinja or Python that has no use in chat templates.
func refused(what string) *builtin {
	return def("...", func(s *state, _ *args) any {
		s.fail("TemplateRuntimeError", "the %s is not supported", what)
		return nil
	})
}

// texts is a filter that maps the text of any value.
func texts(f func(string) string) *builtin {
	return def("", func(s *state, a *args) any { return s.onText(a.self, f) })
}

func (s *state) onText(v any, f func(string) string) any {
	text := s.str(v)
	s.alloc(2 * len(text))
	return s.like(v, f(text))
}

// softStr returns markup as it is, and other values as strings.
func (s *state) softStr(v any) any {
	if m, ok := v.(markup); ok {
		return m
	}
	return s.str(v)
}

func orDefault(_ *state, a *args) any {
	_, missing := a.self.(*undefined)
	if missing || a.truth(1) && !truth(a.self) {
		return a.get(0, "")
	}
	return a.self
}

func (s *state) replaceFilter(a *args) any {
	limit := int64(-1)
	if a.has(2) {
		limit = a.int(s, 2, -1)
	}
	return s.replace(s.str(a.self), s.str(a.pos[0]), s.str(a.pos[1]), limit)
}

func (s *state) formatFilter(a *args) any {
	values := any(&tuple{items: a.pos})
	if len(a.named) > 0 {
		if len(a.pos) > 0 {
			s.fail("FilterArgumentError", "format takes positional or named arguments, not both")
		}
		values = dictOf(a.named)
	}
	of := s.softStr(a.self)
	return s.percent(of, s.toText(of), values)
}

func (s *state) attrFilter(a *args) any {
	name := a.text(s, 0)
	if u, ok := a.self.(*undefined); ok {
		s.failUndefined(u)
	}
	if v := s.attribute(a.self, name); v != nil {
		return v
	}
	return &undefined{of: a.self, name: name}
}

func (s *state) items(v any) any {
	return s.lazily(v, func() func(any) (any, bool) {
		d, ok := v.(*Dict)
		if !ok {
			s.fail("TypeError", "items needs a dict, not a value of type %s", typeName(v))
		}
		return func(key any) (any, bool) { return &tuple{items: []any{key, s.get(d, key)}}, true }
	})
}

// An attribute is a path of names and indices, as "address.city".
type attribute []any

func (s *state) path(v any) attribute {
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
			path = append(path, s.parseInt(part, 10))
		} else {
			path = append(path, part)
		}
	}
	return path
}

// follow returns the value at a path, or else a default, if that is not nil.
func (s *state) follow(v any, path attribute, def any) any {
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

func (s *state) mapFilter(a *args) any {
	return s.lazily(a.self, func() func(any) (any, bool) {
		if len(a.pos) > 0 {
			name, b := s.named(s.lib.filters, a.pos[0], false)
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
		path := s.path(at)
		return func(v any) (any, bool) { return s.follow(v, path, def), true }
	})
}

// named finds a filter or a test by a name that a template computes.
func (s *state) named(table map[string]*builtin, of any, test bool) (string, *builtin) {
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
func (s *state) selectFilter(a *args, byAttr, keep bool) any {
	return s.lazily(a.self, func() func(any) (any, bool) {
		rest, path := a.pos, attribute(nil)
		if byAttr {
			if len(rest) == 0 {
				s.fail("FilterArgumentError", "the name of an attribute is missing")
			}
			path, rest = s.path(rest[0]), rest[1:]
		}
		holds := truth
		if len(rest) > 0 {
			name, b := s.named(s.lib.tests, rest[0], true)
			holds = func(v any) bool { return truth(s.apply(b, name, v, rest[1:], a.named)) }
		}
		return func(v any) (any, bool) { return v, holds(s.follow(v, path, nil)) == keep }
	})
}

// lazily returns a generator of a function's results for the items of a value, without items
// for which it returns false. Nothing is done before the first item is asked for.
func (s *state) lazily(v any, start func() func(any) (any, bool)) any {
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
