package jinja

import (
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// filters are Jinja's, with transformers' tojson.
var filters = map[string]*pyvalue.Builtin{
	"abs":        pyvalue.Def("/", func(s *pyvalue.Run, a *pyvalue.Args) any { return absOf(s, a.Self) }),
	"attr":       pyvalue.Def("name", func(s *pyvalue.Run, a *pyvalue.Args) any { return attrFilter(s, a) }),
	"batch":      pyvalue.Def("linecount fill_with?", func(s *pyvalue.Run, a *pyvalue.Args) any { return batchOf(s, a) }),
	"capitalize": texts(pyvalue.Capitalize),
	"center": pyvalue.Def("width?", func(s *pyvalue.Run, a *pyvalue.Args) any {
		return onText(s, a.Self, func(t string) string { return s.Pad(t, " ", a.Int(s, 0, 80), 2) })
	}),
	"count":          pyvalue.Def("/", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Length(a.Self) }),
	"d":              pyvalue.Def("default_value? boolean?", orDefault),
	"default":        pyvalue.Def("default_value? boolean?", orDefault),
	"dictsort":       pyvalue.Def("case_sensitive? by? reverse?", func(s *pyvalue.Run, a *pyvalue.Args) any { return dictSort(s, a) }),
	"e":              pyvalue.Def("/", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Escape(a.Self) }),
	"escape":         pyvalue.Def("/", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Escape(a.Self) }),
	"filesizeformat": pyvalue.Def("binary?", func(s *pyvalue.Run, a *pyvalue.Args) any { return fileSize(s, a) }),
	"first":          pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return firstOf(s, a.Self) }),
	"float":          pyvalue.Def("default?", func(s *pyvalue.Run, a *pyvalue.Args) any { return floatFilter(s, a) }),
	"forceescape":    pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Escape(s.Str(a.Self)) }),
	"format":         pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any { return formatFilter(s, a) }),
	"groupby":        pyvalue.Def("attribute default? case_sensitive?", func(s *pyvalue.Run, a *pyvalue.Args) any { return groupBy(s, a) }),
	"indent":         pyvalue.Def("width? first? blank?", func(s *pyvalue.Run, a *pyvalue.Args) any { return indentOf(s, a) }),
	"int":            pyvalue.Def("default? base?", func(s *pyvalue.Run, a *pyvalue.Args) any { return intFilter(s, a) }),
	"items":          pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return itemsOf(s, a.Self) }),
	"join":           pyvalue.Def("d? attribute?", func(s *pyvalue.Run, a *pyvalue.Args) any { return joinOf(s, a) }),
	"last":           pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return lastOf(s, a.Self) }),
	"length":         pyvalue.Def("/", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.Length(a.Self) }),
	"list":           pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return pyvalue.NewList(s.List(a.Self)) }),
	"lower":          texts(pyvalue.Lower),
	"map":            pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any { return mapFilter(s, a) }),
	"max":            pyvalue.Def("case_sensitive? attribute?", func(s *pyvalue.Run, a *pyvalue.Args) any { return extremeOf(s, a, ">") }),
	"min":            pyvalue.Def("case_sensitive? attribute?", func(s *pyvalue.Run, a *pyvalue.Args) any { return extremeOf(s, a, "<") }),
	"pprint":         pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return pprintOf(s, a.Self) }),
	"random":         pyvalue.Refused("filter random"),
	"reject":         pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any { return selectFilter(s, a, false, false) }),
	"rejectattr":     pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any { return selectFilter(s, a, true, false) }),
	"replace":        pyvalue.Def("old new count?", func(s *pyvalue.Run, a *pyvalue.Args) any { return replaceFilter(s, a) }),
	"reverse":        pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return reverseOf(s, a.Self) }),
	"round":          pyvalue.Def("precision? method?", func(s *pyvalue.Run, a *pyvalue.Args) any { return roundOf(s, a) }),
	"safe":           pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return pyvalue.Markup(s.Str(a.Self)) }),
	"select":         pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any { return selectFilter(s, a, false, true) }),
	"selectattr":     pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any { return selectFilter(s, a, true, true) }),
	"slice":          pyvalue.Def("slices fill_with?", func(s *pyvalue.Run, a *pyvalue.Args) any { return slicesOf(s, a) }),
	"sort":           pyvalue.Def("reverse? case_sensitive? attribute?", func(s *pyvalue.Run, a *pyvalue.Args) any { return sortOf(s, a) }),
	"string":         pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return softStr(s, a.Self) }),
	"striptags":      pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.StripTags(s.Str(a.Self)) }),
	"sum":            pyvalue.Def("attribute? start?", func(s *pyvalue.Run, a *pyvalue.Args) any { return sumOf(s, a) }),
	"title":          texts(titleFilter),
	"tojson":         pyvalue.Def("ensure_ascii? indent? separators? sort_keys?", func(s *pyvalue.Run, a *pyvalue.Args) any { return s.ToJSON(a) }),
	"trim": pyvalue.Def("chars?", func(s *pyvalue.Run, a *pyvalue.Args) any {
		return s.Strip(&pyvalue.Args{Self: softStr(s, a.Self), Pos: a.Pos}, true, true)
	}),
	"truncate":  pyvalue.Def("length? killwords? end? leeway?", func(s *pyvalue.Run, a *pyvalue.Args) any { return truncateOf(s, a) }),
	"unique":    pyvalue.Def("case_sensitive? attribute?", func(s *pyvalue.Run, a *pyvalue.Args) any { return uniqueOf(s, a) }),
	"upper":     texts(pyvalue.Upper),
	"urlencode": pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return urlEncodeOf(s, a.Self) }),
	"urlize":    pyvalue.Refused("filter urlize"),
	"wordcount": pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return wordCount(s.Str(a.Self)) }),
	"wordwrap":  pyvalue.Def("width? break_long_words? wrapstring? break_on_hyphens?", func(s *pyvalue.Run, a *pyvalue.Args) any { return wordWrap(s, a) }),
	"xmlattr":   pyvalue.Def("autospace?", func(s *pyvalue.Run, a *pyvalue.Args) any { return xmlAttr(s, a) }),
}

