package jinja

import (
	"unicode/utf8"
)

// Values are None, bool, int64, float64, string, markup, *list, *tuple, *Dict, *undefined,
// *namespace, *builtin, *method, *rangeValue, *view, *generator, *cycler,
// *joiner, and objects of templates. nil is the absence of a value. Lists, tuples and dicts never change once a template
// sees them, so that they may share memory.

type noneType struct{}

// None is Python's None.
var None = noneType{}

type (
	list  struct{ items []any }
	tuple struct {
		items []any
		group bool // of groupby: has the attributes grouper and list
	}

	// An undefined fails if it is used for more than printing, testing or looping.
	undefined struct {
		hint   string // the message, or
		of     any    // the value without such an item
		name   any    // attribute or element
		unsafe bool   // an attribute that the sandbox hides
	}
	namespace  struct{ vars *Dict }
	rangeValue struct{ start, stop, step int64 }
	view       struct { // keys, values or items
		of   *Dict
		kind string
	}
	generator struct {
		name string
		next func() (any, bool)
	}
	cycler struct {
		items []any
		at    int
	}
	joiner struct {
		separator any
		used      bool
	}
	method struct {
		self    any
		name    string
		builtin *builtin
	}
)

// An object is a value that templates define: a macro, or a loop.
type object interface {
	typeName() string
	repr() string
	attribute(name string) any // nil if there is none
	call(pos []any, named []argument) any
	len() (n int64, ok bool)
	iterate() func() (any, bool) // nil if it cannot
}

// typeName is the name of a value's type in Python.
func typeName(v any) string {
	switch v := v.(type) {
	case noneType:
		return "NoneType"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case markup:
		return "Markup"
	case *list:
		return "list"
	case *tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	case object:
		return v.typeName()
	case *rangeValue:
		return "range"
	case *view:
		return "dict_" + v.kind
	case *generator:
		return v.name
	case *cycler:
		return "Cycler"
	case *joiner:
		return "Joiner"
	}
	return "builtin_function_or_method"
}

// truth is Python's bool.
func truth(v any) bool {
	switch v := v.(type) {
	case noneType, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	}
	n, ok := length(v)
	return !ok || n > 0
}

// length is Python's len, if the value has one.
func length(v any) (int64, bool) {
	switch v := v.(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), true
	case markup:
		return length(string(v))
	case *list:
		return int64(len(v.items)), true
	case *tuple:
		return int64(len(v.items)), true
	case *Dict:
		return int64(len(v.entries)), true
	case *view:
		return int64(len(v.of.entries)), true
	case *rangeValue:
		return v.len(), true
	case *undefined:
		return 0, true
	case object:
		return v.len()
	}
	return 0, false
}

func (s *run) length(v any) int64 {
	n, ok := length(v)
	if !ok {
		s.fail("TypeError", "a value of type %s has no length", typeName(v))
	}
	return n
}

func (r *rangeValue) len() int64 {
	if r.step > 0 && r.start < r.stop {
		return int64((uint64(r.stop-r.start)-1)/uint64(r.step)) + 1
	}
	if r.step < 0 && r.start > r.stop {
		return int64((uint64(r.start-r.stop)-1)/uint64(-r.step)) + 1
	}
	return 0
}

// over returns the iterator of items.
func over(items []any) func() (any, bool) {
	i := 0
	return func() (any, bool) {
		if i == len(items) {
			return nil, false
		}
		i++
		return items[i-1], true
	}
}

// counted returns the iterator of n items.
func counted(n int64, item func(i int64) any) func() (any, bool) {
	i := int64(0)
	return func() (any, bool) {
		if i >= n {
			return nil, false
		}
		i++
		return item(i - 1), true
	}
}

// iterable returns an iterator of a value, nil if it has none.
func iterable(v any) func() (any, bool) {
	switch v := v.(type) {
	case string:
		return runes(v, func(c string) any { return c })
	case markup:
		return runes(string(v), func(c string) any { return c })
	case *list:
		return over(v.items)
	case *tuple:
		return over(v.items)
	case *Dict:
		return counted(int64(len(v.entries)), func(i int64) any { return v.entries[i].key })
	case *view:
		return counted(int64(len(v.of.entries)), v.item)
	case *rangeValue:
		return counted(v.len(), func(i int64) any { return v.start + i*v.step })
	case *generator:
		return v.next
	case *undefined:
		return over(nil)
	case object:
		return v.iterate()
	}
	return nil
}

func runes(text string, wrap func(string) any) func() (any, bool) {
	return func() (any, bool) {
		if text == "" {
			return nil, false
		}
		_, n := utf8.DecodeRuneInString(text)
		c := text[:n]
		text = text[n:]
		return wrap(c), true
	}
}

func (v *view) item(i int64) any {
	e := &v.of.entries[i]
	switch v.kind {
	case "keys":
		return e.key
	case "values":
		return e.value
	}
	return &tuple{items: []any{e.key, e.value}}
}

// iterate returns an iterator that accounts for its steps.
func (s *run) iterate(v any) func() (any, bool) {
	items := iterable(v)
	if items == nil {
		s.fail("TypeError", "a value of type %s cannot be iterated over", typeName(v))
	}
	return func() (any, bool) {
		s.step(1)
		return items()
	}
}

// collect returns the remaining items of an iterator.
func (s *run) collect(items func() (any, bool)) []any {
	var all []any
	for {
		v, ok := items()
		if !ok {
			return all
		}
		s.alloc(32)
		all = append(all, v)
	}
}

// list returns the items of a value, which the caller may not change.
func (s *run) list(v any) []any {
	switch v := v.(type) {
	case *list:
		return v.items
	case *tuple:
		return v.items
	}
	return s.collect(s.iterate(v))
}

// newList returns a list of items, which the caller accounts for.
func newList(items []any) *list { return &list{items} }

func stringList(texts []string) *list {
	items := make([]any, len(texts))
	for i, t := range texts {
		items[i] = t
	}
	return newList(items)
}

// text returns the text of a string or of markup.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

// integer returns an int, or a bool as 0 or 1.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// number returns a number as a float.
func number(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := integer(v)
	return float64(i), ok
}

func (s *run) failUndefined(u *undefined) {
	kind := "UndefinedError"
	if u.unsafe {
		kind = "SecurityError"
	}
	s.fail(kind, "%s", u.message())
}

func (u *undefined) message() string {
	if u.hint != "" {
		return u.hint
	}
	if u.of == nil {
		return repr(u.name) + " is undefined"
	}
	of := typeName(u.of) + " object"
	if u.of == None {
		of = "None"
	}
	if name, ok := u.name.(string); ok {
		return "'" + of + "' has no attribute " + repr(name)
	}
	return of + " has no element " + repr(u.name)
}
