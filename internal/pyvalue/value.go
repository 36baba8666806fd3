package pyvalue

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
	List  struct{ Items []any }
	Tuple struct {
		Items []any
		Group bool // of groupby: has the attributes grouper and list
	}

	// An Undefined fails if it is used for more than printing, testing or looping.
	Undefined struct {
		Hint   string // the message, or
		Of     any    // the value without such an
		Name   any    // attribute or element
		unsafe bool   // an attribute that the sandbox hides
	}
	Namespace  struct{ Vars *Dict }
	RangeValue struct{ start, stop, step int64 }
	View       struct { // keys, values or items
		Of   *Dict
		Kind string
	}
	Generator struct {
		Name string
		Next func() (any, bool)
	}
	cycler struct {
		items []any
		at    int
	}
	Joiner struct {
		separator any
		used      bool
	}
	Method struct {
		Self    any
		Name    string
		Builtin *Builtin
	}
)

// An Object is a value that templates define: a macro, or a loop.
type Object interface {
	TypeName() string
	Repr() string
	Attribute(name string) any // or nil
	Call(pos []any, named []Argument) any
	Len() (n int64, ok bool)
	Iterate() func() (any, bool) // nil if it cannot
}

// TypeName is the name of a value's type in Python.
func TypeName(v any) string {
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
	case Markup:
		return "Markup"
	case *List:
		return "list"
	case *Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *Undefined:
		return "Undefined"
	case *Namespace:
		return "Namespace"
	case Object:
		return v.TypeName()
	case *RangeValue:
		return "range"
	case *View:
		return "dict_" + v.Kind
	case *Generator:
		return v.Name
	case *cycler:
		return "Cycler"
	case *Joiner:
		return "Joiner"
	}
	return "builtin_function_or_method"
}

// Truth is Python's bool.
func Truth(v any) bool {
	switch v := v.(type) {
	case noneType, *Undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case Markup:
		return v != ""
	}
	n, ok := Length(v)
	return !ok || n > 0
}

// Length is Python's len, if the value has one.
func Length(v any) (int64, bool) {
	switch v := v.(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), true
	case Markup:
		return Length(string(v))
	case *List:
		return int64(len(v.Items)), true
	case *Tuple:
		return int64(len(v.Items)), true
	case *Dict:
		return int64(len(v.Entries)), true
	case *View:
		return int64(len(v.Of.Entries)), true
	case *RangeValue:
		return v.len(), true
	case *Undefined:
		return 0, true
	case Object:
		return v.Len()
	}
	return 0, false
}

func (s *Run) Length(v any) int64 {
	n, ok := Length(v)
	if !ok {
		s.Fail("TypeError", "a value of type %s has no length", TypeName(v))
	}
	return n
}

func (r *RangeValue) len() int64 {
	if r.step > 0 && r.start < r.stop {
		return int64((uint64(r.stop-r.start)-1)/uint64(r.step)) + 1
	}
	if r.step < 0 && r.start > r.stop {
		return int64((uint64(r.start-r.stop)-1)/uint64(-r.step)) + 1
	}
	return 0
}

// Over returns the iterator of items.
func Over(items []any) func() (any, bool) {
	i := 0
	return func() (any, bool) {
		if i == len(items) {
			return nil, false
		}
		i++
		return items[i-1], true
	}
}

// Counted returns the iterator of n items.
func Counted(n int64, item func(i int64) any) func() (any, bool) {
	i := int64(0)
	return func() (any, bool) {
		if i >= n {
			return nil, false
		}
		i++
		return item(i - 1), true
	}
}

// Iterable returns an iterator of a value, nil if it has none.
func Iterable(v any) func() (any, bool) {
	switch v := v.(type) {
	case string:
		return runes(v, func(c string) any { return c })
	case Markup:
		return runes(string(v), func(c string) any { return c })
	case *List:
		return Over(v.Items)
	case *Tuple:
		return Over(v.Items)
	case *Dict:
		return Counted(int64(len(v.Entries)), func(i int64) any { return v.Entries[i].Key })
	case *View:
		return Counted(int64(len(v.Of.Entries)), v.item)
	case *RangeValue:
		return Counted(v.len(), func(i int64) any { return v.start + i*v.step })
	case *Generator:
		return v.Next
	case *Undefined:
		return Over(nil)
	case Object:
		return v.Iterate()
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

func (v *View) item(i int64) any {
	e := &v.Of.Entries[i]
	switch v.Kind {
	case "keys":
		return e.Key
	case "values":
		return e.Value
	}
	return &Tuple{Items: []any{e.Key, e.Value}}
}

// Iterate returns an iterator that accounts for its steps.
func (s *Run) Iterate(v any) func() (any, bool) {
	items := Iterable(v)
	if items == nil {
		s.Fail("TypeError", "a value of type %s cannot be iterated over", TypeName(v))
	}
	return func() (any, bool) {
		s.Step(1)
		return items()
	}
}

// Collect returns the remaining items of an iterator.
func (s *Run) Collect(items func() (any, bool)) []any {
	var all []any
	for {
		v, ok := items()
		if !ok {
			return all
		}
		s.Alloc(32)
		all = append(all, v)
	}
}

// List returns the items of a value, which the caller may not change.
func (s *Run) List(v any) []any {
	switch v := v.(type) {
	case *List:
		return v.Items
	case *Tuple:
		return v.Items
	}
	return s.Collect(s.Iterate(v))
}

// NewList returns a list of items, which the caller accounts for.
func NewList(items []any) *List { return &List{items} }

func stringList(texts []string) *List {
	items := make([]any, len(texts))
	for i, t := range texts {
		items[i] = t
	}
	return NewList(items)
}

// Text returns the text of a string or of markup.
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Markup:
		return string(v), true
	}
	return "", false
}

// Integer returns an int, or a bool as 0 or 1.
func Integer(v any) (int64, bool) {
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

// Number returns a number as a float.
func Number(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := Integer(v)
	return float64(i), ok
}

func (s *Run) FailUndefined(u *Undefined) {
	kind := "UndefinedError"
	if u.unsafe {
		kind = "SecurityError"
	}
	s.Fail(kind, "%s", u.message())
}

func (u *Undefined) message() string {
	if u.Hint != "" {
		return u.Hint
	}
	if u.Of == nil {
		return Repr(u.Name) + " is undefined"
	}
	of := TypeName(u.Of) + " object"
	if u.Of == None {
		of = "None"
	}
	if name, ok := u.Name.(string); ok {
		return "'" + of + "' has no attribute " + Repr(name)
	}
	return of + " has no element " + Repr(u.Name)
}