// texts is a filter that maps the text of any value.
func texts(f func(string) string) *pyvalue.Builtin {
	return pyvalue.Def("", func(s *pyvalue.Run, a *pyvalue.Args) any { return onText(s, a.Self, f) })
}

func onText(s *pyvalue.Run, v any, f func(string) string) any {
	text := s.Str(v)
	s.Alloc(2 * len(text))
	return s.Like(v, f(text))
}

// softStr returns markup as it is, and other values as strings.
func softStr(s *pyvalue.Run, v any) any {
	if m, ok := v.(pyvalue.Markup); ok {
		return m
	}
	return s.Str(v)
}

func orDefault(_ *pyvalue.Run, a *pyvalue.Args) any {
	_, missing := a.Self.(*pyvalue.Undefined)
	if missing || a.Truth(1) && !pyvalue.Truth(a.Self) {
		return a.Get(0, "")
	}
	return a.Self
}

func replaceFilter(s *pyvalue.Run, a *pyvalue.Args) any {
	limit := int64(-1)
	if a.Has(2) {
		limit = a.Int(s, 2, -1)
	}
	return s.Replace(s.Str(a.Self), s.Str(a.Pos[0]), s.Str(a.Pos[1]), limit)
}

func formatFilter(s *pyvalue.Run, a *pyvalue.Args) any {
	values := any(&pyvalue.Tuple{Items: a.Pos})
	if len(a.Named) > 0 {
		if len(a.Pos) > 0 {
			s.Fail("FilterArgumentError", "format takes positional or named arguments, not both")
		}
		values = pyvalue.DictOf(a.Named)
	}
	of := softStr(s, a.Self)
	return s.Percent(of, s.ToText(of), values)
}

func attrFilter(s *pyvalue.Run, a *pyvalue.Args) any {
	name := a.Text(s, 0)
	if u, ok := a.Self.(*pyvalue.Undefined); ok {
		s.FailUndefined(u)
	}
	if v := s.Attribute(a.Self, name); v != nil {
		return v
	}
	return &pyvalue.Undefined{Of: a.Self, Name: name}
}

func itemsOf(s *pyvalue.Run, v any) any {
	var items func() (any, bool)
	return &pyvalue.Generator{Name: "generator", Next: func() (any, bool) {
		if d, ok := v.(*pyvalue.Dict); ok && items == nil {
			items = s.Iterate(&pyvalue.View{Of: d, Kind: "items"})
		} else if items == nil {
			if items = pyvalue.Over(nil); !isUndefined(v) {
				s.Fail("TypeError", "items needs a dict, not a value of type %s", pyvalue.TypeName(v))
			}
		}
		return items()
	}}
}

// An attribute is a path of names and indices, as "address.city".
type attribute []any

func pathOf(s *pyvalue.Run, v any) attribute {
	name, ok := pyvalue.Text(v)
	switch {
	case v == nil || v == pyvalue.None:
		return nil
	case !ok:
		return attribute{v}
	}
	var path attribute
	for _, part := range strings.Split(name, ".") {
		if pyvalue.All(part, pyvalue.IsDigit) {
			path = append(path, parseInt(s, part, 10))
		} else {
			path = append(path, part)
		}
	}
	return path
}

// followOf returns the value at a path; def, unless it is nil, replaces a missing part.
func followOf(s *pyvalue.Run, v any, path attribute, def any) any {
	for _, part := range path {
		v = s.GetItem(v, part)
		if _, missing := v.(*pyvalue.Undefined); missing && def != nil {
			v = def
		}
	}
	return v
}

// ignoreCase returns a string in lower case, and other values as they are.
func ignoreCase(v any, caseSensitive bool) any {
	if t, ok := pyvalue.Text(v); ok && !caseSensitive {
		return pyvalue.Lower(t)
	}
	return v
}

func mapFilter(s *pyvalue.Run, a *pyvalue.Args) any {
	return lazily(s, a.Self, func() func(any) (any, bool) {
		if len(a.Pos) > 0 {
			name, b := namedOf(s, s.Filters, a.Pos[0], false)
			return func(v any) (any, bool) { return s.Apply(b, name, v, a.Pos[1:], a.Named), true }
		}
		var at, def any
		for _, n := range a.Named {
			switch {
			case n.Name == "attribute":
				at = n.Value
			case n.Name == "default" && n.Value != pyvalue.None:
				def = n.Value
			case n.Name != "default":
				s.Fail("FilterArgumentError", "map has no parameter %q", n.Name)
			}
		}
		if at == nil {
			s.Fail("FilterArgumentError", "map needs a filter or an attribute")
		}
		path := pathOf(s, at)
		return func(v any) (any, bool) { return followOf(s, v, path, def), true }
	})
}

// named finds a filter or a test by a name that a template computes.
func namedOf(s *pyvalue.Run, table map[string]*pyvalue.Builtin, of any, test bool) (string, *pyvalue.Builtin) {
	name, ok := pyvalue.Text(of)
	if !ok {
		name = s.Repr(of)
	}
	b := table[name]
	if b == nil {
		s.Unknown(test, name)
	}
	return name, b
}

// selectFilter is select, reject, selectattr and rejectattr.
func selectFilter(s *pyvalue.Run, a *pyvalue.Args, byAttr, keep bool) any {
	return lazily(s, a.Self, func() func(any) (any, bool) {
		rest, path := a.Pos, attribute(nil)
		if byAttr {
			if len(rest) == 0 {
				s.Fail("FilterArgumentError", "the name of an attribute is missing")
			}
			path, rest = pathOf(s, rest[0]), rest[1:]
		}
		holds := pyvalue.Truth
		if len(rest) > 0 {
			name, b := namedOf(s, s.Tests, rest[0], true)
			holds = func(v any) bool { return pyvalue.Truth(s.Apply(b, name, v, rest[1:], a.Named)) }
		}
		return func(v any) (any, bool) { return v, holds(followOf(s, v, path, nil)) == keep }
	})
}

// lazily returns a generator of a function's results for the items of a value, without items
// for which it returns false. Nothing is done before the first item is asked for.
func lazily(s *pyvalue.Run, v any, start func() func(any) (any, bool)) any {
	var items func() (any, bool)
	var each func(any) (any, bool)
	return &pyvalue.Generator{Name: "generator", Next: func() (any, bool) {
		if items == nil {
			if items = pyvalue.Over(nil); pyvalue.Truth(v) {
				each, items = start(), s.Iterate(v)
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
